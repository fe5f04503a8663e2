"""A search tree as rows to draw: where each hypothesis stands, what it says, and what becomes of it."""

from itertools import accumulate

import numpy as np

from .search_tree import SearchTree
from .word_bars import text_of, texts_in_lines

CARD_HEIGHT, ENDING, ROOT, GAP = 30, 17, 16, 17  # pixels: a hypothesis, its ending below it, <s>, room for branches


def tree_rows(tree: SearchTree) -> list[dict[str, object]]:
    """A row for each hypothesis: its step, place, words, fate, and the path to it, nodes counted from 1."""
    tops = step_tops(tree)
    said = texts_in_lines([said_so_far(tree, index) for index in range(len(tree.nodes))])
    rows = []
    for index, (node, (lives, ends)) in enumerate(zip(tree.nodes, _fates(tree), strict=True)):
        row = {"step": tree.steps[index], "lives": lives, "ends": ends, "path": [1 + i for i in tree.paths[index]]}
        row |= {"piece": node.piece, "number": _number(tree, index), "said": said[index], "place": _place(tree, index)}
        row |= {"column": tree.columns[index], "y": _y(tree, index, tops), **_branch(tree, index, tops)}
        rows.append(row)
    return rows


def step_tops(tree: SearchTree) -> list[int]:
    """Pixels from the top to the hypotheses of each step, `<s>` first; last, to where the tree ends."""
    with_ending = {step - 1 for step, node in zip(tree.steps, tree.nodes, strict=True) if node.score is not None}
    heights = [ROOT] + [CARD_HEIGHT] * max(tree.unfinished, default=0)
    return list(accumulate((h + ENDING * (s in with_ending) + GAP for s, h in enumerate(heights)), initial=0))


def each_row_once(tree: SearchTree) -> tuple[np.ndarray, list[int]]:
    """The different rows of cross-attention, and which of them each node has: children of one parent share theirs."""
    seen: dict[bytes, int] = {}
    row_of = [seen.setdefault(tree.cross[:, :, index].tobytes(), len(seen)) for index in range(len(tree.nodes))]
    return tree.cross[:, :, [row_of.index(row) for row in range(len(seen))]], row_of


def said_so_far(tree: SearchTree, index: int) -> str:
    """What a hypothesis says so far."""
    return text_of([tree.nodes[ancestor].piece for ancestor in tree.paths[index]])


def _y(tree: SearchTree, index: int, tops: list[int]) -> int:
    """An ending hangs on its parent, any other hypothesis stands a step below it."""
    step = tree.steps[index]
    return tops[step] if tree.nodes[index].score is None else _bottom(step - 1, tops)


def _bottom(step: int, tops: list[int]) -> int:
    return tops[step] + (CARD_HEIGHT if step else ROOT)


def _branch(tree: SearchTree, index: int, tops: list[int]) -> dict[str, int]:
    """Column of the parent, and where it ends, its own ending included."""
    parent = tree.nodes[index].parent
    has_ending = any(node.parent == parent and node.score is not None for node in tree.nodes)
    column = 0 if parent is None else tree.columns[parent]
    return {"from": column, "stem": _bottom(tree.steps[index] - 1, tops) + ENDING * has_ending}


def _number(tree: SearchTree, index: int) -> str:
    """What stands below the piece, or on the ending: the log-probability, or the score."""
    node = tree.nodes[index]
    if node.score is None:
        return _signed(node.log_probability)
    return f"{'★' if index == tree.best else 'end'} {_signed(node.score)}"


def _place(tree: SearchTree, index: int) -> str:
    """The numbers of a hypothesis in words."""
    node, kept = tree.nodes[index], tree.unfinished[tree.steps[index]]
    if node.score is None:
        place = f"place {kept.index(index) + 1} of {len(kept)}"
        return f"Step {tree.steps[index]}, {place}, log-probability {_signed(node.log_probability)}"
    best = ", the best" if index == tree.best else ""
    return f"Log-probability {_signed(node.log_probability)}, score {_signed(node.score)}{best}"


def _signed(number: float) -> str:
    return f"{number:.2f}".replace("-", "−")


def _fates(tree: SearchTree) -> list[tuple[int, int]]:
    """The last step at which the beam holds something made of each hypothesis, and the first at which some of it ends.

    Never is 0 for the one, and a step more than there are for the other.
    """
    fates = [(0, max(tree.steps) + 1)] * len(tree.nodes)
    for step, node, path in zip(tree.steps, tree.nodes, tree.paths, strict=True):
        for ancestor in path:
            lives, ends = fates[ancestor]
            fates[ancestor] = (max(lives, step), ends) if node.score is None else (lives, min(ends, step))
    return fates
