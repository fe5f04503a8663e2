"""Multi-head attention against PyTorch's and against a loop over heads."""

import pytest
import torch
from reference import (
    assert_close,
    assert_same_gradients,
    gradients,
    match_attention,
    multi_head_loop,
    random,
    random_mask,
    share_weights,
)
from torch import nn

from transformer_lib.attention import fused_attention, scaled_dot_product_attention
from transformer_lib.masking import causal_mask, padding_mask
from transformer_lib.multi_head import MultiHeadAttention, join_heads, split_heads

BATCH, HEADS, N_Q, N_K = 2, 3, 7, 11
WIDTH = HEADS * 5  # where d_model has to be divisible
D_MODEL, D_K, D_V = 13, 5, 17  # where it does not

IDS = torch.tensor([[4, 5, 6, 7, 8, 9, 4, 5, 6, 7, 8], [9, 8, 7, 6, 5, 4, 9, 0, 0, 0, 0]])
# name: (n_q, n_k, our mask, PyTorch's attn_mask and key_padding_mask, which are True where attention is barred)
CASES = {
    "no mask": (N_Q, N_K, None, None, None),
    "padding": (N_Q, N_K, padding_mask(IDS, 0), None, IDS == 0),
    "causal": (N_K, N_K, causal_mask(N_K), ~causal_mask(N_K), None),
    "causal and padding": (N_K, N_K, causal_mask(N_K) & padding_mask(IDS, 0), ~causal_mask(N_K), IDS == 0),
}


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("n_q", "n_k", "mask", "barred", "padding"), CASES.values(), ids=CASES)
def test_multi_head_matches_torch(bias, n_q, n_k, mask, barred, padding):
    ours = MultiHeadAttention(WIDTH, HEADS, bias=bias).double()
    theirs = nn.MultiheadAttention(WIDTH, HEADS, bias=bias, batch_first=True).double()
    matches = share_weights(match_attention, ours, theirs)
    assert len(matches) == len(list(ours.parameters())) == (8 if bias else 4)
    leaves = random(BATCH, n_q, WIDTH), random(BATCH, n_k, WIDTH, seed=1), random(BATCH, n_k, WIDTH, seed=2)
    actual, expected = ours(*leaves, mask), theirs(*leaves, attn_mask=barred, key_padding_mask=padding)[0]
    assert_close([actual], [expected])
    assert_close(gradients(actual, leaves), gradients(expected, leaves))
    for output in (ours(*leaves, mask), theirs(*leaves, attn_mask=barred, key_padding_mask=padding)[0]):
        (output * random(*output.shape, seed=3).detach()).sum().backward()
    assert_same_gradients(matches)


def test_multi_head_matches_torch_in_self_attention():
    ours, theirs = MultiHeadAttention(WIDTH, HEADS).double(), nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
    share_weights(match_attention, ours, theirs.double())
    x = random(BATCH, N_Q, WIDTH)
    actual, expected = ours(x, x, x), theirs(x, x, x)[0]
    assert_close([actual], [expected])
    assert_close(gradients(actual, [x]), gradients(expected, [x]))


@pytest.mark.parametrize("attend", [scaled_dot_product_attention, fused_attention])
def test_multi_head_of_any_size_matches_loop(attend):
    """d_model, d_k and d_v are different primes; queries, keys and values come from different places."""
    torch.manual_seed(0)
    module = MultiHeadAttention(D_MODEL, HEADS, D_K, D_V, attend=attend).double()
    leaves = random(BATCH, 3, D_MODEL), random(BATCH, 5, D_MODEL, seed=1), random(BATCH, 5, D_MODEL, seed=2)
    mask = random_mask(BATCH, 3, 5, seed=3)
    mask[1, 2] = False
    actual, expected = module(*leaves, mask), multi_head_loop(module, *leaves, mask)
    wanted = (*leaves, *module.parameters())
    assert_close([actual], [expected], 1e-12)
    assert_close(gradients(actual, wanted), gradients(expected, wanted), 1e-12)


def test_projections_have_the_shapes_of_the_paper():
    module = MultiHeadAttention(D_MODEL, HEADS, D_K, D_V)
    shapes = {name: tuple(parameter.shape) for name, parameter in module.named_parameters()}
    assert shapes == {
        "w_q.weight": (HEADS * D_K, D_MODEL),
        "w_k.weight": (HEADS * D_K, D_MODEL),
        "w_v.weight": (HEADS * D_V, D_MODEL),
        "w_o.weight": (D_MODEL, HEADS * D_V),
    }


