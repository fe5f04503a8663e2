"""Decoding against enumeration and against a search written in plain Python."""

import itertools
import math

import pytest
import torch

from transformer_lib.batching import pad
from transformer_lib.decoding import (
    Hypothesis,
    average_weights,
    beam_search,
    greedy_search,
    length_penalty_of,
)
from transformer_lib.model import Transformer, TransformerConfig

PAD, UNK, BOS, EOS = 0, 1, 2, 3


def random_model(vocab_size: int, seed: int = 0, sharpness: float = 3.0) -> Transformer:
    """A small model whose distributions are far from flat."""
    torch.manual_seed(seed)
    config = TransformerConfig(vocab_size, d_model=13, d_ff=17, num_heads=3, num_layers=2, d_k=5, d_v=7, dropout=0.0)
    model = Transformer(config).double().eval()
    with torch.no_grad():
        model.source_embedding.weight *= sharpness
    return model


def step_scores(model: Transformer, source: list[int], tokens: tuple[int, ...], limit: int) -> list[float]:
    """Log-probabilities after `tokens`, for one sentence, one hypothesis and no batch."""
    with torch.no_grad():
        scores = model(torch.tensor([source]), torch.tensor([[BOS, *tokens]]))[0, -1].log_softmax(-1).tolist()
    banned = {PAD, BOS} if len(tokens) < limit else set(range(len(scores))) - {EOS}
    return [float("-inf") if token in banned else score for token, score in enumerate(scores)]


def penalty(length: int, alpha: float) -> float:
    return math.pow(5 + length, alpha) / math.pow(6, alpha)


def enumerate_all(model: Transformer, source: list[int], limit: int, alpha: float) -> list[Hypothesis]:
    """Every sequence of at most `limit` tokens, best first."""
    words = [token for token in range(model.config.vocab_size) if token not in (PAD, BOS, EOS)]
    found = []
    for length in range(limit + 1):
        for tokens in itertools.product(words, repeat=length):
            total = sum(step_scores(model, source, tokens[:i], limit)[token] for i, token in enumerate(tokens))
            total += step_scores(model, source, tokens, limit)[EOS]
            found.append(Hypothesis(tokens, total, total / penalty(length + 1, alpha)))
    return sorted(found, key=lambda hypothesis: -hypothesis.score)


def plain_beam_search(
    model: Transformer, source: list[int], beam_size: int, alpha: float, limit: int
) -> list[Hypothesis]:
    """Beam search for one sentence with lists and no early stop at all."""
    live, finished = [((), 0.0)], []
    for length in range(limit + 1):
        candidates = []
        for tokens, total in live:
            scores = step_scores(model, source, tokens, limit)
            candidates += [((*tokens, t), total + s) for t, s in enumerate(scores) if s > float("-inf")]
        candidates = sorted(candidates, key=lambda candidate: -candidate[1])[: 2 * beam_size]
        for tokens, total in candidates:
            if tokens[-1] == EOS:
                finished.append(Hypothesis(tokens[:-1], total, total / penalty(length + 1, alpha)))
        live = [candidate for candidate in candidates if candidate[0][-1] != EOS][:beam_size]
    return sorted(finished, key=lambda hypothesis: -hypothesis.score)[:beam_size]


def assert_same(found: list[Hypothesis], expected: list[Hypothesis]) -> None:
    assert [h.tokens for h in found] == [h.tokens for h in expected]
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.log_probability == pytest.approx(theirs.log_probability, abs=1e-9)
        assert ours.score == pytest.approx(theirs.score, abs=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.5, -0.5])
@pytest.mark.parametrize("seed", [0, 1])
def test_beam_search_of_full_width_equals_enumeration(alpha, seed):
    model, source = random_model(7, seed), [5, 4, EOS]
    expected = enumerate_all(model, source, limit=3, alpha=alpha)
    found = beam_search(
        model, torch.tensor([source]), beam_size=len(expected), length_penalty=alpha, max_extra_tokens=1
    )
    assert len(expected) == 1 + 4 + 16 + 64
    assert_same(found[0], expected)


@pytest.mark.parametrize("beam_size", [1, 2, 3, 5])
@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0, -0.7])
def test_narrow_beam_equals_plain_python_search(beam_size, alpha):
    for seed in range(4):
        model, source = random_model(11, seed), [4, 9, 6, 5, EOS]
        found = beam_search(
            model, torch.tensor([source]), beam_size=beam_size, length_penalty=alpha, max_extra_tokens=3
        )
        assert_same(found[0], plain_beam_search(model, source, beam_size, alpha, limit=7))


def test_beam_search_does_not_depend_on_the_batch():
    model = random_model(13)
    sources = [[4, EOS], [7, 8, 9, 10, 11, EOS], [12, 4, 6, EOS], [5, 5, 5, 5, 5, 5, 5, EOS], [EOS]]
    together = beam_search(model, pad(sources), beam_size=3, max_extra_tokens=4)
    greedy_together = greedy_search(model, pad(sources), max_extra_tokens=4)
    for source, found, greedy in zip(sources, together, greedy_together, strict=True):
        assert_same(found, beam_search(model, torch.tensor([source]), beam_size=3, max_extra_tokens=4)[0])
        assert_same([greedy], greedy_search(model, torch.tensor([source]), max_extra_tokens=4))


@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0, -0.7])
def test_keeping_fewer_hypotheses_finds_the_same_best_ones(alpha):
    for seed in range(4):
        model, source = random_model(11, seed), torch.tensor([[4, 9, 6, 5, EOS]])
        search = {"beam_size": 4, "length_penalty": alpha, "max_extra_tokens": 3}
        assert_same(
            beam_search(model, source, num_hypotheses=1, **search)[0], beam_search(model, source, **search)[0][:1]
        )


