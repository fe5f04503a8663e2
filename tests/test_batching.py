"""Batches, counted."""

import os
import time
from itertools import islice

import numpy as np
import pytest
import torch

from transformer_lib.batching import (
    EncodedPairs,
    TokenBatches,
    batches_by_length,
    encode_pairs,
    gather,
    pad,
    real_token_share,
    round_up,
)
from transformer_lib.corpus.sources import load_corpus
from transformer_lib.corpus.token_store import TokenRows
from transformer_lib.corpus.tokenizer import Tokenizer


def random_pairs(n: int, seed: int = 0) -> EncodedPairs:
    """Pairs of lengths such as real sentences have: log-normal, the two sides alike."""
    generator = torch.Generator().manual_seed(seed)
    base = torch.randn(n, generator=generator) * 0.45 + 2.5
    other = base + torch.randn(n, generator=generator) * 0.2
    lengths = [side.exp().clamp(1, 80).int().tolist() for side in (base, other)]
    return EncodedPairs([[7] * length for length in lengths[0]], [[8] * length for length in lengths[1]])


def as_lists(batches: list[np.ndarray]) -> list[list[int]]:
    return [batch.tolist() for batch in batches]


def greedy_batches(source: list[int], target: list[int], max_tokens: int, seed: int, multiple_of: int) -> list:
    """What `batches_by_length` must return, one pair at a time."""
    rng = np.random.default_rng(seed)
    noise = rng.random(len(source))
    order = sorted(range(len(source)), key=lambda i: (max(source[i], target[i]), source[i] - target[i], noise[i]))
    batches = [[]]
    for index in order:
        width = -(-max(source[index], target[index]) // multiple_of) * multiple_of
        if batches[-1] and (len(batches[-1]) + 1) * width > max_tokens:
            batches.append([])
        batches[-1].append(index)
    return [batches[i] for i in rng.permutation(len(batches))]


@pytest.mark.parametrize("multiple_of", [1, 8])
@pytest.mark.parametrize("max_tokens", [5, 97, 1024, 10**9])
def test_batches_are_those_of_a_greedy_loop(max_tokens, multiple_of):
    pairs = random_pairs(1009)
    lengths = [[len(row) for row in side] for side in (pairs.sources, pairs.targets)]
    found = batches_by_length(*lengths, max_tokens, seed=7, multiple_of=multiple_of)
    assert as_lists(found) == greedy_batches(*lengths, max_tokens, 7, multiple_of)


def test_every_index_occurs_once_in_an_epoch():
    pairs = random_pairs(1009)
    data = TokenBatches(pairs, 257)
    for number in range(3):
        assert sorted(np.concatenate(data.epoch(number)).tolist()) == list(range(1009))


@pytest.mark.parametrize("multiple_of", [1, 8])
@pytest.mark.parametrize("max_tokens", [97, 256, 2048])
def test_batches_keep_the_token_budget_on_both_sides(max_tokens, multiple_of):
    data = TokenBatches(random_pairs(991), max_tokens, multiple_of=multiple_of)
    for indices in data.epoch(0):
        batch = data.collate(indices)
        assert max(batch.source.numel(), batch.target_in.numel(), batch.target_out.numel()) <= max_tokens


def test_a_sentence_over_the_budget_is_a_batch_of_its_own():
    batches = as_lists(batches_by_length([3, 50, 4], [3, 2, 4], max_tokens=10, seed=0))
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


@pytest.mark.skipif(not os.environ.get("TRANSFORMER_DATA"), reason="needs TRANSFORMER_DATA: Multi30k")
@pytest.mark.parametrize("max_tokens", [2048, 4096])
def test_on_multi30k_94_percent_of_the_positions_are_real(max_tokens):
    corpus = load_corpus("multi30k-en-de")
    tokenizer = Tokenizer.train([sentence for pair in corpus.train for sentence in pair], 8000)
    data = TokenBatches(encode_pairs(corpus.train, tokenizer.encode_all), max_tokens)
    assert real_token_share(data.collate(indices) for indices in data.epoch(0)) >= 0.94


def test_the_loader_delivers_tens_of_thousands_of_pairs_a_second():
    pairs = random_pairs(50_021)
    data = TokenBatches(pairs, 4096)
    start = time.process_time()
    delivered = sum(len(batch.source) for batch in islice(data.stream(), data.epoch_size))
    assert delivered == 50_021
    assert delivered / (time.process_time() - start) > 60_000


def test_epochs_differ_and_are_repeatable():
    data, again = TokenBatches(random_pairs(499), 256, seed=3), TokenBatches(random_pairs(499), 256, seed=3)
    assert as_lists(data.epoch(0)) == as_lists(again.epoch(0))
    assert as_lists(data.epoch(0)) != as_lists(data.epoch(1))
    assert as_lists(data.epoch(0)) != as_lists(TokenBatches(random_pairs(499), 256, seed=4).epoch(0))


@pytest.mark.parametrize("multiple_of", [1, 8])
def test_epochs_and_seeds_have_the_same_shapes(multiple_of):
    def shapes(seed, number):
        data = TokenBatches(random_pairs(997), 509, seed=seed, multiple_of=multiple_of)
        batches = map(data.collate, data.epoch(number))
        return sorted((*batch.source.shape, *batch.target_in.shape) for batch in batches)

    assert shapes(0, 0) == shapes(0, 1) == shapes(11, 5)


def test_rounded_widths_make_few_shapes():
    shapes = {}
    for multiple_of in (1, 8):
        data = TokenBatches(random_pairs(20_011), 1021, multiple_of=multiple_of)
        batches = list(map(data.collate, data.epoch(0)))
        assert all(ids.shape[1] % multiple_of == 0 for batch in batches for ids in (batch.source, batch.target_in))
        shapes[multiple_of] = {(batch.source.shape, batch.target_in.shape) for batch in batches}
    assert len(shapes[8]) < len(shapes[1]) / 3


def test_a_stream_can_start_anywhere():
    data = TokenBatches(random_pairs(211), 256)
    stream = data.stream()
    whole = [next(stream) for _ in range(3 * len(data.epoch(0)))]
    for start in (0, 1, len(data.epoch(0)) - 1, len(data.epoch(0)), 2 * len(data.epoch(0)) + 3):
        resumed = data.stream(start)
        for expected, indices in zip(whole[start : start + 5], data.indices(start), strict=False):
            batch = next(resumed)
            assert torch.equal(batch.source, expected.source)
            assert torch.equal(batch.target_out, expected.target_out)
            assert torch.equal(data.collate(indices).source, expected.source)


def test_updates_hold_the_next_batches_of_the_stream_and_their_real_tokens():
    data = TokenBatches(random_pairs(211), 256)
    stream = data.stream(2 * 3)
    for batches, tokens in islice(data.updates(start=2, accumulate=3), 7):
        expected = list(islice(stream, 3))
        assert [batch.target_out.tolist() for batch in batches] == [batch.target_out.tolist() for batch in expected]
        assert tokens == sum(int((batch.target_out != data.pad_id).sum()) for batch in expected)


def test_target_tokens_are_those_of_the_collated_batch():
    data = TokenBatches(random_pairs(211), 256)
    for indices in data.epoch(0):
        assert data.target_tokens(indices) == data.collate(indices).tokens


@pytest.mark.parametrize("multiple_of", [1, 8])
def test_target_in_and_out_are_one_position_apart(multiple_of):
    data = TokenBatches(EncodedPairs([[11], [12, 13]], [[21, 22, 23], [24]]), 100, multiple_of=multiple_of)
    batch = data.collate([0, 1])
    more, more_source = [0] * (round_up(4, multiple_of) - 4), [0] * (round_up(3, multiple_of) - 3)
    assert batch.source.tolist() == [[11, 3, 0, *more_source], [12, 13, 3, *more_source]]
    assert batch.target_in.tolist() == [[2, 21, 22, 23, *more], [2, 24, 0, 0, *more]]
    assert batch.target_out.tolist() == [[21, 22, 23, 3, *more], [24, 3, 0, 0, *more]]


def test_real_gives_the_tokens_that_are_asked_for_even_where_a_token_has_the_id_of_padding():
    data = TokenBatches(EncodedPairs([[11], [12], [13]], [[21, 0, 23], [24], [0, 0]]), 100)
    batch = data.collate([2, 0, 1])
    assert batch.target_out.flatten()[batch.real].tolist() == [0, 0, 3, 21, 0, 23, 3, 24, 3]
    assert batch.tokens == 9


def test_a_batch_moves_with_all_it_holds():
    batch = TokenBatches(random_pairs(31), 97).collate([3, 5, 7]).to("meta")
    assert all(ids.is_meta for ids in vars(batch).values())


@pytest.mark.parametrize("dtype", [np.uint16, np.int32])
def test_batches_from_flat_rows_are_those_from_lists(dtype):
    generator = np.random.default_rng(5)
    rows = [[generator.integers(4, 60_013, size=generator.integers(1, 17)).tolist() for _ in range(101)] for _ in "st"]
    flat = [TokenRows(np.concatenate(side).astype(dtype), TokenRows.from_rows(side).offsets) for side in rows]
    from_lists, from_flat = TokenBatches(EncodedPairs(*rows), 127), TokenBatches(EncodedPairs(*flat), 127)
    for expected, found in islice(zip(from_lists.stream(), from_flat.stream(), strict=True), 31):
        assert all(map(torch.equal, vars(found).values(), vars(expected).values()))


def test_gather_pads_like_pad():
    rows = [[5], [6, 7, 8], [], [9, 9]]
    for indices in ([0, 1, 2, 3], [3, 1], [2, 1, 1]):
        found = gather(TokenRows.from_rows(rows), np.array(indices), 3, pad_id=4)
        assert found.tolist() == pad([*(rows[i] for i in indices), [0, 0, 0]], pad_id=4).tolist()[:-1]


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
