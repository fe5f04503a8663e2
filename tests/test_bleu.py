"""BLEU: against a count by hand, and Multi30k's protocol against Multi30k's own files."""

import math
import os
from pathlib import Path

import pytest

from transformer_lib.corpus.bleu import bleu, moses_tokenize, tokenized_bleu
from transformer_lib.corpus.files import InputError, read_lines

needs_data = pytest.mark.skipif(
    not os.environ.get("TRANSFORMER_DATA"), reason="needs TRANSFORMER_DATA: a folder with the real Multi30k"
)


def test_bleu_of_the_reference_is_100():
    references = ["The small dog sleeps in the garden.", "She reads a book, and he sings."]
    assert bleu(references, references)[0] == pytest.approx(100)
    assert tokenized_bleu(references, references, "en")[0] == pytest.approx(100)


def test_bleu_equals_the_formula():
    hypothesis = "the small dog sees the cat ."
    reference = "the small dog sees a red cat ."
    # by hand: of the 7 hypothesis words 6 occur in the reference (the second "the" does not), and so on to 4-grams
    precisions = [6 / 7, 4 / 6, 2 / 5, 1 / 4]
    brevity = math.exp(1 - 8 / 7)
    expected = 100 * brevity * math.prod(precisions) ** (1 / 4)
    assert bleu([hypothesis], [reference])[0] == pytest.approx(expected)
    assert tokenized_bleu([hypothesis], [reference], "en")[0] == pytest.approx(expected)


def test_bleu_counts_over_the_corpus_not_the_mean_of_sentences():
    hypotheses = ["a b c d e f g", "x y"]
    references = ["a b c d e f g", "p q"]
    precisions = [7 / 9, 6 / 7, 5 / 5, 4 / 4]
    assert bleu(hypotheses, references)[0] == pytest.approx(100 * math.prod(precisions) ** (1 / 4))


def test_bleu_is_cased_and_tokenized_bleu_is_not():
    hypotheses, references = ["der kleine hund schläft heute."], ["Der kleine Hund schläft heute."]
    assert bleu(hypotheses, references)[0] < 60
    assert tokenized_bleu(hypotheses, references, "de")[0] == pytest.approx(100)


def test_bleu_says_how_it_was_computed():
    sentences = ["Ein Mann schläft heute hier."]
    assert {"case:mixed", "tok:13a", "nrefs:1"} <= set(bleu(sentences, sentences)[1].split("|"))
    assert {"case:lc", "tok:none", "nrefs:1"} <= set(tokenized_bleu(sentences, sentences, "de")[1].split("|"))
    assert "version:" in bleu(sentences, sentences)[1]


@pytest.mark.parametrize("score", [bleu, lambda *sides: tokenized_bleu(*sides, "de")], ids=["bleu", "tokenized_bleu"])
def test_bleu_refuses_unequal_lengths_and_nothing(score):
    with pytest.raises(InputError, match="2 hypotheses, 3 references"):
        score(["a", "b"], ["a", "b", "c"])
    with pytest.raises(InputError, match="no hypotheses"):
        score([], [])


def test_bleu_accepts_empty_translations():
    assert 0 <= bleu(["", "ein Hund schläft heute"], ["eine Katze", "ein Hund schläft heute"])[0] < 100
    assert tokenized_bleu([""], ["ein Hund"], "de")[0] == 0


def test_moses_tokenize_moves_a_final_period_into_german_quotation_marks():
    assert moses_tokenize(['Er sagt: "Ja."'], "de") == ["er sagt : &quot; ja &quot; ."]
    assert moses_tokenize(['He says: "Yes."'], "en") == ["he says : &quot; yes . &quot;"]
    assert moses_tokenize(["", "A woman's hat"], "en") == ["", "a woman &apos;s hat"]


@needs_data
@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("split", ["val", "test_2016_flickr"])
def test_moses_tokenize_reproduces_the_files_of_multi30k(split, language):
    folder = Path(os.environ["TRANSFORMER_DATA"]) / "multi30k"
    plain = read_lines(folder / f"{split}.{language}.gz")
    tokenized = read_lines(folder / f"{split}.lc.norm.tok.{language}")
    assert moses_tokenize(plain, language) == tokenized
    assert len(tokenized) == {"val": 1014, "test_2016_flickr": 1000}[split]


@needs_data
def test_tokenized_bleu_equals_sacrebleu_on_the_tokenized_files():
    import sacrebleu

    folder = Path(os.environ["TRANSFORMER_DATA"]) / "multi30k"
    references = read_lines(folder / "test_2016_flickr.de.gz")
    hypotheses = [" ".join(line.split()[:-2]) + "." for line in references]
    tokenized = read_lines(folder / "test_2016_flickr.lc.norm.tok.de")
    expected = sacrebleu.corpus_bleu(moses_tokenize(hypotheses, "de"), [tokenized], tokenize="none", force=True).score
    assert tokenized_bleu(hypotheses, references, "de")[0] == pytest.approx(expected, abs=1e-9)
    assert 50 < expected < 100
