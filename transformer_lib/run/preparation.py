"""From a corpus to what a training reads: the vocabulary, the token store, the batches."""

import sys
from dataclasses import dataclass
from pathlib import Path

from transformer_lib.batching import Batch, EncodedPairs, TokenBatches, encode_pairs
from transformer_lib.corpus.pairs import sample_text
from transformer_lib.corpus.sources import ParallelCorpus
from transformer_lib.corpus.token_store import StoredPairs, open_store, write_store
from transformer_lib.corpus.tokenizer import Tokenizer
from transformer_lib.run.hardware import Hardware
from transformer_lib.run.recipes import Recipe


@dataclass(frozen=True)
class TrainingData:
    """A corpus as a training reads it."""

    tokenizer: Tokenizer
    train: TokenBatches
    development: list[Batch]


def prepare(folder: Path, corpus: ParallelCorpus, recipe: Recipe, hardware: Hardware, quiet: bool) -> TrainingData:
    """Vocabulary and token store of a run, made in its folder by one process where they are not there yet.

    The store is mapped into memory, so a large corpus is never held whole, and processes share its pages.
    """
    vocabulary, store = folder / "tokenizer.model", folder / "data"
    if hardware.is_main:
        write_vocabulary(vocabulary, corpus, recipe)
        write_store(store, corpus.train, Tokenizer.load(vocabulary), recipe.max_length, progress=not quiet)
    hardware.wait()
    tokenizer, stored = Tokenizer.load(vocabulary), open_store(store)
    if hardware.is_main and (stored.dropped_empty or stored.dropped_long):
        print(
            f"dropped {stored.dropped_empty} pairs with an empty side and "
            f"{stored.dropped_long} of more than {recipe.max_length} tokens; {len(stored)} are left",
            file=sys.stderr,
        )
    held_out = batches(encode_pairs(corpus.dev, tokenizer.encode_all, recipe.max_length), recipe)
    development = [held_out.collate(rows) for rows in held_out.epoch(0)]
    return TrainingData(tokenizer, batches(stored, recipe), development)


def write_vocabulary(path: Path, corpus: ParallelCorpus, recipe: Recipe) -> None:
    """Learn the joint vocabulary, unless it is there already."""
    if not path.exists():
        Tokenizer.train(sample_text(corpus.train), recipe.vocab_size).save(path)


def batches(pairs: EncodedPairs | StoredPairs, recipe: Recipe) -> TokenBatches:
    """A stream of the recipe's batches, the same on every device."""
    return TokenBatches(pairs, recipe.training.max_tokens, seed=recipe.training.seed)
