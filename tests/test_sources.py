"""Corpora: the published ones, one's own files, and their splits."""

import gzip
import hashlib
import json
import os
import random
import zipfile

import pytest

from transformer_lib.corpus import lab, sources
from transformer_lib.corpus.download import locate
from transformer_lib.corpus.files import InputError, shipped
from transformer_lib.corpus.pairs import read_aligned, read_tab_separated, split_pairs
from transformer_lib.corpus.sources import CORPORA, load_corpus
from transformer_lib.corpus.tokenizer import word_spans

needs_data = pytest.mark.skipif(
    not os.environ.get("TRANSFORMER_DATA"), reason="needs TRANSFORMER_DATA: a folder with the real corpora"
)


def make_pairs(number):
    return [(f"Sentence {i}.", f"Satz {i}.") for i in range(number)]


def write_tab_separated(path, pairs):
    path.write_text("".join(f"{source}\t{target}\tattribution\tmore\n" for source, target in pairs), "utf-8")
    return str(path)


def sources_of(pairs):
    return {source for source, _ in pairs}


# Splits of one's own text


@pytest.mark.parametrize(("number", "held_out"), [(20, 1), (39, 1), (40, 2), (1_009, 50), (20_011, 1_000)])
def test_split_pairs_holds_out_five_percent_and_at_most_a_thousand(number, held_out):
    train, dev, test = split_pairs(make_pairs(number), "x")
    assert len(dev) == len(test) == held_out
    assert sorted(train + dev + test) == sorted(make_pairs(number))


def test_split_pairs_refuses_too_few_pairs_and_names_how_many():
    with pytest.raises(InputError, match=r"mine\.tsv has 19 pairs .* at least 20"):
        split_pairs(make_pairs(19), "mine.tsv")
    with pytest.raises(InputError, match="has 19 pairs with text on both sides"):
        split_pairs([*make_pairs(19), ("", "a"), ("b", " ")], "mine.tsv")


@pytest.mark.parametrize("different", [1, 2])
def test_split_pairs_refuses_too_few_different_sentences(different):
    pairs = [(f"Sentence {i % different}.", f"Satz {i}.") for i in range(101)]
    with pytest.raises(InputError, match=f"only {different} different source sentences"):
        split_pairs(pairs, "mine.tsv")


def test_split_pairs_keeps_a_source_sentence_on_one_side():
    rng = random.Random(7)
    forms = ("Sentence {}.", "sentence {}.", " Sentence  {}. ")
    pairs = [(rng.choice(forms).format(rng.randrange(307)), f"Satz {i}.") for i in range(3_001)]
    sides = split_pairs(pairs, "x")
    train, dev, test = ({source.lower().split()[1] for source, _ in side} for side in sides)
    assert train.isdisjoint(dev)
    assert test.isdisjoint(train | dev)
    assert sum(map(len, sides)) == 3_001
    assert all(120 <= len(side) <= 150 for side in sides[1:])


def test_split_pairs_depends_on_the_sentence_not_on_the_order():
    pairs = make_pairs(1_009)
    shuffled = random.Random(3).sample(pairs, len(pairs))
    for first, second in zip(split_pairs(pairs, "x"), split_pairs(shuffled, "x"), strict=True):
        assert sorted(first) == sorted(second)
        assert first == [pair for pair in pairs if pair in set(first)]
        assert second == [pair for pair in shuffled if pair in set(second)]


def test_split_pairs_leaves_pairs_with_a_blank_side_in_train():
    blank = [("", "a"), ("b", ""), (" \t", "c"), ("", "")] * 5
    train, dev, test = split_pairs(blank + make_pairs(20), "x")
    assert train[: len(blank)] == blank
    assert (len(train), len(dev), len(test)) == (len(blank) + 18, 1, 1)


# One's own files


def test_load_corpus_reads_a_tab_separated_file_and_leaves_further_columns_out(tmp_path):
    path = write_tab_separated(tmp_path / "mine.tsv", make_pairs(101))
    corpus = load_corpus(path)
    assert sorted([*corpus.train, *corpus.dev, *corpus.test]) == sorted(make_pairs(101))
    assert (corpus.name, len(corpus.train), len(corpus.dev), len(corpus.test)) == (path, 91, 5, 5)


