"""Equation 1's softmax as the page works it out, and the checks of what it is worked out from."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from ..examples import as_array
from ..maps.window import WHOLE


def with_softmax(rows: alt.Chart, over: Sequence[str] = ()) -> alt.Chart:
    """Adds `weight`, the softmax of the field `logit` in each group of rows that are equal in `over`.

    A logit of null is masked: its weight is 0, and a group without any other has zeros, as
    `scaled_dot_product_attention` gives them. Weights of a group sum to 1 within the rounding of the page's numbers.
    """
    # The largest is subtracted first, so that no exponential overflows.
    return (
        rows.transform_joinaggregate(largest="max(logit)", groupby=list(over))
        .transform_calculate(power="datum.logit === null ? 0 : exp(datum.logit - datum.largest)")
        .transform_joinaggregate(total="sum(power)", groupby=list(over))
        .transform_calculate(weight="datum.total > 0 ? datum.power / datum.total : 0")
    )


def checked_words(side: str, words: Sequence[str]) -> list[str]:
    """The tokens of a side; `ValueError` where they are none, more than can be drawn, or one string."""
    if isinstance(words, str):
        raise ValueError(f"{side}: expected a list of tokens, got the string {words!r}")
    if not 0 < len(words) <= WHOLE:
        raise ValueError(f"{side}: {len(words)} tokens, expected 1 to {WHOLE}")
    return [str(word) for word in words]


def checked_matrix(name: str, values: object, rows: int, columns: int | None, meaning: str) -> np.ndarray:
    """A matrix of finite numbers; `columns` is None where any number of them will do, at least one."""
    matrix = as_array(values)
    wanted = (rows, matrix.shape[-1] if columns is None and matrix.ndim else columns)
    if matrix.shape != wanted or matrix.size == 0:
        raise ValueError(f"{name}: shape {matrix.shape}, expected {meaning}")
    if not np.isfinite(matrix).all():
        raise ValueError(f"{name}: entries that are not finite numbers; give what is masked as `mask`")
    return matrix


def checked_openings(mask: object | None, shape: tuple[int, int]) -> str:
    """One character a pair of query and key, row by row: '1' where the query may attend, '0' where it is masked.

    `mask` is boolean, True = may attend, of `shape` or broadcast to it, with leading axes of size 1 or without; None
    masks nothing.
    """
    allowed = np.asarray(True if mask is None else mask)
    if allowed.dtype != bool:
        raise ValueError(f"mask: expected booleans, True where a query may attend, got {allowed.dtype}")
    try:
        allowed = np.broadcast_to(allowed, (1,) * (allowed.ndim - 2) + shape)
    except ValueError:
        raise ValueError(f"mask: shape {allowed.shape}, expected {shape} (queries, keys)") from None
    return "".join("01"[is_open] for is_open in allowed.ravel().tolist())
