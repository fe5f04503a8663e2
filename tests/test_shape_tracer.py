"""The shape tracer as data: what it accepts, what the page is told of each tensor, and the tensors of a real model."""

import base64
import io
from itertools import combinations

import numpy as np
import pytest
import torch
from PIL import Image

from transformer_lib.charts import TracedTensor, shape_tracer
from transformer_lib.charts.architecture.blocks import BLOCKS
from transformer_lib.charts.architecture.tensor_pictures import (
    HEADING,
    SIDE,
    TALLEST,
    WORDS,
    pictures,
    remarks,
    words,
    wrapped,
)
from transformer_lib.charts.architecture.thumbnails import narrowed, thumbnail
from transformer_lib.charts.style import BLUE, ORANGE
from transformer_lib.corpus.files import InputError
from transformer_lib.run.tracing import STEPS, trace_of
from transformer_lib.run.translator import Translator

SENTENCE = "The ladies wash the cup."
KIB = 1024


def make_traced(shape=(7, 11), axes=("n_src", "d_model"), block="source_embedding", **changes):
    values = np.random.default_rng(0).normal(size=shape)
    tokens = [f"t{row}" for row in range(shape[max(len(shape) - 2, 0)])]
    fields = {"name": "x", "values": values, "change": "An axis appears.", "tokens": tokens}
    return TracedTensor(block=block, axes=axes, **fields | changes)


def pixels(address):
    """Red, green, blue and opacity of a thumbnail."""
    data = base64.b64decode(address.removeprefix("data:image/png;base64,"))
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGBA"))


def color(name):
    return [int(part) for part in name.strip("rgb()").split(", ")]


# The tensors of a chart


def test_shape_says_each_size_with_the_name_of_its_axis():
    heads = make_traced((3, 7, 5), ("heads", "n_q", "n_k"))
    assert heads.shape == "3 heads × 7 n_q × 5 n_k"
    assert (heads.rows, heads.matrices.shape) == (7, (3, 7, 5))
    ids = make_traced((7,), ("n_src",))
    assert (ids.shape, ids.rows) == ("7 n_src", 7)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"block": "encoder.attention"}, "no block of Figure 1 is called 'encoder.attention'"),
        ({"axes": ("n_src",)}, r"x: values of shape \(7, 11\) for axes \('n_src',\)"),
        ({"axes": "ab"}, "x: values of shape .* for axes 'ab'"),
        ({"shape": (2, 3, 7, 11), "axes": tuple("abcd")}, "expected 1 to 3 axes"),
        ({"values": np.ones((7, 0))}, "none empty"),
        ({"tokens": ["t"] * 11}, r"x: 11 tokens for the 7 rows of \(7, 11\)"),
        ({"tokens": "seven t"}, "x: 7 tokens for the 7 rows"),
        ({"masked": np.ones((11, 7))}, r"x: mask of shape \(11, 7\), values of \(7, 11\)"),
        ({"values": np.full((7, 11), np.inf)}, "x: has entries that are not finite"),
        ({"shape": (65, 3)}, "x: too many rows to draw"),
    ],
)
def test_what_cannot_be_drawn_is_refused_by_name(changes, message):
    with pytest.raises(ValueError, match=message):
        make_traced(**changes)


def test_a_tensor_with_gradient_is_taken():
    values = torch.ones(7, 11, requires_grad=True)
    np.testing.assert_array_equal(make_traced(values=values).values, np.ones((7, 11)))


def test_nothing_traced_is_an_error():
    with pytest.raises(ValueError, match="nothing was traced"):
        shape_tracer([])


# Pictures


def test_narrowed_keeps_the_number_farthest_from_zero_of_each_group():
    values = np.random.default_rng(1).normal(size=(5, 23))
    narrow, group = narrowed(values, widest=8)
    assert (narrow.shape, group) == ((5, 8), 3)
    for row, column in np.ndindex(narrow.shape):
        assert narrow[row, column] == max(values[row, 3 * column : 3 * column + 3], key=abs)


def test_narrowed_leaves_a_narrow_matrix_as_it_is():
    values = np.random.default_rng(1).normal(size=(5, 8))
    narrow, group = narrowed(values, widest=8)
    assert group == 1
    np.testing.assert_array_equal(narrow, values)


def test_thumbnail_has_a_square_of_pixels_a_number():
    picture = pixels(thumbnail([[1, 0, -1], [0.25, 0, 0]], scale=4))
    assert picture.shape == (8, 12, 4)
    blocks = picture.reshape(2, 4, 3, 4, 4).transpose(0, 2, 1, 3, 4).reshape(6, 16, 4)
    assert all((block == block[0]).all() for block in blocks)
    assert blocks[0, 0].tolist() == [*color(BLUE), 255]
    assert blocks[2, 0].tolist() == [*color(ORANGE), 255]
    assert blocks[1, 0, 3] == 0
    assert abs(int(blocks[3, 0, 3]) - 128) <= 5  # the square root of a quarter


