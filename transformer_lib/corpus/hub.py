"""WMT 2014 from the Hugging Face hub, streamed into text files, and its test set from sacreBLEU (paper section 5.1)."""

# The paper trains on 4.5 million pairs English-German and 36 million English-French. The hub's copy of the same sources
# has 4,508,785 and 40,836,715: for French more than the paper used, which does not say what it left out. Nothing is
# filtered here but pairs with an empty or an overlong side, when they become tokens.

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

from transformer_lib.corpus.download import DATA_VARIABLE, cache_folder, find_local
from transformer_lib.corpus.files import InputError, write_folder
from transformer_lib.corpus.pairs import Pair, PairFiles, aligned, read_aligned

DATASET = "wmt/wmt14"
NUM_PAIRS = {  # of the hub's dataset; a stream that ends earlier was cut off
    ("de", "train"): 4_508_785,
    ("fr", "train"): 40_836_715,
    ("de", "validation"): 3_000,
    ("fr", "validation"): 3_000,
}
NUM_TEST = 3_003  # pairs of newstest2014 in full, on which the paper reports


def wmt14_train(language: str) -> PairFiles:
    """English and ``language`` ("de" or "fr"): the training pairs, read from files when they are needed.

    They come from ``wmt14-en-<language>/train.en`` and ``train.<language>`` (or with ``.gz``) in the folder that
    ``TRANSFORMER_DATA`` names, or else from the hub, once, into the user's cache folder.

    Raises:
        InputError: they are not there and cannot be fetched.

    """
    return aligned(*_files(language, f"wmt14-en-{language}", "train", "train"))


def wmt14_dev(language: str) -> list[Pair]:
    """newstest2013, 3,000 pairs: from ``wmt_news/`` in the folder of ``TRANSFORMER_DATA``, or the hub's validation set.

    Raises:
        InputError: it is not there and cannot be fetched.

    """
    return read_aligned(*_files(language, "wmt_news", "newstest2013", "validation"))


def wmt14_test(language: str) -> list[Pair]:
    """newstest2014 in full, 3,003 pairs, as sacreBLEU knows it (``wmt14/full``), from its cache or downloaded by it.

    Raises:
        InputError: it cannot be downloaded, or has another number of pairs.

    """
    from sacrebleu import DATASETS

    try:
        source, reference = DATASETS["wmt14/full"].get_files(f"en-{language}")
    except (Exception, SystemExit) as error:  # what sacreBLEU cannot get, it answers in many ways
        raise InputError(
            f"sacreBLEU cannot get the test set wmt14/full ({error or type(error).__name__}): expected a connection, "
            "or its files in the folder that the variable SACREBLEU names"
        ) from error
    pairs = read_aligned(source, reference)
    if len(pairs) != NUM_TEST:
        raise InputError(f"{source}: expected the {NUM_TEST:,} pairs of newstest2014, found {len(pairs):,}")
    return pairs


def _files(language: str, corpus: str, name: str, split: str) -> tuple[Path, Path]:
    """The two files of a split: local ones if there are, else those in the cache, streamed into it if need be."""
    codes = ("en", language)
    local = [find_local(corpus, f"{name}.{code}", f"{name}.{code}.gz") for code in codes]
    if all(local):
        return local[0], local[1]
    folder = cache_folder() / f"wmt14-en-{language}" / split
    if not folder.exists():
        write_folder(folder, lambda beside: _stream(language, split, beside))
    return folder / f"{split}.en", folder / f"{split}.{language}"


def _stream(language: str, split: str, folder: Path) -> None:
    """Write a split of the hub's dataset to two files, a sentence a line; only one row is in memory at a time."""
    expected, count = NUM_PAIRS[language, split], 0
    with ExitStack() as stack:
        files = {
            code: stack.enter_context(open(folder / f"{split}.{code}", "w", encoding="utf-8", newline="\n"))
            for code in ("en", language)
        }
        for row in _with_progress(_rows(language, split), expected):
            for code, file in files.items():
                file.write(_one_line(row[code]))
            count += 1
    if count != expected:
        raise InputError(
            f"the hub's {DATASET} sent {count:,} pairs of {language}-en, {split}: expected {expected:,}; try again"
        )


def _rows(language: str, split: str) -> Iterator[dict[str, str]]:
    """Sentences by language code, as the hub streams them."""
    try:
        import datasets
    except ImportError as error:
        raise InputError(
            f'WMT 2014 comes from the Hugging Face hub: pip install "transformer-lib[hub]", or put train.en and '
            f"train.{language} under wmt14-en-{language}/ in a folder and name that folder with {DATA_VARIABLE}"
        ) from error
    try:
        for row in datasets.load_dataset(DATASET, f"{language}-en", split=split, streaming=True):
            yield row["translation"]
    except Exception as error:  # of several libraries that datasets builds on
        raise InputError(
            f"cannot fetch {DATASET}, {language}-en, {split}, from the Hugging Face hub: {error}. This needs a "
            f'connection and pip install "transformer-lib[hub]"; or put train.en and train.{language} under '
            f"wmt14-en-{language}/ in a folder and name that folder with {DATA_VARIABLE}"
        ) from error


def _one_line(sentence: str) -> str:
    return sentence.replace("\r", " ").replace("\n", " ") + "\n"


def _with_progress(rows: Iterable[dict[str, str]], total: int) -> Iterable[dict[str, str]]:
    from tqdm.auto import tqdm

    return tqdm(rows, total=total, unit=" pairs", desc=DATASET, disable=None)
