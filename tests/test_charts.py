"""The figures as data: what a chart's specification says, without drawing it."""

import json
import subprocess
import sys
from xml.etree import ElementTree

import altair as alt
import numpy as np
import pytest
import torch

from transformer_lib.charts import (
    AttentionExample,
    attention_explorer,
    bar_chart,
    heat_map,
    house_style,
    line_chart,
    table,
)
from transformer_lib.charts.packing import ALPHABET, MASKED, masked_cells, pack, unpack
from transformer_lib.inspection import by_word

SOURCE = ["The", "small", "dog", "sleeps", "."]
TARGET = ["<s>", "Der", "kleine", "Hund", "schläft", ".", "!"]
LAYERS, HEADS = 2, 3


def random_weights(*shape, seed=0, causal=False):
    scores = np.random.default_rng(seed).normal(0, 2, shape)
    if causal:
        scores[..., np.triu(np.ones(shape[-2:], dtype=bool), 1)] = -np.inf
    weights = np.exp(scores)
    return weights / weights.sum(-1, keepdims=True)


def make_example(source=SOURCE, target=TARGET, layers=LAYERS, heads=HEADS, **changes):
    n_source, n_target = len(source), len(target)
    fields = {
        "encoder": random_weights(layers, heads, n_source, n_source, seed=1),
        "decoder": random_weights(layers, heads, n_target, n_target, seed=2, causal=True),
        "cross": random_weights(layers, heads, n_target, n_source, seed=3),
    }
    return AttentionExample(source, target, **fields | changes)


def parameters(chart):
    return {parameter["name"]: parameter for parameter in chart.to_dict()["params"]}


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_explorer_weights_survive_packing(kind):
    example = make_example()
    text = parameters(attention_explorer(example))["weights"]["value"][0][["encoder", "decoder", "cross"].index(kind)]
    error = abs(unpack(text, getattr(example, kind).shape) - getattr(example, kind))
    assert error.max() <= 0.016
    assert error.mean() <= 0.004


def test_packing_error_stays_below_its_bound_for_every_weight():
    weights = np.linspace(0, 1, 10_007)
    assert abs(unpack(pack(weights), weights.shape) - weights).max() <= 0.016


def test_packing_alphabet_is_sorted_for_the_page():
    assert list(ALPHABET) == sorted(set(ALPHABET))
    assert len(ALPHABET) == 64
    assert MASKED not in ALPHABET


def test_explorer_marks_exactly_the_future_as_masked():
    packed = parameters(attention_explorer(make_example()))["weights"]["value"][0]
    encoder, decoder, cross = packed
    n = len(TARGET)
    expected = np.broadcast_to(np.triu(np.ones((n, n), dtype=bool), 1), (LAYERS, HEADS, n, n))
    assert [character == MASKED for character in decoder] == expected.ravel().tolist()
    assert MASKED not in encoder + cross


def test_masked_cells_tells_padding_and_closed_queries_from_small_weights():
    weights = random_weights(2, 3, 5, 5)
    weights[..., 4] = 0  # padding
    weights[0, 1, 2] = 0  # a query that may attend nowhere
    weights[1, 1, 0, 1] = 0  # one zero among weights says nothing
    expected = np.zeros(weights.shape, dtype=bool)
    expected[..., 4] = True
    expected[0, 1, 2] = True
    np.testing.assert_array_equal(masked_cells(weights, causal=False), expected)


def test_an_unmasked_decoder_is_not_drawn_as_masked():
    open_decoder = random_weights(LAYERS, HEADS, len(TARGET), len(TARGET))
    packed = parameters(attention_explorer(make_example(decoder=open_decoder)))["weights"]["value"][0]
    assert MASKED not in packed[1]


def test_example_labels_name_queries_and_keys_of_each_kind():
    example = make_example()
    assert example.labels("encoder") == (tuple(SOURCE), tuple(SOURCE))
    assert example.labels("decoder") == (tuple(TARGET), tuple(TARGET))
    assert example.labels("cross") == (tuple(TARGET), tuple(SOURCE))


def test_explorer_is_small_at_the_size_of_the_base_model():
    tokens = [f"token{i}" for i in range(30)]
    chart = attention_explorer(make_example(tokens, tokens, layers=6, heads=8))
    assert len(chart.to_json(indent=None)) <= 150 * 1024


