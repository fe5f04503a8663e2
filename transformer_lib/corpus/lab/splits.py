"""The splits of the corpus: which sentences belong to which, in blocks that any process can write."""

# * A sentence goes to train, dev or test by a hash of its German side. German is a function of English here, so no two
#   of these splits share a sentence of either language, whatever the seed.
# * Sentences are drawn in blocks of a fixed number of attempts, each with its own source of randomness, and the blocks
#   are read in order: the number of processes changes nothing.

import multiprocessing
import zlib
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from itertools import accumulate, count
from random import Random

from transformer_lib.corpus.files import InputError
from transformer_lib.corpus.lab.draft import Draft
from transformer_lib.corpus.lab.example import LabExample
from transformer_lib.corpus.lab.grammar import CONSTRUCTIONS, LONG_CONSTRUCTIONS
from transformer_lib.corpus.lab.lexicon import VARIANTS
from transformer_lib.corpus.lab.profile import PROFILES, SPLITS
from transformer_lib.corpus.lab.writer import Writer

BLOCK = 2_000  # attempts
MAX_LONG_WORDS = 32
MAX_FRUITLESS_BLOCKS = 20

_HELD_OUT = {0: "dev", 1: "test"}  # hash modulo 20; the rest is train


def generate(
    split: str = "train", size: int | None = None, *, seed: int = 2017, variant: str = "lab", processes: int = 1
) -> list[LabExample]:
    """The first ``size`` examples of a split (all of the variant's standard size if None), none of them twice.

    The result depends on ``split``, ``size``, ``seed`` and ``variant`` only; a smaller size gives a prefix.

    Raises:
        ValueError: unknown split or variant, negative size, fewer than one process, or a size beyond what the
            grammar can say.

    """
    _check(split, size, variant, processes)
    size = PROFILES[variant].sizes[split] if size is None else size
    examples: dict[str, LabExample] = {}
    fruitless = 0
    with _blocks((variant, split, seed), processes) as blocks:
        while len(examples) < size:
            before = len(examples)
            for example in next(blocks):
                examples.setdefault(example.source, example)
            fruitless = fruitless + 1 if len(examples) == before else 0
            if fruitless == MAX_FRUITLESS_BLOCKS:
                raise InputError(
                    f"size {size} is more than split {split!r} of {variant!r} holds: {len(examples)} found"
                )
    return list(examples.values())[:size]


def _check(split: str, size: int | None, variant: str, processes: int) -> None:
    if split not in SPLITS:
        raise InputError(f"unknown split {split!r}: expected one of {', '.join(SPLITS)}")
    if variant not in VARIANTS:
        raise InputError(f"unknown variant {variant!r}: expected one of {', '.join(VARIANTS)}")
    if size is not None and size < 0:
        raise InputError(f"size {size} is negative: expected 0 or more examples")
    if processes < 1:
        raise InputError(f"processes {processes}: expected 1 or more")


@contextmanager
def _blocks(corpus: tuple[str, str, int], processes: int) -> Iterator[Iterator[list[LabExample]]]:
    """The blocks of a corpus in order, made here or by ``processes`` others."""
    jobs = ((*corpus, block) for block in count())
    if processes == 1:
        yield map(_block, jobs)
        return
    context = multiprocessing.get_context("spawn")  # forking a process that runs threads can block it
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        yield _in_waves(pool, jobs, 2 * processes)


def _in_waves(pool: Executor, jobs: Iterator, wave: int) -> Iterator[list[LabExample]]:
    """Results in the order of the endless ``jobs``, of which a wave at a time is handed out."""
    while True:
        yield from pool.map(_block, [next(jobs) for _ in range(wave)])


def _block(job: tuple[str, str, int, int]) -> list[LabExample]:
    """The examples of one block; ``job`` is (variant, split, seed, number of the block)."""
    variant, split, seed, block = job
    random = Random(f"{seed}/{variant}/{split}/{block}")
    writer = Writer(variant, random, use_reserved=split == "compositional")
    profile = PROFILES[variant]
    constructions = LONG_CONSTRUCTIONS if split == "long" else CONSTRUCTIONS
    weights = profile.long_constructions if split == "long" else profile.constructions
    builders = random.choices([constructions[name] for name in weights], cum_weights=list(accumulate(weights.values())),
                              k=BLOCK)  # fmt: skip
    examples = []
    for build in builders:
        writer.draft = Draft()
        if build(writer) and _belongs(writer.draft, split, profile.max_words):
            examples.append(writer.draft.example())
    return examples


def _belongs(draft: Draft, split: str, max_words: int) -> bool:
    shorter, longer = sorted(draft.length())
    if split == "long":
        return shorter > max_words and longer <= MAX_LONG_WORDS
    if longer > max_words:
        return False
    if split == "compositional":
        return draft.reserved > 0
    return _HELD_OUT.get(zlib.crc32(draft.target.encode()) % 20, "train") == split