def test_masked_numbers_are_hatched_where_there_is_room_and_grey_where_not():
    masked = np.array([[False, True]])
    one = pixels(thumbnail([[0, 0]], masked))
    assert one[0, 0, 3] == 0
    assert (one[0, 1, 3] > 0, one[0, 1, :3].tolist()) == (True, [128, 128, 128])
    many = pixels(thumbnail([[0, 0.5]], masked, scale=5))
    assert not many[:, :5, 3].any()
    assert (many[:, 5:, 3] > 0).sum() == 5, "one diagonal"
    assert (np.diff(np.argwhere(many[:, 5:, 3] > 0), axis=0) == [1, -1]).all()


@pytest.mark.parametrize("heads", [1, 2, 3, 4, 5, 8, 16])
def test_heads_stand_apart_in_the_room_of_the_pictures(heads):
    boxes = [
        (box["x"], box["top"] - HEADING, box["x"] + box["width"], box["top"] + box["height"])
        for box in pictures(make_traced((heads, 13, 17), ("heads", "n_q", "n_k")))
    ]
    assert len(boxes) == heads
    assert all(left >= WORDS and top >= 0 for left, top, _, _ in boxes)
    assert all(right <= WORDS + SIDE + 0.1 and bottom <= TALLEST for _, _, right, bottom in boxes)
    for one, other in combinations(boxes, 2):
        assert one[2] < other[0] or other[2] < one[0] or one[3] < other[1] or other[3] < one[1]


def test_a_column_for_several_keys_is_masked_where_all_of_them_are():
    future = np.triu(np.ones((8, 60, 60), dtype=bool), 1)
    tensor = make_traced((8, 60, 60), ("heads", "n_q", "n_k"), values=np.where(future, 0, 1.0), masked=future)
    assert "strongest of 2" in remarks(tensor)
    picture = pixels(next(pictures(tensor))["picture"])[2::5, 2::5]  # a pixel of each number
    assert picture.shape[:2] == (60, 30)
    open_pairs = np.tril(np.ones((60, 60), dtype=bool)).reshape(60, 30, 2).any(axis=-1)
    np.testing.assert_array_equal(picture[..., 2] > picture[..., 0], open_pairs)  # blue where any key is open


def test_pictures_of_heads_share_one_scale_of_color():
    values = np.stack([np.full((3, 5), 0.25), np.full((3, 5), 1.0)])
    faint, full = (
        pixels(row["picture"])[..., 3]
        for row in pictures(make_traced((2, 3, 5), ("heads", "n_q", "n_k"), values=values))
    )
    assert full.min() == 255
    assert 120 < faint.max() < 135


def test_every_row_has_its_token_beside_it():
    tensor = make_traced((4, 7, 5), ("heads", "n_q", "n_k"))
    upper, lower = words(tensor)
    for head, beside in ((0, upper), (2, lower)):
        box = list(pictures(tensor))[head]
        assert beside["token"] == ["n_q ↓", *tensor.tokens]
        middles = [box["top"] + (row + 0.5) * box["height"] / 7 for row in range(7)]
        assert beside["middle"][1:] == pytest.approx(middles, abs=0.1)
        assert set(beside["number"]) == {""}


def test_rows_too_low_for_words_have_none():
    assert list(words(make_traced((16, 13, 17), ("heads", "n_q", "n_k")))) == []


def test_ids_are_written_and_not_painted():
    ids = make_traced(values=torch.tensor([5, 11, 1200]), axes=("n_src",), tokens=["a", "b", "c"])
    assert list(pictures(ids)) == []
    (beside,) = words(ids)
    assert (beside["token"], beside["number"]) == (["n_src ↓", "a", "b", "c"], ["", "5", "11", "1200"])


def test_remarks_say_the_range_the_columns_left_out_and_the_mask():
    wide = make_traced((2, 300), values=np.linspace(-2, 3, 600).reshape(2, 300))
    assert remarks(wide) == "From −2.00 (orange) to 3.00 (blue). Each column drawn is the strongest of 3."
    assert next(pictures(wide))["picture"] == thumbnail(narrowed(wide.values, 131)[0], largest=3)
    masked = make_traced((2, 2), values=np.eye(2), masked=[[False, True], [False, False]])
    assert remarks(masked) == "From 0.00 to 1.00 (blue). Hatched: masked."


# The chart


def parameters(chart):
    return {parameter["name"]: parameter.get("value") for parameter in chart.to_dict()["params"]}


def test_chart_knows_the_block_of_each_step_and_the_first_step_of_each_block():
    traced = [make_traced(block=block) for block in ("source", "encoder", "encoder", "softmax")]
    chart = shape_tracer(traced)
    assert parameters(chart)["blocks"] == ["source", "encoder", "encoder", "softmax"]
    rows = chart.to_dict()["concat"][0]["layer"][-1]["data"]["values"]  # of what takes the clicks
    assert {row["name"]: row["step"] for row in rows} == {"source": 1, "encoder": 2, "softmax": 4}


def test_chart_is_the_same_each_time():
    one, two = (shape_tracer([make_traced(), make_traced((2, 7, 5), ("heads", "n_q", "n_k"))]) for _ in range(2))
    assert one.to_json() == two.to_json()


