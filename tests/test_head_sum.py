"""The figure of what each head adds, as data: what its page is told, and what it refuses."""

import numpy as np
import pytest
import torch

from transformer_lib.charts import head_sum, house_style
from transformer_lib.charts.equation.head_strips import HALF
from transformer_lib.charts.packing import ALPHABET

HEADS, N, WIDTH = 3, 5, 7
TOKENS = ["It", "is", "dirty", ".", "</s>"]


def make_contributions(heads=HEADS, n=N, width=WIDTH):
    return np.random.default_rng(0).normal(0, 0.7, (heads, n, width))


def parameters(chart):
    return {parameter["name"]: parameter.get("value") for parameter in chart.to_dict()["params"]}


def controls(chart):
    patch = chart.to_dict()["usermeta"]["embedOptions"]["patch"]
    signals = [change["value"] for change in patch if "bind" in change.get("value", {})]
    return {signal["name"]: signal["bind"] | {"value": signal["value"]} for signal in signals}


def unpacked(chart, shape):
    """The components that the page reads, `(heads, n, width)`."""
    found, (heads, n, width) = parameters(chart), shape
    digits = np.array([ALPHABET.index(character) for text in found["vectors"] for character in text]).reshape(-1, 2)
    values = (digits @ [64, 1] / HALF - 1) * found["largest"]
    return values.reshape(n, heads, width).swapaxes(0, 1)


def test_components_survive_packing_within_the_error_stated():
    contributions = make_contributions()
    error = abs(unpacked(head_sum(contributions, TOKENS), contributions.shape) - contributions)
    assert error.max() <= 0.0003 * abs(contributions).max()


def test_products_give_lengths_and_shares_that_add_up_to_one():
    contributions = make_contributions()
    products = np.array(parameters(head_sum(contributions, TOKENS))["products"]).reshape(-1, HEADS, HEADS)
    total = contributions.sum(0)
    lengths = np.sqrt(np.einsum("nhh->hn", products))
    np.testing.assert_allclose(lengths, np.linalg.norm(contributions, axis=-1), rtol=1e-4)
    shares = products.sum(-1).T / products.sum((1, 2))
    np.testing.assert_allclose(shares, (contributions * total).sum(-1) / (total**2).sum(-1), atol=1e-3)
    np.testing.assert_allclose(shares.sum(0), 1)


def test_no_selection_of_heads_leaves_its_strip():
    contributions = make_contributions()
    reach = np.array(parameters(head_sum(contributions, TOKENS))["reach"])
    for kept in np.ndindex(*[2] * HEADS):
        largest = abs(np.tensordot(kept, contributions, 1)).max(-1)
        assert (largest <= reach * (1 + 1e-4)).all()


def test_of_a_wide_model_the_first_128_components_are_drawn_and_all_are_counted():
    contributions = make_contributions(width=131)
    chart = head_sum(contributions, TOKENS)
    assert {len(text) for text in parameters(chart)["vectors"]} == {2 * HEADS * 128}
    assert "the first 128 of 131 components" in chart.to_json()
    length = np.sqrt(parameters(chart)["products"][0][0])
    assert abs(length - np.linalg.norm(contributions[0, 0])) < 1e-3 < length - np.linalg.norm(contributions[0, 0, :128])


def test_figure_of_the_base_model_is_small():
    tokens = [f"token{number}" for number in range(30)]
    chart = head_sum(make_contributions(8, 30, 512), tokens)
    assert len(chart.to_json(indent=None)) <= 150 * 1024


def test_slider_and_boxes_cover_every_token_and_head():
    found = controls(head_sum(make_contributions(), TOKENS, token=2))
    assert list(found) == ["token", "head_1", "head_2", "head_3"]
    assert (found["token"]["min"], found["token"]["max"], found["token"]["value"]) == (1, len(TOKENS), 3)
    assert all(found[f"head_{head}"]["value"] is True for head in (1, 2, 3))


def test_specification_is_deterministic():
    house_style()
    first, second = (head_sum(make_contributions(), TOKENS).to_json() for _ in range(2))
    assert first == second


def test_tensors_with_gradients_are_taken():
    contributions = torch.tensor(make_contributions(), requires_grad=True)
    expected = head_sum(contributions.detach().float().numpy(), TOKENS).to_json()
    assert head_sum(contributions, TOKENS).to_json() == expected


def test_heads_that_add_nothing_are_drawn_on_scales_that_are_not_empty():
    chart = head_sum(np.zeros((HEADS, N, WIDTH)), TOKENS)
    assert parameters(chart)["reach"] == [1.0] * N
    assert chart.to_dict()["concat"][0]["layer"][0]["encoding"]["color"]["scale"]["domain"] == [0, 1.0]


def test_a_title_with_quotes_is_text():
    chart = head_sum(make_contributions(), TOKENS, title="""What "it" isn't""")
    assert r"""What \"it\" isn't""" in chart.to_dict()["title"]["text"]["expr"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tokens": "It is"}, "tokens: expected a list of tokens"),
        ({"tokens": []}, "tokens: 0 tokens, expected 1 to 64"),
        ({"tokens": TOKENS[:-1]}, r"contributions have shape \(3, 5, 7\), expected \(heads, 4 tokens, d_model\)"),
        ({"contributions": make_contributions()[0]}, r"contributions have shape \(5, 7\)"),
        ({"contributions": make_contributions(heads=0)}, r"contributions have shape \(0, 5, 7\)"),
        ({"contributions": np.full((3, 5, 7), np.nan)}, "contributions: entries that are not finite"),
        ({"token": 5}, "token: 5, expected the index of one of 5 tokens"),
        ({"token": -1}, "token: -1, expected the index"),
    ],
)
def test_what_does_not_fit_is_refused_and_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        head_sum(**{"contributions": make_contributions(), "tokens": TOKENS} | arguments)
