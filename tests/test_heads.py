"""All heads at a glance and the loss without each: what the figures hold, and what they refuse."""

import numpy as np
import pytest
import torch
from test_charts import HEADS, LAYERS, SOURCE, TARGET, make_example, parameters

from transformer_lib.charts import ablation_matrix, head_grid
from transformer_lib.charts.maps.heads import _sheet
from transformer_lib.charts.style import DIVERGING, SEQUENTIAL, paler

KINDS = ("encoder", "decoder", "cross")


def numbers(layers=LAYERS, heads=HEADS, seed=0, low=-2, high=9):
    """A number for each head, two of them alike."""
    random = np.random.default_rng(seed)
    by_kind = {kind: random.uniform(low, high, (layers, heads)) for kind in KINDS}
    by_kind["cross"][-1, -1] = by_kind["cross"][0, 0]
    return by_kind


def make_grid(example=None, **measures):
    return head_grid(example or make_example(), measures=measures)


def make_matrix(losses=None, examples=None, baseline=27.5, **options):
    return ablation_matrix(losses or numbers(), examples or make_example(), baseline=baseline, **options)


def signals(chart):
    """The controls that the page adds, by name."""
    changes = chart.usermeta["embedOptions"]["patch"]
    return {change["value"]["name"]: change["value"] for change in changes if change["path"] == "/signals/-"}


def test_heads_are_ordered_as_numpy_orders_them():
    entropy, distance = numbers(seed=1), numbers(seed=2, low=0, high=40)
    values = parameters(make_grid(entropy=entropy, distance=distance))
    assert values["order"]["bind"]["labels"] == ["layer and head", "entropy", "distance"]
    in_model, *orders = values["orders"]["value"]
    assert in_model == [list(range(LAYERS * HEADS))] * 3
    for measure, order in zip((entropy, distance), orders, strict=True):
        for kind, indexes in zip(KINDS, order, strict=True):
            flat = measure[kind].ravel()
            assert sorted(indexes) == list(range(LAYERS * HEADS))
            assert (np.diff(flat[indexes]) <= 0).all()


def test_heads_that_are_alike_keep_the_order_of_the_model():
    cross = parameters(make_grid(entropy=numbers()))["orders"]["value"][1][2]
    assert cross.index(0) + 1 == cross.index(LAYERS * HEADS - 1)


def test_numbers_are_kept_to_four_digits_in_the_place_of_their_head():
    entropy = numbers()
    values = parameters(make_grid(entropy=entropy))["numbers"]["value"]
    for kind, kept in zip(KINDS, values[1], strict=True):
        np.testing.assert_allclose(np.reshape(kept, (LAYERS, HEADS)), entropy[kind], rtol=1e-3)


def test_without_measures_there_is_no_order_to_choose():
    assert "bind" not in parameters(make_grid())["order"]


