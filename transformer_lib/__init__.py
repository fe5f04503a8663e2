"""The Transformer of *Attention Is All You Need*, exported from an executable edition of the paper."""

from importlib.metadata import PackageNotFoundError, version

from transformer_lib.attention import fused_attention, scaled_dot_product_attention
from transformer_lib.decoding import Hypothesis, beam_search, greedy_search
from transformer_lib.inspection import record_attention
from transformer_lib.model import Transformer, TransformerConfig, count_parameters
from transformer_lib.multi_head import MultiHeadAttention
from transformer_lib.run.translator import Translator

try:
    __version__ = version("transformer-lib")
except PackageNotFoundError:  # used from a checkout, without being installed
    __version__ = "0+checkout"

__all__ = [
    "Hypothesis",
    "MultiHeadAttention",
    "Transformer",
    "TransformerConfig",
    "Translator",
    "beam_search",
    "count_parameters",
    "fused_attention",
    "greedy_search",
    "record_attention",
    "scaled_dot_product_attention",
]
