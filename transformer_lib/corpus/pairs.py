"""Sentence pairs from one's own files: read a tab-separated file or two aligned ones, and split them reproducibly."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from transformer_lib.corpus.files import InputError, decode_lines, read_bytes, read_lines

Pair = tuple[str, str]

HELD_OUT_SHARE = 20  # dev and test get one pair in 20 each,
MAX_HELD_OUT = 1_000  # but no more than this many
MIN_PAIRS = 20


def read_tab_separated(path: str | Path) -> list[Pair]:
    """Pairs of a tab-separated file: source, target, and any further columns, which are left out.

    Raises:
        InputError: the file cannot be read, or a line has no tab (file and line are named).

    """
    return parse_tab_separated(read_bytes(path), path)


def parse_tab_separated(content: bytes, name: str | Path) -> list[Pair]:
    """`read_tab_separated` for what is in memory already; ``name`` is what an error calls it."""
    pairs = []
    for number, line in enumerate(decode_lines(content, name), start=1):
        columns = line.split("\t", 2)
        if len(columns) < 2:
            raise InputError(f"{name}, line {number}: expected source, tab, target, but there is no tab: {line!r:.80}")
        pairs.append((columns[0], columns[1]))
    return pairs


def read_aligned(source: str | Path, target: str | Path) -> list[Pair]:
    """Pairs of two files, where line n of ``target`` translates line n of ``source``.

    Raises:
        InputError: a file cannot be read, or their numbers of lines differ (both are named).

    """
    sources, targets = read_lines(source), read_lines(target)
    if len(sources) != len(targets):
        raise InputError(f"the files are not aligned: {source} has {len(sources)} lines, {target} has {len(targets)}")
    return list(zip(sources, targets, strict=True))


def split_pairs(pairs: Sequence[Pair], name: str) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Split into train, dev and test: each of the last two 5 % of the pairs, 1,000 at most.

    All pairs with one source sentence, whatever its case and spacing, go to the same side; where they do not all fit
    in the 5 %, the side stays a little smaller. Which side depends on a
    hash of the sentence alone, not on the order of the file. Pairs with a blank side stay in train, which drops and
    counts them. Within a side the order is that of ``pairs``.

    Raises:
        InputError: fewer than 20 pairs, or too few different source sentences to fill three sides.

    """
    groups = _group_by_source(pairs)
    num_usable = sum(map(len, groups))
    if num_usable < MIN_PAIRS:
        raise InputError(f"{name} has {num_usable} pairs with text on both sides; at least {MIN_PAIRS} are needed")
    size = min(MAX_HELD_OUT, num_usable // HELD_OUT_SHARE)
    remaining = iter(groups)
    test, dev = _take(remaining, size), _take(remaining, size)
    if not dev or num_usable == len(test) + len(dev):
        raise InputError(f"{name} has only {len(groups)} different source sentences: too few for train, dev and test")
    train = [pair for index, pair in enumerate(pairs) if index not in test and index not in dev]
    return train, [pairs[index] for index in sorted(dev)], [pairs[index] for index in sorted(test)]


def _group_by_source(pairs: Sequence[Pair]) -> list[list[int]]:
    """Positions of the pairs with text on both sides, grouped by source sentence, in the order of its hash."""
    groups = defaultdict(list)
    for index, (source, target) in enumerate(pairs):
        if source.strip() and target.strip():
            groups[" ".join(source.casefold().split())].append(index)
    return [groups[sentence] for sentence in sorted(groups, key=_hash)]


def _hash(sentence: str) -> bytes:
    return hashlib.blake2b(sentence.encode("utf-8"), digest_size=16).digest()


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
