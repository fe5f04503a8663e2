"""Text to ids: rows of tokens in one flat array, encoded block by block in as many processes as there are cores."""

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice

import numpy as np

from transformer_lib.corpus.pairs import Pair
from transformer_lib.corpus.tokenizer import Tokenizer

BLOCK = 8_192  # pairs that are encoded at a time
WORTH_PROCESSES = 8 * BLOCK  # with fewer pairs, starting another process takes longer than it saves


class TokenRows:
    """Rows of token ids, one behind the other in a flat array: row i is ``ids[offsets[i] : offsets[i + 1]]``.

    Attributes:
        ids: (number of tokens,), an array of unsigned or signed integers, possibly memory-mapped.
        offsets: (number of rows + 1,), int64, from 0 to the number of tokens.

    """

    def __init__(self, ids: np.ndarray, offsets: np.ndarray) -> None:
        self.ids, self.offsets = ids, offsets

    @classmethod
    def from_rows(cls, rows: "Sequence[Sequence[int]] | TokenRows", dtype: type = np.int32) -> "TokenRows":
        """The same rows in one array of ``dtype``; what is a `TokenRows` already comes back as it is."""
        if isinstance(rows, TokenRows):
            return rows
        offsets = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in rows], out=offsets[1:])
        return cls(np.fromiter(chain.from_iterable(rows), dtype=dtype, count=offsets[-1]), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> np.ndarray:
        """Ids of one row: (length,), a view. IndexError beyond the last row."""
        index = range(len(self))[index]
        return self.ids[self.offsets[index] : self.offsets[index + 1]]

    @property
    def lengths(self) -> np.ndarray:
        """Number of tokens of each row: (number of rows,), int32."""
        return np.diff(self.offsets).astype(np.int32)


@dataclass(frozen=True)
class EncodedBlock:
    """A block of pairs as ids, with what was dropped from it."""

    sources: TokenRows
    targets: TokenRows
    dropped_empty: int
    dropped_long: int


def id_type(tokenizer: Tokenizer) -> type[np.integer]:
    """The smaller of uint16 and int32 that holds every id."""
    return np.uint16 if tokenizer.vocab_size <= 1 << 16 else np.int32


def encode_block(tokenizer: Tokenizer, max_length: int, pairs: Sequence[Pair]) -> EncodedBlock:
    """Ids of one pair or more; drops and counts those with an empty side or one of over ``max_length`` tokens."""
    sources, targets = (tokenizer.encode_all(side, num_threads=1) for side in zip(*pairs, strict=True))
    filled = [pair for pair in zip(sources, targets, strict=True) if all(pair)]
    kept = [pair for pair in filled if max(map(len, pair)) <= max_length]
    sides = (TokenRows.from_rows([pair[side] for pair in kept], id_type(tokenizer)) for side in (0, 1))
    return EncodedBlock(*sides, len(pairs) - len(filled), len(filled) - len(kept))


def encoded_blocks(
    pairs: Collection[Pair], tokenizer: Tokenizer, max_length: int, processes: int
) -> Iterator[EncodedBlock]:
    """`encode_block` of all ``pairs``, block by block and in order, in this process or in ``processes`` others."""
    iterator = iter(pairs)
    blocks = iter(lambda: list(islice(iterator, BLOCK)), [])
    if processes == 1 or len(pairs) < WORTH_PROCESSES:
        yield from (encode_block(tokenizer, max_length, block) for block in blocks)
        return
    context = multiprocessing.get_context("spawn")  # forking a process that runs threads can block it
    setup = (tokenizer.to_bytes(), max_length)
    with ProcessPoolExecutor(processes, context, initializer=_set_up, initargs=setup) as pool:
        waiting = deque()
        for block in blocks:
            waiting.append(pool.submit(_encode_there, block))
            if len(waiting) > 2 * processes:
                yield waiting.popleft().result()
        yield from (future.result() for future in waiting)


_worker: Callable[[Sequence[Pair]], EncodedBlock]


def _set_up(model: bytes, max_length: int) -> None:
    global _worker
    _worker = partial(encode_block, Tokenizer(model), max_length)


def _encode_there(block: list[Pair]) -> EncodedBlock:
    return _worker(block)


def usable_cores() -> int:
    """Number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
