"""Attention step by step as data: what the figure ships, how exactly, and what it refuses."""

import itertools
import re

import numpy as np
import pytest
import torch

from transformer_lib.charts import attention_steps, house_style
from transformer_lib.charts.equation.ladder_marks import word_boxes

QUERIES = ["<s>", "Der", "kleine", "Hund", "schläft"]
KEYS = ["The", "small", "dog", "near", "it", "sleeps", "."]
D_K, D_V = 11, 3
GENERATOR = torch.Generator().manual_seed(0)
QUERY, KEY, VALUE = (torch.randn(*shape, generator=GENERATOR) for shape in ((5, D_K), (7, D_K), (7, D_V)))
# The third query may attend nowhere, the fourth to a single key, the fifth everywhere.
MASK = torch.rand(5, 7, generator=GENERATOR) > 0.4
MASK[2], MASK[3], MASK[4] = False, torch.arange(7) == 6, True


def make_steps(**changes):
    arguments = {"query": QUERY, "key": KEY, "value": VALUE, "queries": QUERIES, "keys": KEYS, "mask": MASK}
    return attention_steps(**arguments | changes)


def parameters(chart):
    return {parameter["name"]: parameter["value"] for parameter in chart.to_dict()["params"] if "value" in parameter}


def signals(chart):
    patch = chart.to_dict()["usermeta"]["embedOptions"]["patch"]
    return {change["value"]["name"]: change["value"] for change in patch if "name" in change["value"]}


def test_numbers_are_shipped_to_five_significant_digits():
    values = parameters(make_steps(query=1000 * QUERY, value=VALUE / 1000))
    for side, exact in (("query", 1000 * QUERY), ("key", KEY), ("value", VALUE / 1000)):
        np.testing.assert_allclose(values[f"{side}_vectors"], exact, rtol=5e-5)
    assert len(str(abs(values["key_vectors"][0][0])).replace("0.", "")) <= 6


def test_queries_and_keys_keep_their_sides():
    values = parameters(make_steps())
    assert (values["queries"], values["keys"]) == (QUERIES, KEYS)
    assert values["openings"] == "".join(str(int(allowed)) for allowed in MASK.ravel())
    assert parameters(make_steps(mask=None))["openings"] == "1" * 35


def test_slider_chooses_among_the_queries():
    choice = signals(make_steps(chosen=3))["chosen_query"]
    assert (choice["value"], choice["bind"]["min"], choice["bind"]["max"]) == (4, 1, 5)


def test_all_steps_are_shown_at_first():
    step = signals(make_steps())["step"]
    assert (step["value"], step["bind"]["min"], step["bind"]["max"]) == (5, 1, 5)


@pytest.mark.parametrize("words", [QUERIES, ["Donaudampfschiffahrtsgesellschaft"] * 3, [str(i) for i in range(61)]])
def test_word_boxes_hold_their_words_and_do_not_overlap(words):
    boxes = word_boxes(words)
    assert [box["chosen_query"] for box in boxes] == list(range(1, len(words) + 1))
    assert boxes[0]["left"] == boxes[0]["line"] == 0
    assert max(box["right"] for box in boxes) <= 310
    for before, after in itertools.pairwise(boxes):
        assert after["line"] == before["line"] + (after["left"] == 0)
        assert after["left"] == 0 or after["left"] > before["right"]


def test_figure_is_small_and_deterministic():
    house_style()
    tokens = [f"token{i}" for i in range(30)]
    vectors = torch.randn(3, 30, 64)
    large = attention_steps(*vectors, tokens, tokens, mask=torch.ones(30, 30).tril() > 0)
    assert len(large.to_json(indent=None)) <= 100 * 1024
    assert make_steps().to_json() == make_steps().to_json()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"queries": "Der Hund"}, "queries: expected a list of tokens, got the string 'Der Hund'"),
        ({"keys": []}, "keys: 0 tokens, expected 1 to 64"),
        ({"queries": QUERIES[1:]}, "query: shape (5, 11), expected (4 queries, d_k)"),
        ({"query": QUERY[0]}, "query: shape (11,), expected (5 queries, d_k)"),
        ({"query": QUERY[None]}, "query: shape (1, 5, 11), expected (5 queries, d_k)"),
        ({"query": QUERY[:, :0]}, "query: shape (5, 0), expected (5 queries, d_k)"),
        ({"key": KEY[:, 1:]}, "key: shape (7, 10), expected (7 keys, d_k = 11)"),
        ({"key": KEY[1:]}, "key: shape (6, 11), expected (7 keys, d_k = 11)"),
        ({"value": VALUE[1:]}, "value: shape (6, 3), expected (7 keys, d_v)"),
        ({"value": VALUE * torch.nan}, "value: entries that are not finite numbers"),
        ({"value": torch.ones(7, 577)}, "4,116 numbers in keys and values, at most 4,096 can be drawn"),
        ({"mask": MASK[1:]}, "mask: shape (4, 7), expected (5, 7) (queries, keys)"),
        ({"mask": MASK.int()}, "mask: expected booleans, True where a query may attend, got int32"),
        ({"chosen": 5}, "chosen: 5, expected the index of one of 5 queries"),
    ],
)
def test_figure_refuses_what_does_not_fit_and_says_which(changes, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make_steps(**changes)
