"""Independent references: plain loops, the paper's formulas in plain math, PyTorch's layers with matched weights."""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import jaxtyping
import torch
from torch import Tensor, nn

from transformer_lib.feed_forward import FeedForward
from transformer_lib.model import Transformer, TransformerConfig
from transformer_lib.multi_head import MultiHeadAttention
from transformer_lib.stacks import DecoderLayer, EncoderLayer


def random(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    """A leaf of standard normal numbers that asks for its gradient."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype).requires_grad_()


def random_mask(*shape: int, seed: int = 0, keep: float = 0.6) -> Tensor:
    """A random boolean mask in which every row keeps its first key."""
    mask = torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) < keep
    mask[..., 0] = True
    return mask


def gradients(outputs: Tensor, inputs: Sequence[Tensor], seed: int = 31) -> tuple[Tensor, ...]:
    """Gradients of a random weighting of the outputs, so that no two of them can cancel."""
    return torch.autograd.grad((outputs * random(*outputs.shape, seed=seed).detach().to(outputs.dtype)).sum(), inputs)


def assert_close(actual: Iterable[Tensor], expected: Iterable[Tensor], tolerance: float = 1e-10) -> None:
    for a, b in zip(actual, expected, strict=True):
        torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)


@contextmanager
def without_shape_checks() -> Iterator[None]:
    """What a user meets: in the tests the shape checks would refuse a wrong argument before the library does."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        jaxtyping.config.update("jaxtyping_disable", before)


# --- the paper's formulas, one number at a time ---


def attention_loop(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Equation 1 with a loop for every axis; a query that may attend nowhere gets zeros."""
    *batch, n_q, d_k = query.shape
    n_k, d_v = value.shape[-2:]
    allowed = torch.ones(*batch, n_q, n_k, dtype=torch.bool) if mask is None else mask.expand(*batch, n_q, n_k)
    zero = torch.zeros((), dtype=query.dtype)
    outputs, weights = [], []
    for *index, i in itertools.product(*map(range, (*batch, n_q))):
        q, k, v, may = query[(*index, i)], key[tuple(index)], value[tuple(index)], allowed[(*index, i)].tolist()
        powers = [
            (sum(q[c] * k[j, c] for c in range(d_k)) / math.sqrt(d_k)).exp() if may[j] else zero for j in range(n_k)
        ]
        total = sum(powers) if any(may) else torch.ones((), dtype=query.dtype)
        row = [power / total for power in powers]
        weights += row
        outputs += [sum(row[j] * v[j, c] for j in range(n_k)) for c in range(d_v)]
    return torch.stack(outputs).view(*batch, n_q, d_v), torch.stack(weights).view(*batch, n_q, n_k)


def multi_head_loop(module: MultiHeadAttention, query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """Concat(head_1, ..., head_h) W^O, with W_i^Q, W_i^K, W_i^V cut from the stacked matrices by hand."""
    heads = []
    for h in range(module.num_heads):
        w_q, w_k, w_v = (w.weight.chunk(module.num_heads)[h] for w in (module.w_q, module.w_k, module.w_v))
        heads.append(attention_loop(query @ w_q.T, key @ w_k.T, value @ w_v.T, mask)[0])
    return torch.cat(heads, dim=-1) @ module.w_o.weight.T


def sinusoid(position: int, column: int, d_model: int) -> float:
    """One number of the positional encoding (section 3.5)."""
    angle = position / 10_000 ** (2 * (column // 2) / d_model)
    return math.cos(angle) if column % 2 else math.sin(angle)


def sinusoid_table(n: int, d_model: int) -> Tensor:
    rows = [[sinusoid(position, column, d_model) for column in range(d_model)] for position in range(n)]
    return torch.tensor(rows, dtype=torch.float64)


def parameters_by_formula(config: TransformerConfig) -> int:
    """How many parameters Figure 1 has with these sizes, counted on paper."""
    d_k = config.d_k or config.d_model // config.num_heads
    d_v = config.d_v or config.d_model // config.num_heads
    attention = 2 * config.num_heads * config.d_model * (d_k + d_v)
    feed_forward = 2 * config.d_model * config.d_ff + config.d_ff + config.d_model
    norm = 2 * config.d_model
    encoder_layer = attention + feed_forward + 2 * norm
    decoder_layer = 2 * attention + feed_forward + 3 * norm
    embeddings = (1 if config.tie_embeddings else 3) * config.vocab_size * config.d_model
    positions = 2 * config.max_positions * config.d_model if config.positions == "learned" else 0
    final_norms = 2 * norm if config.norm == "pre" else 0
    return config.num_layers * (encoder_layer + decoder_layer) + embeddings + positions + final_norms


# --- PyTorch's own layers ---

# One of our parameters, the one of PyTorch's that plays its part, and the rows of it that do.
Match = tuple[nn.Parameter, nn.Parameter, slice]


def match_module(ours: nn.Module, theirs: nn.Module) -> Iterator[Match]:
    """Linear layers and LayerNorms, which name their parameters alike."""
    for name, parameter in ours.named_parameters():
        yield parameter, theirs.get_parameter(name), slice(None)


def match_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> Iterator[Match]:
    """PyTorch stacks the three input projections in one matrix: queries, keys, values."""
    for part, linear in enumerate((ours.w_q, ours.w_k, ours.w_v)):
        rows = slice(part * theirs.embed_dim, (part + 1) * theirs.embed_dim)
        yield linear.weight, theirs.in_proj_weight, rows
        if linear.bias is not None:
            yield linear.bias, theirs.in_proj_bias, rows
    yield from match_module(ours.w_o, theirs.out_proj)


def match_feed_forward(ours: FeedForward, theirs: nn.Module) -> Iterator[Match]:
    yield from match_module(ours.w_1, theirs.linear1)
    yield from match_module(ours.w_2, theirs.linear2)


def match_encoder_layer(ours: EncoderLayer, theirs: nn.TransformerEncoderLayer) -> Iterator[Match]:
    yield from match_attention(ours.self_attention, theirs.self_attn)
    yield from match_feed_forward(ours.feed_forward, theirs)
    yield from match_module(ours.residual_attention.norm, theirs.norm1)
    yield from match_module(ours.residual_feed_forward.norm, theirs.norm2)


def match_decoder_layer(ours: DecoderLayer, theirs: nn.TransformerDecoderLayer) -> Iterator[Match]:
    yield from match_attention(ours.self_attention, theirs.self_attn)
    yield from match_attention(ours.cross_attention, theirs.multihead_attn)
    yield from match_feed_forward(ours.feed_forward, theirs)
    yield from match_module(ours.residual_self_attention.norm, theirs.norm1)
    yield from match_module(ours.residual_cross_attention.norm, theirs.norm2)
    yield from match_module(ours.residual_feed_forward.norm, theirs.norm3)


def match_stacks(ours: Transformer, theirs: nn.Transformer) -> Iterator[Match]:
    """Encoder and decoder; PyTorch's final norms are to be None where ours has none."""
    for layer, other in zip(ours.encoder.layers, theirs.encoder.layers, strict=True):
        yield from match_encoder_layer(layer, other)
    for layer, other in zip(ours.decoder.layers, theirs.decoder.layers, strict=True):
        yield from match_decoder_layer(layer, other)
    if theirs.encoder.norm is not None:
        yield from match_module(ours.encoder.final_norm, theirs.encoder.norm)
        yield from match_module(ours.decoder.final_norm, theirs.decoder.norm)


def share_weights(match: Callable[..., Iterator[Match]], ours: nn.Module, theirs: nn.Module) -> list[Match]:
    """Draw every weight of `theirs` anew, copy them into `ours`; what ours lacks (biases) becomes zero in theirs."""
    generator = torch.Generator().manual_seed(41)
    matches = list(match(ours, theirs))
    drawn = {id(other) for _, other, _ in matches}
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.normal_(std=0.4, generator=generator).mul_(id(parameter) in drawn)
        for mine, other, rows in matches:
            mine.copy_(other[rows])
    assert len({id(mine) for mine, _, _ in matches}) == len(matches)
    return matches


def assert_same_gradients(matches: Sequence[Match], tolerance: float = 1e-10) -> None:
    """After both sides ran backward."""
    for mine, other, rows in matches:
        torch.testing.assert_close(mine.grad, other.grad[rows], rtol=tolerance, atol=tolerance)
        assert mine.grad.abs().max() > 0 or mine.ndim == 1  # biases of keys have none: softmax forgets them