def test_load_corpus_reads_aligned_files_and_their_languages(tmp_path):
    english, german = tmp_path / "train.en", tmp_path / "train.de.gz"
    english.write_bytes("".join(f"{source}\r\n" for source, _ in make_pairs(101)).encode())
    german.write_bytes(gzip.compress("".join(f"{target}\n" for _, target in make_pairs(101)).encode()))
    corpus = load_corpus(source=english, target=german)
    assert sorted([*corpus.train, *corpus.dev, *corpus.test]) == sorted(make_pairs(101))
    assert (corpus.source_language, corpus.target_language) == ("en", "de")


@pytest.mark.parametrize(
    ("name", "language"), [("a.en", "en"), ("a.deu.gz", "deu"), ("a.txt", ""), ("a.tsv.gz", ""), ("plain", "")]
)
def test_language_comes_from_the_suffix(name, language):
    assert sources._language(name) == language


def test_read_aligned_refuses_unequal_files_and_names_both_counts(tmp_path):
    (tmp_path / "a.en").write_text("one\ntwo\nthree\n")
    (tmp_path / "a.de").write_text("eins\nzwei\n")
    with pytest.raises(InputError, match=r"a\.en has 3 lines, .*a\.de has 2"):
        read_aligned(tmp_path / "a.en", tmp_path / "a.de")


def test_read_tab_separated_names_a_line_without_a_tab_and_invalid_utf8(tmp_path):
    path = tmp_path / "mine.tsv"
    path.write_bytes(b"one\teins\ntwo zwei\n")
    with pytest.raises(InputError, match=r"mine\.tsv, line 2: .*no tab: 'two zwei'"):
        read_tab_separated(path)
    path.write_bytes(b"one\teins\ntwo\tzw\xe4lf\n")
    with pytest.raises(InputError, match=r"mine\.tsv, line 2, byte 7: 0xe4"):
        read_tab_separated(path)


def test_load_corpus_lists_the_known_names_for_an_unknown_one():
    with pytest.raises(InputError) as error:
        load_corpus("multi30k-en-dee")
    assert all(name in str(error.value) for name in ["'multi30k-en-dee'", *CORPORA])


def test_load_corpus_refuses_a_half_pair_of_files_and_a_missing_one(tmp_path):
    (tmp_path / "a.en").write_text("one\n")
    with pytest.raises(InputError, match="both source and target"):
        load_corpus(source=tmp_path / "a.en")
    with pytest.raises(InputError, match="either a corpus or"):
        load_corpus("lab", source=tmp_path / "a.en", target=tmp_path / "a.en")
    with pytest.raises(InputError, match=r"cannot read .*absent\.de: No such file"):
        load_corpus(source=tmp_path / "a.en", target=tmp_path / "absent.de")


def test_pairs_of_files_can_be_gone_through_again_and_are_read_anew(tmp_path):
    path = write_tab_separated(tmp_path / "mine.tsv", make_pairs(101))
    train = load_corpus(path).train
    first = list(train)
    assert (len(first), len(train), list(train)) == (91, 91, first)
    write_tab_separated(tmp_path / "mine.tsv", [(source.upper(), target) for source, target in make_pairs(101)])
    assert list(train) == [(source.upper(), target) for source, target in first]


def test_load_corpus_finds_the_fault_in_the_last_line_at_once(tmp_path):
    path = write_tab_separated(tmp_path / "mine.tsv", make_pairs(1_009))
    with open(path, "a") as file:
        file.write("no tab here\n")
    with pytest.raises(InputError, match=r"mine\.tsv, line 1010: .*no tab: 'no tab here'"):
        load_corpus(path)


# The generated corpus


def test_load_corpus_gives_the_lab_corpus_with_disjoint_splits():
    corpus = load_corpus("lab-micro")
    assert (corpus.source_language, corpus.target_language) == ("en", "de")
    assert set(corpus.extra) == {"compositional", "long"}
    held_out = [corpus.dev, corpus.test, *corpus.extra.values()]
    assert all(held_out)
    assert not any(sources_of(corpus.train) & sources_of(split) for split in held_out)
    assert all(isinstance(side, str) and side.strip() for pair in corpus.dev for side in pair)


