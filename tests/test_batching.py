"""Batches, counted."""

import pytest
import torch

from transformer_lib.batching import (
    EncodedPairs,
    TokenBatches,
    batches_by_length,
    encode_pairs,
    pad,
    real_token_share,
)


def random_pairs(n: int, seed: int = 0) -> EncodedPairs:
    """Pairs of lengths such as real sentences have: log-normal, the two sides alike."""
    generator = torch.Generator().manual_seed(seed)
    base = torch.randn(n, generator=generator) * 0.45 + 2.5
    other = base + torch.randn(n, generator=generator) * 0.2
    lengths = [side.exp().clamp(1, 80).int().tolist() for side in (base, other)]
    return EncodedPairs([[7] * length for length in lengths[0]], [[8] * length for length in lengths[1]])


def test_every_index_occurs_once_in_an_epoch():
    pairs = random_pairs(1009)
    data = TokenBatches(pairs, 257)
    for number in range(3):
        assert sorted(i for batch in data.epoch(number) for i in batch) == list(range(1009))


@pytest.mark.parametrize("max_tokens", [97, 256, 2048])
def test_batches_keep_the_token_budget_on_both_sides(max_tokens):
    data = TokenBatches(random_pairs(991), max_tokens)
    for indices in data.epoch(0):
        batch = data.collate(indices)
        assert max(batch.source.numel(), batch.target_in.numel(), batch.target_out.numel()) <= max_tokens


def test_a_sentence_over_the_budget_is_a_batch_of_its_own():
    batches = batches_by_length([3, 50, 4], [3, 2, 4], max_tokens=10, seed=0)
    assert [1] in batches
    assert sorted(i for batch in batches for i in batch) == [0, 1, 2]


@pytest.mark.parametrize("max_tokens", [512, 4096])
def test_at_least_nine_tenths_of_the_positions_are_real(max_tokens):
    data = TokenBatches(random_pairs(20_011), max_tokens)
    batches = [data.collate(indices) for indices in data.epoch(0)]
    real = sum(len(row) + 1 for side in (data.pairs.sources, data.pairs.targets) for row in side)
    total = sum(batch.source.numel() + batch.target_in.numel() for batch in batches)
    assert real_token_share(batches) == pytest.approx(real / total)
    assert real / total >= 0.90


def test_epochs_differ_and_are_repeatable():
    data, again = TokenBatches(random_pairs(499), 256, seed=3), TokenBatches(random_pairs(499), 256, seed=3)
    assert data.epoch(0) == again.epoch(0)
    assert data.epoch(0) != data.epoch(1)
    assert data.epoch(0) != TokenBatches(random_pairs(499), 256, seed=4).epoch(0)


def test_a_stream_can_start_anywhere():
    data = TokenBatches(random_pairs(211), 256)
    stream = data.stream()
    whole = [next(stream) for _ in range(3 * len(data.epoch(0)))]
    for start in (0, 1, len(data.epoch(0)) - 1, len(data.epoch(0)), 2 * len(data.epoch(0)) + 3):
        resumed = data.stream(start)
        for expected in whole[start : start + 5]:
            batch = next(resumed)
            assert torch.equal(batch.source, expected.source)
            assert torch.equal(batch.target_out, expected.target_out)


def test_target_in_and_out_are_one_position_apart():
    data = TokenBatches(EncodedPairs([[11], [12, 13]], [[21, 22, 23], [24]]), 100)
    batch = data.collate([0, 1])
    assert batch.source.tolist() == [[11, 3, 0], [12, 13, 3]]
    assert batch.target_in.tolist() == [[2, 21, 22, 23], [2, 24, 0, 0]]
    assert batch.target_out.tolist() == [[21, 22, 23, 3], [24, 3, 0, 0]]


def test_pad_fills_on_the_right():
    assert pad([[5], [6, 7, 8], []], pad_id=9).tolist() == [[5, 9, 9], [6, 7, 8], [9, 9, 9]]


def test_encode_pairs_drops_and_counts():
    pairs = [("a", "b"), ("", "b"), ("a", ""), ("a" * 6, "b"), ("a", "b" * 6), ("aaaaa", "bb")]
    encoded = encode_pairs(pairs, lambda texts: [[ord(c) for c in text] for text in texts], max_length=5)
    assert (len(encoded), encoded.dropped_empty, encoded.dropped_long) == (2, 2, 2)
    assert encoded.sources == [[97], [97] * 5]


def test_encode_pairs_refuses_to_be_left_with_nothing():
    with pytest.raises(ValueError, match="2: 1 had an empty side, 1 more than 3 tokens"):
        encode_pairs([("", "b"), ("aaaa", "b")], lambda texts: [list(map(ord, text)) for text in texts], max_length=3)
