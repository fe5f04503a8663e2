"""The tensor of the current step: what has changed, its name and sizes, and its picture with words beside the rows."""

from collections.abc import Callable, Iterable, Sequence

import altair as alt

from ..style import FAINT, INK, pixels
from .tensor_pictures import SIDE, TALLEST, WORDS, Row, pictures, remarks, words, wrapped
from .traced import TracedTensor

LINE, SIZES, AXES, BELOW = 15, 30, 46, 72  # pixels: a line of words; from there to the shape, and to what follows it
AXIS = 84  # pixels from one size to the next
ROW = alt.Chart()  # inherits its rows from the layers that it stands in


def tensor_panel(traced: Sequence[TracedTensor]) -> alt.LayerChart:
    """Draws the tensor number `step`, a name that the page has to know. Nothing moves from one step to the next."""
    shape = LINE * max(len(wrapped(tensor.change)) for tensor in traced)
    notes = shape + BELOW
    picture = notes + LINE * max(len(wrapped(remarks(tensor))) for tensor in traced) + 6
    layers = [
        alt.layer(_sentence(6), **_rows(traced, lambda tensor: _lines(tensor.change))),
        alt.layer(_name(shape), **_rows(traced, _named)),
        alt.layer(*_shape(shape), **_rows(traced, _sizes)),
        alt.layer(_sentence(notes), **_rows(traced, lambda tensor: _lines(remarks(tensor)))),
        alt.layer(*_pictures(picture), **_rows(traced, pictures)),
        alt.layer(*_row_words(picture), **_rows(traced, words)),
    ]
    title = alt.TitleParams(text=alt.expr("headings[step - 1]"), offset=8)
    return alt.layer(*layers).properties(name="tensor", width=WORDS + SIDE, height=picture + TALLEST, title=title)


def _rows(traced: Sequence[TracedTensor], rows: Callable[[TracedTensor], Iterable[Row]]) -> dict[str, object]:
    """The rows of every tensor as data of the page, which shows those of one step."""
    values = [{"step": step} | row for step, tensor in enumerate(traced, 1) for row in rows(tensor)]
    return {"data": alt.Data(values=values), "transform": [alt.FilterTransform("datum.step == step")]}


def _lines(sentence: str) -> list[Row]:
    return [{"said": sentence, "lines": "\n".join(wrapped(sentence))}]


def _sentence(top: float) -> alt.Chart:
    text = ROW.mark_text(color=INK, fontSize=12, align="left", baseline="middle", lineBreak="\n", lineHeight=LINE)
    return text.encode(x=alt.value(0), y=alt.value(top), text="lines:N", description="said:N")


def _named(tensor: TracedTensor) -> list[Row]:
    return [{"name": tensor.name, "about": f"{tensor.name}: {tensor.shape}"}]


def _name(top: float) -> alt.Chart:
    text = ROW.mark_text(color=INK, fontSize=13, align="left", fontWeight="bold")
    return text.encode(x=alt.value(0), y=alt.value(top + SIZES), text="name:N", description="about:N")


def _sizes(tensor: TracedTensor) -> Iterable[Row]:
    for index, (size, axis) in enumerate(zip(tensor.values.shape, tensor.axes, strict=True)):
        yield {"index": index, "x": WORDS + 44 + AXIS * index, "size": size, "axis": axis}


def _shape(top: float) -> list[alt.Chart]:
    """For example 4 × 9 × 9, over heads, n_q and n_k."""
    numbers, plain = alt.value(top + SIZES), {"color": INK, "aria": False}
    times = ROW.transform_filter("datum.index > 0").mark_text(**plain, fontSize=16, dx=-AXIS / 2)
    return [
        ROW.mark_text(**plain, fontSize=18).encode(pixels(alt.X, "x"), y=numbers, text="size:N"),
        ROW.mark_text(**plain, fontSize=12).encode(pixels(alt.X, "x"), y=alt.value(top + AXES), text="axis:N"),
        times.encode(pixels(alt.X, "x"), y=numbers, text=alt.value("×")),
    ]


def _pictures(top: float) -> list[alt.Chart]:
    """Each matrix, a frame around it, and above it a head's number and the axis that runs to the right."""
    size = {name: alt.expr(f"datum.{name}") for name in ("width", "height")}
    place = {"x": pixels(alt.X, "x"), "y": pixels(alt.Y, "y")}
    placed = ROW.transform_calculate(
        y=f"datum.top + {top}", x2="datum.x + datum.width", y2=f"datum.top + datum.height + {top}"
    )
    # The sentences above say what is in it; and a step without a picture would leave a described layer empty.
    image = placed.mark_image(**size, align="left", baseline="top", aspect=False, smooth=False, aria=False)
    frame = placed.mark_rect(filled=False, stroke=FAINT, aria=False)
    above = {"color": INK, "fontSize": 11, "baseline": "bottom", "dy": -2, "aria": False}
    return [
        image.encode(**place, url="picture:N"),
        frame.encode(**place, x2="x2:Q", y2="y2:Q"),
        placed.mark_text(**above, align="left").encode(**place, text="label:N"),
        placed.mark_text(**above, align="right").encode(pixels(alt.X, "x2"), pixels(alt.Y, "y"), text="across:N"),
    ]


def _row_words(top: float) -> list[alt.Chart]:
    """A token beside each row, and behind it the number of a row that is only one."""
    placed = ROW.transform_flatten(["token", "middle", "number"]).transform_calculate(y=f"datum.middle + {top}")
    text = {"color": INK, "fontSize": alt.expr("datum.size"), "baseline": "middle", "aria": False}
    tokens = placed.mark_text(**text, align="right", limit=WORDS - 5)
    numbers = placed.mark_text(**text, align="left")
    return [
        tokens.encode(x=alt.value(WORDS - 5), y=pixels(alt.Y, "y"), text="token:N"),
        numbers.encode(x=alt.value(WORDS + 6), y=pixels(alt.Y, "y"), text="number:N"),
    ]
