"""Where a traced tensor's pictures and words stand beside the figure, in pixels; heads stand in a square."""

import math
import textwrap
from collections.abc import Iterator

import numpy as np

from .thumbnails import narrowed, thumbnail
from .traced import TracedTensor

# The words of the rows; the room of the pictures; between two heads; above each of them.
WORDS, SIDE, TALLEST, GAP, HEADING = 66, 230, 300, 10, 15
TALLEST_ROW, SMALLEST_WORD, THINNEST_COLUMN, FONT = 16, 8, 1.75, 11
CHARACTERS = 46  # a line of words: 300 pixels, in a wide font too
MASK_SCALE = 5  # pixels a number, so that masked ones can be hatched
Row = dict[str, object]


def pictures(tensor: TracedTensor) -> Iterator[Row]:
    """Place, picture and headings of each head, or of the only matrix; none for a list of numbers."""
    if tensor.values.ndim == 1:
        return
    masks = [None] * len(tensor.matrices) if tensor.masked is None else tensor.masked.reshape(tensor.matrices.shape)
    largest = float(abs(tensor.values).max())
    for head, (matrix, mask) in enumerate(zip(tensor.matrices, masks, strict=True)):
        label = f"head {head + 1}" if tensor.values.ndim == 3 else ""
        yield place(tensor, head) | {
            "picture": _picture(matrix, mask, largest, _most_columns(tensor)),
            "label": label,
            "across": f"{tensor.axes[-1]} →",
        }


def _picture(matrix: np.ndarray, mask: np.ndarray | None, largest: float, most_columns: int) -> str:
    drawn, _ = narrowed(matrix, most_columns)
    if mask is None:
        return thumbnail(drawn, largest=largest)
    some_open, _ = narrowed((~mask).astype(float), most_columns)
    return thumbnail(drawn, some_open == 0, largest=largest, scale=MASK_SCALE)


def words(tensor: TracedTensor) -> Iterator[Row]:
    """Lists of the tokens beside the rows of a picture, their places and, for ids, numbers; none in rows too low."""
    height, down = _row_height(tensor), f"{tensor.axes[max(len(tensor.axes) - 2, 0)]} ↓"
    if height < SMALLEST_WORD:
        return
    numbers = [f"{value:g}" for value in tensor.values] if tensor.values.ndim == 1 else [""] * tensor.rows
    for head in range(0, len(tensor.matrices), _across(tensor)):
        top = place(tensor, head)["top"]
        middles = [round(top + (row + 0.5) * height, 1) for row in range(tensor.rows)]
        yield {
            "size": min(FONT, round(height)),
            "token": [down, *map(str, tensor.tokens)],
            "middle": [top - HEADING / 2, *middles],
            "number": ["", *numbers],
        }


def remarks(tensor: TracedTensor) -> str:
    """What a reader of the picture has to know."""
    if tensor.values.ndim == 1:
        return "Beside each token its id."
    low, high = (f"{value:.2f}".replace("-", "−") for value in (tensor.values.min(), tensor.values.max()))
    notes = [f"From {low} (orange) to {high} (blue)." if (tensor.values < 0).any() else f"From {low} to {high} (blue)."]
    group = narrowed(tensor.matrices[0], _most_columns(tensor))[1]
    notes += [f"Each column drawn is the strongest of {group}."] if group > 1 else []
    notes += ["Hatched: masked."] if np.any(tensor.masked) else []
    return " ".join(notes)


def wrapped(sentence: str) -> list[str]:
    """The lines of a sentence beside the figure."""
    return textwrap.wrap(sentence, CHARACTERS)


def place(tensor: TracedTensor, head: int) -> Row:
    """Corner and size of one head's picture."""
    across, height = _across(tensor), tensor.rows * _row_height(tensor)
    width = (SIDE - GAP * (across - 1)) / across
    row, column = divmod(head, across)
    corner = {"x": WORDS + column * (width + GAP), "top": HEADING + row * (height + HEADING + GAP)}
    return {name: round(pixels, 1) for name, pixels in (corner | {"width": width, "height": height}).items()}


def _most_columns(tensor: TracedTensor) -> int:
    return int(place(tensor, 0)["width"] / THINNEST_COLUMN)


def _across(tensor: TracedTensor) -> int:
    return math.ceil(math.sqrt(len(tensor.matrices)))


def _row_height(tensor: TracedTensor) -> float:
    down = math.ceil(len(tensor.matrices) / _across(tensor))
    return min(TALLEST_ROW, (TALLEST / down - HEADING - GAP) / tensor.rows)
