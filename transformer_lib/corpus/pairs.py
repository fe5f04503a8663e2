"""Sentence pairs from one's own files: read a tab-separated file or two aligned ones, and split them reproducibly."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import pairwise, zip_longest
from pathlib import Path

import numpy as np

from transformer_lib.corpus.files import InputError, decode_lines, file_sha256, iterate_lines

Pair = tuple[str, str]

HELD_OUT_SHARE = 20  # dev and test get one pair in 20 each,
MAX_HELD_OUT = 1_000  # but no more than this many
MIN_PAIRS = 20


class PairFiles:
    """Pairs that are read from their files whenever somebody goes through them: any number, in little memory.

    Attributes:
        files: what the pairs are read from.
        left_out: positions, counted from 0, of the pairs that are passed over.

    """

    def __init__(
        self, read: Callable[[], Iterator[Pair]], files: Sequence[str | Path], left_out: Collection[int] = ()
    ) -> None:
        self._read, self.files, self.left_out = read, files, frozenset(left_out)
        self._length: int | None = None

    def __iter__(self) -> Iterator[Pair]:
        count = 0
        for index, pair in enumerate(self._read()):
            if index not in self.left_out:
                count += 1
                yield pair
        self._length = count

    def __len__(self) -> int:
        """Number of pairs; unless they were gone through before, the files are read to the end for it."""
        if self._length is None:
            self._length = sum(1 for _ in self)
        return self._length

    def without(self, positions: Collection[int]) -> "PairFiles":
        """The same pairs but those at these positions of the files."""
        return PairFiles(self._read, self.files, self.left_out.union(positions))

    def fingerprint(self) -> str:
        """What these pairs are, in 64 hexadecimal digits: the files' bytes and which pairs are left out."""
        parts = [*map(file_sha256, self.files), *map(str, sorted(self.left_out))]
        return hashlib.sha256(" ".join(parts).encode()).hexdigest()


