"""Matrices as small pictures inside a chart: one pixel a number, in the colors of the large maps."""

import base64
import io
import re

import numpy as np
from PIL import Image

from .style import BLUE, ORANGE

STEPS = 31  # shades of one hue: as many as the eye tells apart in a pixel or two
MASKED_ENTRY = 0


def thumbnail(values: object, masked: object | None = None, *, largest: float = 1.0) -> str:
    """Data address of a PNG with a pixel for each number of a `(rows, columns)` matrix.

    Blue as deep as the square root of a number up to `largest`, orange for negative ones, nothing at zero, grey where
    `masked` is True.
    """
    numbers = np.clip(np.asarray(values, dtype=float) / (largest or 1.0), -1, 1)
    shades = np.rint(np.sqrt(abs(numbers)) * STEPS).astype(np.uint8)
    entries = np.where(numbers < 0, 1 + STEPS + shades, 1 + shades).astype(np.uint8)
    if masked is not None:
        entries[np.asarray(masked, dtype=bool)] = MASKED_ENTRY
    picture = Image.fromarray(entries, mode="P")
    picture.putpalette(_rgb("rgb(128, 128, 128)") + (1 + STEPS) * _rgb(BLUE) + STEPS * _rgb(ORANGE))
    shade = [round(255 * step / STEPS) for step in range(STEPS + 1)]
    transparency = bytes([70, *shade, *shade[1:]])
    file = io.BytesIO()
    picture.save(file, "PNG", optimize=True, transparency=transparency)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


def _rgb(color: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", color)]
