"""The real Multi30k, from file to score, where a local copy is at hand."""

import os
from dataclasses import replace

import pytest

from transformer_lib.corpus.sources import load_corpus
from transformer_lib.run.evaluation import evaluate_corpus
from transformer_lib.run.recipes import recipe_for
from transformer_lib.run.trainer import Run
from transformer_lib.run.translator import Translator

pytestmark = pytest.mark.skipif(
    "TRANSFORMER_DATA" not in os.environ, reason="needs TRANSFORMER_DATA: a folder with real corpora"
)


def test_multi30k_trains_and_is_scored_by_the_published_protocol(tmp_path):
    corpus = load_corpus("multi30k-en-de")
    assert (len(corpus.train), len(corpus.dev), len(corpus.test)) == (29_000, 1_014, 1_000)
    recipe = recipe_for("multi30k-en-de").with_training(max_updates=3, max_tokens=1024, accumulate=2)
    run = Run(tmp_path / "run", corpus, recipe, quiet=True)
    translator = Translator.load(run.train())
    assert 9_900 <= translator.tokenizer.vocab_size <= 10_000
    few = replace(corpus, dev=corpus.dev[:2], test=corpus.test[:3])
    scores = evaluate_corpus(translator.translate, few, {"beam_size": 1, "max_extra_tokens": 0})["test"]
    assert scores["sentences"] == 3
    assert "tok:13a" in scores["signature"]
    assert "tok:none" in scores["signature_tokenized"]
    assert "case:lc" in scores["signature_tokenized"]


def test_references_score_100_against_themselves():
    corpus = load_corpus("multi30k-en-de")
    references = [target for _, target in corpus.test]
    perfect = replace(corpus, dev=corpus.dev[:5])
    answers = dict([*perfect.dev, *perfect.test])
    scores = evaluate_corpus(lambda sentences: [answers[s] for s in sentences], perfect, {})["test"]
    assert scores["bleu"] == scores["bleu_tokenized"] == scores["exact_match"] == 100
    assert scores["sentences"] == len(references)
