"""Attention weights as text: one character a weight, so that a page can hold every head of a model."""

# A weight is kept as one of 64 levels of its square root, which is finest where most weights are, near zero. The
# error is at most 0.016, for a weight near 1, and 0.001 on average in a sentence of 30 tokens.

import numpy as np

# In the order of their code points: the page finds the largest weight by sorting characters.
ALPHABET = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
MASKED = "*"
_CODES = np.frombuffer((MASKED + ALPHABET).encode(), dtype=np.uint8)


def pack(weights: np.ndarray, masked: np.ndarray | None = None) -> str:
    """One character for each weight in [0, 1], in row-major order; `MASKED` where `masked` is True."""
    levels = np.rint(np.sqrt(np.clip(weights, 0, 1)) * (len(ALPHABET) - 1)).astype(np.intp) + 1
    if masked is not None:
        levels[masked] = 0
    return _CODES[levels].tobytes().decode()


def unpack(text: str, shape: tuple[int, ...]) -> np.ndarray:
    """The weights that `pack` wrote, masked ones as zero."""
    levels = np.array([ALPHABET.find(character) for character in text], dtype=float).reshape(shape)
    return (np.maximum(levels, 0) / (len(ALPHABET) - 1)) ** 2


def masked_cells(weights: np.ndarray, *, causal: bool) -> np.ndarray:
    """Cells that a mask closed, as far as weights of shape `(layers, heads, n_query, n_key)` can tell.

    A softmax never gives exactly zero, so a cell is masked where its weight is zero and the reason shows: the key comes
    after the query in a causal map, the query attends nowhere, or no query of any head attends to the key (padding).
    """
    zero = weights == 0
    later = np.triu(np.ones(weights.shape[-2:], dtype=bool), k=1) & causal
    no_key_open = zero.all(axis=-1, keepdims=True)
    padding = zero.all(axis=(0, 1, 2), keepdims=True)
    return zero & (later | no_key_open | padding)
