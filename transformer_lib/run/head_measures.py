"""What each attention head of a model does, in numbers: how widely it looks, how far, and what is lost without it."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from transformer_lib.corpus.files import InputError
from transformer_lib.inspection import Head, attention_sublayers, entropy, mean_distance, silence_heads
from transformer_lib.run.evaluation import score
from transformer_lib.run.translator import Translator

Pairs = Sequence[tuple[str, str]]
SEARCH = {"beam_size": 1}  # greedy: a model is scored once for each of its heads


def measure_heads(translator: Translator, pairs: Pairs, *, progress: bool = False) -> dict[str, Any]:
    """Every head of a model on sentence pairs, by kind as lists `[layer][head]`, ready for a record.

    `entropy` in bits and `distance` in tokens are means over all queries while the model reads the pairs;
    `bleu_without` is the BLEU of greedy translations with that head silenced, `bleu` with none. InputError when there
    is no pair.
    """
    if not pairs:
        raise InputError("no sentence pairs to measure heads on")
    heads = all_heads(translator)
    with tqdm(total=len(heads) + 2, unit="head", disable=not progress, leave=False) as bar:
        measured = mean_measures(translator, pairs)
        bar.update()
        whole = bleu_without(translator, pairs, ())
        bar.update()
        scores = {}
        for head in heads:
            scores[head] = bleu_without(translator, pairs, [head])
            bar.update()
    return {"sentences": len(pairs), "search": SEARCH, "bleu": whole, **measured, "bleu_without": by_kind(scores)}


def all_heads(translator: Translator) -> list[Head]:
    """Every head, kind by kind, layer by layer."""
    return [
        (kind, layer, head)
        for kind, sublayers in attention_sublayers(translator.model).items()
        for layer, sublayer in enumerate(sublayers)
        for head in range(sublayer.num_heads)
    ]


def bleu_without(translator: Translator, pairs: Pairs, heads: Iterable[Head]) -> float:
    """BLEU of greedy translations with these heads silenced."""
    with silence_heads(translator.model, heads):
        translations = translator.translate([source for source, _ in pairs], **SEARCH)
    return score(translations, [target for _, target in pairs])["bleu"]


def mean_measures(translator: Translator, pairs: Pairs) -> dict[str, dict[str, list[list[float]]]]:
    """Entropy and distance of each head, averaged over the queries of all pairs."""
    sums: dict[str, dict[str, np.ndarray | float]] = {"entropy": {}, "distance": {}}
    queries: dict[str, int] = {}
    for source, target in pairs:
        example = translator.attention(source, target)
        for kind in attention_sublayers(translator.model):
            weights = torch.from_numpy(getattr(example, kind))
            queries[kind] = queries.get(kind, 0) + weights.size(-2)
            for name, measure in (("entropy", entropy), ("distance", mean_distance)):
                sums[name][kind] = sums[name].get(kind, 0.0) + measure(weights).sum(-1).numpy()
    return {
        name: {kind: np.round(total / queries[kind], 4).tolist() for kind, total in kinds.items()}
        for name, kinds in sums.items()
    }


def by_kind(scores: dict[Head, float]) -> dict[str, list[list[float]]]:
    """A number for each head as lists `[layer][head]` for each kind."""
    nested: dict[str, list[list[float]]] = {}
    for (kind, layer, _), value in scores.items():
        layers = nested.setdefault(kind, [])
        if layer == len(layers):
            layers.append([])
        layers[layer].append(value)
    return nested
