"""Measures of every head: the plain mean over sentences, and the score that is left without each."""

import json

import pytest
import torch

from transformer_lib.corpus.files import InputError
from transformer_lib.corpus.lab import generate
from transformer_lib.inspection import attention_sublayers
from transformer_lib.run.evaluation import score
from transformer_lib.run.head_measures import all_heads, measure_heads
from transformer_lib.run.translator import Translator

PAIRS = [(example.source, example.target) for example in generate("test", 5)]


@pytest.fixture(scope="module")
def translator():
    return Translator.load("lab-en-de")


@pytest.fixture(scope="module")
def measures(translator):
    return measure_heads(translator, PAIRS)


def test_every_head_of_every_kind_has_its_measures(translator, measures):
    assert len(all_heads(translator)) == 3 * 3 * 4
    for name in ("entropy", "distance", "bleu_without"):
        assert {kind: [len(layer) for layer in layers] for kind, layers in measures[name].items()} == {
            "encoder": [4, 4, 4],
            "decoder": [4, 4, 4],
            "cross": [4, 4, 4],
        }
    assert measures["sentences"] == 5
    assert json.loads(json.dumps(measures)) == measures


def test_entropy_and_distance_are_means_over_all_queries(translator, measures):
    rows, steps = [], []
    for source, target in PAIRS:
        for query, weights in enumerate(translator.attention(source, target).cross[1, 0]):
            rows.append(-sum(p * torch.tensor(p).log2().item() for p in weights if p > 0))
            steps.append(sum(p * abs(query - key) for key, p in enumerate(weights)))
    assert measures["entropy"]["cross"][1][0] == pytest.approx(sum(rows) / len(rows), abs=1e-3)
    assert measures["distance"]["cross"][1][0] == pytest.approx(sum(steps) / len(steps), abs=1e-3)


def test_bleu_without_a_head_is_that_of_the_model_with_its_columns_zero(translator, measures):
    kind, layer, head = min(all_heads(translator), key=lambda at: measures["bleu_without"][at[0]][at[1]][at[2]])
    assert measures["bleu_without"][kind][layer][head] < measures["bleu"] == 100
    sublayer = attention_sublayers(translator.model)[kind][layer]
    kept = sublayer.w_o.weight.detach().clone()
    try:
        with torch.no_grad():
            sublayer.w_o.weight[:, 32 * head : 32 * (head + 1)] = 0
        outputs = translator.translate([source for source, _ in PAIRS], beam_size=1)
    finally:
        with torch.no_grad():
            sublayer.w_o.weight.copy_(kept)
    assert score(outputs, [target for _, target in PAIRS])["bleu"] == measures["bleu_without"][kind][layer][head]


def test_nothing_to_measure_on_is_an_error(translator):
    with pytest.raises(InputError, match="no sentence pairs"):
        measure_heads(translator, [])
