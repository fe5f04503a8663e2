"""The softmax lab: raw scores in the page, and the softmax worked out anew for each choice of the reader."""

import math
from collections.abc import Sequence

import altair as alt

from ..maps.panels import CELLS, FONT_SIZE, cell_words, heat_panel
from ..maps.parameters import query_choice
from ..page import finished, one_column_below
from ..style import BLUE, INK, ORANGE, TIGHT
from .softmax import checked_matrix, checked_openings, checked_words, with_softmax

DECIMALS = 3  # of the scores in the page: at the lowest temperature a weight is off by 0.001 at most
SIZE, PIXELS_PER_TOKEN, WORDS, BARS = 230, 8, 60, 200
ENTROPIES = 490  # pixels beside the map, in the window that holds both
FOCUSED = "datum.query == focus + 1"


def softmax_lab(
    scores: object,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    d_k: int,
    mask: object | None = None,
    title: str = "",
) -> alt.ConcatChart:
    """Weights and entropy of each query, while the reader masks, divides by √d_k and changes the temperature.

    `scores` are the dot products of queries and keys, `(n_q, n_k)`, neither divided nor masked; `mask` is boolean of
    that shape, True = may attend, and brings a box of its own. A query that may attend nowhere gets zeros. Entropies
    are in bits, and the mark beside each bar is the largest possible, log2 of the number of open keys (section 3.2.1).
    `ValueError` where shapes and tokens do not fit, and for more than 64 tokens a side.
    """
    queries, keys = checked_words("queries", queries), checked_words("keys", keys)
    shape = len(queries), len(keys)
    scores = checked_matrix("scores", scores, *shape, f"{shape} (queries, keys)")
    if d_k < 1:
        raise ValueError(f"d_k: {d_k}, expected a width of at least 1")
    openings = checked_openings(mask, shape)
    size = max(SIZE, PIXELS_PER_TOKEN * max(shape))
    panels = [heat_panel(size, gold=False).properties(title=_notes(d_k)), _entropy_panel(size, len(keys))]
    chart = alt.concat(*panels, **_cells(shape), columns=2, spacing=24, title=title)
    data = {"queries": queries, "keys": keys, "scores": scores.round(DECIMALS).ravel().tolist(), "openings": openings}
    chart = chart.add_params(
        *(alt.param(name=name, value=value) for name, value in data.items()),
        *_controls(d_k, len(queries), masked=mask is not None),
        alt.param(name="focus", expr="(isArray(hover.query) ? hover.query[0] : query) - 1"),
    )
    about = "Attention weights and entropy of each query, computed from raw scores as the controls say"
    return finished(chart, about, patch=one_column_below(size + ENTROPIES))


def _controls(d_k: int, n_queries: int, *, masked: bool) -> list[alt.Parameter]:
    mask = {"bind": alt.binding_checkbox(name="Mask ")} if masked else {}
    return [
        alt.param(name="masked", value=masked, **mask),
        alt.param(name="divided", value=True, bind=alt.binding_checkbox(name=f"Divide by √{d_k} ")),
        alt.param(name="temperature", value=1, bind=alt.binding_range(min=0.25, max=4, step=0.25, name="Temperature ")),
        query_choice(n_queries),
        alt.param(name="divisor", expr=f"(divided ? {math.sqrt(d_k)} : 1) * temperature"),
    ]


def _cells(shape: tuple[int, int]) -> dict[str, object]:
    """One row a cell, shared by the panels; `query` and `key` count from 1, `level` is below 0 where masked."""
    n_q, n_k = shape
    rows = (
        alt.Chart(alt.sequence(0, n_q * n_k, as_="cell"))
        .transform_calculate(query=f"floor(datum.cell / {n_k}) + 1", key=f"datum.cell % {n_k} + 1")
        .transform_calculate(level="masked && openings[datum.cell] == '0' ? -1 : 0")
        .transform_calculate(logit="datum.level < 0 ? null : scores[datum.cell] / divisor")
    )
    rows = cell_words(with_softmax(rows, ["query"])).transform_calculate(
        bits="datum.weight > 0 ? -datum.weight * log(datum.weight) / LN2 : 0", may_attend="datum.level + 1"
    )
    return {"data": rows.data, "transform": rows.transform}


