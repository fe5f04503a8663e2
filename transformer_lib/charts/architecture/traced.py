"""A tensor on its way through Figure 1, checked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..examples import as_array
from .blocks import BY_NAME

MOST_ROWS = 64


@dataclass(frozen=True, eq=False)
class TracedTensor:
    """What a block of Figure 1 made: `values` of one, two or three `axes`, called `name` in the code.

    `block` is the name of one of `charts.blocks.BLOCKS`, `change` a sentence on what happened to the shape, `tokens`
    the words of the rows, which are the last axis but one, or the only one. The first of three axes are heads. `masked`
    is True for entries that a mask closed. `ValueError` where these do not fit together.
    """

    block: str
    name: str
    axes: Sequence[str]
    values: np.ndarray | Any
    change: str
    tokens: Sequence[str]
    masked: np.ndarray | Any | None = None

    def __post_init__(self) -> None:
        if self.block not in BY_NAME:
            raise ValueError(f"no block of Figure 1 is called {self.block!r}, expected one of {', '.join(BY_NAME)}")
        object.__setattr__(self, "values", _values(self.name, self.values, self.axes))
        if isinstance(self.tokens, str) or len(self.tokens) != self.rows:
            raise ValueError(f"{self.name}: {len(self.tokens)} tokens for the {self.rows} rows of {self.values.shape}")
        if self.masked is not None:
            object.__setattr__(self, "masked", np.asarray(self.masked, dtype=bool))
            if self.masked.shape != self.values.shape:
                raise ValueError(f"{self.name}: mask of shape {self.masked.shape}, values of {self.values.shape}")

    @property
    def rows(self) -> int:
        """How many rows, each with a token."""
        return self.values.shape[max(self.values.ndim - 2, 0)]

    @property
    def matrices(self) -> np.ndarray:
        """The values as `(heads, rows, columns)`, a single head where there are none."""
        return self.values.reshape(-1, *self.values.shape[-2:])

    @property
    def shape(self) -> str:
        """For example "4 heads × 7 n_q × 5 n_k"."""
        return " × ".join(f"{size} {axis}" for size, axis in zip(self.values.shape, self.axes, strict=True))


def _values(name: str, values: object, axes: Sequence[str]) -> np.ndarray:
    array = as_array(values)
    if isinstance(axes, str) or len(axes) != array.ndim or array.ndim not in (1, 2, 3) or 0 in array.shape:
        raise ValueError(f"{name}: values of shape {array.shape} for axes {axes!r}, expected 1 to 3 axes, none empty")
    if array.shape[max(array.ndim - 2, 0)] > MOST_ROWS:
        raise ValueError(f"{name}: too many rows to draw in shape {array.shape}, at most {MOST_ROWS}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: has entries that are not finite numbers")
    return array
