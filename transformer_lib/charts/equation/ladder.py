"""The two views of `attention_steps`: keys that meet the query, and values that are mixed. A row is a key in both."""

from dataclasses import dataclass

import altair as alt

from ..maps.panels import CELLS
from .ladder_marks import (
    BAR,
    BOX,
    CELL,
    KEY,
    LINE,
    NUMBER,
    ONCE,
    QUERY,
    ROW,
    STRIP,
    WORD,
    colors,
    from_step,
    heading,
    key_words,
    label,
    line,
    numbers,
    strips,
    weights,
    word_boxes,
    word_buttons,
)
from .step_rows import scored, summed, weighted

GAP = 10


@dataclass(frozen=True)
class Ladder:
    """Sizes of the head, largest numbers for the colors, and the height at which things stand."""

    queries: list[str]
    n_keys: int
    d_k: int
    d_v: int
    largest: tuple[float, float]  # in queries and keys, and in values

    @property
    def query_at(self) -> float:
        """Top of the query's vector, below the words of the first view; the four lines of the second end there."""
        last_line = word_boxes(self.queries)[-1]["line"]
        return max(LINE + BOX * (last_line + 1), 3 * LINE) + GAP

    @property
    def rows_at(self) -> float:
        """Top of the first key; the headings stand above it."""
        return self.query_at + 2 * ROW + GAP

    @property
    def row_at(self) -> str:
        """Top of a key's row, as an expression."""
        return f"{self.rows_at} + {ROW} * (datum.key - 1)"

    @property
    def sum_at(self) -> float:
        """Top of the output."""
        return self.rows_at + ROW * self.n_keys + GAP


def comparison(ladder: Ladder) -> alt.LayerChart:
    """The words to choose from, the query's vector, and below it every key's with its dot product."""
    query = CELLS.transform_filter("datum.key == 1").transform_calculate(
        number="datum.asked",
        about=f"'query ' + {QUERY} + ', component ' + datum.component + ': ' + format(datum.asked, '.2f')",
    )
    keys = CELLS.transform_calculate(
        about=f"'key ' + {KEY} + ', component ' + datum.component + ': ' + format(datum.number, '.2f') + "
        "', times query ' + format(datum.asked, '.2f') + ' is ' + format(datum.product, '.2f')"
    )
    top, above = ladder.row_at, ladder.rows_at - 4
    color = colors(ladder.largest[0], "number in query or key")
    score, scaled = WORD + STRIP + NUMBER, WORD + STRIP + 2 * NUMBER
    scores = alt.layer(
        key_words(top),
        numbers(2, "score", "q·k", top, score),
        numbers(3, "scaled", f"q·k / √{ladder.d_k}", top, scaled),
        **scored(ladder.d_k),
    )
    layers = [
        line(LINE / 2, ONCE, "'Click a query, or move the slider:'"),
        *word_buttons(ladder.queries),
        label(1, QUERY, ladder.query_at, WORD),
        *strips(query, "query_vector", str(ladder.query_at), WORD, ladder.d_k, color),
        heading(1, "vector of each key", above, WORD),
        *strips(keys, "key_vectors", top, WORD, ladder.d_k, color),
        heading(2, "q·k", above, score, "right"),
        heading(3, f"/ √{ladder.d_k}", above, scaled, "right"),
        scores,
    ]
    return alt.layer(*layers).properties(name="comparison", width=scaled, height=ladder.sum_at)


def mixture(ladder: Ladder) -> alt.LayerChart:
    """What the softmax makes of the scores, the values with these weights, and their sum, the output."""
    values = weighted(ladder.d_v).transform_calculate(
        about=f"'value of ' + {KEY} + ', component ' + datum.component + ': weight ' + format(datum.weight, '.2f') + "
        "' times ' + format(datum.value, '.2f') + ' is ' + format(datum.number, '.2f')"
    )
    output = summed(ladder.d_v).transform_calculate(
        about=f"'output for ' + {QUERY} + ', component ' + datum.component + ': ' + format(datum.number, '.2f')"
    )
    top, above, left = ladder.row_at, ladder.rows_at - 4, WORD + BAR + NUMBER
    color = colors(ladder.largest[1], "number in weight × value")
    layers = [
        *_said(ladder),
        key_words(top),
        heading(4, "softmax", above, WORD),
        *weights(4, top),
        heading(5, "weight × value", above, left),
        *strips(from_step(5, values), "weighted_values", top, left, ladder.d_v, color),
        label(5, "'output'", ladder.sum_at, left),
        *strips(from_step(5, output), "output", str(ladder.sum_at), left, ladder.d_v, color),
    ]
    chart = alt.layer(*layers, **scored(ladder.d_k))
    return chart.properties(name="mixture", width=left + STRIP, height=ladder.sum_at + ROW)


def _said(ladder: Ladder) -> list[alt.Chart]:
    """The steps in four lines of words: what the query meets, what fits best, its share, the sum."""
    best = (
        CELLS.transform_filter("datum.level == 0")
        .transform_window(rank="row_number()", sort=[alt.SortField("score", order="descending")])
        .transform_filter("datum.rank == 1")
    )
    closed = CELLS.transform_filter("datum.key == 1 && datum.total == 0")
    at = [ladder.query_at + CELL / 2 - LINE * above for above in (3, 2, 1, 0)]
    meets = f"'Query “' + {QUERY} + '”: {ladder.n_keys} keys of width {ladder.d_k}'"
    return [
        line(at[0], ONCE, meets),
        line(at[1], from_step(2, best), f"'Largest q·k: ' + format(datum.score, '.2f') + ', key “' + {KEY} + '”'"),
        line(at[2], from_step(4, best), "'Its weight after the softmax: ' + format(datum.weight, '.2f')"),
        line(at[2], from_step(4, closed), "'It may attend to no key: the weights are zero.'"),
        line(at[3], from_step(5, ONCE), "'Output: all values times their weights, added up.'"),
    ]
