"""The tree of a beam search as data: what is refused, where each hypothesis stands, and what becomes of it."""

import numpy as np
import pytest
from test_charts import parameters, random_weights

from transformer_lib.charts import BeamNode, SearchTree, beam_tree
from transformer_lib.charts.packing import unpack
from transformer_lib.charts.translation.tree_rows import CARD_HEIGHT, ENDING, each_row_once, step_tops, tree_rows

SOURCE = ["▁The", "▁dog", "▁barks", ".", "</s>"]
LAYERS, HEADS = 2, 3
NODES = [  # a beam of 3, in 4 steps; the best translation is second at steps 1 and 2
    BeamNode("▁Ein", None, -0.5),
    BeamNode("▁Der", None, -0.9),
    BeamNode("▁Das", None, -3.0),
    BeamNode("▁Tier", 0, -1.0),
    BeamNode("▁Hund", 1, -1.1),
    BeamNode("▁Hund", 0, -1.4),
    BeamNode("▁bellt", 4, -1.2),
    BeamNode("▁jault", 4, -2.9),
    BeamNode("▁bellt", 5, -1.8),
    BeamNode("</s>", 3, -4.0, -3.2),
    BeamNode("</s>", 6, -1.3, -1.0),
    BeamNode("</s>", 8, -1.9, -1.5),
    BeamNode(".", 6, -3.0),
]


def row_of(nodes):
    """Children of one parent were chosen in the same row."""
    parents = [node.parent for node in nodes]
    return [parents.index(parent) for parent in parents]


def make_tree(nodes=NODES, source=SOURCE, layers=LAYERS, heads=HEADS, **changes):
    cross = random_weights(layers, heads, len(nodes), len(source))[:, :, row_of(nodes)] if nodes else None
    return SearchTree(source, nodes, **{"cross": cross, "title": "The dog barks."} | changes)


def random_tree(steps, beam_size, num_source=5, layers=LAYERS, heads=HEADS, seed=0):
    """A search as it might have gone: each step keeps the likeliest of random extensions, and some end."""
    random = np.random.default_rng(seed)
    nodes, beam = [], [None]
    for step in range(1, steps + 1):
        grown = [(nodes[p].log_probability if p is not None else 0.0, p) for p in beam for _ in range(beam_size)]
        grown = sorted(((total - random.exponential(), parent) for total, parent in grown), key=lambda e: -e[0])
        if step > steps / 2:
            ending = random.choice(len(beam))
            total = nodes[beam[ending]].log_probability - 0.5
            nodes.append(BeamNode("</s>", beam[ending], total, total / ((5 + step) / 6) ** 0.6))
        kept = [BeamNode(f"▁stück{step}", parent, total) for total, parent in grown[:beam_size]]
        beam = list(range(len(nodes), len(nodes) + len(kept)))
        nodes += kept
    return make_tree(nodes, [f"▁source{i}" for i in range(num_source)], layers, heads)


def test_paths_steps_and_the_best_are_found():
    tree = make_tree()
    assert tree.paths[11] == [0, 5, 8, 11]
    assert tree.steps == [1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4]
    assert tree.best == 10
    assert tree.unfinished == {1: [0, 1, 2], 2: [3, 4, 5], 3: [6, 8, 7], 4: [12]}


def test_where_nothing_is_finished_the_likeliest_of_the_last_step_is_the_best():
    assert make_tree([node for node in NODES if node.score is None][:9]).best == 6


@pytest.mark.parametrize("seed", range(5))
def test_branches_do_not_cross_and_the_best_goes_straight_down(seed):
    tree = random_tree(9, 4, seed=seed)
    assert {tree.columns[index] for index in tree.paths[tree.best]} == {0}
    for kept in tree.unfinished.values():
        by_column = sorted(kept, key=lambda index: tree.columns[index])
        assert [tree.columns[index] for index in by_column] == list(range(len(kept)))
        parents = [tree.columns.get(tree.nodes[index].parent, 0) for index in by_column]
        assert parents == sorted(parents)


@pytest.mark.parametrize("seed", range(3))
def test_hypotheses_stand_step_below_step_and_none_covers_another(seed):
    tree = random_tree(7, 3, seed=seed)
    rows, boxes = tree_rows(tree), set()
    for node, row in zip(tree.nodes, rows, strict=True):
        height = CARD_HEIGHT if node.score is None else ENDING
        boxes |= (box := {(row["column"], row["y"] + pixel) for pixel in range(height)})
        assert len(box) == height
        assert max(pixel for _, pixel in box) < step_tops(tree)[-1]
        if node.parent is not None:
            parent = rows[node.parent]
            hangs, branches = row["y"] == parent["y"] + CARD_HEIGHT, row["y"] > row["stem"] >= parent["y"] + CARD_HEIGHT
            assert branches if node.score is None else hangs and row["column"] == parent["column"]
            assert row["from"] == parent["column"]
    assert len(boxes) == sum(CARD_HEIGHT if node.score is None else ENDING for node in tree.nodes)


