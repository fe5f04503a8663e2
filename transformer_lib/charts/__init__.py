"""The figures of the book as Altair charts; they take arrays and token lists and know nothing of the model."""

from .examples import AttentionExample
from .explorer import attention_explorer
from .figures import bar_chart, line_chart
from .heat import heat_map
from .style import house_style
from .tables import table
from .widgets import SentenceExplorer, explore

__all__ = [
    "AttentionExample",
    "SentenceExplorer",
    "attention_explorer",
    "bar_chart",
    "explore",
    "heat_map",
    "house_style",
    "line_chart",
    "table",
]
