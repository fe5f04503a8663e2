"""What the reader sees while Python works: a line of words, and a bar once it has taken long."""

import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

import ipywidgets

Report = Callable[[int, int], None]  # is told how many steps are done, and of how many
PATIENCE = 1.0  # seconds of work before a bar appears
LINE = "line-height: 1.4; padding: 4px 0"  # lines that wrap stay together


class ProgressBar:
    """A bar that appears when work has lasted `patience` seconds, and goes when it ends.

    It shows how many steps are done once the work reports them, and until then only that something moves. `on_slow` is
    called when it appears, in a thread of its own: the kernel's is at work.
    """

    def __init__(self, on_slow: Callable[[], None], patience: float = PATIENCE) -> None:
        self.on_slow, self.patience = on_slow, patience
        self.box = ipywidgets.HTML()
        self.percent: int | None = None
        self.shown = False

    @contextmanager
    def during_work(self) -> Iterator[Report]:
        """Around the work, which may tell what it is given of its steps; the bar is gone when this ends, in any way."""
        self.percent = None
        timer = threading.Timer(self.patience, self._show)
        timer.daemon = True
        timer.start()
        try:
            yield self._report
        finally:
            timer.cancel()
            timer.join()
            self.shown, self.box.value = False, ""

    # One thread reports and another shows. Whichever comes second sees what the first has set, so no step is lost.

    def _report(self, done: int, total: int) -> None:
        self.percent = round(100 * done / max(total, 1))
        if self.shown:
            self._draw()

    def _show(self) -> None:
        self.shown = True
        self._draw()
        self.on_slow()

    def _draw(self) -> None:
        value = "" if self.percent is None else f' value="{self.percent}"'  # a bar without a value moves by itself
        self.box.value = f'<progress aria-label="Progress" max="100"{value}></progress>'


def reporting(work: Callable[..., Any]) -> Callable[..., Any]:
    """`work` as a function that takes `report`, whether or not it has steps to tell of."""
    if "report" in inspect.signature(work).parameters:
        return work
    return lambda *inputs, report: work(*inputs)


def status(text: str) -> str:
    """HTML of a line that a screen reader says when it has time."""
    return f'<div role="status" style="{LINE}">{escape(text)}</div>'


def alert(title: str, text: str) -> str:
    """HTML of a line with a bold beginning, which a screen reader says at once."""
    return f'<div role="alert" style="{LINE}"><strong>{escape(title)}</strong> {escape(text)}</div>'


def in_words(error: BaseException) -> str:
    """What went wrong, for the reader: a fault of the input says so itself, a fault of the code has a name too."""
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    return str(error) if isinstance(error, ValueError) and str(error) else f"{type(error).__name__} {error}".strip()
