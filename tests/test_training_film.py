"""The training film as data: what its page will draw, and what it refuses."""

import numpy as np
import pytest
from test_charts import HEADS, LAYERS, SOURCE, TARGET, make_example, parameters, random_weights

from transformer_lib.charts import training_film
from transformer_lib.charts.packing import unpack

UPDATES = [0, 20, 300]
LOSSES = [(10, 7.0), (20, 5.0), (300, 2.5)]


def moment(seed, source=SOURCE, target=TARGET, layers=LAYERS, heads=HEADS, **changes):
    """Other weights for each seed, sharper with each."""
    n_source, n_target = len(source), len(target)
    weights = {
        "encoder": random_weights(layers, heads, n_source, n_source, seed=10 + seed),
        "decoder": random_weights(layers, heads, n_target, n_target, seed=20 + seed, causal=True),
        "cross": random_weights(layers, heads, n_target, n_source, seed=30 + seed),
    }
    return make_example(source, target, layers, heads, **weights | changes)


def film(updates=UPDATES, **options):
    return [(update, moment(seed, **options)) for seed, update in enumerate(updates)]


def play_controls(chart):
    patch = chart.to_dict()["usermeta"]["embedOptions"]["patch"]
    return {change["value"]["name"]: change["value"] for change in patch if "bind" in change["value"]}


def test_film_keeps_the_weights_of_every_moment():
    moments = film()
    packed = parameters(training_film(moments))["weights"]["value"]
    for (_, example), texts in zip(moments, packed, strict=True):
        for kind, text in zip(("encoder", "decoder", "cross"), texts, strict=True):
            weights = getattr(example, kind)
            assert abs(unpack(text, weights.shape) - weights).max() <= 0.016


def test_film_stands_at_the_last_moment_of_the_last_layer_and_starts_over():
    chart = training_film(film())
    controls, values = play_controls(chart), parameters(chart)
    assert (controls["moment"]["value"], controls["moment"]["bind"]["max"]) == (3, 3)
    assert controls["moment_playing"]["value"] is False
    assert any("moment >= 3 ? 1" in event["update"] for event in controls["moment"]["on"])
    assert (values["kind"]["value"], values["layer"]["value"], values["head"]["value"]) == (2, LAYERS, 1)
    assert parameters(training_film(film(), kind="encoder"))["kind"]["value"] == 0


def test_a_click_on_a_small_map_goes_to_its_moment():
    click = play_controls(training_film(film()))["moment"]["on"][0]
    assert click == {"events": "click", "update": "datum && isValid(datum.moment) ? datum.moment : moment"}


def test_each_moment_knows_the_last_loss_before_it():
    values = parameters(training_film(film(), losses=LOSSES))
    assert values["updates"]["value"] == UPDATES
    assert values["moment_losses"]["value"] == [7.0, 5.0, 2.5]
    assert values["moment_losses"]["value"] != parameters(training_film(film()))["moment_losses"]["value"]


def test_film_without_losses_has_no_curve():
    names = ["strip", "loss"]
    with_curve, without = (training_film(film(), losses=losses).to_dict() for losses in (LOSSES, ()))
    assert [view["name"] for view in with_curve["concat"][1]["vconcat"]] == names
    assert [view["name"] for view in without["concat"][1]["vconcat"]] == names[:1]


def test_film_shows_the_heads_asked_for():
    moments = film()
    values = parameters(training_film(moments, layers=[1], heads=[0, 2]))
    assert (values["layers"]["value"], values["heads"]["value"]) == ([2], [1, 3])
    cross = unpack(values["weights"]["value"][2][2], (1, 2, len(TARGET), len(SOURCE)))
    assert abs(cross - moments[2][1].cross[[1]][:, [0, 2]]).max() <= 0.016


def test_film_of_the_lab_model_is_small():
    tokens = [f"token{i}" for i in range(15)]
    moments = film(range(10), source=tokens, target=tokens, layers=3, heads=4)
    losses = [(update, 1.0 + update / 7) for update in range(0, 5600, 25)]
    assert len(training_film(moments, losses=losses).to_json(indent=None)) <= 150 * 1024


def test_film_is_deterministic():
    first, second = (training_film(film(), losses=LOSSES).to_json() for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("moments", "options", "message"),
    [
        ([], {}, "no example"),
        (film([20, 0]), {}, r"updates must rise .* \[20, 0\]"),
        (film([7, 7]), {}, r"updates must rise .* \[7, 7\]"),
        (film([-1, 7]), {}, r"updates must rise from 0"),
        (film(range(21)), {}, "21 moments are too many to draw, at most 20"),
        ([*film([0]), (7, moment(1, source=["A", *SOURCE[1:]]))], {}, "update 7 has other tokens than update 0"),
        ([*film([0]), (7, moment(1, heads=5))], {}, r"differ in \(layers, heads\)"),
        (film([0], source=[f"s{i}" for i in range(37)]), {}, "at most 32 tokens, got 37"),
        (film(), {"losses": [(1, 7.0), (2, np.nan)]}, "losses: expected finite numbers"),
        (film(), {"losses": [(2, 7.0), (1, 6.0)]}, "losses: the updates must rise"),
        (film(), {"kind": "self"}, "kind: expected one of encoder, decoder, cross, got 'self'"),
        (film(), {"heads": [3]}, "heads: expected some of 0 to 2"),
    ],
)
def test_film_refuses_what_makes_no_film_and_says_why(moments, options, message):
    with pytest.raises(ValueError, match=message):
        training_film(moments, **options)
