"""Score translations, in the ways that published results use."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from transformer_lib.corpus.bleu import bleu, tokenized_bleu
from transformer_lib.corpus.lab import generate, score_phenomena
from transformer_lib.corpus.sources import ParallelCorpus

Translate = Callable[..., list[str]]  # Translator.translate, or what takes its arguments


def evaluate(
    translate: Translate, pairs: Sequence[tuple[str, str]], *, target_language: str | None = None
) -> dict[str, Any]:
    """BLEU with its signature and the share of exact matches, in percent.

    A record keeps the hash of the outputs, and not a line of the corpus. `target_language` adds
    tokenized lower-cased BLEU, which published results on Multi30k use.
    """
    hypotheses = translate([source for source, _ in pairs])
    return score(hypotheses, [target for _, target in pairs], target_language=target_language)


def score(
    hypotheses: Sequence[str], references: Sequence[str], *, target_language: str | None = None
) -> dict[str, Any]:
    """Scores of hypotheses that are there already; see `evaluate`."""
    value, signature = bleu(hypotheses, references)
    exact = sum(h == r for h, r in zip(hypotheses, references, strict=True))
    scores = {
        "sentences": len(references),
        "bleu": round(value, 2),
        "signature": signature,
        "exact_match": round(100 * exact / len(references), 2),
        "outputs_sha256": hashlib.sha256("\n".join(hypotheses).encode()).hexdigest(),
    }
    if target_language is not None:
        value, signature = tokenized_bleu(hypotheses, references, target_language)
        scores |= {"bleu_tokenized": round(value, 2), "signature_tokenized": signature}
    return scores


def evaluate_lab(translate: Translate, split: str = "test", variant: str = "lab") -> dict[str, Any]:
    """Scores on a split of the lab corpus, and by phenomenon how many cases came out right, in percent."""
    examples = generate(split, variant=variant)
    hypotheses = translate([example.source for example in examples])
    scores = score(hypotheses, [example.target for example in examples])
    cases = score_phenomena(examples, hypotheses)
    by_phenomenon = {
        name: {"cases": total, "right": round(100 * right / total, 2)}
        for name, (right, total) in cases.items()
        if total
    }
    return scores | {"phenomena": by_phenomenon}


def evaluate_corpus(translate: Translate, corpus: ParallelCorpus, search: dict[str, Any]) -> dict[str, Any]:
    """Scores on the splits that a corpus is judged by, and the `search` options they were decoded with."""

    def decode(sentences: Sequence[str]) -> list[str]:
        return translate(sentences, **search)

    if corpus.name in ("lab", "lab-micro"):
        scores = {split: evaluate_lab(decode, split, corpus.name) for split in ("test", *corpus.extra)}
    else:
        language = corpus.target_language if corpus.name.startswith("multi30k") else None
        splits = {"dev": corpus.dev, "test": corpus.test}
        scores = {split: evaluate(decode, pairs, target_language=language) for split, pairs in splits.items()}
    return {"search": search, **scores}
