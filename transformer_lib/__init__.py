"""The Transformer of Attention Is All You Need, exported from an executable edition of the paper.

Modules:

- `transformer_lib.charts.packing`: Attention weights as text: one character a weight, so that a page can hold every head of a model.
- `transformer_lib.corpus.lab.combinations`: Which words go together, and which of these combinations stay out of training.
- `transformer_lib.corpus.lab.draft`: A sentence pair while it is being built.
- `transformer_lib.corpus.lab.grammar`: The constructions of the corpus by name.
- `transformer_lib.corpus.lab.splits`: The splits of the corpus: which sentences belong to which, in blocks that any process can write."""

from importlib.metadata import version

from transformer_lib.attention import fused_attention, scaled_dot_product_attention
from transformer_lib.decoding import Hypothesis, beam_search, greedy_search
from transformer_lib.inspection import record_attention
from transformer_lib.model import Transformer, TransformerConfig, count_parameters
from transformer_lib.multi_head import MultiHeadAttention
from transformer_lib.run.translator import Translator

__version__ = version("transformer-lib")

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
