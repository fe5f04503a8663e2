"""What the figures of decoding are given: the steps of a translation and the tree of a search, as they happened."""

import math

import pytest
import torch

from transformer_lib.corpus.files import InputError
from transformer_lib.decoding import Hypothesis, beam_search, greedy_search, length_penalty_of
from transformer_lib.inspection import record_attention
from transformer_lib.run.illustrations import decoding_steps, search_tree
from transformer_lib.run.translator import Translator

SENTENCES = ["He gave me a good piece of advice.", "It is raining."]  # of unequal length, and so their translations


@pytest.fixture(scope="module")
def translator():
    return Translator.load("tatoeba-en-de")


def forced_pass(translator, sentence, tokens):
    """Log-probabilities and cross-attention `(layers, heads, n, n_source)` of one pass over a finished beginning."""
    source = translator.source_batch(translator.encode([sentence], strict=True))
    read = torch.tensor([[translator.model.config.bos_id, *tokens]])
    with torch.inference_mode(), record_attention(translator.model) as maps:
        scores = translator.model(source, read)[0].log_softmax(-1)
    return scores, torch.cat(maps.cross)


def found(translator, sentence, search, **options):
    source = translator.source_batch(translator.encode([sentence], strict=True))
    return search(translator.model, source, **options)[0]


def tokens_of(translator, pieces):
    return [translator.tokenizer._processor.piece_to_id(piece) for piece in pieces]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_steps_write_what_greedy_search_writes(translator, sentence):
    steps = decoding_steps(translator, sentence)
    pieces = translator.tokenizer.pieces_of(found(translator, sentence, greedy_search).tokens)
    assert list(steps.target) == [*pieces, "</s>"]
    assert list(steps.source) == [*translator.tokenizer.pieces(sentence), "</s>"]
    assert len(steps.source) != len(steps.target)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_candidates_are_the_likeliest_pieces_and_their_probabilities(translator, sentence):
    steps = decoding_steps(translator, sentence, num_candidates=3)
    scores, _ = forced_pass(translator, sentence, tokens_of(translator, steps.target[:-1]))
    for row, taken, candidates in zip(scores.exp(), steps.target, steps.candidates, strict=True):
        assert taken == candidates[0][0]
        best = row.topk(3)
        assert tokens_of(translator, [piece for piece, _ in candidates]) == best.indices.tolist()
        assert [p for _, p in candidates] == pytest.approx(best.values.tolist(), abs=1e-5)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_each_piece_has_the_attention_of_the_row_before_it(translator, sentence):
    steps = decoding_steps(translator, sentence)
    _, cross = forced_pass(translator, sentence, tokens_of(translator, steps.target[:-1]))
    torch.testing.assert_close(torch.from_numpy(steps.cross).float(), cross, atol=1e-5, rtol=0)


def test_an_end_that_had_to_come_is_among_the_candidates(translator, monkeypatch):
    tokens = found(translator, SENTENCES[0], greedy_search).tokens[:2]
    at_the_limit = [Hypothesis(tokens, 0.0, 0.0)]
    monkeypatch.setattr("transformer_lib.run.illustrations.greedy_search", lambda *_: at_the_limit)
    *_, last = decoding_steps(translator, SENTENCES[0]).candidates
    assert last[-1][0] == "</s>"
    assert last[-1][1] < min(p for _, p in last[:-1])


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("search", [{"beam_size": 2}, {"beam_size": 5, "length_penalty": 1.0, "num_hypotheses": 1}])
def test_the_tree_holds_what_the_search_found(translator, sentence, search):
    tree = search_tree(translator, sentence, **search)
    hypotheses = found(translator, sentence, beam_search, **search)
    pieces = {tuple(tree.nodes[i].piece for i in path): tree.nodes[path[-1]] for path in tree.paths}
    for hypothesis in hypotheses:
        node = pieces[*translator.tokenizer.pieces_of(hypothesis.tokens), "</s>"]
        assert node.log_probability == pytest.approx(hypothesis.log_probability, abs=1e-4)
        assert node.score == pytest.approx(hypothesis.score, abs=1e-4)
    assert tree.nodes[tree.best].score == pytest.approx(hypotheses[0].score, abs=1e-4)
    assert max(map(len, tree.unfinished.values())) == search["beam_size"]


def test_log_probability_and_attention_of_each_node_are_those_of_its_path(translator):
    tree = search_tree(translator, SENTENCES[0], beam_size=3, length_penalty=0.8)
    for index, (path, node) in enumerate(zip(tree.paths, tree.nodes, strict=True)):
        tokens = tokens_of(translator, [tree.nodes[i].piece for i in path])
        scores, cross = forced_pass(translator, SENTENCES[0], tokens[:-1])
        assert node.log_probability == pytest.approx(scores[range(len(tokens)), tokens].sum().item(), abs=1e-4)
        torch.testing.assert_close(
            torch.from_numpy(tree.cross[:, :, index]).float(), cross[:, :, -1], atol=1e-5, rtol=0
        )
        assert (node.piece == "</s>") == (node.score is not None)
        if node.score is not None:
            assert math.isclose(node.score, node.log_probability / length_penalty_of(len(path), 0.8))


def test_the_model_attends_as_before_after_a_search(translator):
    attends = [layer.cross_attention.attend for layer in translator.model.decoder.layers]
    search_tree(translator, SENTENCES[1], beam_size=1)
    assert [layer.cross_attention.attend for layer in translator.model.decoder.layers] == attends


@pytest.mark.parametrize("illustrate", [decoding_steps, search_tree])
@pytest.mark.parametrize(("sentence", "complaint"), [("  ", "empty"), ("word " * 300, "more than 256")])
def test_a_sentence_that_cannot_be_read_is_refused(translator, illustrate, sentence, complaint):
    with pytest.raises(InputError, match=complaint):
        illustrate(translator, sentence)