def test_explorer_names_are_deterministic():
    house_style()
    first, second = (attention_explorer([make_example(), make_example()]).to_dict() for _ in range(2))
    assert first == second
    views = [view["name"] for view in first["concat"]]
    assert views == ["attention_map", "attention_lines"]
    assert {"sentence", "kind", "layer", "head", "query", "hover"} <= {p["name"] for p in first["params"]}


def test_explorer_offers_every_layer_head_and_sentence():
    examples = [make_example(title="first"), make_example(SOURCE[:2], TARGET[:3], title="second")]
    bound = {name: parameter.get("bind") for name, parameter in parameters(attention_explorer(examples)).items()}
    assert (bound["layer"]["min"], bound["layer"]["max"]) == (1, LAYERS)
    assert (bound["head"]["min"], bound["head"]["max"]) == (1, HEADS)
    assert bound["sentence"]["labels"] == ["first", "second"]
    assert bound["query"]["max"] == len(TARGET)


def sliders_of_window(chart):
    patch = chart.to_dict()["usermeta"]["embedOptions"]["patch"]
    return {change["value"]["name"]: change["value"] for change in patch if "bind" in change["value"]}


def test_explorer_ships_every_weight_of_a_long_sentence_and_a_window_onto_it():
    example = make_example([f"s{i}" for i in range(67)], TARGET, gold=[(6, 66)])
    chart = attention_explorer(example)
    values = parameters(chart)
    assert values["tokens"]["value"] == [[list(example.source), list(example.target)]]
    for kind, text in zip(("encoder", "decoder", "cross"), values["weights"]["value"][0], strict=True):
        weights = getattr(example, kind)
        assert abs(unpack(text, weights.shape) - weights).max() <= 0.016
    assert values["gold"]["value"] == [[6 * 67 + 66]]
    assert values["query"]["bind"]["max"] == 67
    assert {name: slider["bind"]["max"] for name, slider in sliders_of_window(chart).items()} == {
        "first_query": 67 - 48 + 1,
        "first_key": 67 - 48 + 1,
    }


def test_explorer_of_64_tokens_needs_no_window():
    chart = attention_explorer(make_example([f"s{i}" for i in range(64)], TARGET))
    assert sliders_of_window(chart) == {}
    assert "first_query" not in chart.to_json()


def test_explorer_shows_the_layers_and_heads_asked_for_under_their_own_numbers():
    example = make_example(layers=5, heads=3)
    values = parameters(attention_explorer(example, layers=[4, 1], heads=[1, 2]))
    assert (values["layers"]["value"], values["heads"]["value"]) == ([2, 5], [2, 3])
    assert values["layer"]["bind"]["options"] == [2, 5]
    assert (values["head"]["bind"]["min"], values["head"]["bind"]["max"]) == (2, 3)
    cross = unpack(values["weights"]["value"][0][2], (2, 2, len(TARGET), len(SOURCE)))
    assert abs(cross - example.cross[[1, 4]][:, [1, 2]]).max() <= 0.016


@pytest.mark.parametrize("chosen", [[], [5], [-1]])
def test_explorer_refuses_layers_that_are_not_there(chosen):
    with pytest.raises(ValueError, match="layers: expected some of 0 to 1"):
        attention_explorer(make_example(), layers=chosen)


def test_explorer_refuses_more_than_a_page_holds_and_says_what_helps():
    example = make_example([f"s{i}" for i in range(233)], TARGET, layers=5, heads=4)
    with pytest.raises(ValueError, match=r"1,119,\d\d\d weights are too many .*1,000,000.*`layers=`.*shorter"):
        attention_explorer(example)
    assert len(attention_explorer(example, layers=[3]).to_json(indent=None)) < 300 * 1024


def padded_example(**changes):
    """A sentence of five and one of seven tokens in a batch whose longest have seven and eleven."""
    source, target = [*SOURCE, *["<pad>"] * 2], [*TARGET, *["<pad>"] * 4]
    return make_example(source, target, **padded_weights(len(source), len(target)), **changes)


