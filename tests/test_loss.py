"""Label smoothing against an explicit target distribution, in float64."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close

from transformer_lib.loss import label_smoothing_loss

VOCAB, PAD = 13, 0


def example(*shape):
    """Logits, and targets of which some are padding."""
    generator = torch.Generator().manual_seed(7)
    logits = torch.randn(*shape, VOCAB, generator=generator, dtype=torch.float64) * 3
    target = torch.randint(1, VOCAB, shape, generator=generator)
    target[..., -2:] = PAD
    return logits.requires_grad_(), target


def loss_by_loop(logits, target, smoothing, pad_id=PAD):
    """One position and one vocabulary entry at a time."""
    total = logits.new_zeros(())
    for row, wanted in zip(logits.flatten(0, -2), target.flatten().tolist(), strict=True):
        if wanted == pad_id:
            continue
        log_probabilities = row - row.exp().sum().log()
        for k, log_probability in enumerate(log_probabilities):
            total = total - ((1 - smoothing) * (k == wanted) + smoothing / VOCAB) * log_probability
    return total


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.37])
@pytest.mark.parametrize("shape", [(5,), (3, 7), (2, 3, 5)])
def test_loss_equals_cross_entropy_with_the_explicit_distribution(shape, smoothing):
    logits, target = example(*shape)
    loss, expected = label_smoothing_loss(logits, target, smoothing, PAD), loss_by_loop(logits, target, smoothing)
    assert_close(loss, expected, atol=1e-10, rtol=1e-10)
    assert_close(*(torch.autograd.grad(value, logits)[0] for value in (loss, expected)), atol=1e-10, rtol=1e-10)


def test_gradient_is_prediction_minus_smoothed_target():
    logits, target = example(3, 7)
    (gradient,) = torch.autograd.grad(label_smoothing_loss(logits, target, 0.2), logits)
    expected = logits.softmax(-1) - (0.8 * F.one_hot(target, VOCAB).double() + 0.2 / VOCAB)
    assert_close(gradient, expected * (target != PAD).unsqueeze(-1), atol=1e-12, rtol=1e-12)


def test_loss_without_smoothing_is_minus_the_log_probability():
    logits, target = example(3, 7)
    wanted = logits.log_softmax(-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
    assert_close(label_smoothing_loss(logits, target, 0.0), -wanted[target != PAD].sum())


def test_loss_ignores_logits_at_padding():
    logits, target = example(3, 7)
    changed = torch.where((target == PAD).unsqueeze(-1), logits.detach() + 100 * torch.rand(VOCAB), logits.detach())
    assert_close(label_smoothing_loss(changed, target), label_smoothing_loss(logits, target))


def test_loss_takes_the_models_own_padding_id():
    logits, target = example(3, 7)
    target = target.where(target != PAD, 5)
    assert_close(label_smoothing_loss(logits, target, 0.1, pad_id=5), loss_by_loop(logits, target, 0.1, pad_id=5))


def test_losses_of_parts_add_up_to_the_loss_of_the_whole():
    logits, target = example(5, 7)
    target[3] = PAD
    parts = sum(label_smoothing_loss(logits[i : i + 1], target[i : i + 1]) for i in range(5))
    assert_close(parts, label_smoothing_loss(logits, target))


@pytest.mark.parametrize("smoothing", [0.1, 0.3])
def test_lowest_loss_is_the_entropy_of_the_target_at_a_finite_gap(smoothing):
    right, wrong = 1 - smoothing + smoothing / VOCAB, smoothing / VOCAB
    logits = torch.zeros(1, VOCAB, dtype=torch.float64)
    logits[0, 4] = math.log(right / wrong)
    logits.requires_grad_()
    loss = label_smoothing_loss(logits, torch.tensor([4]), smoothing)
    assert loss.item() == pytest.approx(-right * math.log(right) - (VOCAB - 1) * wrong * math.log(wrong), abs=1e-12)
    assert torch.autograd.grad(loss, logits)[0].abs().max() < 1e-12


def test_loss_of_nothing_but_padding_is_zero():
    logits, target = example(2, 3)
    loss = label_smoothing_loss(logits, torch.full_like(target, PAD))
    assert loss.item() == 0.0
    assert not torch.autograd.grad(loss, logits)[0].any()


def test_loss_refuses_a_target_outside_the_vocabulary():
    logits, _ = example(2, 3)
    with pytest.raises(IndexError, match="13"):
        label_smoothing_loss(logits, torch.full((2, 3), VOCAB))


@pytest.mark.parametrize("smoothing", [-0.1, 1.0])
def test_smoothing_outside_its_range_is_named(smoothing):
    with pytest.raises(ValueError, match=str(smoothing)):
        label_smoothing_loss(torch.zeros(2, 5), torch.tensor([1, 2]), smoothing)
