"""The learning rate against the formula and PyTorch's scheduler; the paper's Adam against its published algorithm."""

import math

import pytest
import torch
from torch import nn

from transformer_lib.schedule import learning_rate, paper_adam, set_learning_rate


def adam_in_plain_python(gradients, rates, beta1=0.9, beta2=0.98, epsilon=1e-9):
    """Algorithm 1 of Kingma and Ba, for one weight that starts at zero."""
    weight = first = second = 0.0
    for step, (gradient, rate) in enumerate(zip(gradients, rates, strict=True), start=1):
        first = beta1 * first + (1 - beta1) * gradient
        second = beta2 * second + (1 - beta2) * gradient**2
        weight -= rate * (first / (1 - beta1**step)) / (math.sqrt(second / (1 - beta2**step)) + epsilon)
    return weight


def test_learning_rate_is_pytorchs_schedule_of_the_formula():
    d_model, warmup = 37, 11
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda done: (1 / math.sqrt(d_model)) * min((done + 1) ** -0.5, (done + 1) / warmup**1.5)
    )
    for step in range(1, 60):
        assert learning_rate(step, d_model, warmup) == pytest.approx(optimizer.param_groups[0]["lr"], rel=1e-12)
        optimizer.step()
        schedule.step()


@pytest.mark.parametrize(("d_model", "warmup"), [(512, 4000), (1024, 4000), (128, 53), (64, 1)])
def test_learning_rate_peaks_at_the_end_of_the_warm_up(d_model, warmup):
    peak = learning_rate(warmup, d_model, warmup)
    assert peak == pytest.approx(1 / math.sqrt(d_model * warmup), rel=1e-12)
    assert all(learning_rate(step, d_model, warmup) < peak for step in (warmup + 1, 2 * warmup, 100 * warmup))
    assert all(learning_rate(step, d_model, warmup) < peak for step in range(1, warmup))


def test_learning_rate_rises_on_a_line_and_falls_on_a_root():
    assert learning_rate(30, 19, 97) == pytest.approx(3 * learning_rate(10, 19, 97))
    assert learning_rate(9 * 97, 19, 97) == pytest.approx(learning_rate(97, 19, 97) / 3)


def test_learning_rate_defaults_are_the_papers():
    assert learning_rate(4000, 512) == pytest.approx(6.988e-4, rel=1e-4)
    assert max(range(3000, 5001), key=lambda step: learning_rate(step, 512)) == 4000


def test_scale_multiplies_the_whole_curve():
    for step in (1, 7, 13, 1009):
        assert learning_rate(step, 31, 13, scale=2.5) == pytest.approx(2.5 * learning_rate(step, 31, 13))


@pytest.mark.parametrize(("step", "warmup"), [(0, 4000), (-3, 4000), (1, 0)])
def test_learning_rate_refuses_steps_that_do_not_count_from_one(step, warmup):
    with pytest.raises(ValueError, match=rf"step = {step}, warmup_steps = {warmup}"):
        learning_rate(step, 512, warmup)


def test_paper_adam_follows_the_published_algorithm_under_a_changing_rate():
    weight = nn.Parameter(torch.zeros((), dtype=torch.float64))
    optimizer = paper_adam([weight])
    gradients = [0.3, -2.0, 1e-8, 5.0, -1e-9]
    rates = [learning_rate(step, 17, 3) for step in range(1, 6)]
    for gradient, rate in zip(gradients, rates, strict=True):
        weight.grad = torch.tensor(gradient, dtype=torch.float64)
        set_learning_rate(optimizer, rate)
        optimizer.step()
    assert weight.item() == pytest.approx(adam_in_plain_python(gradients, rates), rel=1e-10)


def test_paper_adam_does_not_move_before_a_rate_is_set():
    weight = nn.Parameter(torch.ones(3))
    weight.grad = torch.ones(3)
    paper_adam([weight]).step()
    assert torch.equal(weight, torch.ones(3))


def test_set_learning_rate_reaches_every_parameter_group():
    groups = [{"params": [nn.Parameter(torch.zeros(2))]}, {"params": [nn.Parameter(torch.zeros(3))], "lr": 0.5}]
    optimizer = torch.optim.Adam(groups, lr=0.1)
    set_learning_rate(optimizer, 0.007)
    assert [group["lr"] for group in optimizer.param_groups] == [0.007, 0.007]
