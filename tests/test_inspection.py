"""Recorded attention is the model's own, and each number about a head is that of a plain computation."""

import copy
import math

import pytest
import torch
from reference import without_shape_checks

from transformer_lib.attention import fused_attention
from transformer_lib.inspection import (
    attention_sublayers,
    by_word,
    entropy,
    generation_attention,
    head_contributions,
    mean_distance,
    record_attention,
    record_calls,
    silence_heads,
    trace_tensors,
)
from transformer_lib.model import Transformer, TransformerConfig


def make_model(dtype: torch.dtype = torch.float32, **changes) -> Transformer:
    torch.manual_seed(0)
    sizes = {"d_model": 14, "d_ff": 19, "num_heads": 2, "num_layers": 3, **changes}
    return Transformer(TransformerConfig(31, **sizes)).to(dtype).eval()


SOURCE = torch.tensor([[5, 6, 7, 3, 0], [9, 10, 11, 12, 3]])
TARGET = torch.tensor([[2, 8, 9, 4, 4, 5, 7], [2, 8, 9, 0, 0, 0, 0]])


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-10)])
def test_recording_gives_the_same_logits_as_the_fused_pass(dtype, tolerance):
    model = make_model(dtype)
    with record_attention(model):
        recorded = model(SOURCE, TARGET)
    torch.testing.assert_close(recorded, model(SOURCE, TARGET), atol=tolerance, rtol=0)


def test_maps_have_a_layer_each_and_rows_that_sum_to_one():
    model = make_model()
    with record_attention(model) as maps:
        model(SOURCE, TARGET)
    for kind, n_query, n_key in (("encoder", 5, 5), ("decoder", 7, 7), ("cross", 7, 5)):
        layers = getattr(maps, kind)
        assert [tuple(layer.shape) for layer in layers] == [(2, 2, n_query, n_key)] * 3
        for layer in layers:
            torch.testing.assert_close(layer.sum(-1), torch.ones(2, 2, n_query))


def test_maps_respect_masks():
    model = make_model()
    with record_attention(model) as maps:
        model(SOURCE, TARGET)
    assert maps.encoder[0][0, :, :, 4].eq(0).all()  # padding of the first sentence
    assert maps.cross[2][0, :, :, 4].eq(0).all()
    future = torch.ones(7, 7).triu(1).bool()
    assert maps.decoder[1][:, :, future].eq(0).all()


def test_attend_is_put_back_after_an_error():
    model = make_model()
    with pytest.raises(IndexError), record_attention(model):
        model(SOURCE, torch.full((2, 1), 99))
    for sublayers in attention_sublayers(model).values():
        assert all(sublayer.attend is fused_attention for sublayer in sublayers)


