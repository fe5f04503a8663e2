"""Controls above a figure that Python draws anew: nothing is lost after an error, and long work shows a bar."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import ipywidgets
from IPython import get_ipython
from IPython.display import DisplayHandle, display

from .controls import Control
from .waiting import PATIENCE, ProgressBar, alert, in_words, status

NEEDS_KERNEL = "This takes a kernel: open the notebook on Colab or on your own machine."


class LiveFigure:
    """Controls above a figure; `redraw` draws it again when the reader has chosen something else.

    `draw` is given the values of the controls, and `report(done, total)`. What it returns is an ordinary output of the
    cell, so that a page without a kernel keeps what was drawn last. What the first drawing raises, the constructor
    raises; a later error is said in words, and the drawing stays.
    """

    def __init__(
        self, draw: Callable[..., Any], inputs: Sequence[Control], *, button: str, hint: str, patience: float = PATIENCE
    ) -> None:
        self.draw, self.inputs, self.hint = draw, inputs, hint
        self.button = ipywidgets.Button(description=button, layout={"width": "max-content"})
        self.bar = ProgressBar(self._on_slow, patience)
        self.message = ipywidgets.HTML(status(f"{hint} {NEEDS_KERNEL}"))
        last = ipywidgets.HBox([self.button, self.bar.box], layout={"flex_flow": "row wrap"})
        self.controls = ipywidgets.VBox([*(each.box for each in inputs), last, self.message])
        self.outputs: list[DisplayHandle] = []
        self.busy, self.used, self.cell = False, None, None
        self._draw()
        for each in inputs:
            each.on_change(self.redraw)
        self.button.on_click(self.redraw)

    def redraw(self, event: object = None) -> None:
        """Draw what the reader has chosen, unless it stands there already."""
        if self.busy:
            return
        self.busy, self.used = True, getattr(event, "owner", event)
        try:
            if self._choices() != self.shown:
                self.message.value = status("Working …")
                self._draw()
            self.message.value = status(f"Drawn. {self.hint}")
        except (Exception, KeyboardInterrupt) as error:  # a widget's callback has no other place to show it
            self.message.value = alert("Not drawn:", f"{in_words(error)}.")
        finally:
            self.busy = False

    def _draw(self) -> None:
        try:
            with self.bar.during_work() as report:
                self.drawing = self.draw(*(each.value for each in self.inputs), report=report)
                for output in self.outputs:
                    output.update(self.drawing)
        finally:
            self._enable(True)
        self.shown = self._choices()

    def _choices(self) -> list[object]:
        return [each.choice for each in self.inputs]

    def _on_slow(self) -> None:
        self._enable(False)
        if not self.outputs:  # the first drawing: who waits for it sees the controls, and the bar among them
            self.cell = _cell()
            display(self.controls)

    def _enable(self, enabled: bool) -> None:
        """All controls but the one that the reader has just used: disabled, it would lose the keyboard."""
        for widget in _leaves(self.controls):
            if hasattr(widget, "disabled") and widget is not self.used:
                widget.disabled = not enabled

    def _ipython_display_(self) -> None:
        if self.cell is None or self.cell != _cell():
            display(self.controls)
        self.cell = None
        self.outputs.append(display(self.drawing, display_id=True))


def _leaves(widget: ipywidgets.Widget) -> Iterator[ipywidgets.Widget]:
    children = getattr(widget, "children", ())
    for child in children:
        yield from _leaves(child)
    if not children:
        yield widget


def _cell() -> int | None:
    """The number of the cell that runs, where there are cells."""
    return getattr(get_ipython(), "execution_count", None)
