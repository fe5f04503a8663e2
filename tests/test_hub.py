"""WMT 2014, from a hub and a sacreBLEU that are played by fakes: no test reaches the network."""

import gzip
import sys
import types

import pytest
import sacrebleu

from transformer_lib.corpus import hub
from transformer_lib.corpus.files import InputError
from transformer_lib.corpus.sources import load_corpus

COUNTS = {("de", "train"): 31, ("fr", "train"): 37, ("de", "validation"): 5, ("fr", "validation"): 7}


class Hub:
    """What `datasets` does, as far as it is used: it streams rows, and may fail after some."""

    def __init__(self):
        self.asked, self.counts, self.fails_after = [], dict(COUNTS), None

    def load_dataset(self, name, config, *, split, streaming):
        assert (name, streaming) == ("wmt/wmt14", True)
        self.asked.append((config, split))
        language = config.removesuffix("-en")
        for index in range(self.counts[language, split]):
            if index == self.fails_after:
                raise ConnectionError("the hub is away")
            translation = {"en": f"Sentence\n{index}.", language: f"{language} {split}\r{index}.\u2028"}
            yield {"translation": translation}


class TestSet:
    """A test set of sacreBLEU's, in files."""

    __test__ = False

    def __init__(self, folder, number):
        self.folder, self.number = folder, number

    def get_files(self, pair):
        assert pair in ("en-de", "en-fr")
        for name in ("src", "ref"):
            (self.folder / name).write_text("".join(f"{name} {i}\n" for i in range(self.number)))
        return [str(self.folder / "src"), str(self.folder / "ref")]


@pytest.fixture
def fake(tmp_path, monkeypatch):
    fake = Hub()
    monkeypatch.setitem(sys.modules, "datasets", types.SimpleNamespace(load_dataset=fake.load_dataset))
    monkeypatch.setattr(hub, "NUM_PAIRS", COUNTS)
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda project, appauthor: str(tmp_path / "cache"))
    monkeypatch.setitem(sacrebleu.DATASETS, "wmt14/full", TestSet(tmp_path, 3_003))
    monkeypatch.delenv("TRANSFORMER_DATA", raising=False)
    return fake


@pytest.mark.parametrize("language", ["de", "fr"])
def test_wmt14_comes_from_the_hub_once(fake, language):
    for _ in range(2):
        corpus = load_corpus(f"wmt14-en-{language}")
        assert (corpus.source_language, corpus.target_language) == ("en", language)
        sizes = (COUNTS[language, "train"], COUNTS[language, "validation"], 3_003)
        assert (len(corpus.train), len(corpus.dev), len(corpus.test)) == sizes
    assert sorted(fake.asked) == [(f"{language}-en", "train"), (f"{language}-en", "validation")]
    assert list(corpus.train)[3] == ("Sentence 3.", f"{language} train 3.\u2028")
    assert corpus.test[3_002] == ("src 3002", "ref 3002")


def test_a_stream_that_breaks_leaves_nothing_and_is_started_again(fake, tmp_path):
    fake.fails_after = 17
    with pytest.raises(InputError, match=r"cannot fetch wmt/wmt14, de-en, train, .*: the hub is away"):
        hub.wmt14_train("de")
    assert list((tmp_path / "cache" / "wmt14-en-de").iterdir()) == []
    fake.fails_after = None
    assert len(hub.wmt14_train("de")) == 31


def test_a_stream_that_ends_early_is_refused(fake, tmp_path):
    fake.counts["de", "train"] = 30
    with pytest.raises(InputError, match="sent 30 pairs of de-en, train: expected 31"):
        hub.wmt14_train("de")
    assert list((tmp_path / "cache" / "wmt14-en-de").iterdir()) == []


def test_without_datasets_the_message_names_the_extra(fake, monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(InputError, match=r'pip install "transformer-lib\[hub\]"'):
        hub.wmt14_train("de")


def test_local_files_come_first_gzipped_or_not(fake, tmp_path, monkeypatch):
    monkeypatch.setenv("TRANSFORMER_DATA", str(tmp_path))
    (tmp_path / "wmt14-en-de").mkdir()
    (tmp_path / "wmt_news").mkdir()
    (tmp_path / "wmt14-en-de" / "train.en").write_text("one\ntwo\n")
    (tmp_path / "wmt14-en-de" / "train.de.gz").write_bytes(gzip.compress(b"eins\nzwei\n"))
    for code in ("en", "de"):
        (tmp_path / "wmt_news" / f"newstest2013.{code}.gz").write_bytes(gzip.compress(code.encode()))
    corpus = load_corpus("wmt14-en-de")
    assert list(corpus.train) == [("one", "eins"), ("two", "zwei")]
    assert corpus.dev == [("en", "de")]
    assert fake.asked == []
    assert len(load_corpus("wmt14-en-fr").dev) == 7


@pytest.mark.parametrize("number", [3_002, 2_737])
def test_a_test_set_of_another_size_is_refused(fake, tmp_path, monkeypatch, number):
    monkeypatch.setitem(sacrebleu.DATASETS, "wmt14/full", TestSet(tmp_path, number))
    with pytest.raises(InputError, match=f"expected the 3,003 pairs of newstest2014, found {number:,}"):
        hub.wmt14_test("de")


@pytest.mark.parametrize("failure", [OSError("no route"), SystemExit(1)])
def test_sacrebleu_s_failures_are_explained(fake, monkeypatch, failure):
    def fail(pair):
        raise failure

    monkeypatch.setattr(sacrebleu.DATASETS["wmt14/full"], "get_files", fail)
    with pytest.raises(InputError, match="sacreBLEU cannot get the test set wmt14/full"):
        hub.wmt14_test("fr")


def test_sacrebleu_knows_the_test_sets():
    assert {"en-de", "en-fr"} <= set(sacrebleu.DATASETS["wmt14/full"].langpairs)