def test_words_of_the_lab_corpus_are_those_that_the_tokenizer_maps_pieces_to():
    for example in lab.generate("dev", variant="lab"):
        assert list(example.source_spans) == word_spans(example.source)
        assert list(example.target_spans) == word_spans(example.target)


# Published corpora


@pytest.mark.parametrize("target", ["de", "fr"])
@needs_data
def test_load_corpus_reads_the_whole_multi30k(target):
    corpus = load_corpus(f"multi30k-en-{target}")
    assert (len(corpus.train), len(corpus.dev), len(corpus.test)) == (29_000, 1_014, 1_000)
    assert (corpus.source_language, corpus.target_language) == ("en", target)
    assert corpus.train[0][0] == "Two young, White males are outside near many bushes."


@needs_data
def test_manifest_has_the_checksums_of_the_real_files():
    manifest = json.loads(shipped("sources.json").read_text("utf-8"))
    for name, expected in manifest["multi30k"]["files"].items():
        assert hashlib.sha256(locate("multi30k", name).read_bytes()).hexdigest() == expected, name


@needs_data
def test_load_corpus_splits_tatoeba_by_english_sentence():
    corpus = load_corpus("tatoeba-en-de")
    train, dev, test = map(sources_of, (corpus.train, corpus.dev, corpus.test))
    assert train.isdisjoint(dev)
    assert test.isdisjoint(train | dev)
    assert len(corpus.train) + len(corpus.dev) + len(corpus.test) == 169_197
    assert all(990 <= len(split) <= 1_000 for split in (corpus.dev, corpus.test))


@pytest.fixture
def local_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TRANSFORMER_DATA", str(tmp_path))
    return tmp_path


def test_load_corpus_reads_multi30k_from_the_local_folder(local_folder):
    (local_folder / "multi30k").mkdir()
    for split, number in (("train", 11), ("val", 3), ("test_2016_flickr", 2)):
        for side, language in enumerate(("en", "de")):
            text = "".join(f"{split} {pair[side]}\n" for pair in make_pairs(number))
            (local_folder / "multi30k" / f"{split}.{language}.gz").write_bytes(gzip.compress(text.encode()))
    corpus = load_corpus("multi30k-en-de")
    assert (len(corpus.train), len(corpus.dev), len(corpus.test)) == (11, 3, 2)
    assert corpus.dev[2] == ("val Sentence 2.", "val Satz 2.")


def test_load_corpus_reads_tatoeba_from_the_local_folder_and_refuses_a_damaged_one(local_folder):
    path = local_folder / "tatoeba_deu_eng" / "deu-eng.zip"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("deu.txt", "".join(f"{source}\t{target}\n" for source, target in make_pairs(101)))
    assert len(load_corpus("tatoeba-en-de").train) == 91
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"deu-eng\.zip is not a zip file with deu\.txt"):
        load_corpus("tatoeba-en-de")


def test_locate_says_why_tatoeba_is_not_downloaded_and_what_to_do(local_folder):
    with pytest.raises(InputError) as error:
        load_corpus("tatoeba-en-de")
    for part in ("checksum changes", "manythings.org", "TRANSFORMER_DATA", str(local_folder), "deu.txt"):
        assert part in str(error.value)


def test_locate_refuses_a_local_folder_that_does_not_exist(monkeypatch, tmp_path):
    monkeypatch.setenv("TRANSFORMER_DATA", str(tmp_path / "absent"))
    with pytest.raises(InputError, match=r"TRANSFORMER_DATA=.*absent: there is no such folder"):
        load_corpus("multi30k-en-de")


# The manifest


def test_manifest_lists_addresses_checksums_and_licenses_for_every_published_corpus():
    manifest = json.loads(shipped("sources.json").read_text("utf-8"))
    for corpus, entry in manifest.items():
        assert entry["license"], corpus
        assert entry["homepage"].startswith("https://"), corpus
        assert bool(entry["files"]) == bool(entry["base_urls"]) != ("no_download" in entry), corpus
        assert all(len(bytes.fromhex(checksum)) == 32 for checksum in entry["files"].values())
    needed = {f"{split}.{code}.gz" for split in ("train", "val", "test_2016_flickr") for code in ("en", "de", "fr")}
    assert set(manifest["multi30k"]["files"]) == needed