def fingerprint(pairs: Iterable[Pair]) -> str:
    """What these pairs are, in 64 hexadecimal digits; other pairs, or another order, give others."""
    if isinstance(pairs, PairFiles):
        return pairs.fingerprint()
    digest = hashlib.sha256()
    for source, target in pairs:
        digest.update(f"{len(source)} {len(target)} {source}{target}".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def sample_text(pairs: Collection[Pair], limit: int = 1_000_000) -> Iterator[str]:
    """Source and target of at most ``limit`` pairs, evenly spaced: the text that a tokenizer is trained on.

    The same pairs give the same sample. With no more than ``limit`` pairs, it is all of them.
    """
    total = len(pairs)
    for index, pair in enumerate(pairs):
        if index * limit % total < limit:
            yield from pair


def tab_separated(path: str | Path) -> PairFiles:
    """Pairs of a tab-separated file: source, target, and any further columns, which are left out.

    Going through them raises `InputError` where the file cannot be read or a line has no tab (file and line are named).
    """
    return PairFiles(lambda: _split_columns(iterate_lines(path), path), [path])


def read_tab_separated(path: str | Path) -> list[Pair]:
    """The pairs of `tab_separated` as a list."""
    return list(tab_separated(path))


def parse_tab_separated(content: bytes, name: str | Path) -> list[Pair]:
    """`read_tab_separated` for what is in memory already; ``name`` is what an error calls it."""
    return list(_split_columns(decode_lines(content, name), name))


def _split_columns(lines: Iterable[str], name: str | Path) -> Iterator[Pair]:
    for number, line in enumerate(lines, start=1):
        columns = line.split("\t", 2)
        if len(columns) < 2:
            raise InputError(f"{name}, line {number}: expected source, tab, target, but there is no tab: {line!r:.80}")
        yield columns[0], columns[1]


def aligned(source: str | Path, target: str | Path) -> PairFiles:
    """Pairs of two files, where line n of ``target`` translates line n of ``source``.

    Going through them raises `InputError` where a file cannot be read, or, at the end, where their numbers of lines
    differ (both are named).
    """
    return PairFiles(lambda: _zip_lines(source, target), [source, target])


def read_aligned(source: str | Path, target: str | Path) -> list[Pair]:
    """The pairs of `aligned` as a list."""
    return list(aligned(source, target))


def _zip_lines(source: str | Path, target: str | Path) -> Iterator[Pair]:
    for pair in zip_longest(iterate_lines(source), iterate_lines(target)):
        if None in pair:
            counts = [sum(1 for _ in iterate_lines(path)) for path in (source, target)]
            raise InputError(f"the files are not aligned: {source} has {counts[0]} lines, {target} has {counts[1]}")
        yield pair


def split_pairs(pairs: list[Pair] | PairFiles, name: str) -> tuple[list[Pair] | PairFiles, list[Pair], list[Pair]]:
    """Split into train, dev and test: each of the last two 5 % of the pairs, 1,000 at most.

    All pairs with one source sentence, whatever its case and spacing, go to the same side; where they do not all fit
    in the 5 %, the side stays a little smaller. Which side depends on a hash of the sentence alone, not on the order
    of the file. Pairs with a blank side stay in train, which drops and counts them. Within a side the order is that
    of ``pairs``. From files, train is read when it is needed; splitting goes through them twice, with some 30 bytes of
    memory a pair.

    Raises:
        InputError: fewer than 20 pairs, or too few different source sentences to fill three sides.

    """
    hashes = np.fromiter(map(_hash, pairs), dtype=np.uint64)
    groups = _Groups(hashes)
    if groups.num_pairs < MIN_PAIRS:
        raise InputError(
            f"{name} has {groups.num_pairs} pairs with text on both sides; at least {MIN_PAIRS} are needed"
        )
    size = min(MAX_HELD_OUT, groups.num_pairs // HELD_OUT_SHARE)
    remaining = iter(groups)
    test, dev = _take(remaining, size), _take(remaining, size)
    if not dev or groups.num_pairs == len(test) + len(dev):
        raise InputError(f"{name} has only {len(groups)} different source sentences: too few for train, dev and test")
    held_out = {index: pair for index, pair in enumerate(pairs) if index in test or index in dev}
    sides = [[held_out[index] for index in sorted(side)] for side in (dev, test)]
    if isinstance(pairs, PairFiles):
        return pairs.without(held_out), *sides
    return [pair for index, pair in enumerate(pairs) if index not in held_out], *sides


class _Groups:
    """Positions of the pairs with text on both sides, grouped by source sentence, in the order of its hash."""

    def __init__(self, hashes: np.ndarray) -> None:
        usable = np.flatnonzero(hashes)
        self.num_pairs = len(usable)
        self._order = usable[np.argsort(hashes[usable], kind="stable")]
        differs = np.diff(hashes[self._order]) != 0
        self._starts = np.flatnonzero(np.concatenate([[True], differs, [True]])) if self.num_pairs else np.zeros(1, int)

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __iter__(self) -> Iterator[list[int]]:
        return (self._order[start:end].tolist() for start, end in pairwise(self._starts))


def _hash(pair: Pair) -> int:
    """64 bits that tell one source sentence from another; 0 where a side is blank."""
    source, target = pair
    if not source.strip() or not target.strip():
        return 0
    sentence = " ".join(source.casefold().split())
    # Half of a digest is enough: of 40 million sentences, two share it with a probability of 1 in 20,000.
    return int.from_bytes(hashlib.blake2b(sentence.encode(), digest_size=16).digest()[:8], "big")


def _take(groups: Iterator[list[int]], size: int) -> set[int]:
    """Positions of the next groups, as many as fit in ``size``, and one at least.

    The first that does not fit is used up too: it stays in train.
    """
    taken = set()
    for group in groups:
        if taken and len(taken) + len(group) > size:
            break
        taken.update(group)
    return taken
