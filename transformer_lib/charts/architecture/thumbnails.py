"""Matrices as small pictures inside a chart: one pixel a number, in the colors of the large maps."""

import base64
import io
import re

import numpy as np
from PIL import Image

from ..style import BLUE, ORANGE

STEPS = 31  # shades of one hue: as many as the eye tells apart in a pixel or two
MASKED_ENTRY, NOTHING = 0, 1


def thumbnail(values: object, masked: object | None = None, *, largest: float = 1.0, scale: int = 1) -> str:
    """Data address of a PNG of a `(rows, columns)` matrix: `scale` times `scale` pixels for each number.

    Blue as deep as the square root of a number up to `largest`, orange for negative ones, nothing at zero. Where
    `masked` is True, grey, or hatched if `scale` leaves room for that.
    """
    numbers = np.clip(np.asarray(values, dtype=float) / (largest or 1.0), -1, 1)
    shades = np.rint(np.sqrt(abs(numbers)) * STEPS).astype(np.uint8)
    entries = np.where(numbers < 0, NOTHING + STEPS + shades, NOTHING + shades).astype(np.uint8)
    entries = _enlarged(entries, scale)
    if masked is not None:
        closed = _enlarged(np.asarray(masked, dtype=bool), scale)
        entries[closed] = np.where(_diagonals(closed.shape, scale), MASKED_ENTRY, NOTHING)[closed]
    picture = Image.fromarray(entries, mode="P")
    picture.putpalette(_rgb("rgb(128, 128, 128)") + (1 + STEPS) * _rgb(BLUE) + STEPS * _rgb(ORANGE))
    shade = [round(255 * step / STEPS) for step in range(STEPS + 1)]
    transparency = bytes([70 if scale == 1 else 200, *shade, *shade[1:]])
    file = io.BytesIO()
    picture.save(file, "PNG", optimize=True, transparency=transparency)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


def narrowed(values: np.ndarray, widest: int) -> tuple[np.ndarray, int]:
    """A matrix of at most `widest` columns, and for how many neighbors each of them stands.

    In each row it has the strongest of their numbers, the farthest from zero: an average would let opposites vanish.
    """
    group = -(-values.shape[1] // widest)
    padded = np.pad(values, ((0, 0), (0, -values.shape[1] % group))).reshape(len(values), -1, group)
    strongest = abs(padded).argmax(axis=2, keepdims=True)
    return np.take_along_axis(padded, strongest, axis=2)[:, :, 0], group


def _enlarged(entries: np.ndarray, scale: int) -> np.ndarray:
    return entries.repeat(scale, axis=0).repeat(scale, axis=1)


def _diagonals(shape: tuple[int, ...], spacing: int) -> np.ndarray:
    rows, columns = np.indices(shape)
    return (rows + columns) % spacing == spacing - 1


def _rgb(color: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", color)]
