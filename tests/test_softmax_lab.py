"""The softmax lab as data: what it ships, how exactly, and what it refuses."""

import re

import numpy as np
import pytest
import torch

from transformer_lib.charts import house_style, softmax_lab

QUERIES = ["<s>", "Der", "kleine", "Hund", "schläft"]
KEYS = ["The", "small", "dog", "near", "it", "sleeps", "."]
D_K = 3
GENERATOR = torch.Generator().manual_seed(0)
QUERY, KEY = 2 * torch.randn(5, D_K, generator=GENERATOR), torch.randn(7, D_K, generator=GENERATOR)
SCORES = QUERY @ KEY.T
# The third query may attend nowhere, the fourth to a single key.
MASK = torch.rand(5, 7, generator=GENERATOR) > 0.4
MASK[2], MASK[3] = False, torch.arange(7) == 5


def make_lab(**changes):
    return softmax_lab(**{"scores": SCORES, "queries": QUERIES, "keys": KEYS, "d_k": D_K, "mask": MASK} | changes)


def parameters(chart):
    return {parameter["name"]: parameter for parameter in chart.to_dict()["params"]}


def test_scores_are_shipped_row_by_row_neither_divided_nor_masked():
    shipped = parameters(make_lab())["scores"]["value"]
    np.testing.assert_allclose(np.reshape(shipped, (5, 7)), SCORES, atol=0.0005 + 1e-6)


def test_three_decimals_change_no_weight_by_more_than_a_thousandth():
    scores = 30 * torch.randn(1009, 11, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    lowest_temperature = 0.25
    exact, rounded = ((x / lowest_temperature).softmax(-1) for x in (scores, scores.round(decimals=3)))
    assert 0 < (exact - rounded).abs().max() <= 0.001


def test_queries_and_keys_keep_their_sides():
    values = parameters(make_lab())
    assert (values["queries"]["value"], values["keys"]["value"]) == (QUERIES, KEYS)
    assert (values["query"]["bind"]["max"], len(values["scores"]["value"])) == (5, 35)


def test_a_mask_brings_its_box_and_its_cells():
    values = parameters(make_lab())
    assert values["masked"]["bind"]["input"] == "checkbox"
    assert values["openings"]["value"] == "".join(str(int(allowed)) for allowed in MASK.ravel())
    assert "bind" not in parameters(make_lab(mask=None))["masked"]


@pytest.mark.parametrize("mask", [MASK[None, None], MASK[None].numpy(), MASK.tolist()])
def test_mask_may_have_the_axes_of_a_batch_of_one(mask):
    assert parameters(make_lab(mask=mask))["openings"] == parameters(make_lab())["openings"]


def test_padding_mask_closes_a_key_for_every_query():
    padding = torch.tensor([[True] * 6 + [False]])
    assert parameters(make_lab(mask=padding))["openings"]["value"] == "1111110" * 5


def test_lab_is_small_and_deterministic():
    house_style()
    tokens = [f"token{i}" for i in range(30)]
    large = make_lab(scores=100 * torch.randn(30, 30), queries=tokens, keys=tokens, mask=torch.ones(30, 30).tril() > 0)
    assert len(large.to_json(indent=None)) <= 40 * 1024
    assert make_lab().to_json() == make_lab().to_json()


def test_lab_takes_scores_with_a_gradient():
    chart = make_lab(scores=SCORES.clone().requires_grad_())
    assert parameters(chart)["scores"] == parameters(make_lab())["scores"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"queries": []}, "queries: 0 tokens, expected 1 to 64"),
        ({"keys": "The dog"}, "keys: expected a list of tokens, got the string 'The dog'"),
        ({"keys": [str(i) for i in range(67)]}, "keys: 67 tokens, expected 1 to 64"),
        ({"scores": SCORES.T}, "scores: shape (7, 5), expected (5, 7) (queries, keys)"),
        ({"scores": SCORES[None]}, "scores: shape (1, 5, 7), expected (5, 7)"),
        ({"scores": SCORES.masked_fill(~MASK, -torch.inf)}, "scores: entries that are not finite numbers"),
        ({"d_k": 0}, "d_k: 0, expected a width of at least 1"),
        ({"mask": MASK.T}, "mask: shape (7, 5), expected (5, 7) (queries, keys)"),
        ({"mask": torch.stack([MASK, MASK])}, "mask: shape (2, 5, 7), expected (5, 7)"),
        ({"mask": MASK.float()}, "mask: expected booleans, True where a query may attend, got float32"),
    ],
)
def test_lab_refuses_what_does_not_fit_and_says_which(changes, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make_lab(**changes)
