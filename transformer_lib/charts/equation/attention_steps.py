"""Query, key and value step by step: one head of attention worked out in the page for the query that is chosen."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from ..page import Patch, clickable, finished, one_column_below, playing_step
from .ladder import Ladder, comparison, mixture
from .softmax import checked_matrix, checked_openings, checked_words
from .step_rows import components

DIGITS = 5  # significant ones of each number in the page: a dot product is off by at most 0.0001 of its terms' sizes
MOST_CELLS = 4_096  # of keys and values together: with more the page no longer follows the slider
STEPS = 5
WIDE = 720  # the window that holds both views beside each other


def attention_steps(
    query: object,
    key: object,
    value: object,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    mask: object | None = None,
    chosen: int = 0,
    title: str = "",
) -> alt.ConcatChart:
    """One head's way from a query to its output, for the query token that the reader chooses (equation 1).

    Key vectors, dot products, division by √d_k, softmax, weighted values and their sum, each computed in the page from
    `query` `(n_q, d_k)`, `key` `(n_k, d_k)` and `value` `(n_k, d_v)`; a slider shows them one after another. `mask` is
    boolean `(n_q, n_k)`, True = may attend. `chosen` is the index of the query that is shown first. `ValueError` where
    shapes and tokens do not fit, and for more than 64 tokens a side or 4,096 numbers in keys and values.
    """
    queries, keys = checked_words("queries", queries), checked_words("keys", keys)
    query, key, value = _checked_vectors(query, key, value, len(queries), len(keys))
    openings = checked_openings(mask, (len(queries), len(keys)))
    if not 0 <= chosen < len(queries):
        raise ValueError(f"chosen: {chosen}, expected the index of one of {len(queries)} queries")
    ladder = Ladder(queries, len(keys), key.shape[1], value.shape[1], (_largest(query, key), _largest(value)))
    cells = components(len(keys), key.shape[1])
    chart = alt.concat(
        comparison(ladder), mixture(ladder), **cells, columns=2, spacing=24, title=alt.TitleParams(title, offset=10)
    )
    words = {"queries": queries, "keys": keys, "openings": openings}
    vectors = {"query_vectors": _rounded(query), "key_vectors": _rounded(key), "value_vectors": _rounded(value)}
    chart = chart.add_params(*(alt.param(name=name, value=values) for name, values in (words | vectors).items()))
    about = "Attention of one query step by step: key vectors, scores, weights, weighted values and their sum"
    patch = [*one_column_below(WIDE), *_controls(len(queries), chosen)]
    return finished(chart.resolve_scale(color="independent"), about, patch=patch)


def _controls(n_queries: int, chosen: int) -> Patch:
    """The query, by slider or by a click on its word, and how many of the steps are shown."""
    slider = {"input": "range", "min": 1, "max": n_queries, "step": 1, "name": "Query "}
    query = clickable("chosen_query", chosen + 1, slider)
    return [*query, *playing_step("step", STEPS, label="Steps shown", start=STEPS)]


def _checked_vectors(query: object, key: object, value: object, n_q: int, n_k: int) -> tuple[np.ndarray, ...]:
    query = checked_matrix("query", query, n_q, None, f"({n_q} queries, d_k)")
    width = query.shape[1]
    key = checked_matrix("key", key, n_k, width, f"({n_k} keys, d_k = {width})")
    value = checked_matrix("value", value, n_k, None, f"({n_k} keys, d_v)")
    if key.size + value.size > MOST_CELLS:
        raise ValueError(f"{key.size + value.size:,} numbers in keys and values, at most {MOST_CELLS:,} can be drawn")
    return query, key, value


def _largest(*vectors: np.ndarray) -> float:
    """The largest number without its sign, for the colors; 1 if all are zero."""
    return float(f"{max(np.abs(vector).max() for vector in vectors) or 1.0:.2g}")


def _rounded(vectors: np.ndarray) -> list[list[float]]:
    return [[float(f"{number:.{DIGITS}g}") for number in vector] for vector in vectors]
