"""The cells of a map and its heat map; they read the parameters `queries`, `keys`, `levels` and `focus` of the page."""

import altair as alt

from ..style import FAINT, MASKED, ORANGE, SEQUENTIAL, TIGHT, hatching
from .window import ALL, Drawn

FONT_SIZE = alt.expr("max(length(queries), length(keys)) > 24 ? 8 : 11")
SINGLED_OUT = "focus < 0 || datum.query == focus + 1"
WEIGHT_SCALE = alt.Scale(type="sqrt", domain=[0, 1], range=SEQUENTIAL)
CELLS = alt.Chart()  # inherits the rows of `cells` from the figure that the panels stand in


def cells(longest: int, drawn: Drawn = ALL) -> dict[str, object]:
    """One row a cell, made in the page: `query` and `key` count from 1, `level` is below 0 where masked.

    The panels share these rows: they are worked out once for each choice of the reader. `longest` is the most tokens
    that are drawn a side, `drawn` says which.
    """
    rows = (
        alt.Chart(alt.sequence(0, longest**2, as_="cell"))
        .transform_filter(f"datum.cell < {drawn.queries} * {drawn.keys}")
        .transform_calculate(
            query=f"floor(datum.cell / {drawn.keys}) + {drawn.first_query}",
            key=f"datum.cell % {drawn.keys} + {drawn.first_key}",
        )
        .transform_calculate(place="(datum.query - 1) * length(keys) + datum.key - 1")
        .transform_calculate(level="indexof(alphabet, levels[datum.place])")
        .transform_calculate(weight="datum.level < 0 ? 0 : pow(datum.level / (length(alphabet) - 1), 2)")
    )
    rows = cell_words(rows)
    return {"data": rows.data, "transform": rows.transform}


def cell_words(rows: alt.Chart) -> alt.Chart:
    """Adds the tokens of each cell, and what it says of itself, to rows of `query`, `key`, `level` and `weight`."""
    return (
        rows.transform_calculate(query_token="queries[datum.query - 1]", key_token="keys[datum.key - 1]")
        .transform_calculate(shown="datum.level < 0 ? 'masked' : format(datum.weight, '.2f')")
        .transform_calculate(
            about="'query ' + datum.query_token + (datum.level < 0 ? ' may not attend to key ' + datum.key_token"
            " : ' attends to key ' + datum.key_token + ', ' + datum.shown)"
        )
    )


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
        scale=WEIGHT_SCALE,
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
    return alt.layer(*layers, _room(size)).properties(name="attention_map", width=size, height=size)


def _room(size: int) -> alt.Chart:
    """Room on the right for the last key's slanted word, such as `</s>`: what stands beside the map does not move."""
    ends = {"x": alt.value(size), "x2": alt.value(size + 9), "y": alt.value(size), "y2": alt.value(size)}
    return alt.Chart(alt.Data(values=[{}])).mark_rule(opacity=0, aria=False).encode(**ends)


def _gold_cells() -> alt.Chart:
    aligned = "kind == 2 && indexof(gold[sentence], datum.place) >= 0"
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
    return _axis("queries", title="query", orient="left", labelFontWeight=weight, minExtent=60, maxExtent=60)
