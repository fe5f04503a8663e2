"""The CPU's dropout and loss against nn.Dropout, the binomial distribution and the plain loss."""

import math

import pytest
import torch
from torch import nn

from transformer_lib.loss import label_smoothing_loss
from transformer_lib.model import Transformer, TransformerConfig
from transformer_lib.run import fused_loss
from transformer_lib.run.dropout import FastDropout, dropout_factors, dropped_levels, with_fast_dropout
from transformer_lib.run.fused_loss import FusedLoss, ProjectedLoss
from transformer_lib.training import SummedLoss

COUNT = 1_000_003  # not a multiple of the four numbers in a draw
CONFIG = TransformerConfig(53, d_model=12, d_ff=19, num_heads=2, num_layers=2)


def dropped(p: float, count: int = COUNT, seed: int = 0) -> torch.Tensor:
    torch.manual_seed(seed)
    return dropout_factors(torch.Size([count]), p) == 0


@pytest.mark.parametrize("p", [0.001, 0.1, 0.3, 0.5, 0.97])
def test_share_dropped_is_binomial_at_each_of_the_four_places_of_a_draw(p):
    drops = dropped(p)[: COUNT // 4 * 4].view(-1, 4).double()
    # 4.5 standard deviations: once in 150,000 with a right generator.
    assert (drops.mean(0) - p).abs().max() < 4.5 * math.sqrt(p * (1 - p) / len(drops)) + 8e-6


@pytest.mark.parametrize("distance", [1, 2, 3, 4, 5, 8, 256, 624 * 2, 1024])
def test_neighbors_are_dropped_independently(distance):
    p, drops = 0.3, dropped(0.3)
    both = (drops[distance:] & drops[:-distance]).double().mean().item()
    assert abs(both - p**2) < 5 * math.sqrt(p**2 / COUNT)


def test_runs_of_four_have_the_distribution_of_four_independent_numbers():
    p, patterns = 0.5, dropped(0.5)[: COUNT // 4 * 4].view(-1, 4).long() @ torch.tensor([1, 2, 4, 8])
    expected = len(patterns) / 16
    chi_squared = ((torch.bincount(patterns, minlength=16) - expected) ** 2 / expected).sum().item()
    assert chi_squared < 50  # 15 degrees of freedom: once in 90,000 with a right generator
    assert p == 0.5


@pytest.mark.parametrize("p", [0.1, 0.3, 1 / 3, 0.9, 1e-6, 1 - 1e-6])
def test_factors_have_expectation_one_exactly(p):
    torch.manual_seed(1)
    kept = 1 - dropped_levels(p) / 65536
    assert abs(kept - (1 - p)) <= 2**-16
    factors = dropout_factors(torch.Size([300_007]), p, torch.float64)
    assert set(factors.unique().tolist()) <= {0.0, 1 / kept}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_gradient_is_the_factor_and_the_type_stays(dtype):
    torch.manual_seed(2)
    x = torch.randn(3, 7, 11, dtype=dtype, requires_grad=True)
    y = FastDropout(0.4)(x)
    y.sum().backward()
    assert y.dtype == dtype
    assert torch.equal(y, x * x.grad)
    assert 0 < (x.grad == 0).double().mean() < 1


def test_same_seed_same_dropout_other_seed_another():
    assert torch.equal(dropped(0.2, 1009, seed=5), dropped(0.2, 1009, seed=5))
    assert not torch.equal(dropped(0.2, 1009, seed=5), dropped(0.2, 1009, seed=6))
    torch.manual_seed(7)
    first, state = dropout_factors(torch.Size([101]), 0.5), torch.get_rng_state()
    second = dropout_factors(torch.Size([101]), 0.5)
    torch.set_rng_state(state)
    assert torch.equal(second, dropout_factors(torch.Size([101]), 0.5))
    assert not torch.equal(first, second)


def test_nothing_is_dropped_in_evaluation_or_with_p_zero_and_everything_with_p_one():
    x = torch.randn(5, 13)
    assert FastDropout(0.5).eval()(x) is x
    assert torch.equal(FastDropout(0.0)(x), x)
    assert torch.equal(FastDropout(1.0)(x), torch.zeros(5, 13))
    assert FastDropout(0.3)(torch.ones(0, 4)).shape == (0, 4)


def test_every_dropout_of_a_model_is_replaced_and_nothing_else():
    model, plain = Transformer(CONFIG), Transformer(CONFIG)
    plain.load_state_dict(model.state_dict())
    model.decoder.eval()
    modes = {name: module.training for name, module in model.named_modules()}
    assert with_fast_dropout(model) is model
    assert not any(type(module) is nn.Dropout for module in model.modules())
    assert [module.p for module in model.modules() if isinstance(module, nn.Dropout)] == [
        module.p for module in plain.modules() if isinstance(module, nn.Dropout)
    ]
    assert {name: module.training for name, module in model.named_modules()} == modes
    assert model.state_dict().keys() == plain.state_dict().keys()
    source, target = torch.randint(4, 53, (2, 3, 7))
    assert torch.equal(model.eval()(source, target), plain.eval()(source, target))


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_projected_loss_is_the_plain_one_with_its_gradients(dtype, tolerance, smoothing, monkeypatch):
    monkeypatch.setattr(fused_loss, "CHUNK", 1)  # several chunks, the last not full
    torch.manual_seed(3)
    states = torch.randn(211, 17, dtype=dtype, requires_grad=True)
    weight = torch.randn(53, 17, dtype=dtype, requires_grad=True)
    target = torch.randint(1, 53, (211,))
    ours, plain = (
        ProjectedLoss.apply(states, weight, target, smoothing),
        label_smoothing_loss(states @ weight.t(), target, smoothing),
    )
    torch.testing.assert_close(ours, plain, rtol=tolerance, atol=tolerance)
    for found, expected in zip(
        *(torch.autograd.grad(loss * 0.37, (states, weight)) for loss in (ours, plain)), strict=True
    ):
        torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance * 10)


def test_projected_loss_survives_logits_that_overflow_an_exponential():
    states = torch.full((3, 2), 500.0, requires_grad=True)
    weight = torch.tensor([[1.0, 1.0], [-1.0, -1.0], [0.5, 0.5]], requires_grad=True)
    loss = ProjectedLoss.apply(states, weight, torch.tensor([0, 2, 0]), 0.1)
    plain = label_smoothing_loss(states @ weight.t(), torch.tensor([0, 2, 0]), 0.1, pad_id=-1)
    torch.testing.assert_close(loss, plain)
    assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(loss, (states, weight)))


def test_fused_loss_is_the_summed_loss_with_all_gradients():
    torch.manual_seed(4)
    model = Transformer(TransformerConfig(53, d_model=12, d_ff=19, num_heads=2, num_layers=2, dropout=0.0)).double()
    source, target_in, target_out = torch.randint(4, 53, (3, 5, 7))
    target_out[2, 3:] = target_in[2, 3:] = source[1, 5:] = 0
    real = target_out.flatten().nonzero().squeeze(1)
    losses = [kind(model, 0.1)(source, target_in, target_out, real) for kind in (FusedLoss, SummedLoss)]
    gradients = [torch.autograd.grad(loss, list(model.parameters())) for loss in losses]
    torch.testing.assert_close(*losses, rtol=1e-12, atol=1e-12)
    for found, expected in zip(*gradients, strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)
    with torch.no_grad():
        torch.testing.assert_close(FusedLoss(model, 0.1)(source, target_in, target_out, real), losses[1].detach())
