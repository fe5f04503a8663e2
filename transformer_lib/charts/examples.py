"""A sentence pair with the attention that a model paid while it read and wrote it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .packing import masked_cells

KINDS = ("encoder", "decoder", "cross")
PADDING = "<pad>"
# Half precision sums a row of 64 weights to within this.
TOLERANCE = 1e-2


@dataclass(frozen=True, eq=False)
class AttentionExample:
    """Tokens and attention weights of one forward pass, checked.

    `source` are the tokens that the encoder read, `target` those that the decoder read (`<s>` first). Shapes: `encoder`
    `(layers, heads, n_source, n_source)`, `decoder` `(layers, heads, n_target, n_target)`, `cross` `(layers, heads,
    n_target, n_source)`; every row is a distribution over keys, or zero for a query that may attend nowhere. Anything
    that `numpy.asarray` takes will do. `gold` are aligned positions `(target, source)`, outlined on the cross map.
    A token `<pad>` is padding. `ValueError` where tokens and weights do not fit together.
    """

    source: Sequence[str]
    target: Sequence[str]
    encoder: np.ndarray | Any = field(repr=False)
    decoder: np.ndarray | Any = field(repr=False)
    cross: np.ndarray | Any = field(repr=False)
    title: str = ""
    gold: Sequence[tuple[int, int]] = ()

    def __post_init__(self) -> None:
        for side in ("source", "target"):
            object.__setattr__(self, side, checked_tokens(side, getattr(self, side)))
        for kind in KINDS:
            object.__setattr__(self, kind, checked_weights(kind, getattr(self, kind), self.sizes(kind)))
        heads = {kind: getattr(self, kind).shape[:2] for kind in KINDS}
        if len(set(heads.values())) > 1:
            raise ValueError(f"the kinds of attention differ in (layers, heads): {heads}")
        object.__setattr__(self, "gold", _positions(self.gold, self.sizes("cross")))

    def labels(self, kind: str) -> tuple[Sequence[str], Sequence[str]]:
        """The query tokens and the key tokens of a kind: in cross-attention the target asks and the source answers."""
        return {
            "encoder": (self.source, self.source),
            "decoder": (self.target, self.target),
            "cross": (self.target, self.source),
        }[kind]

    def sizes(self, kind: str) -> tuple[int, int]:
        """Number of queries and of keys."""
        queries, keys = self.labels(kind)
        return len(queries), len(keys)

    def masked(self, kind: str) -> np.ndarray:
        """True at the cells of a kind, in its weights' shape, that a mask closed or whose query is padding."""
        tokens, own = (self.source, self.encoder) if kind == "encoder" else (self.target, self.decoder)
        # A token of that name to which its sentence attends is one that a mask has missed: it is drawn as it is.
        padding = (np.array(tokens) == PADDING) & (own == 0).all(axis=(0, 1, 2))
        return masked_cells(getattr(self, kind), causal=kind == "decoder") | padding[:, None]

    @property
    def heads(self) -> tuple[int, int]:
        """Number of layers, and of heads in a layer."""
        return self.encoder.shape[0], self.encoder.shape[1]


def as_array(values: object) -> np.ndarray:
    """NumPy array of an array, nested list or tensor, detached from its gradient."""
    detach = getattr(values, "detach", None)
    return np.asarray(detach().cpu().float() if detach else values, dtype=float)


def checked_tokens(side: str, tokens: Sequence[str]) -> tuple[str, ...]:
    """The tokens of a sentence; `ValueError` that begins with `side` for a string, or for none."""
    if isinstance(tokens, str):
        raise ValueError(f"{side}: expected a list of tokens, got the string {tokens!r}")
    if len(tokens) == 0:
        raise ValueError(f"{side}: the sentence is empty, expected at least one token")
    return tuple(map(str, tokens))


def checked_weights(kind: str, values: object, size: tuple[int, int]) -> np.ndarray:
    """Weights `(layers, heads, n_query, n_key)` as an array; `ValueError` where rows are no distributions of `size`."""
    weights = as_array(values)
    if weights.ndim != 4 or weights.shape[2:] != size or 0 in weights.shape:
        expected = f"(layers, heads, {size[0]} queries, {size[1]} keys)"
        raise ValueError(f"{kind}: weights have shape {weights.shape}, the tokens ask for {expected}")
    if not np.isfinite(weights).all() or weights.min() < 0:
        raise ValueError(f"{kind}: weights must be numbers from 0 to 1; are these scores before the softmax?")
    sums = weights.sum(axis=-1)
    wrong = np.argwhere((abs(sums - 1) > TOLERANCE) & (sums != 0))
    if len(wrong):
        layer, head, query = wrong[0]
        found = f"{sums[layer, head, query]:.3g}"
        raise ValueError(
            f"{kind}: layer {layer}, head {head}, query {query}: weights sum to {found}, expected 1 (or 0)"
        )
    return weights


def _positions(gold: Sequence[tuple[int, int]], size: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    for target, source in gold:
        if not (0 <= target < size[0] and 0 <= source < size[1]):
            raise ValueError(f"gold: ({target}, {source}) is outside the {size[0]} target and {size[1]} source tokens")
    return tuple((int(target), int(source)) for target, source in gold)