def padded_weights(n_source, n_target):
    closed_source, closed_target = np.arange(n_source) >= len(SOURCE), np.arange(n_target) >= len(TARGET)
    later = np.triu(np.ones((n_target, n_target), dtype=bool), 1)
    closed = {
        "encoder": np.tile(closed_source, (n_source, 1)),
        "decoder": later | closed_target,
        "cross": np.tile(closed_source, (n_target, 1)),
    }
    weights = {}
    for seed, (kind, mask) in enumerate(closed.items()):
        scores = np.random.default_rng(seed).normal(size=(LAYERS, HEADS, *mask.shape))
        exponentials = np.where(mask, 0, np.exp(scores))
        weights[kind] = exponentials / exponentials.sum(-1, keepdims=True)
    return weights


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_padding_is_hatched_as_a_key_and_as_a_query(kind):
    example = padded_example()
    queries, keys = ([token == "<pad>" for token in side] for side in example.labels(kind))
    expected = np.array(queries)[:, None] | np.array(keys)
    if kind == "decoder":
        expected |= np.triu(np.ones(expected.shape, dtype=bool), 1)
    assert (getattr(example, kind)[..., queries, :].sum(-1) > 0.99).all()
    np.testing.assert_array_equal(example.masked(kind), np.broadcast_to(expected, (LAYERS, HEADS, *expected.shape)))


def test_padding_that_a_mask_has_missed_is_drawn_as_it_is():
    source = [*SOURCE, "<pad>"]
    assert not make_example(source).masked("encoder").any()


def test_a_word_that_no_query_attends_to_is_drawn_as_a_query():
    first = np.tile(np.eye(5)[0], (LAYERS, HEADS, 5, 1))
    assert not make_example(encoder=first).masked("encoder")[..., 0].any()


def test_explorer_draws_maps_by_word_as_it_draws_maps_by_piece():
    pieces = {kind: torch.tensor(getattr(make_example(), kind)) for kind in ("encoder", "decoder", "cross")}
    words = {"source": [0, 1, 1, 2, 3], "target": [0, 1, 2, 2, 2, 3, 4]}
    sides = {"encoder": ("source", "source"), "decoder": ("target", "target"), "cross": ("target", "source")}
    maps = {kind: by_word(pieces[kind], *(words[side] for side in sides[kind])) for kind in sides}
    example = AttentionExample(
        ["The", "small dog", "sleeps", "."], ["<s>", "Der", "kleine Hund schläft", ".", "!"], **maps
    )
    encoder, decoder, cross = parameters(attention_explorer(example))["weights"]["value"][0]
    assert abs(unpack(cross, (LAYERS, HEADS, 5, 4)) - maps["cross"].numpy()).max() <= 0.016
    assert MASKED not in encoder + cross
    assert decoder.count(MASKED) == LAYERS * HEADS * 5 * 4 // 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source": []}, "source: the sentence is empty"),
        ({"target": []}, "target: the sentence is empty"),
        ({"source": "The dog"}, "source: expected a list of tokens"),
        ({"source": SOURCE[:-1]}, r"encoder: weights have shape \(2, 3, 5, 5\).*4 queries, 4 keys"),
        ({"cross": random_weights(2, 3, 5, 7)}, r"cross: weights have shape .*7 queries, 5 keys"),
        ({"decoder": random_weights(7, 7)}, "decoder: weights have shape"),
        ({"encoder": random_weights(2, 2, 5, 5)}, r"differ in \(layers, heads\)"),
        ({"encoder": 2 * random_weights(2, 3, 5, 5)}, "encoder: layer 0, head 0, query 0: weights sum to 2"),
        ({"cross": random_weights(2, 3, 7, 5) - 0.5}, "cross: weights must be numbers from 0 to 1"),
        ({"decoder": np.full((2, 3, 7, 7), np.nan)}, "decoder: weights must be numbers from 0 to 1"),
        ({"gold": [(0, 5)]}, r"gold: \(0, 5\) is outside"),
    ],
)
def test_example_refuses_what_does_not_fit_and_says_which(changes, message):
    example = make_example()
    fields = {name: getattr(example, name) for name in ("source", "target", "encoder", "decoder", "cross")}
    with pytest.raises(ValueError, match=message):
        AttentionExample(**fields | changes)


def test_example_accepts_a_query_that_may_attend_nowhere():
    encoder = random_weights(LAYERS, HEADS, 5, 5)
    encoder[:, :, 3] = 0
    packed = parameters(attention_explorer(make_example(encoder=encoder)))["weights"]["value"][0][0]
    assert packed.count(MASKED) == LAYERS * HEADS * 5


