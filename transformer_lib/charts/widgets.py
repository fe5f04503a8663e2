"""The explorer on the reader's own sentence, where a kernel can run the model."""

from collections.abc import Callable
from html import escape

import ipywidgets
from IPython.display import display

from .examples import AttentionExample
from .explorer import attention_explorer

HINT = "In a running notebook: type a sentence of your own and press Enter."


class SentenceExplorer:
    """A text box and a button above an attention explorer; `redraw` answers both.

    The chart is an ordinary output of the cell, so that a page without a kernel keeps the one drawn last.
    """

    def __init__(self, attend: Callable[[str], AttentionExample], sentence: str) -> None:
        self.attend = attend
        self.shown = sentence
        self.chart = attention_explorer(attend(sentence))
        self.sentence = ipywidgets.Text(value=sentence, description="Sentence", continuous_update=False)
        self.button = ipywidgets.Button(description="Show attention")
        self.message = ipywidgets.HTML(value=HINT)
        self.controls = ipywidgets.VBox([ipywidgets.HBox([self.sentence, self.button]), self.message])
        self._output = None
        self.sentence.observe(self.redraw, names="value")
        self.button.on_click(self.redraw)

    def redraw(self, _event: object = None) -> None:
        """Draw the attention for the sentence in the box; on an error say so and keep the chart."""
        sentence = self.sentence.value.strip()
        if sentence == self.shown:
            return
        self.button.disabled, self.message.value = True, "Reading …"
        try:
            self.chart = attention_explorer(self.attend(sentence))
        except Exception as error:  # a widget's callback has no other place to show it
            self.message.value = f"Not drawn: {escape(str(error)) or type(error).__name__}"
            return
        finally:
            self.button.disabled = False
        self.shown, self.message.value = sentence, HINT
        if self._output is not None:
            self._output.update(self.chart)

    def _ipython_display_(self) -> None:
        display(self.controls)
        self._output = display(self.chart, display_id=True)


def explore(attend: Callable[[str], AttentionExample], sentence: str) -> SentenceExplorer:
    """The attention that `attend` records for a sentence, with a box to type another one; last line of a cell."""
    return SentenceExplorer(attend, sentence)
