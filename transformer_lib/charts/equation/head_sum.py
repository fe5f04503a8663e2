"""Multi-head attention as a sum: the vector that each head adds to the output, token by token (section 3.2.2)."""

import json
from collections.abc import Sequence

import altair as alt
import numpy as np

from ..examples import as_array
from ..packing import ALPHABET
from ..page import Patch, clickable, finished, one_column_below
from .head_lengths import overview_panel, shares_panel
from .head_strips import HALF, strips_panel
from .softmax import checked_words

DRAWN = 128  # components of a strip; more and a bar is narrower than a pixel of a phone
DIGITS = 5  # significant ones of the products, from which lengths and shares follow, and of the scales


def head_sum(
    contributions: object, tokens: Sequence[str], *, title: str = "What each head adds", token: int = 0
) -> alt.ConcatChart:
    """What each head adds to the output of multi-head attention at a token, and the sum of the heads kept.

    `contributions` `(heads, n, d_model)` are the heads' outputs, each times its rows of W_O; their sum over heads is
    the sub-layer's output. Beside each vector stand its length and its share of the sum, the dot product with the sum
    over the sum's square: shares add to 1. `token` is chosen at first. Of more than 128 components the first 128 are
    drawn, off by at most 0.0003 of the largest component, while lengths and shares count all. `ValueError` where
    tokens and contributions do not fit together.
    """
    words = checked_words("tokens", tokens)
    vectors = _checked(contributions, len(words))
    if not 0 <= token < len(words):
        raise ValueError(f"token: {token}, expected the index of one of {len(words)} tokens")
    heads, n, width = vectors.shape
    products = np.einsum("hnm,gnm->nhg", vectors, vectors)
    drawn = vectors[:, :, :DRAWN]
    overview = overview_panel(heads, n, longest=_rounded(np.sqrt(products.max())) or 1.0)
    chosen = [strips_panel(heads, drawn.shape[2], width), shares_panel(heads)]
    chosen = alt.concat(*chosen, columns=1, spacing=20, align="none")
    chart = alt.concat(overview, chosen, columns=2, spacing=32, align="none", title=_title(title))
    chart = chart.resolve_scale(color="independent").add_params(*_data(words, drawn, products), *_kept(heads))
    about = "The vectors that the heads add at the chosen token, their sum, lengths and shares"
    slider = clickable("token", token + 1, {"input": "range", "min": 1, "max": n, "step": 1, "name": "Token "})
    return finished(chart, about, patch=[*slider, *_boxes(heads), *one_column_below(720)])


def _checked(contributions: object, n: int) -> np.ndarray:
    vectors = as_array(contributions)
    if vectors.ndim != 3 or vectors.shape[1] != n or 0 in vectors.shape:
        raise ValueError(f"contributions have shape {vectors.shape}, expected (heads, {n} tokens, d_model)")
    if not np.isfinite(vectors).all():
        raise ValueError("contributions: entries that are not finite numbers")
    return vectors


def _boxes(heads: int) -> Patch:
    """A box for each head, below the slider."""
    boxes = [{"input": "checkbox", "name": f"Head {head} "} for head in range(1, heads + 1)]
    ticks = [{"name": f"head_{head}", "value": True, "bind": box} for head, box in enumerate(boxes, start=1)]
    return [{"op": "add", "path": "/signals/-", "value": tick} for tick in ticks]


def _kept(heads: int) -> list[alt.Parameter]:
    """Which heads have a tick: a truth value for each, and their numbers in words."""
    numbers = range(1, heads + 1)
    kept = ", ".join(f"head_{head}" for head in numbers)
    added = " + ".join(f"(head_{head} ? ', {head}' : '')" for head in numbers)
    return [alt.param(name="kept", expr=f"[{kept}]"), alt.param(name="added", expr=f"substring({added}, 2)")]


def _data(words: list[str], vectors: np.ndarray, products: np.ndarray) -> list[alt.Parameter]:
    """Tokens, packed components by token, and the dot products of all pairs of heads by token."""
    largest = _rounded(abs(vectors).max()) or 1.0
    rounded = [[_rounded(value) for value in token.ravel()] for token in products]
    return [
        alt.param(name="alphabet", value=ALPHABET),
        alt.param(name="words", value=words),
        alt.param(name="largest", value=largest),
        alt.param(name="vectors", value=[_packed(token / largest) for token in vectors.swapaxes(0, 1)]),
        alt.param(name="products", value=rounded),
        alt.param(name="reach", value=[_reach(token) for token in vectors.swapaxes(0, 1)]),
    ]


def _reach(vectors: np.ndarray) -> float:
    """The largest component that any selection of heads can add up to, so that no bar leaves its strip."""
    sums = np.maximum(vectors, 0).sum(axis=0).max(), np.maximum(-vectors, 0).sum(axis=0).max()
    return _rounded(max(sums)) or 1.0


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _packed(values: np.ndarray) -> str:
    """Two characters for each number in [-1, 1]."""
    levels = np.rint(np.clip(values, -1, 1) * HALF).astype(int).ravel() + HALF
    return "".join(ALPHABET[level // len(ALPHABET)] + ALPHABET[level % len(ALPHABET)] for level in levels)


def _title(title: str) -> alt.TitleParams:
    token = "'Token ' + token + ' of ' + length(words) + ': “' + words[token - 1] + '”'"
    added = "'Heads added: ' + (added == '' ? 'none' : added)"
    return alt.TitleParams(text=alt.expr(f"[{json.dumps(title)}, {token}, {added}]"))
