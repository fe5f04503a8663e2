"""From text to text: order, batches, cuts and the labels of attention."""

import warnings

import pytest
import torch
from helpers import ENGLISH, GERMAN, number_pairs

from transformer_lib.batching import TokenBatches, encode_pairs
from transformer_lib.corpus.files import InputError
from transformer_lib.corpus.tokenizer import Tokenizer
from transformer_lib.model import Transformer, TransformerConfig
from transformer_lib.run.translator import TranslationWarning, Translator
from transformer_lib.training import TrainingConfig, train


@pytest.fixture(scope="module")
def translator() -> Translator:
    """A model that has learned to translate one number; longer inputs come out as they may."""
    tokenizer = Tokenizer.train((text for pair in number_pairs(50) for text in pair), 300)
    pairs = encode_pairs(list(zip(ENGLISH, GERMAN, strict=True)) * 8, tokenizer.encode_all)
    torch.manual_seed(0)
    model = Transformer(TransformerConfig(tokenizer.vocab_size, 24, 32, 2, 1, dropout=0.0))
    train(model, TokenBatches(pairs, 400), TrainingConfig(max_updates=150, max_tokens=400, warmup_steps=40))
    return Translator(model, tokenizer, max_source_tokens=20)


def test_translations_come_in_the_order_of_the_sentences(translator):
    sentences = ["seven", "", "one", "   ", "three", "five"]
    assert translator.translate(sentences) == ["sieben", "", "eins", "", "drei", "fünf"]


def test_a_translation_does_not_depend_on_its_neighbors(translator):
    sentences = [source for source, _ in number_pairs(40, 3)]
    together = translator.translate(sentences)
    assert together == [translator.translate([sentence])[0] for sentence in sentences]


def test_nothing_in_nothing_out(translator):
    assert translator.translate([]) == []


def test_an_over_long_line_is_cut_with_a_warning_that_names_it(translator):
    long = "one " * 40
    with pytest.warns(TranslationWarning, match="line 2 has 4[0-9] tokens, more than 20"):
        outputs = translator.translate(["one", long])
    cut = translator.tokenizer.decode(translator.tokenizer.encode(long)[:20])
    assert outputs == translator.translate(["one", cut])


def test_strict_refuses_an_over_long_line(translator):
    with pytest.raises(InputError, match="line 2 has"):
        translator.translate(["one", "one " * 40], strict=True)


def test_a_string_in_place_of_a_list_is_an_error(translator):
    with pytest.raises(InputError, match="list of sentences"):
        translator.translate("one")


def test_save_and_load_translate_alike(translator, tmp_path):
    translator.save(tmp_path / "m")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = Translator.load(tmp_path / "m")
    assert loaded.translate(list(ENGLISH)) == translator.translate(list(ENGLISH)) == list(GERMAN)
    double = Translator.load(tmp_path / "m", dtype=torch.float64)
    assert double.model.source_embedding.weight.dtype == torch.float64


def test_an_unknown_model_lists_the_known_ones():
    with pytest.raises(InputError, match=r"no model .no-such-model.: .*lab-en-de"):
        Translator.load("no-such-model")


def test_attention_has_the_labels_of_its_queries_and_keys(translator):
    example = translator.attention("one three", "drei eins zwei")
    source, target = [*translator.tokenizer.pieces("one three"), "</s>"], translator.tokenizer.pieces("drei eins zwei")
    assert list(example.source) == source
    assert list(example.target) == ["<s>", *target]
    assert example.encoder.shape == (1, 2, len(source), len(source))
    assert example.decoder.shape == (1, 2, len(target) + 1, len(target) + 1)
    assert example.cross.shape == (1, 2, len(target) + 1, len(source))


def test_attention_by_word_sums_key_pieces_and_averages_query_pieces(translator):
    pieces, words = (translator.attention("one three", "drei eins zwei", unit=unit) for unit in ("piece", "word"))
    assert words.source == ("one", "three", "</s>")
    assert words.target == ("<s>", "drei", "eins", "zwei")
    reading = [*translator.tokenizer.piece_to_word("one three"), 2]
    writing = [0, *(1 + word for word in translator.tokenizer.piece_to_word("drei eins zwei"))]
    assert len(reading) > 3
    for query in range(4):
        for key in range(3):
            rows = [row for row, word in enumerate(writing) if word == query]
            keys = [column for column, word in enumerate(reading) if word == key]
            expected = sum(pieces.cross[0, 1, row, column] for row in rows for column in keys) / len(rows)
            assert words.cross[0, 1, query, key] == pytest.approx(expected, abs=1e-6)


def test_attention_by_another_unit_is_an_error(translator):
    with pytest.raises(ValueError, match=r'"piece" or "word", not .sentence.'):
        translator.attention("one", unit="sentence")


def test_attention_of_an_empty_sentence_is_an_error(translator):
    with pytest.raises(InputError, match="empty"):
        translator.attention(" ")