def record_search(model, source, **search):
    """What a watched search finds, and all that it kept and finished: (sentence, tokens) to log-probability."""
    seen, ended = {}, {}

    def watch(live, found, kept):
        for extensions, told in (found, ended), (kept, seen):
            for row, extension in enumerate(zip(*(column.tolist() for column in extensions), strict=True)):
                for log_probability, parent, token in zip(*extension, strict=True):
                    before = tuple(live.tokens[row, parent, 1:].tolist())
                    if log_probability > float("-inf") and (told is seen or token == EOS):
                        told[live.rows[row], (*before, token)] = log_probability

    return beam_search(model, source, watch=watch, **search), seen, ended


@pytest.mark.parametrize("beam_size", [1, 2, 5])
def test_watching_changes_no_bit_of_a_search(beam_size):
    model, source = random_model(11), pad([[4, 9, 6, 5, EOS], [7, EOS], [10, 5, 8, EOS]])
    search = {"beam_size": beam_size, "max_extra_tokens": 3}
    assert record_search(model, source, **search)[0] == beam_search(model, source, **search)


def test_a_watcher_is_told_of_every_hypothesis_and_its_log_probability():
    sources = [[4, 9, 6, 5, EOS], [7, EOS]]
    model, source, extra = random_model(11), pad(sources), 3
    found, seen, ended = record_search(model, source, beam_size=3, max_extra_tokens=extra)
    for row, hypotheses in enumerate(found):
        assert {(row, (*h.tokens, EOS)): h.log_probability for h in hypotheses}.items() <= ended.items()
    for (row, tokens), log_probability in (seen | ended).items():
        limit = len(sources[row]) - 1 + extra
        steps = (step_scores(model, sources[row], tokens[:i], limit)[token] for i, token in enumerate(tokens))
        assert log_probability == pytest.approx(sum(steps), abs=1e-9)
        assert len(tokens) == 1 or (row, tokens[:-1]) in seen


def test_a_watcher_is_told_of_no_more_than_the_beam_at_each_step():
    _, seen, _ = record_search(random_model(11), torch.tensor([[4, 9, 6, 5, EOS]]), beam_size=3, max_extra_tokens=3)
    counts = [sum(len(tokens) == step for _, tokens in seen) for step in range(1, 8)]
    assert max(counts) == 3
    assert not any(EOS in tokens for _, tokens in seen)


def test_beam_search_refuses_to_keep_nothing():
    with pytest.raises(ValueError, match="0"):
        beam_search(random_model(7), torch.tensor([[4, EOS]]), num_hypotheses=0)


def test_greedy_search_takes_the_likeliest_token_each_time():
    for seed in range(5):
        model, source = random_model(11, seed), [4, 9, EOS]
        tokens, total, limit = (), 0.0, 2 + 3
        while True:
            scores = step_scores(model, source, tokens, limit)
            best = max(range(len(scores)), key=scores.__getitem__)
            total += scores[best]
            if best == EOS:
                break
            tokens += (best,)
        assert_same(
            greedy_search(model, torch.tensor([source]), max_extra_tokens=3), [Hypothesis(tokens, total, total)]
        )


def test_hypotheses_are_sorted_and_score_is_log_probability_over_penalty():
    model = random_model(11)
    for hypotheses in beam_search(model, torch.tensor([[4, 5, 6, EOS], [7, 8, EOS, PAD]]), beam_size=4):
        assert [h.score for h in hypotheses] == sorted((h.score for h in hypotheses), reverse=True)
        for h in hypotheses:
            assert h.score == pytest.approx(h.log_probability / ((5 + len(h.tokens) + 1) / 6) ** 0.6)


def test_outputs_respect_the_length_limit():
    model = random_model(11)
    with torch.no_grad():  # eos as unlikely as can be
        model.source_embedding.weight[EOS] = 0.0
    for extra in (0, 2):
        for found in beam_search(model, torch.tensor([[4, 5, 6, EOS]]), beam_size=2, max_extra_tokens=extra)[0]:
            assert len(found.tokens) <= 3 + extra
        assert len(greedy_search(model, torch.tensor([[4, 5, 6, EOS]]), max_extra_tokens=extra)[0].tokens) <= 3 + extra


def test_outputs_never_hold_special_tokens():
    model = random_model(11)
    for found in beam_search(model, torch.tensor([[4, 5, 6, 7, EOS]]), beam_size=5)[0]:
        assert not {PAD, BOS, EOS} & set(found.tokens)


def test_length_penalty_is_the_published_formula():
    assert length_penalty_of(1, 0.6) == 1.0
    assert length_penalty_of(7, 1.0) == 2.0
    assert length_penalty_of(19, 0.5) == 2.0


@pytest.mark.parametrize(("size", "extra"), [(0, 50), (4, -1)])
def test_beam_search_names_a_size_that_makes_no_sense(size, extra):
    with pytest.raises(ValueError, match=str(min(size, extra))):
        beam_search(random_model(7), torch.tensor([[4, EOS]]), beam_size=size, max_extra_tokens=extra)


def test_average_weights_is_the_mean_in_the_weights_own_precision():
    states = [{"a": torch.full((2, 3), float(i)), "b": torch.tensor([i], dtype=torch.float16)} for i in (1, 2, 6)]
    mean = average_weights(states)
    torch.testing.assert_close(mean["a"], torch.full((2, 3), 3.0))
    assert mean["b"].dtype == torch.float16
    with pytest.raises(ValueError, match="no checkpoint"):
        average_weights([])
    with pytest.raises(ValueError, match="different weights"):
        average_weights([{"a": torch.zeros(1)}, {"b": torch.zeros(1)}])
