"""Operations of an update against PyTorch's own count; the rate of matrix products against their time by hand."""

import time

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from transformer_lib.attention import scaled_dot_product_attention
from transformer_lib.model import Transformer, TransformerConfig
from transformer_lib.run.operations import layer_weights, matrix_product_rate, training_operations

CONFIG = TransformerConfig(53, d_model=14, d_ff=23, num_heads=2, num_layers=3, d_k=5, d_v=11, dropout=0.0)


def counted(config: TransformerConfig, rows: int, n_src: int, n_tgt: int) -> int:
    model = Transformer(config, attend=scaled_dot_product_attention)
    source, target = (torch.randint(4, config.vocab_size, (rows, n)) for n in (n_src, n_tgt))
    with FlopCounterMode(display=False) as counter:
        model(source, target).sum().backward()
    return counter.get_total_flops()


@pytest.mark.parametrize(("rows", "n_src", "n_tgt"), [(3, 7, 13), (1, 17, 2), (5, 1, 1)])
@pytest.mark.parametrize(
    "config",
    [
        CONFIG,
        TransformerConfig(31, d_model=12, d_ff=19, num_heads=3, num_layers=1),
        TransformerConfig(31, d_model=12, d_ff=19, num_heads=3, num_layers=2, d_k=7, tie_embeddings=False, norm="pre"),
    ],
)
def test_training_operations_are_those_that_pytorch_counts(config, rows, n_src, n_tgt):
    assert training_operations(config, [n_src] * rows, [n_tgt] * rows) == counted(config, rows, n_src, n_tgt)


def test_operations_of_sentences_add_up_and_padding_costs_nothing():
    apart = training_operations(CONFIG, [3], [11]) + training_operations(CONFIG, [17], [2])
    assert (
        training_operations(CONFIG, [3, 17], [11, 2]) == apart == counted(CONFIG, 1, 3, 11) + counted(CONFIG, 1, 17, 2)
    )


def test_every_matrix_of_the_model_is_counted_once():
    model = Transformer(CONFIG)
    in_stacks = sum(p.numel() for stack in (model.encoder, model.decoder) for p in stack.parameters() if p.dim() == 2)
    counted_weights = sum(
        n_in * n_out * count for side in layer_weights(CONFIG) for (n_in, n_out), count in side.items()
    )
    assert counted_weights == in_stacks + model.output.weight.numel()


def test_lengths_must_come_in_pairs():
    with pytest.raises(ValueError, match="zip"):
        training_operations(CONFIG, [3, 5], [7])


def test_matrix_product_rate_is_that_of_a_stopwatch():
    config = TransformerConfig(64, d_model=512, d_ff=512, num_heads=8, num_layers=1)
    a = torch.rand(512, 512)
    rates = []
    for _ in range(9):
        begun = time.perf_counter()
        torch.mm(a, a)
        rates.append(2 * 512**3 / (time.perf_counter() - begun))
    # A busy machine slows either side down: only a wrong factor is caught here.
    assert 0.1 * sorted(rates)[4] < matrix_product_rate(config, 512, seconds=0.01) < 10 * max(rates)
