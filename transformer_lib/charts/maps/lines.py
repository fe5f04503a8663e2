"""The attention of one head as lines between two columns of words; reads the same parameters as the heat map."""

import altair as alt

from ..style import BLUE, INK, pixels
from .panels import CELLS, FONT_SIZE, SINGLED_OUT
from .window import ALL, Drawn

WORDS, GAP, KEYS = 84, 90, 104  # width of the queries, of the lines, and of the keys with their weights
BACK = 60  # pixels to the left where the panel stands in one column, below the axis of the heat map


def line_panel(size: int, drawn: Drawn = ALL) -> alt.LayerChart:
    """Queries on the left, keys on the right, a line for each weight above 0.01, as wide as the weight.

    Also reads the signal of `page.one_column_below`.
    """
    placed = CELLS.transform_calculate(
        query_y=f"(datum.query - {drawn.first_query} + 0.5) / {drawn.queries} * {size}",
        key_y=f"(datum.key - {drawn.first_key} + 0.5) / {drawn.keys} * {size}",
    )
    first = placed.transform_filter("datum.cell == 0")
    left, right = _at(WORDS - 4), _at(WORDS + GAP + 4)
    heading = {"color": INK, "fontSize": 12, "aria": False, "baseline": "bottom"}
    headings = [
        first.mark_text(align="right", **heading).encode(x=left, y=alt.value(-8), text=alt.value("query")),
        first.mark_text(align="left", **heading).encode(x=right, y=alt.value(-8), text=alt.value("key")),
    ]
    words = {"baseline": "middle", "color": INK, "fontSize": FONT_SIZE, "aria": False}
    queries = placed.transform_filter(f"datum.key == {drawn.first_key}").mark_text(
        align="right", limit=WORDS - 4, **words
    )
    keys = _keys_with_weights(placed, drawn).mark_text(align="left", limit=KEYS, **words)
    opacity = alt.condition(SINGLED_OUT, alt.value(1), alt.value(0.65))
    layers = [
        _lines(placed),
        queries.encode(x=left, y=pixels(alt.Y, "query_y"), text="query_token:N", opacity=opacity),
        keys.encode(x=right, y=pixels(alt.Y, "key_y"), text="label:N"),
        *headings,
        # Keeps the room of the words, whatever they are.
        first.mark_rule(opacity=0, aria=False).encode(x=left, x2=_at(WORDS + GAP + 4 + KEYS)),
    ]
    return alt.layer(*layers).properties(name="attention_lines", width=WORDS + GAP, height=size)


def _at(pixels: int) -> dict[str, object]:
    """A place from the left."""
    return alt.value(alt.expr(f"{pixels} - (columns == 1 ? {BACK} : 0)"))


def _lines(placed: alt.Chart) -> alt.Chart:
    heavy = placed.transform_filter("datum.weight > 0.01").transform_calculate(thickness="0.3 + 6 * datum.weight")
    return heavy.mark_rule(color=BLUE, aria=False).encode(
        x=_at(WORDS),
        x2=_at(WORDS + GAP),
        y=pixels(alt.Y, "query_y"),
        y2="key_y:Q",
        strokeWidth=alt.StrokeWidth("thickness:Q", scale=None),
        opacity=alt.value(alt.expr("focus < 0 ? 0.4 : datum.query == focus + 1 ? 0.9 : 0.04")),
    )


def _keys_with_weights(placed: alt.Chart, drawn: Drawn) -> alt.Chart:
    """Each key once, with the weight that the query singled out gives it, drawn or not."""
    level = "indexof(alphabet, levels[max(focus, 0) * length(keys) + datum.key - 1])"
    weight = f"{level} < 0 ? 'masked' : format(pow({level} / (length(alphabet) - 1), 2), '.2f')"
    row = placed.transform_filter(f"datum.query == {drawn.first_query}")
    return row.transform_calculate(label=f"datum.key_token + (focus < 0 ? '' : '  ' + ({weight}))")
