"""A beam search as a tree: every hypothesis that it kept or finished, checked, and where each is drawn."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..examples import checked_tokens, checked_weights

TOLERANCE = 1e-4  # of a log-probability in single precision


@dataclass(frozen=True)
class BeamNode:
    """A hypothesis: that of the node `parent` (its index; None for `<s>` alone) and one `piece` more.

    `log_probability` is that of all its pieces; `score`, under the length penalty, is that of a finished hypothesis.
    """

    piece: str
    parent: int | None
    log_probability: float
    score: float | None = None


@dataclass(frozen=True, eq=False)
class SearchTree:
    """The hypotheses of a search for one sentence, parents first, checked.

    `source` are the pieces that the encoder read. `cross` of shape `(layers, heads, nodes, n_source)` is the attention
    with which the last piece of each was chosen. `ValueError` where these do not fit together, where a parent does not
    come before its children or had ended, or where a log-probability is above 0 or above its parent's.
    """

    source: Sequence[str]
    nodes: Sequence[BeamNode]
    cross: np.ndarray | Any = field(repr=False)
    title: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", checked_tokens("source", self.source))
        if len(self.nodes) == 0:
            raise ValueError("nodes: the tree is empty, expected at least one hypothesis")
        for index, node in enumerate(self.nodes):
            _check(index, node, self.nodes)
        object.__setattr__(self, "cross", checked_weights("cross", self.cross, (len(self.nodes), len(self.source))))

    @cached_property
    def paths(self) -> list[list[int]]:
        """For each node its ancestors, first step first, and itself."""
        paths: list[list[int]] = []
        for index, node in enumerate(self.nodes):
            paths.append([*(() if node.parent is None else paths[node.parent]), index])
        return paths

    @cached_property
    def steps(self) -> list[int]:
        """The step in which each node was made, from 1: the number of its pieces."""
        return [len(path) for path in self.paths]

    @cached_property
    def best(self) -> int:
        """The finished hypothesis with the highest score; where none is finished, the likeliest of the last step."""
        finished = [index for index, node in enumerate(self.nodes) if node.score is not None]
        if finished:
            return max(finished, key=lambda index: self.nodes[index].score)
        return max(self.unfinished[max(self.steps)], key=lambda index: self.nodes[index].log_probability)

    @cached_property
    def unfinished(self) -> dict[int, list[int]]:
        """The nodes that the beam kept at each step, the likeliest first."""
        kept = defaultdict(list)
        for index in sorted(range(len(self.nodes)), key=lambda index: -self.nodes[index].log_probability):
            if self.nodes[index].score is None:
                kept[self.steps[index]].append(index)
        return kept

    @cached_property
    def columns(self) -> dict[int, int]:
        """Where each node stands in its step, from 0: no branches cross, and the best path is the first column.

        A finished hypothesis stands below its parent, in its column.
        """
        best = self.paths[self.best]
        columns: dict[int | None, int] = {None: 0}
        for _, kept in sorted(self.unfinished.items()):
            kept = sorted(kept, key=lambda index: (columns[self.nodes[index].parent], index not in best))
            columns |= {index: column for column, index in enumerate(kept)}
        return {i: columns[node.parent if node.score is not None else i] for i, node in enumerate(self.nodes)}


def _check(index: int, node: BeamNode, nodes: Sequence[BeamNode]) -> None:
    name = f"node {index} ({node.piece!r})"
    if not math.isfinite(node.log_probability) or node.log_probability > TOLERANCE:
        raise ValueError(f"{name}: the log-probability {node.log_probability} is not a number up to 0")
    if node.score is not None and not math.isfinite(node.score):
        raise ValueError(f"{name}: the score {node.score} is not a number")
    if node.parent is None:
        return
    if not 0 <= node.parent < index:
        raise ValueError(f"{name}: the parent {node.parent} is not among the {index} nodes before it")
    parent = nodes[node.parent]
    if parent.score is not None:
        raise ValueError(f"{name}: the parent {node.parent} is a finished hypothesis")
    if node.log_probability > parent.log_probability + TOLERANCE:
        raise ValueError(f"{name}: the log-probability {node.log_probability} is above that of the parent")
