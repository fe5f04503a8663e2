"""A language pair small enough to be learned within a test."""

import random
from pathlib import Path

import torch

from transformer_lib.batching import TokenBatches, encode_pairs
from transformer_lib.corpus.sources import ParallelCorpus
from transformer_lib.corpus.tokenizer import Tokenizer
from transformer_lib.model import Transformer, TransformerConfig
from transformer_lib.run.recipes import Recipe
from transformer_lib.training import TrainingConfig

ENGLISH = ("one", "two", "three", "four", "five", "six", "seven")
GERMAN = ("eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben")


def number_pairs(count: int, seed: int = 0) -> list[tuple[str, str]]:
    """Numbers and their German, in reverse order: a task that needs attention."""
    rng = random.Random(seed)
    pairs = []
    for _ in range(count):
        digits = [rng.randrange(7) for _ in range(rng.randint(1, 5))]
        pairs.append((" ".join(ENGLISH[d] for d in digits), " ".join(GERMAN[d] for d in reversed(digits))))
    return pairs


def number_corpus(count: int = 211) -> ParallelCorpus:
    """The pairs as a corpus."""
    return ParallelCorpus("numbers", "en", "de", number_pairs(count), number_pairs(13, 1), number_pairs(11, 2))


def small_recipe(**training: object) -> Recipe:
    """Seconds to train."""
    settings = {"max_updates": 8, "max_tokens": 101, "warmup_steps": 5, **training}
    return Recipe(
        model={"d_model": 16, "d_ff": 23, "num_heads": 2, "num_layers": 1},
        vocab_size=300,
        training=TrainingConfig(**settings),
        evaluate_every=4,
        checkpoint_every=3,
        average_last=2,
    )


def write_tsv(path: Path, count: int = 60) -> Path:
    """The pairs as a tab-separated file."""
    path.write_text("".join(f"{source}\t{target}\n" for source, target in number_pairs(count)), encoding="utf-8")
    return path


def number_batches(max_tokens: int) -> TokenBatches:
    """Batches of encoded pairs, with a vocabulary of at most 300 pieces."""
    tokenizer = Tokenizer.train((text for pair in number_pairs(50) for text in pair), 300)
    return TokenBatches(encode_pairs(number_pairs(97), tokenizer.encode_all), max_tokens)


def number_model(**changes: object) -> Transformer:
    """A model for such batches, the same in every call; no dropout unless asked for."""
    torch.manual_seed(3)
    sizes = {"d_model": 12, "d_ff": 19, "num_heads": 2, "num_layers": 2, "dropout": 0.0, **changes}
    return Transformer(TransformerConfig(300, **sizes))
