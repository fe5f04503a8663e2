"""Layers and stacks against PyTorch's, and where residual, dropout and normalization stand."""

import math
from functools import partial

import pytest
import torch
from reference import (
    assert_close,
    assert_same_gradients,
    gradients,
    match_decoder_layer,
    match_encoder_layer,
    random,
    share_weights,
    without_shape_checks,
)
from torch import nn

from transformer_lib.feed_forward import FeedForward
from transformer_lib.masking import causal_mask, padding_mask
from transformer_lib.multi_head import MultiHeadAttention
from transformer_lib.stacks import DecoderLayer, EncoderLayer, ResidualSublayer, Stack

BATCH, HEADS, N_SRC, N_TGT, D_FF = 2, 3, 11, 7, 17
D_MODEL = HEADS * 5
SOURCE = torch.tensor([[4, 5, 6, 7, 8, 9, 4, 5, 6, 7, 8], [9, 8, 7, 6, 5, 4, 9, 0, 0, 0, 0]])
TARGET = torch.tensor([[2, 9, 8, 7, 6, 5, 4], [2, 4, 5, 6, 0, 0, 0]])

BOTH_NORMS = pytest.mark.parametrize("norm", ["post", "pre"])
BIAS = pytest.mark.parametrize("bias", [True, False])


def encoder_layer(norm: str, bias: bool = False, dropout: float = 0.0) -> EncoderLayer:
    attention = MultiHeadAttention(D_MODEL, HEADS, bias=bias)
    return EncoderLayer(D_MODEL, attention, FeedForward(D_MODEL, D_FF), dropout, norm).double()


def decoder_layer(norm: str, bias: bool = False, dropout: float = 0.0) -> DecoderLayer:
    attention = partial(MultiHeadAttention, D_MODEL, HEADS, bias=bias)
    return DecoderLayer(D_MODEL, attention(), attention(), FeedForward(D_MODEL, D_FF), dropout, norm).double()


def torch_layer(kind: type[nn.Module], norm: str) -> nn.Module:
    return kind(D_MODEL, HEADS, D_FF, dropout=0.0, batch_first=True, norm_first=norm == "pre").double()


def compare(actual: torch.Tensor, expected: torch.Tensor, leaves, matches) -> None:
    """Output, gradients of the inputs and gradient of every parameter."""
    assert_close([actual], [expected])
    weighting = random(*actual.shape, seed=7).detach()
    for output in (actual, expected):
        (output * weighting).sum().backward(retain_graph=True)
    assert_same_gradients(matches)
    assert_close(gradients(actual, leaves), gradients(expected, leaves))


@BOTH_NORMS
@BIAS
@pytest.mark.parametrize("padded", [False, True])
def test_encoder_layer_matches_torch(norm, bias, padded):
    ours, theirs = encoder_layer(norm, bias), torch_layer(nn.TransformerEncoderLayer, norm)
    matches = share_weights(match_encoder_layer, ours, theirs)
    assert len(matches) == len(list(ours.parameters()))
    x = random(BATCH, N_SRC, D_MODEL)
    actual = ours(x, padding_mask(SOURCE, 0) if padded else None)
    compare(actual, theirs(x, src_key_padding_mask=SOURCE == 0 if padded else None), [x], matches)


@BOTH_NORMS
@BIAS
@pytest.mark.parametrize("masked", [False, True])
def test_decoder_layer_matches_torch(norm, bias, masked):
    ours, theirs = decoder_layer(norm, bias), torch_layer(nn.TransformerDecoderLayer, norm)
    matches = share_weights(match_decoder_layer, ours, theirs)
    assert len(matches) == len(list(ours.parameters()))
    leaves = random(BATCH, N_TGT, D_MODEL), random(BATCH, N_SRC, D_MODEL, seed=1)
    if masked:
        actual = ours(*leaves, causal_mask(N_TGT) & padding_mask(TARGET, 0), padding_mask(SOURCE, 0))
        barred = {"tgt_mask": ~causal_mask(N_TGT), "tgt_key_padding_mask": TARGET == 0}
        expected = theirs(*leaves, **barred, memory_key_padding_mask=SOURCE == 0)
    else:
        actual, expected = ours(*leaves), theirs(*leaves)
    compare(actual, expected, leaves, matches)


def layer_norm(row: list[float], weight: list[float], bias: list[float]) -> list[float]:
    """Biased variance, epsilon 1e-5 inside the root."""
    mean = sum(row) / len(row)
    variance = sum((x - mean) ** 2 for x in row) / len(row)
    return [w * (x - mean) / math.sqrt(variance + 1e-5) + b for x, w, b in zip(row, weight, bias, strict=True)]


@BOTH_NORMS
def test_residual_sublayer_matches_formula(norm):
    """LayerNorm(x + f(x)) or x + f(LayerNorm(x)), number by number; small x makes epsilon count."""
    residual = ResidualSublayer(D_MODEL, 0.0, norm).double()
    weight, bias = random(D_MODEL).detach(), random(D_MODEL, seed=1).detach()
    with torch.no_grad():
        residual.norm.weight.copy_(weight)
        residual.norm.bias.copy_(bias)
    normalize = partial(layer_norm, weight=weight.tolist(), bias=bias.tolist())
    x = random(BATCH, N_SRC, D_MODEL, seed=2).detach() * 1e-3

    def double_and_turn(row: list[float]) -> list[float]:
        return [2 * number for number in reversed(row)]

    expected = []
    for row in x.flatten(0, 1).tolist():
        if norm == "post":
            expected.append(normalize([a + b for a, b in zip(row, double_and_turn(row), strict=True)]))
        else:
            expected.append([a + b for a, b in zip(row, double_and_turn(normalize(row)), strict=True)])
    actual = residual(x, lambda x: 2 * x.flip(-1))
    assert_close([actual.flatten(0, 1)], [torch.tensor(expected, dtype=torch.float64)])


