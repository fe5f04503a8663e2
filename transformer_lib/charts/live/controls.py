"""What a reader chooses beside a figure that Python draws: a sentence, a model."""

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import ipywidgets

OWN_FOLDER = "a folder of your own"
LABELED = {"description_width": "72px"}
CHOICE = {"width": "300px", "max_width": "100%"}
WIDE = {"width": "auto", "max_width": "640px", "min_width": "0"}


class Control:
    """A choice of the reader, made in `box`: `choice` is what two choices are compared by, `value` what is drawn from.

    `choice` is at hand, and a `ValueError` where the reader has left something out; `value` may take long.
    """

    box: ipywidgets.Widget

    @property
    def choice(self) -> Hashable:
        """What the reader has chosen."""
        raise NotImplementedError

    @property
    def value(self) -> Any:
        """What the choice stands for."""
        return self.choice

    def on_change(self, callback: Callable[[object], None]) -> None:
        """Have `callback` called when the reader has chosen, if that alone asks for a new drawing."""


class SentenceBox(Control):
    """A box to type a sentence in; Enter, or leaving it, is a choice."""

    def __init__(self, sentence: str) -> None:
        self.box = ipywidgets.Text(
            value=sentence, description="Sentence", continuous_update=False, style=LABELED, layout=WIDE
        )

    @property
    def choice(self) -> str:
        """The sentence; ValueError where there is none."""
        sentence = self.box.value.strip()
        if not sentence:
            raise ValueError("the sentence is empty")
        return sentence

    def on_change(self, callback: Callable[[object], None]) -> None:
        """When the sentence is another."""
        self.box.observe(callback, names="value")


class ModelBox(Control):
    """Names of models, or a folder: the value is what `load` gives for it, which is kept until another is loaded.

    `on_load` is told of each model that is about to be drawn from. What `load` raises, the value raises.
    """

    def __init__(self, names: Sequence[str], load: Callable[[str], Any], on_load: Callable[[Any], object]) -> None:
        if isinstance(names, str) or not names:
            raise ValueError(f"models: expected a list of names, got {names!r}")
        self.load, self.on_load = lru_cache(maxsize=1)(load), on_load
        self.name = ipywidgets.Dropdown(options=[*names, OWN_FOLDER], description="Model", style=LABELED, layout=CHOICE)
        self.folder = ipywidgets.Text(
            description="Folder", placeholder="runs/own/model", continuous_update=False, style=LABELED, layout=WIDE
        )
        self.name.observe(self._offer_folder, names="value")
        self._offer_folder()
        self.box = ipywidgets.VBox([self.name, self.folder])

    @property
    def choice(self) -> str:
        """The name, or the folder; ValueError where neither is given."""
        if self.name.value != OWN_FOLDER:
            return self.name.value
        if not self.folder.value.strip():
            raise ValueError("no folder given: type the one that holds the model, and press Enter")
        return str(Path(self.folder.value.strip()).expanduser())

    @property
    def value(self) -> Any:
        """The model, loaded if it is not the last one that was."""
        model = self.load(self.choice)
        self.on_load(model)
        return model

    def on_change(self, callback: Callable[[object], None]) -> None:
        """When another name is chosen or another folder is given."""
        self.name.observe(lambda change: change["new"] == OWN_FOLDER or callback(change), names="value")
        self.folder.observe(callback, names="value")

    def _offer_folder(self, _change: object = None) -> None:
        self.folder.layout.display = None if self.name.value == OWN_FOLDER else "none"
