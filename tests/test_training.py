"""The training step and loop, against plain PyTorch and against themselves."""

import math

import pytest
import torch
import torch.nn.functional as F
from helpers import number_batches, number_model

from transformer_lib.batching import TokenBatches
from transformer_lib.loss import label_smoothing_loss
from transformer_lib.model import Transformer, count_parameters
from transformer_lib.schedule import learning_rate, paper_adam
from transformer_lib.training import (
    READ_EVERY,
    DivergenceError,
    SummedLoss,
    TrainingConfig,
    Update,
    miniature_data,
    miniature_model,
    read_losses,
    token_loss,
    train,
    train_miniature,
    train_step,
)


@pytest.fixture(scope="module")
def data() -> TokenBatches:
    return number_batches(59)


def make_model(**changes) -> Transformer:
    return number_model(**changes).double()


def test_one_step_equals_plain_pytorch(data):
    model, reference = make_model(), make_model()
    batch = data.collate(data.epoch(0)[0])
    optimizer = torch.optim.Adam(reference.parameters(), lr=0.01, betas=(0.9, 0.98), eps=1e-9)
    logits = reference(batch.source, batch.target_in)
    expected = F.cross_entropy(logits.transpose(1, 2), batch.target_out, ignore_index=0, label_smoothing=0.1)
    expected.backward()
    optimizer.step()

    loss = train_step(SummedLoss(model, 0.1), paper_adam(model.parameters()), [batch], batch.tokens, 0.01)
    assert loss.item() == pytest.approx(expected.item())
    assert batch.tokens == int((batch.target_out != 0).sum())
    for ours, theirs in zip(model.parameters(), reference.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_many_small_batches_give_the_update_of_one_large_batch(data):
    indices = list(range(23))
    one, many = make_model(), make_model()
    large, small = [data.collate(indices)], [data.collate(part) for part in (indices[:3], indices[3:4], indices[4:])]
    tokens = large[0].tokens
    assert sum(batch.tokens for batch in small) == tokens
    loss = train_step(SummedLoss(one), paper_adam(one.parameters()), large, tokens, 0.01)
    assert train_step(SummedLoss(many), paper_adam(many.parameters()), small, tokens, 0.01) == pytest.approx(
        loss.item()
    )
    for ours, theirs in zip(many.parameters(), one.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-9, rtol=1e-7)


def test_loop_follows_equation_3_and_learns(data):
    model, updates = make_model(), []
    losses = train(
        model, data, TrainingConfig(max_updates=60, max_tokens=59, warmup_steps=30), on_update=updates.append
    )
    assert [update.number for update in updates] == list(range(1, 61))
    assert [update.loss.item() for update in updates] == losses
    for update in updates:
        assert update.rate == pytest.approx(learning_rate(update.number, 12, 30))
    assert sum(losses[-10:]) / 10 < sum(losses[:10]) / 10 - 1


def test_loop_stops_when_told(data):
    losses = train(make_model(), data, TrainingConfig(max_updates=9), on_update=lambda update: update.number == 4)
    assert len(losses) == 4


@pytest.mark.parametrize("updates", [READ_EVERY - 1, READ_EVERY, READ_EVERY + 1])
def test_loop_returns_the_loss_of_every_update(data, updates):
    assert len(train(make_model(), data, TrainingConfig(max_updates=updates))) == updates


def test_loop_names_the_update_whose_loss_is_not_finite(data):
    model = make_model()

    def spoil(update: Update) -> None:
        if update.number == 2:
            with torch.no_grad():
                model.source_embedding.weight.fill_(math.nan)

    with pytest.raises(DivergenceError, match="update 3 is nan") as caught:
        train(model, data, TrainingConfig(max_updates=7), on_update=spoil)
    assert caught.value.update == 3
    with pytest.raises(DivergenceError, match="update 8 is inf"):
        read_losses([Update(n, torch.tensor(loss), 5, 0.1) for n, loss in ((7, 1.0), (8, math.inf), (9, math.nan))])


def test_loss_of_real_rows_equals_the_loss_over_all_positions(data):
    model = make_model()
    batch = max((data.collate(rows) for rows in data.epoch(0)), key=lambda batch: batch.target_out.numel())
    assert batch.tokens < batch.target_out.numel()
    logits = model(batch.source, batch.target_in)
    expected = label_smoothing_loss(logits, batch.target_out, 0.1)
    loss = SummedLoss(model, 0.1)(batch.source, batch.target_in, batch.target_out, batch.real)
    torch.testing.assert_close(loss, expected)


def test_token_loss_is_unsmoothed_and_leaves_the_mode(data):
    model = make_model(dropout=0.5).train()
    batches = [data.collate(rows) for rows in data.epoch(0)]
    loss = token_loss(model, batches)
    assert model.training
    assert loss == token_loss(model, batches)
    model.eval()
    logits = [model(batch.source, batch.target_in).flatten(0, 1) for batch in batches]
    targets = [batch.target_out.flatten() for batch in batches]
    expected = F.cross_entropy(torch.cat(logits), torch.cat(targets), ignore_index=0)
    assert loss == pytest.approx(expected.item())


@pytest.mark.parametrize(
    "changes", [{"max_updates": 0}, {"max_tokens": 0}, {"accumulate": 0}, {"warmup_steps": 0}, {"label_smoothing": 1.0}]
)
def test_training_config_names_a_value_that_makes_no_sense(changes):
    (name, value), *_ = changes.items()
    with pytest.raises(ValueError, match=rf"{name} .*{value}"):
        TrainingConfig(**changes)


def test_miniature_learns_and_is_repeatable():
    losses = train_miniature(20, seed=5)
    assert losses == train_miniature(20, seed=5)
    assert losses != train_miniature(20, seed=6)
    assert sum(losses[-5:]) / 5 < losses[0] - 0.5


def test_miniature_has_about_300_000_parameters():
    _, pairs = miniature_data()
    assert pairs.dropped_empty == pairs.dropped_long == 0
    assert 250_000 <= count_parameters(miniature_model()) <= 350_000


def test_a_replaced_part_changes_the_losses():
    def unscaled(query, key, value, mask=None):
        return torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=4.0), None

    assert train_miniature(5) != train_miniature(5, attend=unscaled)
