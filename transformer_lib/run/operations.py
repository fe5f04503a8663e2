"""How many floating-point operations an update of training takes, and how fast matrix products run here."""

from collections.abc import Sequence

import torch
from torch.utils.benchmark import Timer

from transformer_lib.model import TransformerConfig


def layer_weights(config: TransformerConfig) -> tuple[dict[tuple[int, int], int], dict[tuple[int, int], int]]:
    """The weight matrices that each source token and each target token is multiplied with.

    Two dicts from a matrix's shape (inputs, outputs) to how often it occurs. The source's are the encoder's
    and the keys and values of cross-attention; the target's are the rest of the decoder and the output matrix.
    """
    d_model = config.d_model
    keys = config.num_heads * (config.d_k or d_model // config.num_heads)
    values = config.num_heads * (config.d_v or d_model // config.num_heads)
    query, key, value, out = (d_model, keys), (d_model, keys), (d_model, values), (values, d_model)
    feed_forward = [(d_model, config.d_ff), (config.d_ff, d_model)]
    encoder = [query, key, value, out, *feed_forward, key, value]
    decoder = [query, key, value, out, query, out, *feed_forward]
    source, target = encoder * config.num_layers, [*decoder * config.num_layers, (d_model, config.vocab_size)]
    return tuple({shape: side.count(shape) for shape in dict.fromkeys(side)} for side in (source, target))


def training_operations(config: TransformerConfig, source_lengths: Sequence[int], target_lengths: Sequence[int]) -> int:
    """Floating-point operations of an update from sentence pairs of these lengths in tokens.

    6 a weight and token: a multiplication and an addition forward, twice that backward. Attention's own
    products, queries with keys and weights with values, count likewise for all pairs of a sentence's
    positions, also those that the causal mask hides. Left out: biases, norms, softmax, dropout, the
    optimizer, padding, and what a fused kernel computes a second time.
    """
    source, target = (
        sum(n_in * n_out * count for (n_in, n_out), count in side.items()) for side in layer_weights(config)
    )
    head = config.d_model // config.num_heads
    width = config.num_heads * ((config.d_k or head) + (config.d_v or head)) * config.num_layers
    pairs = sum(s * s + t * t + t * s for s, t in zip(source_lengths, target_lengths, strict=True))
    return 6 * (source * sum(source_lengths) + target * sum(target_lengths) + width * pairs)


def matrix_product_rate(
    config: TransformerConfig,
    tokens: int,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
    seconds: float = 0.2,
) -> float:
    """Measured floating-point operations a second of a model's matrix products alone, each for `tokens` rows.

    All three products of each weight matrix, forward and backward, into memory that is already there;
    shapes count as often as the model has them. `seconds` is how long each product is timed, after
    a warm-up; the median counts. Waits for the GPU.
    """
    operations = time = 0.0
    for side in layer_weights(config):
        for (n_in, n_out), count in side.items():
            operations += 6 * tokens * n_in * n_out * count
            time += count * product_seconds(tokens, n_in, n_out, device, dtype, seconds)
    return operations / time


def product_seconds(
    tokens: int, n_in: int, n_out: int, device: torch.device | str, dtype: torch.dtype, seconds: float
) -> float:
    """Time of a linear layer's three matrix products: output, gradient of the input, gradient of the weight."""
    x, weight, y = (
        torch.rand(shape, device=device, dtype=dtype) for shape in ((tokens, n_in), (n_out, n_in), (tokens, n_out))
    )
    to_x, to_weight, to_y = torch.empty_like(x), torch.empty_like(weight), torch.empty_like(y)
    products = [(x, weight.t(), to_y), (y, weight, to_x), (y.t(), x, to_weight)]
    return sum(
        Timer("mm(a, b, out=c)", globals={"mm": torch.mm, "a": a, "b": b, "c": c}, num_threads=torch.get_num_threads())
        .blocked_autorange(min_run_time=seconds)
        .median
        for a, b, c in products
    )
