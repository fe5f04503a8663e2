"""What `attention_steps` computes in the page, as rows: dot products, weights, weighted values and their sum."""

import altair as alt

from ..maps.panels import CELLS, cell_words
from .softmax import with_softmax

# Words and vectors are parameters of the page: `queries`, `keys`, `query_vectors`, `key_vectors`, `value_vectors`, and
# `openings`, one character a pair, '0' where it is masked. `chosen_query` counts from 1, as keys and components do.


def components(n_keys: int, d_k: int) -> dict[str, object]:
    """One row a component of a key, multiplied with the chosen query's: `asked` times `number` is `product`."""
    rows = (
        alt.Chart(alt.sequence(0, n_keys * d_k, as_="cell"))
        .transform_calculate(key=f"floor(datum.cell / {d_k}) + 1", component=f"datum.cell % {d_k} + 1")
        .transform_calculate(
            asked="query_vectors[chosen_query - 1][datum.component - 1]",
            number="key_vectors[datum.key - 1][datum.component - 1]",
        )
        .transform_calculate(product="datum.asked * datum.number")
    )
    return {"data": rows.data, "transform": rows.transform}


def scored(d_k: int) -> dict[str, object]:
    """Of `components`, one row a key: the dot product `score`, `scaled` by √d_k, and its `weight`."""
    rows = (
        CELLS.transform_aggregate(score="sum(product)", groupby=["key"])
        .transform_calculate(query="chosen_query", place="(chosen_query - 1) * length(keys) + datum.key - 1")
        .transform_calculate(level="openings[datum.place] == '0' ? -1 : 0", scaled=f"datum.score / sqrt({d_k})")
        .transform_calculate(logit="datum.level < 0 ? null : datum.scaled")
    )
    return {"transform": cell_words(with_softmax(rows)).transform}


def weighted(d_v: int) -> alt.Chart:
    """Of `scored`, one row a component of a value: `number` is what it adds to the output."""
    return (
        CELLS.transform_calculate(component=f"sequence(1, {d_v + 1})")
        .transform_flatten(["component"])
        .transform_calculate(value="value_vectors[datum.key - 1][datum.component - 1]")
        .transform_calculate(number="datum.weight * datum.value")
    )


def summed(d_v: int) -> alt.Chart:
    """Of `scored`, one row a component of the output."""
    return weighted(d_v).transform_aggregate(number="sum(number)", groupby=["component"])