def test_head_sizes_default_to_an_equal_share_of_d_model():
    module = MultiHeadAttention(WIDTH, HEADS)
    assert {linear.weight.shape for linear in (module.w_q, module.w_k, module.w_v, module.w_o)} == {(WIDTH, WIDTH)}
    assert MultiHeadAttention(WIDTH, HEADS, d_v=D_V).w_k.out_features == WIDTH


@pytest.mark.parametrize("sizes", [{}, {"d_k": D_K}, {"d_v": D_V}])
def test_head_size_without_equal_share_is_an_error(sizes):
    with pytest.raises(ValueError, match=rf"d_model = {D_MODEL} .* num_heads = {HEADS}\b.*d_k"):
        MultiHeadAttention(D_MODEL, HEADS, **sizes)


def test_split_heads_cuts_columns_and_join_heads_undoes_it():
    x = random(BATCH, N_Q, WIDTH)
    heads = split_heads(x, HEADS)
    assert heads.shape == (BATCH, HEADS, N_Q, WIDTH // HEADS)
    for h in range(HEADS):
        assert torch.equal(heads[:, h], x[..., 5 * h : 5 * (h + 1)])
    assert torch.equal(join_heads(heads), x)


def test_attending_one_query_at_a_time_matches_the_whole():
    """Keys and values are projected once, then met by one query after another: what a cache does."""
    torch.manual_seed(0)
    module = MultiHeadAttention(D_MODEL, HEADS, D_K, D_V).double()
    x = random(BATCH, N_Q, D_MODEL)
    keys, values = module.project(x, x)
    assert keys.shape == (BATCH, HEADS, N_Q, D_K)
    assert values.shape == (BATCH, HEADS, N_Q, D_V)
    steps = [module.attend_to(x[:, [t]], keys[..., : t + 1, :], values[..., : t + 1, :]) for t in range(N_Q)]
    assert_close([torch.cat(steps, dim=1)], [module(x, x, x, causal_mask(N_Q))], 1e-12)


def test_every_head_is_given_the_same_mask():
    seen = []

    def spy(query, key, value, mask):
        seen.append(mask.expand(*query.shape[:-1], key.size(-2)))
        return scaled_dot_product_attention(query, key, value, mask)

    mask = random_mask(BATCH, N_Q, N_K)
    module = MultiHeadAttention(D_MODEL, HEADS, D_K, D_V, attend=spy)
    module(torch.zeros(BATCH, N_Q, D_MODEL), torch.zeros(BATCH, N_K, D_MODEL), torch.zeros(BATCH, N_K, D_MODEL), mask)
    for h in range(HEADS):
        assert torch.equal(seen[0][:, h], mask)


def test_fully_masked_query_gives_zeros_and_finite_gradients():
    torch.manual_seed(0)
    module = MultiHeadAttention(D_MODEL, HEADS, D_K, D_V).double()
    x = random(BATCH, N_Q, D_MODEL)
    mask = random_mask(BATCH, N_Q, N_Q)
    mask[1, 4] = False
    output = module(x, x, x, mask)
    assert (output[1, 4] == 0).all()
    assert all(grad.isfinite().all() for grad in gradients(output, (x, *module.parameters())))


@pytest.mark.parametrize(
    ("training", "rate", "expected"), [(True, 0.3, {"dropout": 0.3}), (False, 0.3, {}), (True, 0.0, {})]
)
def test_attention_dropout_is_asked_for_in_training_alone(training, rate, expected):
    asked = []

    def spy(query, key, value, mask=None, **options):
        asked.append(options)
        return fused_attention(query, key, value, mask)

    module = MultiHeadAttention(D_MODEL, HEADS, D_K, D_V, attention_dropout=rate, attend=spy).train(training)
    module(*[torch.zeros(BATCH, N_Q, D_MODEL)] * 3)
    assert asked == [expected]


def test_attention_dropout_changes_training_and_not_evaluation():
    torch.manual_seed(0)
    module = MultiHeadAttention(D_MODEL, HEADS, D_K, D_V, attention_dropout=0.3)
    x = torch.randn(BATCH, N_Q, D_MODEL)
    assert not torch.equal(module(x, x, x), module(x, x, x))
    module.eval()
    assert torch.equal(module(x, x, x), module(x, x, x))
