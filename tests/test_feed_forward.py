"""Equation 2 against two convolutions of kernel size 1 and against a loop."""

import torch
from reference import assert_close, gradients, random
from torch import nn

from transformer_lib.feed_forward import FeedForward

BATCH, N, D_MODEL, D_FF = 2, 5, 7, 11


def feed_forward(dropout: float = 0.0) -> FeedForward:
    torch.manual_seed(0)
    return FeedForward(D_MODEL, D_FF, dropout).double()


def test_feed_forward_matches_two_convolutions_of_kernel_size_one():
    module = feed_forward()
    convolutions = nn.Sequential(nn.Conv1d(D_MODEL, D_FF, 1), nn.ReLU(), nn.Conv1d(D_FF, D_MODEL, 1)).double()
    with torch.no_grad():
        for linear, convolution in ((module.w_1, convolutions[0]), (module.w_2, convolutions[2])):
            convolution.weight.copy_(linear.weight.unsqueeze(-1))
            convolution.bias.copy_(linear.bias)
    x = random(BATCH, N, D_MODEL)
    actual, expected = module(x), convolutions(x.transpose(1, 2)).transpose(1, 2)
    assert_close([actual], [expected], 1e-12)
    ours, theirs = ((x, *m.parameters()) for m in (module, convolutions))
    for grad, other in zip(gradients(actual, ours), gradients(expected, theirs), strict=True):
        assert grad.abs().max() > 0
        assert_close([grad], [other.view_as(grad)], 1e-12)


def test_feed_forward_matches_loop():
    module = feed_forward()
    x = random(BATCH, N, D_MODEL).detach()
    w_1, b_1, w_2, b_2 = (parameter.tolist() for parameter in module.parameters())
    expected = []
    for row in x.flatten(0, 1).tolist():
        inner = [max(0.0, sum(w * v for w, v in zip(w_1[i], row, strict=True)) + b_1[i]) for i in range(D_FF)]
        expected.append([sum(w * v for w, v in zip(w_2[i], inner, strict=True)) + b_2[i] for i in range(D_MODEL)])
    assert_close([module(x).flatten(0, 1)], [torch.tensor(expected, dtype=torch.float64)], 1e-12)


def test_feed_forward_treats_every_position_alike_and_alone():
    module, x = feed_forward(), random(BATCH, N, D_MODEL)
    whole = module(x)
    for sentence in range(BATCH):
        for position in range(N):
            assert_close([module(x[sentence, position])], [whole[sentence, position]], 1e-12)
    grad = torch.autograd.grad(whole[1, 3].sum(), x)[0]
    assert grad[1, 3].abs().max() > 0
    assert (grad[0] == 0).all()
    assert (grad[1, [0, 1, 2, 4]] == 0).all()


def test_feed_forward_has_both_biases():
    shapes = {name: tuple(parameter.shape) for name, parameter in feed_forward().named_parameters()}
    assert shapes == {
        "w_1.weight": (D_FF, D_MODEL),
        "w_1.bias": (D_FF,),
        "w_2.weight": (D_MODEL, D_FF),
        "w_2.bias": (D_MODEL,),
    }


def test_activation_dropout_is_off_by_default():
    module, x = FeedForward(D_MODEL, D_FF).double(), random(BATCH, N, D_MODEL)
    assert module.training
    assert torch.equal(module(x), module(x))


def test_activation_dropout_drops_inner_activations_in_training_alone():
    """With the identity as second layer the inner activations can be seen: dropped, or over 1 - p."""
    module = FeedForward(D_FF, D_FF, activation_dropout=0.5).double()
    with torch.no_grad():
        module.w_2.weight.copy_(torch.eye(D_FF))
        module.w_2.bias.zero_()
    x = random(BATCH, N, D_FF).detach()
    dropped, inner = module(x), module.w_1(x).relu()
    assert ((dropped == 0) | (dropped == 2 * inner)).all()
    assert ((dropped == 0) & (inner > 0)).any()
    assert (dropped > 0).any()
    assert torch.equal(module.eval()(x), inner)