@pytest.mark.parametrize(("heads", "columns"), [(1, 1), (4, 4), (8, 8), (11, 6), (12, 6), (16, 8)])
def test_a_line_of_small_maps_fits_a_phone_and_holds_whole_layers_where_it_can(heads, columns):
    sheet = _sheet(6, heads)
    assert sheet.columns == columns
    assert sheet.width <= 288
    assert (sheet.height // sheet.down - 1) * columns < sheet.count <= sheet.height // sheet.down * columns


def test_the_matrices_hold_each_loss_in_the_place_of_its_head():
    losses = numbers()
    values = parameters(make_matrix(losses))["losses"]["value"]
    for kind, kept in zip(KINDS, values, strict=True):
        np.testing.assert_allclose(np.reshape(kept, (LAYERS, HEADS)), losses[kind], rtol=1e-3)


def color_scales(chart):
    overview = chart.to_dict()["concat"][0]
    return [matrix["layer"][0]["encoding"]["color"]["scale"] for matrix in overview["vconcat"]]


def test_the_three_matrices_share_a_scale_around_zero_where_a_head_does_harm():
    losses = numbers()
    losses["decoder"][1, 2] = -11.25
    first, *others = color_scales(make_matrix(losses))
    assert others == [first, first]
    assert first["domain"] == [-11.25, 0, 0, 11.25]
    assert first["range"] == paler(DIVERGING)


def test_the_scale_starts_at_zero_where_every_head_helps():
    losses = numbers(low=1)
    largest = max(values.max() for values in losses.values())
    scale = color_scales(make_matrix(losses))[0]
    assert (scale["domain"], scale["range"]) == ([0.0, largest], paler(SEQUENTIAL))


def test_the_head_that_is_missed_most_is_shown_first():
    losses = numbers(high=5)
    losses["decoder"][1, 0] = 6
    chosen = signals(make_matrix(losses))
    assert [chosen[name]["value"] for name in ("kind", "layer", "head", "query")] == [1, 2, 1, 0]


@pytest.mark.parametrize("figure", [make_grid, make_matrix])
def test_controls_offer_every_kind_layer_head_and_query(figure):
    bound = {name: signal["bind"] for name, signal in signals(figure()).items() if "bind" in signal}
    assert bound["kind"]["labels"] == ["encoder self-attention", "decoder self-attention", "cross-attention"]
    ranges = {name: (bound[name]["min"], bound[name]["max"]) for name in ("layer", "head", "query")}
    assert ranges == {"layer": (1, LAYERS), "head": (1, HEADS), "query": (0, len(TARGET))}


@pytest.mark.parametrize(
    ("losses", "baseline", "digits"), [(0.99, 9.4, ".2f"), (0.99, 27.5, ".1f"), (12.0, 9.4, ".1f")]
)
def test_numbers_have_as_many_decimals_as_fit(losses, baseline, digits):
    chart = make_matrix({kind: np.full((LAYERS, HEADS), losses) for kind in KINDS}, baseline=baseline)
    assert parameters(chart)["digits"]["value"] == digits


def base_sized():
    tokens = [f"token{i}" for i in range(30)]
    return make_example(tokens, tokens, layers=6, heads=8)


def test_both_figures_are_small_at_the_size_of_the_base_model():
    measures = {name: numbers(6, 8, seed) for seed, name in enumerate(("entropy", "distance", "loss"))}
    for chart in (make_grid(base_sized(), **measures), make_matrix(measures["loss"], base_sized())):
        assert len(chart.to_json(indent=None)) <= 150 * 1024


def test_names_are_deterministic():
    for figure in (lambda: make_grid(entropy=numbers()), make_matrix):
        assert figure().to_dict() == figure().to_dict()


def test_a_long_sentence_brings_a_window_that_moves():
    long = make_example([str(i) for i in range(67)])
    assert "first_query" in signals(make_grid(long))
    assert "first_query" in signals(make_matrix(examples=long))
    assert "first_query" not in signals(make_grid())


def test_tensors_and_lists_will_do():
    tensors = {kind: torch.tensor(values, requires_grad=True) for kind, values in numbers().items()}
    lists = {kind: values.tolist() for kind, values in numbers().items()}
    kept = [parameters(make_matrix(losses))["losses"]["value"] for losses in (tensors, lists)]
    np.testing.assert_allclose(np.array(kept[0]), np.array(kept[1]), rtol=1e-3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cross": np.ones((LAYERS, HEADS + 2))}, r"cross: shape \(2, 5\), the examples have .* \(2, 3\)"),
        ({"decoder": np.full((LAYERS, HEADS), np.nan)}, "decoder: expected finite numbers"),
        ({"encoder": np.full((LAYERS, HEADS), np.inf)}, "encoder: expected finite numbers"),
        ({"source": np.ones((LAYERS, HEADS))}, "expected numbers for encoder, decoder, cross, got .*source"),
    ],
)
def test_numbers_that_do_not_fit_are_refused_by_name(changes, message):
    with pytest.raises(ValueError, match=f"entropy.*{message}"):
        make_grid(entropy=numbers() | changes)
    with pytest.raises(ValueError, match=f"losses.*{message}"):
        make_matrix(numbers() | changes)


def test_a_kind_without_numbers_is_refused():
    without = {kind: values for kind, values in numbers().items() if kind != "decoder"}
    with pytest.raises(ValueError, match="entropy: expected numbers for encoder, decoder, cross, got encoder, cross"):
        make_grid(entropy=without)


@pytest.mark.parametrize("baseline", [np.nan, np.inf])
def test_a_baseline_that_is_no_number_is_refused(baseline):
    with pytest.raises(ValueError, match="baseline: expected a finite number"):
        make_matrix(baseline=baseline)


@pytest.mark.parametrize("figure", [make_grid, lambda examples: make_matrix(examples=examples)])
def test_examples_of_different_models_are_refused(figure):
    with pytest.raises(ValueError, match=r"differ in \(layers, heads\)"):
        figure([make_example(SOURCE[:2]), make_example(heads=5)])