def test_rows_say_until_when_each_hypothesis_lives_and_when_it_ends():
    never = 5
    fates = [(row["lives"], row["ends"]) for row in tree_rows(make_tree())]
    expected = [(3, 3), (4, 4), (1, never), (2, 3), (4, 4), (3, 4), (4, 4), (3, never), (3, 4), (0, 3), (0, 4), (0, 4)]
    assert fates == [*expected, (4, never)]


def test_rows_have_the_words_and_numbers_of_each_hypothesis():
    rows = tree_rows(make_tree())
    assert rows[4]["said"] == ["“Der Hund”"]
    assert (rows[4]["piece"], rows[4]["number"]) == ("▁Hund", "−1.10")
    assert rows[4]["place"] == "Step 2, place 2 of 3, log-probability −1.10"
    assert (rows[10]["number"], rows[11]["number"]) == ("★ −1.00", "end −1.50")
    assert rows[10]["place"] == "Log-probability −1.30, score −1.00, the best"
    assert rows[12]["path"] == [2, 5, 7, 13]


def test_page_has_each_row_of_attention_once():
    tree = make_tree()
    cross, rows = each_row_once(tree)
    np.testing.assert_array_equal(cross[:, :, rows], tree.cross)
    assert cross.shape[2] == len({node.parent for node in NODES}) == 8
    texts = parameters(beam_tree(tree))["cross"]["value"]
    for layer, weights in zip(texts, tree.cross, strict=True):
        for text, head in zip(layer, [weights.mean(0), *weights], strict=True):
            assert abs(unpack(text, (8, len(SOURCE)))[rows] - head).max() <= 0.016


def test_tree_stands_complete_and_still():
    patch = beam_tree(make_tree()).to_dict()["usermeta"]["embedOptions"]["patch"]
    signals = {change["value"]["name"]: change["value"] for change in patch if change["path"] == "/signals/-"}
    assert (signals["step"]["value"], signals["step"]["bind"]["max"]) == (4, 4)
    assert signals["step_playing"]["value"] is False
    assert len(signals["node"]["bind"]["options"]) == 1 + len(NODES)


def test_full_size_is_small_and_the_same_each_time():
    tree = random_tree(30, 4, num_source=30, layers=6, heads=8)
    first, second = (beam_tree(tree).to_json(indent=None) for _ in range(2))
    assert first == second
    assert len(first) < 120 * 1024


def changed(index, **changes):
    nodes = [vars(node) for node in NODES]
    nodes[index] = nodes[index] | changes
    return {"nodes": [BeamNode(**node) for node in nodes]}


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"nodes": []}, "nodes: the tree is empty"),
        ({"source": []}, "source: the sentence is empty"),
        ({"source": "The dog"}, "source: expected a list"),
        ({"cross": random_weights(LAYERS, HEADS, len(SOURCE), len(NODES))}, "cross: weights have shape"),
        ({"cross": 2 * random_weights(LAYERS, HEADS, len(NODES), len(SOURCE))}, "cross: .* sum to 2"),
        (changed(6, parent=13), "node 6 .* parent 13 is not among the 6"),
        (changed(6, parent=6), "node 6 .* parent 6 is not among the 6"),
        (changed(6, parent=-1), "node 6 .* parent -1 is not among the 6"),
        (changed(12, parent=9), "node 12 .* parent 9 is a finished hypothesis"),
        (changed(0, log_probability=0.5), "node 0 .* 0.5 is not a number up to 0"),
        (changed(2, log_probability=float("nan")), "node 2 .* nan is not a number up to 0"),
        (changed(6, log_probability=-0.3), "node 6 .* -0.3 is above that of the parent"),
        (changed(10, score=float("inf")), "node 10 .* score inf"),
    ],
)
def test_a_tree_that_does_not_hold_together_is_refused(changes, complaint):
    fields = {"source": SOURCE, "nodes": NODES, "cross": random_weights(LAYERS, HEADS, len(NODES), len(SOURCE))}
    with pytest.raises(ValueError, match=complaint):
        SearchTree(**fields | changes)
