"""What figures of all heads share: numbers for each head, and the map of the chosen head beside its overview."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np

from ..examples import KINDS, AttentionExample, as_array
from ..page import Patch, clickable, finished, one_column_below
from .notes import notes
from .panels import cells, heat_panel
from .parameters import KIND_LABELS, data, derived, longest_side, sentence_choice, shown_heads, title
from .window import ALL, PART, WHOLE, drawn_tokens, window_parameters, window_sliders

SIZE, PIXELS_PER_TOKEN = 230, 8
# Views side by side or below each other have their origins in line, so an overview that has no axes of its own starts
# in the room of the map's.
ROOM_LEFT, ROOM_ABOVE = 78, 64
CHOSEN = "datum.layer == layer && datum.head == head"


def per_head(name: str, values: Mapping[str, object], size: tuple[int, int]) -> dict[str, np.ndarray]:
    """A number for each head, `(layers, heads)` for each kind; `ValueError` that begins with `name`."""
    if set(values) != set(KINDS):
        raise ValueError(
            f"{name}: expected numbers for {', '.join(KINDS)}, got {', '.join(map(str, values)) or 'none'}"
        )
    numbers = {kind: as_array(values[kind]) for kind in KINDS}
    for kind, array in numbers.items():
        if array.shape != size:
            raise ValueError(f"{name}, {kind}: shape {array.shape}, the examples have (layers, heads) = {size}")
        if not np.isfinite(array).all():
            raise ValueError(f"{name}, {kind}: expected finite numbers")
    return numbers


def number_format(*numbers: object) -> str:
    """As many decimals as leave room for a sign in a small cell."""
    return ".1f" if max(abs(as_array(array)).max() for array in numbers) >= 10 else ".2f"


def every_head(layers: int, heads: int) -> alt.Chart:
    """A row for each head of a kind, made in the page: `layer` and `head` count from 1, `index` from 0."""
    rows = alt.Chart(alt.sequence(0, layers * heads, as_="index"))
    return rows.transform_calculate(layer=f"floor(datum.index / {heads}) + 1", head=f"datum.index % {heads} + 1")


def beside_map(
    overview: alt.TopLevelMixin,
    examples: Sequence[AttentionExample],
    parameters: Sequence[alt.Parameter],
    *,
    chosen: tuple[int, int, int] = (0, 1, 1),
    description: str,
    size: int | None,
) -> alt.ConcatChart:
    """The figure: an overview with its parameters, and the map of the head that a click or a control chooses.

    `chosen` are the kind, from 0, and the layer and the head, from 1, that are shown first.
    """
    longest = longest_side(examples)
    drawn, most = PART if longest > WHOLE else ALL, drawn_tokens(longest)
    gold = any(example.gold for example in examples)
    size = size or max(SIZE, PIXELS_PER_TOKEN * most)
    about = alt.TitleParams(text=notes(gold, drawn), fontSize=12, fontWeight="normal", offset=8)
    views = [overview, heat_panel(size, gold=gold).properties(title=about)]
    chart = alt.concat(*views, **cells(most, drawn), columns=2, spacing=24, title=title())
    shared = [sentence_choice(examples), *data(examples, shown_heads(examples)), *derived()]
    chart = chart.resolve_scale(color="independent").add_params(*shared, *parameters)
    patch = _controls(chosen, examples[0].heads, longest) + one_column_below(size + 480)
    if drawn is PART:
        chart, patch = chart.add_params(*window_parameters()), patch + window_sliders(longest)
    return finished(chart, description, patch=patch)


def _controls(chosen: tuple[int, int, int], heads: tuple[int, int], longest: int) -> Patch:
    """Kind, layer and head, which a click on a head sets too, and the query, which a click on a cell of a map sets."""
    kinds = {"input": "select", "options": list(range(len(KINDS))), "labels": KIND_LABELS, "name": "Attention "}
    numbers = [
        {"input": "range", "min": first, "max": last, "step": 1, "name": f"{label} "}
        for label, first, last in (("Layer", 1, heads[0]), ("Head", 1, heads[1]), ("Query (0: all)", 0, longest))
    ]
    controls = zip(("kind", "layer", "head", "query"), (*chosen, 0), (kinds, *numbers), strict=True)
    return [change for control in controls for change in clickable(*control)]
