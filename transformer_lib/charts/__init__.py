"""The figures of the book as Altair charts; they take arrays and token lists and know nothing of the model."""

from .ablation import ablation_matrix
from .attention_steps import attention_steps
from .beam_tree import beam_tree
from .decoding_film import DecodingSteps, decoding_film
from .examples import AttentionExample
from .explorer import attention_explorer
from .figure_one import figure_one
from .figures import bar_chart, line_chart
from .head_sum import head_sum
from .heads import head_grid
from .heat import heat_map
from .positions import positional_explorer
from .search_tree import BeamNode, SearchTree
from .shape_tracer import shape_tracer
from .silencing import Silencing
from .softmax_lab import softmax_lab
from .style import house_style
from .tables import table
from .traced import TracedTensor
from .training_film import training_film
from .widgets import explore, silence

__all__ = [
    "AttentionExample",
    "BeamNode",
    "DecodingSteps",
    "SearchTree",
    "Silencing",
    "TracedTensor",
    "ablation_matrix",
    "attention_explorer",
    "attention_steps",
    "bar_chart",
    "beam_tree",
    "decoding_film",
    "explore",
    "figure_one",
    "head_grid",
    "head_sum",
    "heat_map",
    "house_style",
    "line_chart",
    "positional_explorer",
    "shape_tracer",
    "silence",
    "softmax_lab",
    "table",
    "training_film",
]