def test_example_takes_tensors_with_gradients():
    weights = torch.tensor(random_weights(LAYERS, HEADS, 5, 5), requires_grad=True)
    np.testing.assert_allclose(make_example(encoder=weights).encoder, weights.detach().numpy(), atol=1e-6)


def test_explorer_refuses_examples_of_different_models():
    with pytest.raises(ValueError, match="no example"):
        attention_explorer([])
    with pytest.raises(ValueError, match=r"differ in \(layers, heads\)"):
        attention_explorer([make_example(), make_example(heads=5)])


def test_house_style_allows_vector_and_png_export_only():
    house_style()
    assert alt.renderers.options["embed_options"]["renderer"] == "svg"
    actions = alt.renderers.options["embed_options"]["actions"]
    assert [name for name, shown in actions.items() if shown] == ["export"]
    assert line_chart({"x": [1], "y": [2]}, "x", "y").to_dict()["config"]["background"] == "transparent"


def test_line_chart_folds_columns_into_series_with_color_and_dash():
    steps = np.arange(3)
    spec = line_chart({"step": steps, "tiny": steps + 1.0, "base": steps + 2.0}, "step", ["tiny", "base"]).to_dict()
    assert spec["data"]["values"][3] == {"step": 0, "value": 2.0, "series": "base"}
    assert spec["encoding"]["color"]["scale"]["domain"] == ["tiny", "base"]
    assert spec["encoding"]["strokeDash"]["field"] == "series"


def test_line_chart_refuses_columns_of_unequal_length():
    with pytest.raises(ValueError, match=r"differ in length.*'x': 2, 'y': 3"):
        line_chart({"x": [1, 2], "y": [1, 2, 3]}, "x", "y")


def test_bar_chart_keeps_the_order_given():
    spec = bar_chart({"word": ["z", "a"], "p": [0.1, 0.2]}, "p", "word").to_dict()
    assert [row["word"] for row in spec["data"]["values"]] == ["z", "a"]
    assert spec["encoding"]["y"]["sort"] is None


def test_heat_map_labels_rows_and_columns():
    spec = json.dumps(
        heat_map(np.eye(2, 3), ["r0", "r1"], ["c0", "c1", "c2"], row_title="query", column_title="key").to_dict()
    )
    assert r"[\"r0\", \"r1\"][datum.row]" in spec
    assert r"[\"c0\", \"c1\", \"c2\"][datum.column]" in spec


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"matrix": np.ones(3)}, "expected a matrix"),
        ({"matrix": np.ones((130, 130))}, "16,900 cells are too many"),
        ({"matrix": np.ones((2, 3)), "row_labels": ["a"]}, "1 row labels for 2 rows"),
        ({"matrix": [[0.5, np.nan]]}, "entries that are not finite"),
        ({"matrix": np.ones((2, 3)), "mask": np.ones((3, 2))}, r"mask has shape \(3, 2\), the matrix \(2, 3\)"),
    ],
)
def test_heat_map_refuses_what_does_not_fit(arguments, message):
    with pytest.raises(ValueError, match=message):
        heat_map(**arguments, row_title="row", column_title="column")


def test_heat_map_hatches_scores_that_a_mask_closed():
    spec = heat_map([[1.5, -np.inf], [0.5, 1.0]], row_title="query", column_title="key").to_dict()
    assert spec["data"]["values"] == [1.5, 0.0, 0.5, 1.0]
    assert "'1011'[datum.cell - 1]" in json.dumps(spec)


def test_the_library_imports_without_the_charts():
    code = "import sys, transformer_lib; sys.exit('altair' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0


def test_a_table_shows_every_cell_and_nothing_of_it_is_markup():
    shown = table([{"run": "`lab`", "BLEU": 99.5}, {"run": "<b>", "BLEU": 31}])
    page = ElementTree.fromstring(shown._repr_html_())
    assert [cell.text for cell in page.iter("th")] == ["run", "BLEU"]
    assert ["".join(cell.itertext()) for cell in page.iter("td")] == ["lab", "99.5", "<b>", "31"]
    assert [code.text for code in page.iter("code")] == ["lab"]
    assert repr(shown).splitlines() == ["run    BLEU", "`lab`  99.5", "<b>    31"]


@pytest.mark.parametrize("rows", [[], [{"a": 1}, {"b": 2}]])
def test_a_table_without_rows_or_with_unequal_ones_is_refused(rows):
    with pytest.raises(ValueError, match="same columns"):
        table(rows)