@BOTH_NORMS
def test_constant_vector_is_normalized_without_nan(norm):
    residual = ResidualSublayer(D_MODEL, 0.0, norm)
    x = torch.full((1, 2, D_MODEL), 3.0, requires_grad=True)
    output = residual(x, torch.zeros_like)
    assert torch.equal(output, torch.zeros_like(x) if norm == "post" else x)
    assert torch.autograd.grad(output.sum(), x)[0].isfinite().all()


def test_post_norm_output_is_normalized_and_pre_norm_output_is_not():
    torch.manual_seed(0)
    post, pre = encoder_layer("post"), encoder_layer("pre")
    pre.load_state_dict(post.state_dict())
    x = 5 * random(BATCH, N_SRC, D_MODEL).detach() + 30
    ones = torch.ones(BATCH, N_SRC, dtype=torch.float64)
    assert_close([post(x).mean(-1), post(x).std(-1, correction=0)], [0 * ones, ones], 1e-4)
    assert (pre(x).mean(-1) > 20).all()
    assert (pre(x).std(-1) > 2).all()


def test_pre_norm_has_a_path_that_nothing_touches():
    """With sub-layers that give zeros, pre-norm is the identity."""
    layer = encoder_layer("pre")
    with torch.no_grad():
        for last in (layer.self_attention.w_o.weight, layer.feed_forward.w_2.weight, layer.feed_forward.w_2.bias):
            last.zero_()
    x = random(BATCH, N_SRC, D_MODEL)
    assert torch.equal(layer(x), x)


@pytest.mark.parametrize("norm", ["middle", "Post", None])
def test_unknown_norm_is_an_error_that_names_it(norm):
    with without_shape_checks(), pytest.raises(ValueError, match=f"norm must be .*{norm!r}"):
        ResidualSublayer(D_MODEL, norm=norm)


def test_dropout_falls_on_the_output_of_the_sublayer_alone():
    """In pre-norm the residual can be seen whole: the sum minus x is the sub-layer's output, dropped or scaled."""
    residual, x = ResidualSublayer(D_MODEL, 0.5, "pre"), torch.zeros(BATCH, N_SRC, D_MODEL)
    added = residual(x, torch.ones_like)
    assert set(added.unique().tolist()) == {0.0, 2.0}
    assert residual.eval()(x, torch.ones_like).unique().tolist() == [1.0]


def test_dropout_in_post_norm_falls_before_the_sum():
    """All of a sub-layer dropped leaves LayerNorm(x), and never LayerNorm(0)."""
    residual, x = ResidualSublayer(D_MODEL, 0.999_999), torch.randn(BATCH, N_SRC, D_MODEL)
    assert_close([residual(x, lambda x: 100 * x.flip(-1))], [residual.norm(x)], 1e-6)


def test_layer_uses_a_norm_and_a_dropout_of_its_own_for_each_sublayer():
    for layer, count in ((encoder_layer("post", dropout=0.3), 2), (decoder_layer("post", dropout=0.3), 3)):
        norms = [module for module in layer.modules() if isinstance(module, nn.LayerNorm)]
        dropouts = [module for module in layer.modules() if isinstance(module, nn.Dropout) and module.p == 0.3]
        assert len(norms) == len(dropouts) == count


def test_decoder_layer_asks_the_memory_only_in_its_second_sublayer():
    layer, calls = decoder_layer("post"), []
    for name in ("self_attention", "cross_attention", "feed_forward"):
        module = layer.get_submodule(name)
        module.register_forward_hook(lambda _, given, __, name=name: calls.append((name, given)))
    x, memory = random(BATCH, N_TGT, D_MODEL), random(BATCH, N_SRC, D_MODEL, seed=1)
    layer(x, memory)
    assert [name for name, _ in calls] == ["self_attention", "cross_attention", "feed_forward"]
    (_, (query, key, value, _)), (_, (asking, memory_key, memory_value, _)), _ = calls
    assert query is key is value is x
    assert memory_key is memory_value is memory
    assert asking.shape == x.shape


class Append(nn.Module):
    """Writes down what it was given, and adds its number to the first column."""

    def __init__(self, number: int, log: list) -> None:
        super().__init__()
        self.number, self.log = number, log

    def forward(self, x: torch.Tensor, *context: torch.Tensor | None) -> torch.Tensor:
        self.log.append((self.number, x[0, 0, 0].item(), context))
        return 10 * x + self.number


def test_stack_runs_its_layers_in_order_and_hands_each_the_context():
    log, memory = [], torch.ones(1, 3, 1)
    stack = Stack([Append(number, log) for number in (1, 2, 3)])
    output = stack(torch.zeros(1, 2, 1), memory, None)
    assert [(number, seen) for number, seen, _ in log] == [(1, 0.0), (2, 1.0), (3, 12.0)]
    assert output.unique().item() == 123
    assert all(context[0] is memory and context[1] is None for _, _, context in log)


def test_stack_takes_its_layers_from_any_iterable_and_owns_them():
    stack = Stack(encoder_layer("post") for _ in range(3))
    assert len(stack.layers) == 3
    assert len({parameter.data_ptr() for parameter in stack.parameters()}) == 3 * len(
        list(stack.layers[0].parameters())
    )


def test_stack_has_a_final_norm_only_when_given_one():
    x = 5 * random(BATCH, N_SRC, D_MODEL) + 3
    assert Stack([])(x) is x
    norm = nn.LayerNorm(D_MODEL).double()
    assert torch.equal(Stack([], norm)(x), norm(x))
