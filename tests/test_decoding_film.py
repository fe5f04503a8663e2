"""The film of a translation as data: each step's candidates, and the attention with which its piece was chosen."""

import re

import numpy as np
import pytest
import torch
from test_charts import parameters, random_weights

from transformer_lib.charts import DecodingSteps, decoding_film
from transformer_lib.charts.packing import unpack

SOURCE = ["▁The", "▁small", "▁dog", "▁sle", "eps", ".", "</s>"]
TARGET = ["▁Der", "▁kleine", "▁Hund", ".", "</s>"]
LAYERS, HEADS = 2, 3
CANDIDATES = [[("▁Der", 0.5), ("▁Ein", 0.25)], *([("▁x", 0.3), (piece, 0.2)] for piece in TARGET[1:])]


def make_steps(source=SOURCE, target=TARGET, candidates=CANDIDATES, layers=LAYERS, heads=HEADS, **changes):
    fields = {"cross": random_weights(layers, heads, len(target), len(source)), "title": "The small dog sleeps."}
    return DecodingSteps(source, target, candidates, **fields | changes)


def panels(chart):
    return {panel["name"]: panel for panel in chart.to_dict()["concat"]}


def test_page_has_each_head_and_the_mean_of_each_layer_by_step():
    steps = make_steps()
    cross = parameters(decoding_film(steps))["cross"]["value"]
    assert len(cross) == LAYERS
    for layer, texts in enumerate(cross):
        assert len(texts) == 1 + HEADS
        for text, weights in zip(texts, [steps.cross[layer].mean(0), *steps.cross[layer]], strict=True):
            assert abs(unpack(text, (len(TARGET), len(SOURCE))) - weights).max() <= 0.016


def test_rows_are_the_candidates_of_each_step_and_the_rest():
    rows = panels(decoding_film(make_steps()))["next_pieces"]["data"]["values"]
    for step, candidates in enumerate(CANDIDATES, 1):
        found = [row for row in rows if row["step"] == step]
        assert [(row["word"], row["value"]) for row in found[:-1]] == candidates
        assert [row["strong"] for row in found] == [piece == TARGET[step - 1] for piece, _ in candidates] + [False]
        assert found[-1]["word"] == "all others"
        assert found[-1]["value"] == pytest.approx(1 - sum(p for _, p in candidates))
        assert [row["place"] for row in found] == [1, 2, 3]


def test_text_before_a_step_is_that_of_the_pieces_before_it():
    before = parameters(decoding_film(make_steps()))["before"]["value"]
    assert before == [["<s>"], ["“Der”"], ["“Der kleine”"], ["“Der kleine Hund”"], ["“Der kleine Hund.”"]]


def test_words_above_the_panels_are_as_many_lines_at_each_step():
    long = ["▁langlanglang"] * 23
    chart = decoding_film(make_steps(target=long, candidates=[[(piece, 0.5)] for piece in long]))
    counts = {len(lines) for lines in parameters(chart)["before"]["value"]}
    assert len(counts) == 1
    shown = re.findall(r"before\[step - 1\]\[(\d+)\]", panels(chart)["next_pieces"]["title"]["text"]["expr"])
    assert list(map(int, shown)) == list(range(counts.pop()))
    assert panels(chart)["looks"]["title"]["text"]["expr"].count("'\u00a0'") == len(shown)


def test_film_starts_still_and_has_a_slider_for_every_step():
    patch = decoding_film(make_steps()).to_dict()["usermeta"]["embedOptions"]["patch"]
    signals = {change["value"]["name"]: change["value"] for change in patch if change["path"] == "/signals/-"}
    assert (signals["step"]["value"], signals["step"]["bind"]["max"]) == (1, len(TARGET))
    assert signals["step_playing"]["value"] is False


def test_tensors_are_taken_as_arrays_are():
    cross = random_weights(LAYERS, HEADS, len(TARGET), len(SOURCE))
    charts = [decoding_film(make_steps(cross=weights)) for weights in (cross.astype("f4"), torch.tensor(cross).float())]
    assert charts[0].to_json() == charts[1].to_json()


def test_full_size_is_small_and_the_same_each_time():
    source, target = [f"▁source{i}" for i in range(30)], [f"▁target{i}" for i in range(30)]
    candidates = [[(piece, 0.5), *((f"▁other{i}", 0.1) for i in range(4))] for piece in target]
    first, second = (decoding_film(make_steps(source, target, candidates, 6, 8)).to_json(indent=None) for _ in "ab")
    assert first == second
    assert len(first) < 100 * 1024


def test_of_a_large_model_the_means_alone_are_shown():
    source, target = [f"▁source{i}" for i in range(60)], [f"▁target{i}" for i in range(61)]
    chart = decoding_film(make_steps(source, target, [[(piece, 1.0)] for piece in target], 6, 8))
    assert [len(layer) for layer in parameters(chart)["cross"]["value"]] == [1] * 6
    assert "bind" not in parameters(chart)["head"]
    assert len(chart.to_json(indent=None)) < 150 * 1024


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"source": []}, "source: the sentence is empty"),
        ({"target": []}, "target: the sentence is empty"),
        ({"target": "Der Hund"}, "target: expected a list"),
        ({"cross": random_weights(LAYERS, HEADS, len(SOURCE), len(TARGET))}, "cross: weights have shape"),
        ({"cross": random_weights(HEADS, len(TARGET), len(SOURCE))}, "cross: weights have shape"),
        ({"cross": np.full((1, 1, len(TARGET), len(SOURCE)), 0.5)}, "cross: .* sum to"),
        ({"candidates": CANDIDATES[:-1]}, "candidates of 4 steps for 5 target pieces"),
        ({"candidates": [[("▁Der", 1.5)], *CANDIDATES[1:]]}, "step 1: the probability 1.5"),
        ({"candidates": [[("▁Der", float("nan"))], *CANDIDATES[1:]]}, "step 1: the probability nan"),
        ({"candidates": [*CANDIDATES[:-1], [("</s>", -0.1)]]}, "step 5: the probability -0.1"),
        ({"candidates": [[("▁Der", 0.7), ("▁Die", 0.7)], *CANDIDATES[1:]]}, "step 1: the probabilities sum to 1.4"),
        ({"candidates": [[("▁Die", 0.7)], *CANDIDATES[1:]]}, "step 1: the piece that was taken, '▁Der'"),
    ],
)
def test_steps_that_do_not_fit_are_refused(changes, complaint):
    with pytest.raises(ValueError, match=complaint):
        make_steps(**{"cross": random_weights(LAYERS, HEADS, len(TARGET), len(SOURCE)), **changes})
