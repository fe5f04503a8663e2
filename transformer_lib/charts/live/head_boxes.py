"""A box to tick for each head of a model."""

from collections.abc import Iterable, Sequence

import ipywidgets

from ..examples import KINDS
from ..maps.parameters import KIND_LABELS
from .controls import CHOICE, LABELED, Control
from .silencing import Head, name_heads
from .waiting import status

WIDTH = "125px"  # of a box with its label: two abreast on a phone


class HeadBoxes(Control):
    """The heads of one kind of attention at a time, a row a layer; a line below says all that are ticked.

    Heads are `(kind, layer, head)`, counted from 0; the page counts from 1. There is none before `fit`.
    """

    def __init__(self, ticked: Iterable[Head]) -> None:
        self.asked = tuple(ticked)
        self.size: tuple[int, int] | None = None
        self.boxes: dict[Head, ipywidgets.Checkbox] = {}
        kinds = list(zip(KIND_LABELS, KINDS, strict=True))
        self.kind = ipywidgets.Dropdown(options=kinds, description="Heads", style=LABELED, layout=CHOICE)
        self.grid, self.said = ipywidgets.VBox(), ipywidgets.HTML()
        self.kind.observe(self._show_kind, names="value")
        self.box = ipywidgets.VBox([self.kind, self.grid, self.said])

    @property
    def choice(self) -> tuple[Head, ...]:
        """The heads that are ticked."""
        return tuple(head for head, box in self.boxes.items() if box.value)

    def fit(self, layers: int, heads: int) -> None:
        """Offer the heads of a model of this size. Ticks stay, but for heads that it does not have.

        ValueError if those asked for at first are among them.
        """
        if self.size == (layers, heads):
            return
        every = [(kind, layer, head) for kind in KINDS for layer in range(layers) for head in range(heads)]
        ticked = self.choice if self.size else self._asked_of(every)
        self.size = layers, heads
        self.boxes = _boxes(every, ticked)
        for box in self.boxes.values():
            box.observe(self._say, names="value")
        self._show_kind()
        self._say()

    def _asked_of(self, every: Sequence[Head]) -> tuple[Head, ...]:
        missing = [head for head in self.asked if head not in every]
        if missing:
            _, layer, head = every[-1]
            raise ValueError(
                f"no head {missing[0]}: kinds are {', '.join(KINDS)}, layers 0 to {layer}, heads 0 to {head}"
            )
        if self.asked:
            self.kind.value = self.asked[0][0]
        return self.asked

    def _show_kind(self, _change: object = None) -> None:
        rows: dict[int, list[ipywidgets.Checkbox]] = {}
        for (kind, layer, _), box in self.boxes.items():
            if kind == self.kind.value:
                rows.setdefault(layer, []).append(box)
        self.grid.children = [ipywidgets.HBox(row, layout={"flex_flow": "row wrap"}) for row in rows.values()]

    def _say(self, _change: object = None) -> None:
        self.said.value = status(f"Ticked: {name_heads(self.choice)}.")


def _boxes(heads: Sequence[Head], ticked: Iterable[Head]) -> dict[Head, ipywidgets.Checkbox]:
    """A box for each head; all share one layout and one style, which a page would otherwise hold for each."""
    boxes, shared = {}, {"layout": ipywidgets.Layout(width=WIDTH)}
    for head in heads:
        label = f"layer {head[1] + 1}, head {head[2] + 1}"
        boxes[head] = ipywidgets.Checkbox(value=head in ticked, description=label, indent=False, **shared)
        shared["style"] = boxes[head].style
    return boxes