def _notes(d_k: int) -> alt.TitleParams:
    """Which softmax is drawn, and what hatching means; always two lines, so that the panels do not move."""
    divisor = f"(divided ? ' / √{d_k}' : '') + (temperature == 1 ? '' : ' / ' + temperature)"
    hatched = "masked ? 'Hatched: masked, no attention allowed.' : ' '"
    text = alt.expr(f"['Weights: softmax of q·k' + {divisor}, {hatched}]")
    return alt.TitleParams(text=text, fontSize=12, fontWeight="normal", offset=8)


def _entropy_panel(height: int, n_keys: int) -> alt.LayerChart:
    """A bar for each query, beside its row of the heat map, with the mean and the largest possible marked."""
    rows = (
        CELLS.transform_aggregate(entropy="sum(bits)", open="sum(may_attend)", groupby=["query", "query_token"])
        .transform_calculate(most="datum.open > 0 ? log(datum.open) / LN2 : 0", shown="format(datum.entropy, '.2f')")
        .transform_calculate(limit="datum.shown + ' of at most ' + format(datum.most, '.2f') + ' bits'")
        .transform_calculate(about="'query ' + datum.query_token + ': entropy ' + datum.limit")
    )
    labels = alt.Axis(
        labelExpr="queries[datum.value - 1]",
        title=None,
        labelFontSize=FONT_SIZE,
        ticks=False,
        domain=False,
        labelOverlap=False,
        labelLimit=WORDS - 4,
        minExtent=WORDS,
        maxExtent=WORDS,
    )
    y = alt.Y("query:O", scale=TIGHT, axis=labels)
    bits = alt.Scale(domain=[0, max(math.log2(n_keys), 1)], nice=False)
    x = alt.X("entropy:Q", scale=bits, axis=alt.Axis(grid=False, title="entropy, bits"))
    bars = rows.mark_bar(color=BLUE, height={"band": 0.75}).encode(
        x, y, description="about:N", opacity=alt.condition(f"focus < 0 || {FOCUSED}", alt.value(1), alt.value(0.3))
    )
    limits = rows.mark_tick(color=ORANGE, thickness=2, opacity=1, aria=False).encode(x="most:Q", y=y)
    mean = rows.mark_rule(color=INK, strokeDash=[3, 3], aria=False).encode(x="mean(entropy):Q")
    layers = alt.layer(bars.properties(name="entropy"), limits, mean, *_words(rows))
    return layers.properties(name="entropies", width=BARS, height=height)


def _words(rows: alt.Chart) -> list[alt.Chart]:
    """Four lines above the bars: the row singled out, its strongest keys, and what the marks stand for."""
    # They stand beside the words of the keys, which need that much room above the map.
    query = rows.transform_filter("datum.query == max(focus, 0) + 1").transform_calculate(
        line="focus < 0 ? 'Hover over a row, or choose a query.' : "
        "datum.open ? 'Query “' + datum.query_token + '”: ' + datum.limit : "
        "'Query “' + datum.query_token + '” may not attend to any key.'"
    )
    mean = rows.transform_aggregate(mean="mean(entropy)").transform_calculate(
        line="'Mean of all queries, dashed: ' + format(datum.mean, '.2f') + ' bits'"
    )
    limits = mean.transform_calculate(line="'Marks: the most that open keys allow'")
    text = {"align": "left", "baseline": "middle", "color": INK, "fontSize": 12, "limit": WORDS + BARS}
    return [
        line.mark_text(**text).encode(
            text="line:N", description="line:N", x=alt.value(-WORDS), y=alt.value(16 * at - 70)
        )
        for at, line in enumerate((query, _strongest_keys(), mean, limits))
    ]


def _strongest_keys() -> alt.Chart:
    """The two keys that the query singled out attends to most, in a line of words."""
    return (
        CELLS.transform_filter(f"{FOCUSED} && datum.level == 0")
        .transform_calculate(told="'“' + datum.key_token + '”, ' + datum.shown")
        .transform_window(rank="row_number()", second="lead(told)", sort=[alt.SortField("weight", order="descending")])
        .transform_filter("datum.rank == 1")
        .transform_calculate(line="'Most to ' + datum.told + (datum.second ? '; then ' + datum.second : '')")
    )