def test_a_recording_keeps_the_gradient():
    model = make_model(torch.float64)
    model(SOURCE, TARGET).square().sum().backward()
    expected = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    with record_attention(model):
        model(SOURCE, TARGET).square().sum().backward()
    for parameter, gradient in zip(model.parameters(), expected, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("compile_model", [torch.compile, lambda model: model.compile() or model])
def test_recording_refuses_a_compiled_model(compile_model):
    compiled = compile_model(make_model())
    with without_shape_checks(), pytest.raises(RuntimeError, match="compiled"), record_attention(compiled):
        pass


def test_by_word_sums_key_pieces_and_averages_query_pieces():
    torch.manual_seed(0)
    weights = torch.rand(2, 3, 5, 7).softmax(-1)
    query_words, key_words = [0, 0, 1, 2, 2], [0, 1, 1, 1, 2, 3, 3]
    found = by_word(weights, query_words, key_words)
    assert found.shape == (2, 3, 3, 4)
    for q in range(3):
        for k in range(4):
            rows = [i for i, word in enumerate(query_words) if word == q]
            columns = [j for j, word in enumerate(key_words) if word == k]
            expected = sum(weights[:, :, i, j] for i in rows for j in columns) / len(rows)
            torch.testing.assert_close(found[:, :, q, k], expected)
    torch.testing.assert_close(found.sum(-1), torch.ones(2, 3, 3))


def test_calls_hold_what_entered_equation_1_and_what_came_out():
    model = make_model(torch.float64, d_k=5, d_v=3)
    with record_calls(model) as calls, record_attention(model):  # the inner recording stands in for the outer one
        model(SOURCE, TARGET)
    assert calls == {"encoder": [], "decoder": [], "cross": []}
    with record_calls(model) as calls:
        model(SOURCE, TARGET)
    for kind, n_query, n_key in (("encoder", 5, 5), ("decoder", 7, 7), ("cross", 7, 5)):
        assert len(calls[kind]) == 3
        for call in calls[kind]:
            assert tuple(call.query.shape) == (2, 2, n_query, 5)
            assert tuple(call.value.shape) == (2, 2, n_key, 3)
            scores = call.query @ call.key.transpose(-2, -1) / math.sqrt(5)
            torch.testing.assert_close(scores.masked_fill(~call.mask, -math.inf).softmax(-1), call.weights)
            torch.testing.assert_close(call.weights @ call.value, call.output)


def test_contributions_of_the_heads_add_up_to_the_sublayer():
    model = make_model(torch.float64, d_k=5, d_v=3)
    outputs = dict(trace_tensors(model, SOURCE, TARGET))
    with record_calls(model) as calls:
        model(SOURCE, TARGET)
    for layer, call in enumerate(calls["cross"]):
        sublayer = model.decoder.layers[layer].cross_attention
        contributions = head_contributions(sublayer, call.output)
        assert tuple(contributions.shape) == (2, 2, 7, 14)
        torch.testing.assert_close(contributions.sum(1), outputs[f"decoder.layers.{layer}.cross_attention"])
        by_hand = call.output[1, 1, 4] @ sublayer.w_o.weight[:, 3:6].T  # second head's columns of W_O
        torch.testing.assert_close(contributions[1, 1, 4], by_hand)


def test_entropy_counts_bits():
    weights = torch.tensor([[0.25, 0.25, 0.25, 0.25], [0.0, 1.0, 0.0, 0.0], [0.5, 0.0, 0.5, 0.0], [0.0, 0.0, 0.0, 0.0]])
    torch.testing.assert_close(entropy(weights), torch.tensor([2.0, 0.0, 1.0, 0.0]))
    torch.manual_seed(0)
    row = torch.rand(11).softmax(-1)
    by_hand = -sum(p * math.log2(p) for p in row.tolist())
    assert entropy(row.unsqueeze(0)).item() == pytest.approx(by_hand, abs=1e-5)


def test_mean_distance_is_the_expected_step_from_query_to_key():
    torch.manual_seed(0)
    weights = torch.rand(2, 3, 5, 7).softmax(-1)
    found = mean_distance(weights)
    assert found.shape == (2, 3, 5)
    for i in range(5):
        expected = sum(weights[1, 2, i, j] * abs(i - j) for j in range(7))
        torch.testing.assert_close(found[1, 2, i], expected)


@pytest.mark.parametrize("heads", [[("encoder", 1, 0)], [("decoder", 0, 1), ("cross", 2, 0), ("cross", 2, 1)]])
def test_a_silent_head_is_one_whose_rows_of_the_output_matrix_are_zero(heads):
    model = make_model(torch.float64, d_v=3)
    without = copy.deepcopy(model)
    for kind, layer, head in heads:
        with torch.no_grad():
            attention_sublayers(without)[kind][layer].w_o.weight[:, 3 * head : 3 * head + 3] = 0
    whole = model(SOURCE, TARGET)
    with silence_heads(model, heads):
        silenced = model(SOURCE, TARGET)
    torch.testing.assert_close(silenced, without(SOURCE, TARGET), atol=1e-12, rtol=0)
    assert (silenced - whole).abs().max() > 1e-3
    torch.testing.assert_close(model(SOURCE, TARGET), whole, atol=0, rtol=0)


def test_no_head_to_silence_changes_nothing():
    model = make_model()
    with silence_heads(model, []):
        torch.testing.assert_close(model(SOURCE, TARGET), make_model()(SOURCE, TARGET), atol=0, rtol=0)


@pytest.mark.parametrize("head", [("encoder", 3, 0), ("cross", 0, 2), ("decoder", -1, 0), ("self", 0, 0)])
def test_silencing_a_head_that_is_not_there_says_what_there_is(head):
    model = make_model()
    with (
        pytest.raises(ValueError, match=r"kinds are encoder, decoder, cross, layers 0 to 2, heads 0 to 1"),
        silence_heads(model, [head]),
    ):
        pass


def test_attention_of_each_step_of_a_translation_adds_up_to_that_of_the_whole():
    model = make_model(torch.float64)
    with record_attention(model) as whole:
        model(SOURCE, TARGET)
    steps = generation_attention(model, SOURCE, TARGET)
    for kind in ("encoder", "decoder", "cross"):
        assert len(getattr(steps, kind)) == 3
        for stepped, full in zip(getattr(steps, kind), getattr(whole, kind), strict=True):
            torch.testing.assert_close(stepped, full, atol=1e-10, rtol=0)


@pytest.mark.parametrize("tied", [True, False])
def test_a_trace_has_what_every_module_gave_in_order(tied):
    model = make_model(tie_embeddings=tied)
    traced = trace_tensors(model, SOURCE, TARGET)
    names = [name for name, _ in traced]
    order = ["source_embedding", "encoder.layers.0.self_attention", "encoder.layers.2", "encoder", "target_embedding"]
    order += ["decoder.layers.0.self_attention", "decoder.layers.1.cross_attention", "decoder", "logits"]
    assert [names.index(name) for name in order] == sorted(names.index(name) for name in order)
    values = dict(traced)
    torch.testing.assert_close(values["logits"], model(SOURCE, TARGET))
    torch.testing.assert_close(values["encoder"], model.encode(SOURCE))
    torch.testing.assert_close(values["source_embedding"], model.source_embedding(SOURCE))
    torch.testing.assert_close(values["target_embedding"], model.target_embedding(TARGET))
    assert not any(module._forward_hooks for module in model.modules())


def test_a_trace_is_the_same_the_second_time():
    model = make_model()
    first, second = (trace_tensors(model, SOURCE, TARGET) for _ in range(2))
    assert [name for name, _ in first] == [name for name, _ in second]


def test_tracing_refuses_a_compiled_model():
    with without_shape_checks(), pytest.raises(RuntimeError, match="compiled"):
        trace_tensors(torch.compile(make_model()), SOURCE, TARGET)
