"""The two views of the explorer. Both read the parameters `queries`, `keys`, `levels` and `focus` in the page."""

import altair as alt

from .style import BLUE, FAINT, INK, MASKED, ORANGE, SEQUENTIAL, TIGHT, hatching

FONT_SIZE = alt.expr("max(length(queries), length(keys)) > 24 ? 8 : 11")
SINGLED_OUT = "focus < 0 || datum.query == focus + 1"
WORDS, GAP = 84, 90  # width of a column of words and of the lines between two


CELLS = alt.Chart()  # inherits the rows of `cells` from the figure that the panels stand in


def cells(longest: int) -> dict[str, object]:
    """One row a cell, made in the page: `query` and `key` count from 1, `level` is below 0 where masked.

    The panels share these rows: they are worked out once for each choice of the reader.
    """
    rows = (
        alt.Chart(alt.sequence(0, longest**2, as_="cell"))
        .transform_filter("datum.cell < length(queries) * length(keys)")
        .transform_calculate(
            query="floor(datum.cell / length(keys)) + 1",
            key="datum.cell % length(keys) + 1",
            level="indexof(alphabet, levels[datum.cell])",
        )
        .transform_calculate(
            weight="datum.level < 0 ? 0 : pow(datum.level / (length(alphabet) - 1), 2)",
            query_token="queries[datum.query - 1]",
            key_token="keys[datum.key - 1]",
        )
        .transform_calculate(shown="datum.level < 0 ? 'masked' : format(datum.weight, '.2f')")
        .transform_calculate(
            about="'query ' + datum.query_token + (datum.level < 0 ? ' may not attend to key ' + datum.key_token"
            " : ' attends to key ' + datum.key_token + ', ' + datum.shown)"
        )
    )
    return {"data": rows.data, "transform": rows.transform}


def hover() -> alt.Parameter:
    """The query under the pointer."""
    return alt.selection_point(name="hover", fields=["query"], on="pointerover", clear="pointerout")


def heat_panel(size: int, *, gold: bool) -> alt.LayerChart:
    """Queries by keys, the weight as color; masked cells hatched, gold alignments outlined."""
    at = {
        "x": alt.X("key:O", axis=_key_axis(), scale=TIGHT),
        "y": alt.Y("query:O", axis=_query_axis(), scale=TIGHT),
    }
    color = alt.Color(
        "weight:Q",
        scale=alt.Scale(type="sqrt", domain=[0, 1], range=SEQUENTIAL),
        legend=alt.Legend(
            orient="bottom", title="weight", gradientLength=size, values=[0, 0.05, 0.2, 0.5, 1], format="~g"
        ),
    )
    rectangles = (
        CELLS.mark_rect(stroke=FAINT, strokeWidth=0.5)
        .encode(
            **at,
            color=alt.condition("datum.level < 0", alt.value(MASKED), color),
            opacity=alt.condition(SINGLED_OUT, alt.value(1), alt.value(0.3)),
            description="about:N",
            tooltip=[
                alt.Tooltip("query_token:N", title="query"),
                alt.Tooltip("key_token:N", title="key"),
                alt.Tooltip("shown:N", title="weight"),
            ],
        )
        .properties(name="heat")
        .add_params(hover())
    )
    masked = hatching(CELLS.transform_filter("datum.level < 0"), "key", "query")
    layers = [rectangles, masked] + ([_gold_cells().encode(**at)] if gold else [])
    return alt.layer(*layers).properties(name="attention_map", width=size, height=size)


def _gold_cells() -> alt.Chart:
    aligned = "kind == 2 && indexof(gold[sentence], datum.cell) >= 0"
    outlined = CELLS.transform_filter(aligned)
    return outlined.mark_rect(filled=False, stroke=ORANGE, strokeWidth=2, aria=False)


def _axis(tokens: str, **options: object) -> alt.Axis:
    return alt.Axis(
        labelExpr=f"{tokens}[datum.value - 1]",
        labelFontSize=FONT_SIZE,
        labelLimit=58,
        labelOverlap=False,
        ticks=False,
        domain=False,
        **options,
    )


def _key_axis() -> alt.Axis:
    # The room for words is fixed, so that nothing moves or is cut off when another sentence is chosen.
    return _axis("keys", title="key", orient="top", labelAngle=-60, labelAlign="left", minExtent=48, maxExtent=48)


def _query_axis() -> alt.Axis:
    weight = alt.condition("datum.value == focus + 1", alt.value("bold"), alt.value("normal"))
    return _axis("queries", title="query", orient="left", labelFontWeight=weight, minExtent=62, maxExtent=62)


def line_panel(size: int) -> alt.LayerChart:
    """Queries on the left, keys on the right, a line for each weight above 0.01, as wide as the weight."""
    placed = CELLS.transform_calculate(
        query_y=f"(datum.query - 0.5) / length(queries) * {size}", key_y=f"(datum.key - 0.5) / length(keys) * {size}"
    )
    first = placed.transform_filter("datum.cell == 0")
    left, right = alt.value(WORDS - 4), alt.value(WORDS + GAP + 4)
    heading = {"color": INK, "fontSize": 12, "aria": False, "baseline": "bottom"}
    headings = [
        first.mark_text(align="right", **heading).encode(x=left, y=alt.value(-8), text=alt.value("query")),
        first.mark_text(align="left", **heading).encode(x=right, y=alt.value(-8), text=alt.value("key")),
    ]
    words = {"baseline": "middle", "color": INK, "fontSize": FONT_SIZE, "aria": False}
    queries = placed.transform_filter("datum.key == 1").mark_text(align="right", limit=WORDS - 4, **words)
    keys = _keys_with_weights(placed).mark_text(align="left", limit=WORDS + 20, **words)
    opacity = alt.condition(SINGLED_OUT, alt.value(1), alt.value(0.4))
    layers = [
        _lines(placed),
        queries.encode(x=left, y=_pixels("query_y"), text="query_token:N", opacity=opacity),
        keys.encode(x=right, y=_pixels("key_y"), text="label:N"),
        *headings,
    ]
    return alt.layer(*layers).properties(name="attention_lines", width=2 * WORDS + GAP + 20, height=size)


def _lines(placed: alt.Chart) -> alt.Chart:
    heavy = placed.transform_filter("datum.weight > 0.01").transform_calculate(thickness="0.3 + 6 * datum.weight")
    return heavy.mark_rule(color=BLUE, aria=False).encode(
        x=alt.value(WORDS),
        x2=alt.value(WORDS + GAP),
        y=_pixels("query_y"),
        y2="key_y:Q",
        strokeWidth=alt.StrokeWidth("thickness:Q", scale=None),
        opacity=alt.value(alt.expr("focus < 0 ? 0.4 : datum.query == focus + 1 ? 0.9 : 0.04")),
    )


def _keys_with_weights(placed: alt.Chart) -> alt.Chart:
    """Each key once, with the weight that the query singled out gives it."""
    row = placed.transform_filter("datum.query == max(focus, 0) + 1")
    return row.transform_calculate(label="datum.key_token + (focus < 0 ? '' : '  ' + datum.shown)")


def _pixels(field: str) -> alt.Y:
    return alt.Y(f"{field}:Q", scale=None, axis=None)
