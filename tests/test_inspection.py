"""Recorded attention is the model's own."""

import pytest
import torch
from reference import without_shape_checks

from transformer_lib.attention import fused_attention
from transformer_lib.inspection import attention_sublayers, by_word, record_attention
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
