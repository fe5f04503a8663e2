"""Figures for the reader's own sentence, own model or own choice of heads, where there is a kernel."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..maps.explorer import attention_explorer
from .controls import ModelBox, SentenceBox
from .head_boxes import HeadBoxes
from .live_figure import LiveFigure
from .silencing import Head, Silencing
from .waiting import reporting


def explore(
    attend: Callable[..., Any],
    sentence: str,
    *,
    draw: Callable[[Any], Any] = attention_explorer,
    models: Sequence[str] = (),
    load: Callable[[str], Any] | None = None,
) -> LiveFigure:
    """A figure of a sentence, with a box to type another one; last line of a cell.

    `draw` draws what `attend(sentence)` gives, by default the explorer of an `AttentionExample`. With `models`, names
    that `load` turns into models, the reader chooses one of them, or a folder, and `attend(model, sentence)` is drawn.
    If `attend` takes `report`, it may call `report(done, total)` for its steps.
    """
    work = reporting(attend)
    return LiveFigure(
        lambda *inputs, report: draw(work(*inputs, report=report)),
        [*_model_box(models, load), SentenceBox(sentence)],
        button="Show attention" if draw is attention_explorer else "Draw",
        hint="Type a sentence of your own and press Enter.",
    )


def silence(
    compare: Callable[..., Silencing],
    sentence: str,
    heads: Iterable[Head],
    *,
    size: tuple[int, int] | Callable[[Any], tuple[int, int]],
    models: Sequence[str] = (),
    load: Callable[[str], Any] | None = None,
) -> LiveFigure:
    """What a model loses without some heads, with boxes to tick others and to type another sentence; last of a cell.

    `heads` are `(kind, layer, head)`, counted from 0. `compare(sentence, heads)` gives the `Silencing`, of a model with
    `size` (layers, heads). With `models` the reader chooses one as in `explore`, it is
    `compare(model, sentence, heads)`, and `size` is a function of the model. ValueError for a head that there is not.
    """
    boxes = HeadBoxes(heads)
    if not models:
        boxes.fit(*size)
    inputs = [*_model_box(models, load, lambda model: boxes.fit(*size(model))), SentenceBox(sentence), boxes]
    hint = "Tick the heads to silence, type a sentence of your own, and press Compare."
    return LiveFigure(reporting(compare), inputs, button="Compare", hint=hint)


def _model_box(
    models: Sequence[str], load: Callable[[str], Any] | None, on_load: Callable[[Any], object] = lambda model: None
) -> list[ModelBox]:
    if models and load is None:
        raise ValueError("models are given, but no `load` that makes a model of a name or folder")
    return [ModelBox(models, load, on_load)] if models else []
