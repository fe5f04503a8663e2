"""All heads of a model at a glance: a small map of each, in the order of a measure, and the chosen one in large."""

import math
from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np

from ..examples import KINDS, AttentionExample
from ..style import FAINT, INK, words
from .overview import CHOSEN, ROOM_ABOVE, ROOM_LEFT, beside_map, every_head, number_format, per_head
from .parameters import as_examples
from .pictures import Sheet, picture

ABREAST, WIDTH, LARGEST = 8, 284, 71  # small maps in a line at most, and pixels: of a line, of a map with its gap
NARROW = 48  # below a map narrower than that, number and value stand below each other
PIXELS = {"scale": None, "axis": None}
Measures = Mapping[str, Mapping[str, object]]


def head_grid(
    examples: AttentionExample | Sequence[AttentionExample],
    *,
    measures: Measures | None = None,
    size: int | None = None,
) -> alt.ConcatChart:
    """A small map of every head of the chosen sentence and kind, and one of them in large, with its words.

    A click on a small map, or the layer and head sliders, choose the large one. `measures` are numbers by which the
    reader may order the heads, largest first: for each name a number for each head, `(layers, heads)` by kind, as in
    `{"entropy in bits": {"encoder": ..., "decoder": ..., "cross": ...}}`. `size` is the side of the large map in
    pixels. `ValueError` where the examples are none or of different models, or where a measure does not fit them.
    """
    examples = as_examples(examples)
    layers, heads = examples[0].heads
    measured = {name: per_head(name, values, (layers, heads)) for name, values in (measures or {}).items()}
    sheet = _sheet(layers, heads)
    return beside_map(
        _small_maps(sheet, layers, heads),
        examples,
        [_order(measured), *_by_order(measured, sheet.count), *picture(sheet)],
        description="A small attention map of every head of the chosen kind, and the map of the chosen head",
        size=size,
    )


def _order(measured: Mapping[str, object]) -> alt.Parameter:
    """0 for the place in the model, from 1 for the measures."""
    if not measured:
        return alt.param(name="order", value=0)
    labels = ["layer and head", *measured]
    return alt.param(
        name="order", value=0, bind=alt.binding_select(options=list(range(len(labels))), labels=labels, name="Order ")
    )


def _by_order(measured: Mapping[str, Mapping[str, np.ndarray]], count: int) -> list[alt.Parameter]:
    """By order and kind: the number of each head, and the indexes of the heads with the largest number first."""
    numbers = [[values[kind].ravel() for kind in KINDS] for values in measured.values()]
    parameters = {
        "order_names": ["", *measured],
        "order_formats": ["", *(number_format(*kinds) for kinds in numbers)],
        "numbers": [[], *([[float(f"{value:.4g}") for value in kind] for kind in kinds] for kinds in numbers)],
        "orders": [[list(range(count))] * len(KINDS), *([_largest_first(kind) for kind in kinds] for kinds in numbers)],
    }
    seats = alt.param(name="seats", expr="orders[order][kind]")
    return [*(alt.param(name=name, value=value) for name, value in parameters.items()), seats]


def _largest_first(numbers: np.ndarray) -> list[int]:
    return np.argsort(-numbers, kind="stable").tolist()


def _sheet(layers: int, heads: int) -> Sheet:
    columns = math.ceil(heads / math.ceil(heads / ABREAST))
    across = min(WIDTH // columns, LARGEST)
    gap, caption = (4, 24) if across <= NARROW else (8, 15)
    return Sheet(layers * heads, columns, across - gap, across, across + caption)


def _small_maps(sheet: Sheet, layers: int, heads: int) -> alt.LayerChart:
    """The picture of all heads; below each its number and its value, on top of it a frame that can be clicked."""
    rows = (
        every_head(layers, heads)
        .transform_calculate(place="indexof(seats, datum.index)", value=_value("datum.index"))
        .transform_calculate(
            left=f"datum.place % {sheet.columns} * {sheet.across} - {ROOM_LEFT}",
            top=f"floor(datum.place / {sheet.columns}) * {sheet.down} - {ROOM_ABOVE}",
        )
        .transform_calculate(
            right=f"datum.left + {sheet.side}",
            bottom=f"datum.top + {sheet.side}",
            number="datum.layer + '.' + datum.head",
            about="'layer ' + datum.layer + ', head ' + datum.head"
            " + (order == 0 ? '' : ', ' + order_names[order] + ' ' + datum.value)",
        )
    )
    every = alt.layer(_image(sheet), *_captions(narrow=sheet.across <= NARROW), _frames())
    every = every.properties(name="small_maps", data=rows.data, transform=rows.transform)
    width, height = max(sheet.width - ROOM_LEFT, 1), max(sheet.height - ROOM_ABOVE, 1)
    return every.properties(width=width, height=height, title=_words(layers, heads))


def _image(sheet: Sheet) -> alt.Chart:
    place = {"x": -ROOM_LEFT, "y": -ROOM_ABOVE, "align": "left", "baseline": "top"}
    size = {"width": sheet.width, "height": sheet.height, "aspect": False}
    return alt.Chart(alt.Data(values=[{}])).mark_image(url=alt.expr("picture"), aria=False, **place, **size)


def _captions(*, narrow: bool) -> list[alt.Chart]:
    """Number and value of each head below its map."""
    style = {"baseline": "top", "fontSize": 9 if narrow else 11, "aria": False}
    numbers = alt.Chart().mark_text(align="left", dy=3, fontWeight="bold", **style)
    values = alt.Chart().mark_text(align="left" if narrow else "right", dy=13 if narrow else 3, **style)
    below = alt.Y("bottom:Q", **PIXELS)
    return [
        numbers.encode(alt.X("left:Q", **PIXELS), below, text="number:N"),
        values.encode(alt.X("left:Q" if narrow else "right:Q", **PIXELS), below, text="value:N"),
    ]


def _frames() -> alt.Chart:
    """What is clicked, and what says which head is where."""
    head = "layer: datum.layer, head: datum.head"
    tooltip = alt.expr(f"order == 0 ? {{{head}}} : {{{head}, value: datum.value}}")
    frames = alt.Chart(name="every_head").mark_rect(fill="transparent", cursor="pointer", tooltip=tooltip)
    return frames.encode(
        x=alt.X("left:Q", **PIXELS),
        y=alt.Y("top:Q", **PIXELS),
        x2="right:Q",
        y2="bottom:Q",
        stroke=alt.condition(CHOSEN, alt.value(INK), alt.value(FAINT)),
        strokeWidth=alt.condition(CHOSEN, alt.value(2), alt.value(1)),
        description="about:N",
    )


def _value(index: str) -> str:
    return f"order == 0 ? '' : format(numbers[order][kind][{index}], order_formats[order])"


def _words(layers: int, heads: int) -> alt.TitleParams:
    """How the heads are ordered, and where the chosen one stands; two lines, so that nothing below them moves."""
    index = f"(layer - 1) * {heads} + head - 1"
    place = f"indexof(seats, {index}) + 1 + ' of {layers * heads}'"
    return words(
        "order == 0 ? 'Every head, numbered layer.head.' : 'By ' + order_names[order] + ', largest first.'",
        "order == 0 ? 'Click a map to see it with its words.' : "
        f"'Layer ' + layer + ', head ' + head + ': ' + ({_value(index)}) + ', number ' + ({place}) + '.'",
    )
