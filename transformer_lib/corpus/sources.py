"""Parallel corpora by name or by file: the lab corpus, Multi30k, Tatoeba, WMT, one's own text (paper section 5.1)."""

import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from transformer_lib.corpus.download import locate
from transformer_lib.corpus.files import InputError
from transformer_lib.corpus.pairs import (
    Pair,
    PairFiles,
    aligned,
    parse_tab_separated,
    read_aligned,
    split_pairs,
    tab_separated,
)


@dataclass(frozen=True)
class ParallelCorpus:
    """Sentence pairs, (source, target), in the splits that training and evaluation use.

    Attributes:
        name: what `load_corpus` was asked for.
        source_language: code such as ``"en"``, or empty if not known.
        target_language: the same for the target.
        train: pairs to learn from; from one's own files, and from WMT, they are read whenever they are gone through,
            so that they may be more than memory holds. They can be iterated over and counted.
        dev: pairs to choose a model by.
        test: pairs to report a score on.
        extra: further test sets by name; the lab corpus has ``compositional`` and ``long``.

    """

    name: str
    source_language: str
    target_language: str
    train: list[Pair] | PairFiles
    dev: list[Pair]
    test: list[Pair]
    extra: dict[str, list[Pair]] = field(default_factory=dict)


def load_corpus(
    spec: str | None = None, *, source: str | Path | None = None, target: str | Path | None = None
) -> ParallelCorpus:
    """Load a corpus by name, from a tab-separated file, or from two aligned files.

    Files may be gzipped. One's own text is split by `split_pairs`; published corpora keep their own splits, where
    they have them.

    Args:
        spec: a name in `CORPORA`, or the path of a tab-separated file (source, target, further columns left out).
        source: instead of ``spec``, a file with one source sentence a line,
        target: and its translation, line by line. A suffix such as ``.en`` or ``.de.gz`` tells the language.

    Raises:
        InputError: an unknown name, or files that are missing, damaged, not UTF-8, not aligned or too short.

    """
    if source is not None or target is not None:
        return _load_aligned(spec, source, target)
    if spec in CORPORA:
        return CORPORA[spec]()
    if spec is None or not Path(spec).is_file():
        known = ", ".join(CORPORA)
        raise InputError(f"unknown corpus {spec!r}: expected one of {known}, or a tab-separated file that exists")
    return ParallelCorpus(spec, "", "", *split_pairs(tab_separated(spec), spec))


def _load_aligned(spec: str | None, source: str | Path | None, target: str | Path | None) -> ParallelCorpus:
    if spec is not None or source is None or target is None:
        raise InputError(f"expected either a corpus or both source and target files: got {spec=}, {source=}, {target=}")
    name = f"{source} {target}"
    return ParallelCorpus(name, _language(source), _language(target), *split_pairs(aligned(source, target), name))


def _language(path: str | Path) -> str:
    """Language code in a file name such as ``train.en`` or ``train.de.gz``, or nothing."""
    code = str(path).removesuffix(".gz").rpartition(".")[2]
    return code if len(code) in (2, 3) and code.isalpha() and code.islower() and code not in ("txt", "tsv") else ""


def _load_multi30k(source_language: str, target_language: str) -> ParallelCorpus:
    """Multi30k, task 1: train, val and the Flickr test set of 2016 (Elliott et al., 2016)."""
    splits = [
        read_aligned(*(locate("multi30k", f"{split}.{language}.gz") for language in (source_language, target_language)))
        for split in ("train", "val", "test_2016_flickr")
    ]
    name = f"multi30k-{source_language}-{target_language}"
    return ParallelCorpus(name, source_language, target_language, *splits)


def _load_tatoeba() -> ParallelCorpus:
    """English-German sentences of tatoeba.org; many English sentences have several translations."""
    path = locate("tatoeba_deu_eng", "deu-eng.zip")
    try:
        content = zipfile.ZipFile(path).read("deu.txt")
    except (zipfile.BadZipFile, KeyError) as error:
        raise InputError(f"{path} is not a zip file with deu.txt in it: {error}") from error
    pairs = parse_tab_separated(content, f"{path}, deu.txt")
    return ParallelCorpus("tatoeba-en-de", "en", "de", *split_pairs(pairs, "tatoeba-en-de"))


def _load_wmt14(language: str) -> ParallelCorpus:
    """WMT 2014 with newstest2013 for development and newstest2014 for the test, as in the paper."""
    from transformer_lib.corpus import hub

    test, dev = hub.wmt14_test(language), hub.wmt14_dev(language)  # the small ones first: they fail at once
    return ParallelCorpus(f"wmt14-en-{language}", "en", language, hub.wmt14_train(language), dev, test)


def _load_lab(name: str) -> ParallelCorpus:
    """The corpus that the project generates, or its small variant."""
    from transformer_lib.corpus import lab

    splits = {
        split: [(example.source, example.target) for example in lab.generate(split, variant=name)]
        for split in ("train", "dev", "test", "compositional", "long")
    }
    train, dev, test = (splits.pop(split) for split in ("train", "dev", "test"))
    return ParallelCorpus(name, "en", "de", train, dev, test, extra=splits)


CORPORA: dict[str, Callable[[], ParallelCorpus]] = {
    "lab": partial(_load_lab, "lab"),
    "lab-micro": partial(_load_lab, "lab-micro"),
    "multi30k-en-de": partial(_load_multi30k, "en", "de"),
    "multi30k-en-fr": partial(_load_multi30k, "en", "fr"),
    "tatoeba-en-de": _load_tatoeba,
    "wmt14-en-de": partial(_load_wmt14, "de"),
    "wmt14-en-fr": partial(_load_wmt14, "fr"),
}