def test_base_model_stays_below_150_kib():
    """A sentence of 17 tokens through a model of the base size: noise, which packs worse than any real tensor."""
    sizes = {"n_src": 16, "n_tgt": 17, "n_q": 17, "n_k": 17, "heads": 8, "d_k": 64, "d_model": 512, "d_ff": 2048}
    sizes["vocab"] = 37_000
    traced = [
        make_traced(tuple(sizes[axis] for axis in step.axes.split()), step.axes.split(), block=step.block)
        for step in STEPS
    ]
    assert len(shape_tracer(traced).to_json(indent=None)) <= 150 * KIB


# The tensors of a model


@pytest.fixture(scope="module")
def translator():
    return Translator.load("lab-en-de")


@pytest.fixture(scope="module")
def traced(translator):
    return trace_of(translator, SENTENCE)


def named(traced, block, name):
    (found,) = [tensor for tensor in traced if (tensor.block, tensor.name) == (block, name)]
    return found


def test_trace_stops_at_every_block_in_order(traced):
    visited = list(dict.fromkeys(tensor.block for tensor in traced))
    assert visited == [block.name for block in BLOCKS]


def test_trace_has_the_shapes_that_its_axes_promise(translator, traced):
    config = translator.model.config
    sizes = {"n_src": 9, "n_tgt": 10, "heads": config.num_heads, "d_k": config.d_model // config.num_heads}
    sizes |= {"d_model": config.d_model, "d_ff": config.d_ff, "vocab": config.vocab_size}
    for tensor in traced:
        target = tensor.block.startswith("decoder")
        sizes["n_q"] = sizes["n_tgt" if target else "n_src"]
        sizes["n_k"] = sizes["n_tgt" if tensor.block == "decoder.self_attention" else "n_src"]
        assert tensor.values.shape == tuple(sizes[axis] for axis in tensor.axes), (tensor.block, tensor.name)


def test_trace_holds_what_the_model_computes(translator, traced):
    example = translator.attention(SENTENCE)
    for block, kind in (("encoder.self", "encoder"), ("decoder.self", "decoder"), ("decoder.cross", "cross")):
        weights = named(traced, f"{block}_attention", "weights")
        np.testing.assert_allclose(weights.values, getattr(example, kind)[0], atol=1e-6)
        assert tuple(weights.tokens) == example.labels(kind)[0]
    source, target = (torch.tensor(named(traced, side, side).values).long()[None] for side in ("source", "target"))
    with torch.inference_mode():
        logits = translator.model(source, target)[0]
        memory = translator.model.encode(source)[0]
    np.testing.assert_allclose(named(traced, "output", "logits").values, logits, atol=1e-4)
    np.testing.assert_allclose(named(traced, "softmax", "probabilities").values.sum(axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(named(traced, "encoder", "memory").values, memory, atol=1e-5)


def test_sums_of_the_first_layer_follow_from_what_was_traced(translator, traced):
    layer = translator.model.encoder.layers[0]
    before, attended = named(traced, "source_positions", "x"), named(traced, "encoder.self_attention", "output")
    total = named(traced, "encoder.residual_attention", "x")
    with torch.inference_mode():
        expected = layer.residual_attention.norm(torch.tensor(before.values + attended.values).float())
    np.testing.assert_allclose(total.values, expected, atol=1e-4)
    hidden = named(traced, "encoder.feed_forward", "hidden").values
    assert hidden.min() == 0
    assert hidden.max() > 0


def test_only_later_keys_of_the_target_are_masked(traced):
    masked = {tensor.block: tensor.masked for tensor in traced if tensor.masked is not None and tensor.masked.any()}
    assert list(masked) == ["decoder.self_attention"]
    future = np.triu(np.ones((10, 10), dtype=bool), 1)
    np.testing.assert_array_equal(masked["decoder.self_attention"], np.broadcast_to(future, (4, 10, 10)))


def test_the_likeliest_tokens_are_the_translation_one_place_ahead(traced):
    read, said = named(traced, "target", "target"), named(traced, "probabilities", "likeliest")
    assert read.tokens[0] == "<s>"
    assert said.tokens == [*read.tokens[1:], "</s>"]
    assert said.values[:-1].tolist() == read.values[1:].tolist()


def test_a_translation_of_ones_own_can_be_traced(translator):
    traced = trace_of(translator, f" {SENTENCE} ", "Die Damen.")
    assert "".join(named(traced, "target", "target").tokens) == "<s>▁Die▁Damen."
    assert len(named(traced, "source", "source").tokens) == 9


def test_nothing_to_trace_is_an_error(translator):
    with pytest.raises(InputError, match="the sentence is empty"):
        trace_of(translator, " ")


def test_trace_takes_two_lines_of_words_and_fits_its_limits(traced):
    assert max(len(wrapped(tensor.change)) for tensor in traced) <= 2
    assert max(len(wrapped(remarks(tensor))) for tensor in traced) <= 2
    assert not [tensor.change for tensor in traced if "{" in tensor.change]
    assert len(shape_tracer(traced).to_json(indent=None)) <= 150 * KIB
