"""The figures of the book as Altair charts; they take arrays and token lists and know nothing of the model."""

from .architecture.figure_one import figure_one
from .architecture.shape_tracer import shape_tracer
from .architecture.traced import TracedTensor
from .equation.attention_steps import attention_steps
from .equation.head_sum import head_sum
from .equation.softmax_lab import softmax_lab
from .examples import AttentionExample
from .figures import bar_chart, line_chart
from .heat import heat_map
from .live.silencing import Silencing
from .live.widgets import explore, silence
from .maps.ablation import ablation_matrix
from .maps.explorer import attention_explorer
from .maps.heads import head_grid
from .maps.training_film import training_film
from .positions.positional_explorer import positional_explorer
from .style import house_style
from .tables import table
from .translation.beam_tree import beam_tree
from .translation.decoding_film import DecodingSteps, decoding_film
from .translation.search_tree import BeamNode, SearchTree

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
