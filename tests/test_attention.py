"""Equation 1 against a loop and against PyTorch's kernel, with every kind of mask."""

import math

import pytest
import torch
import torch.nn.functional as F
from reference import assert_close, attention_loop, gradients, random, random_mask

from transformer_lib.attention import fused_attention, scaled_dot_product_attention

BATCH, HEADS, N_Q, N_K, D_K, D_V = 2, 3, 5, 7, 11, 13

MASKS = {
    "none": None,
    "queries by keys": random_mask(N_Q, N_K, seed=1),
    "keys alone": random_mask(1, N_K, seed=2),
    "a row of each sentence": random_mask(BATCH, 1, 1, N_K, seed=3),
    "every query of each sentence": random_mask(BATCH, 1, N_Q, N_K, seed=4),
    "every query of each head": random_mask(HEADS, N_Q, N_K, seed=5),
    "all different": random_mask(BATCH, HEADS, N_Q, N_K, seed=6),
}
BOTH = pytest.mark.parametrize("attend", [scaled_dot_product_attention, fused_attention])


def inputs(dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    shapes = (BATCH, HEADS, N_Q, D_K), (BATCH, HEADS, N_K, D_K), (BATCH, HEADS, N_K, D_V)
    query, key, value = (random(*shape, seed=seed, dtype=dtype) for seed, shape in enumerate(shapes))
    return query, key, value


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_attention_matches_loop(mask):
    leaves = inputs()
    actual, expected = scaled_dot_product_attention(*leaves, mask), attention_loop(*leaves, mask)
    assert_close(actual, expected, 1e-12)
    assert_close(gradients(actual[0], leaves), gradients(expected[0], leaves), 1e-12)


@BOTH
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_attention_matches_torch(attend, mask):
    leaves = inputs()
    actual, expected = attend(*leaves, mask)[0], F.scaled_dot_product_attention(*leaves, attn_mask=mask)
    assert_close([actual], [expected], 1e-12)
    assert_close(gradients(actual, leaves), gradients(expected, leaves), 1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_fused_attention_matches_plain_with_any_mask(seed):
    """Masks from almost empty to almost full; rows without any key occur."""
    mask = torch.rand(BATCH, 1, N_Q, N_K, generator=torch.Generator().manual_seed(seed)) < (seed + 1) / 21
    leaves = inputs()
    fused, plain = fused_attention(*leaves, mask)[0], scaled_dot_product_attention(*leaves, mask)[0]
    assert_close([fused], [plain], 1e-12)
    assert_close(gradients(fused, leaves), gradients(plain, leaves), 1e-12)


def test_attention_without_batch_or_heads_matches_loop():
    query, key, value = random(N_Q, D_K), random(N_K, D_K, seed=1), random(N_K, D_V, seed=2)
    mask = random_mask(N_Q, N_K, seed=3)
    assert_close(scaled_dot_product_attention(query, key, value, mask), attention_loop(query, key, value, mask), 1e-12)
    assert_close(fused_attention(query, key, value, mask)[:1], attention_loop(query, key, value, mask)[:1], 1e-12)


@pytest.mark.parametrize("mask", [mask for mask in MASKS.values() if mask is not None], ids=list(MASKS)[1:])
def test_mask_broadcasts_like_its_expansion(mask):
    leaves = inputs()
    expanded = mask.expand(BATCH, HEADS, N_Q, N_K).contiguous()
    assert_close(scaled_dot_product_attention(*leaves, mask), scaled_dot_product_attention(*leaves, expanded), 0.0)


def test_attention_gradient_matches_finite_differences():
    mask = random_mask(2, 3, 5, seed=1, keep=0.5)
    mask[0, 1] = False
    leaves = random(2, 3, 2), random(2, 5, 2, seed=1), random(2, 5, 3, seed=2)
    assert torch.autograd.gradcheck(lambda *qkv: scaled_dot_product_attention(*qkv, mask)[0], leaves)


@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_weights_of_a_row_sum_to_one_and_are_zero_where_masked(scale):
    """Also where every score that counts is far below zero."""
    query, key, value = inputs()
    mask = MASKS["all different"]
    _, weights = scaled_dot_product_attention(scale * query, key, value, mask)
    torch.testing.assert_close(weights.sum(-1), torch.ones(BATCH, HEADS, N_Q, dtype=torch.float64))
    assert (weights[~mask] == 0).all()
    assert (weights[mask] > 0).all() or scale > 1


def test_output_is_the_weighted_average_of_the_values():
    query, key, value = inputs()
    output, weights = scaled_dot_product_attention(query, key, value)
    average = sum(weights[..., j, None] * value[..., None, j, :] for j in range(N_K))
    assert_close([output], [average], 1e-12)


def test_scores_are_divided_by_the_root_of_d_k():
    """Two keys with scores a and 0 get weights whose log-ratio is a over the root of d_k."""
    query, key = torch.ones(1, D_K), torch.stack([torch.full((D_K,), 3.0), torch.zeros(D_K)])
    _, weights = scaled_dot_product_attention(query, key, torch.zeros(2, D_V))
    log_ratio = (weights[0, 0] / weights[0, 1]).log().item()
    assert log_ratio == pytest.approx(3 * D_K / math.sqrt(D_K), rel=1e-4)


@BOTH
def test_order_of_the_keys_does_not_matter(attend):
    query, key, value = inputs()
    order = torch.randperm(N_K, generator=torch.Generator().manual_seed(0))
    assert not torch.equal(order, torch.arange(N_K))
    mask = MASKS["all different"]
    shuffled = attend(query, key[..., order, :], value[..., order, :], mask[..., order])[0]
    assert_close([shuffled], [attend(query, key, value, mask)[0]], 1e-12)


@BOTH
def test_masked_keys_change_nothing(attend):
    """Not even a key with an enormous score, and not in the gradients."""
    query, key, value = inputs()
    mask = torch.ones(N_Q, N_K, dtype=torch.bool)
    mask[:, 4] = False
    kept = [0, 1, 2, 3, 5, 6]
    loud_key, loud_value = key.detach().clone(), value.detach().clone()
    loud_key[..., 4, :], loud_value[..., 4, :] = 1e3, 1e5
    leaves = query, loud_key.requires_grad_(), loud_value.requires_grad_()
    loud, quiet = attend(*leaves, mask)[0], attend(query, key[..., kept, :], value[..., kept, :])[0]
    assert_close([loud], [quiet], 1e-12)
    loud_grads, quiet_grads = gradients(loud, leaves), gradients(quiet, (query, key, value))
    assert_close(loud_grads[:1], quiet_grads[:1], 1e-12)
    for loud_grad, quiet_grad in zip(loud_grads[1:], quiet_grads[1:], strict=True):
        assert (loud_grad[..., 4, :] == 0).all()
        assert_close([loud_grad[..., kept, :]], [quiet_grad[..., kept, :]], 1e-12)


@BOTH
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("rows", ["one", "all"])
def test_fully_masked_row_gives_zeros_and_finite_gradients(attend, dtype, rows):
    leaves = inputs(dtype)
    mask = MASKS["all different"].clone()
    if rows == "one":
        mask[1, 2, 3] = False
    else:
        mask[:] = False
    output = attend(*leaves, mask)[0]
    empty = ~mask.any(-1)
    assert output.dtype == dtype
    assert (output[empty] == 0).all()
    assert output.isfinite().all()
    grads = gradients(output, leaves)
    assert all(grad.isfinite().all() for grad in grads)
    assert (grads[0][empty] == 0).all()
    if rows == "all":
        assert all((grad == 0).all() for grad in grads)


@BOTH
def test_fully_masked_row_makes_no_nan_on_the_way(attend):
    """Anomaly detection raises at the first NaN that a backward step returns, even one that is masked later."""
    leaves, mask = inputs(), torch.zeros(N_Q, N_K, dtype=torch.bool)
    with pytest.warns(UserWarning, match="Anomaly Detection"), torch.autograd.detect_anomaly():
        attend(*leaves, mask)[0].sum().backward()
    assert all((leaf.grad == 0).all() for leaf in leaves)


def test_fully_masked_row_has_weights_of_zero():
    mask = MASKS["all different"].clone()
    mask[0, 1, 2] = False
    _, weights = scaled_dot_product_attention(*inputs(), mask)
    assert (weights[0, 1, 2] == 0).all()


@BOTH
def test_fully_masked_row_leaves_other_rows_their_gradients(attend):
    """Keys and values get the gradients they would have if that query were not there."""
    query, key, value = inputs()
    mask = MASKS["all different"].clone()
    mask[..., 3, :] = False
    kept = [0, 1, 2, 4]
    weighting = random(BATCH, HEADS, N_Q, D_V, seed=9).detach()
    whole = (attend(query, key, value, mask)[0] * weighting).sum()
    without = (attend(query[..., kept, :], key, value, mask[..., kept, :])[0] * weighting[..., kept, :]).sum()
    assert_close(torch.autograd.grad(whole, (key, value)), torch.autograd.grad(without, (key, value)), 1e-12)


@BOTH
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_attention_survives_scores_that_overflow_the_exponential(attend, dtype):
    query, key, value = (leaf.detach() for leaf in inputs(dtype))
    mask = MASKS["all different"]
    assert attend(query * 1e4, key, value, mask)[0].isfinite().all()


def test_fused_attention_keeps_no_weights():
    assert fused_attention(*inputs())[1] is None


def test_fused_attention_dropout_is_off_by_default_and_drops_weights():
    """With all values 1 an output is the sum of the kept weights, each over 1 - p."""
    query, key = random(N_Q, D_K).detach(), random(N_K, D_K, seed=1).detach()
    ones = torch.ones(N_K, 1, dtype=torch.float64)
    torch.testing.assert_close(fused_attention(query, key, ones)[0], torch.ones(N_Q, 1, dtype=torch.float64))
    torch.manual_seed(0)
    sums = torch.cat([fused_attention(query, key, ones, dropout=0.3)[0] for _ in range(2_000)], dim=1)
    torch.testing.assert_close(sums.mean(1), torch.ones(N_Q, dtype=torch.float64), atol=0.05, rtol=0)
    _, weights = scaled_dot_product_attention(query, key, ones)
    spread = (0.3 / 0.7 * weights.square().sum(-1)).sqrt()
    torch.testing.assert_close(sums.std(1), spread, atol=0.0, rtol=0.1)
