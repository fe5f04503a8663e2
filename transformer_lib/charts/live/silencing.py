"""A translation beside the one that a model makes when some of its heads are silent."""

import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from html import escape

import numpy as np

from ..examples import KINDS, as_array
from ..maps.parameters import KIND_LABELS
from ..style import BLUE, FAINT, ORANGE

Head = tuple[str, int, int]  # kind, layer and head, counted from 0
Change = tuple[range, range]  # the places of words, and of those that stand there without the heads
CLOSING = set(".,;:!?…)")  # stand close to the word before them
END = "(end)"
APART = "margin-top: 12px"
TALLEST = 40  # pixels of the bar above a word
SMALLEST = 0.005  # nats that two decimals can show
MOST_SAID, LONGEST_SAID = 3, 50  # changes that are put in words, and characters of each


@dataclass(frozen=True, eq=False, repr=False)
class Silencing:
    """What a model loses without the heads in `silent`, which are `(kind, layer, head)`, counted from 0.

    `words` are those of the translation with all heads, `words_without` those of the one without. `lost` is by how
    much the log-probability of each of `words`, and last of the end, falls, in nats. `_repr_html_` is what notebooks
    and the page show. ValueError where `lost` does not fit the words.
    """

    silent: Sequence[Head]
    words: Sequence[str]
    words_without: Sequence[str]
    lost: Sequence[float]

    def __post_init__(self) -> None:
        for name in ("words", "words_without"):
            if isinstance(getattr(self, name), str):
                raise ValueError(f"{name}: expected a list of words, got the string {getattr(self, name)!r}")
        object.__setattr__(self, "lost", as_array(self.lost))
        if self.lost.shape != (len(self.words) + 1,) or not np.isfinite(self.lost).all():
            raise ValueError(f"lost: expected a finite number for each of {len(self.words)} words and for the end")

    @cached_property
    def changes(self) -> list[Change]:
        """The runs of words that differ; one side of a change may be empty."""
        matcher = SequenceMatcher(None, list(self.words), list(self.words_without), autojunk=False)
        return [(range(a, b), range(c, d)) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"]

    @property
    def summary(self) -> str:
        """What differs and what is lost, in words."""
        said = [
            _change(sentence_of([self.words[i] for i in first]), sentence_of([self.words_without[i] for i in second]))
            for first, second in self.changes
        ]
        return f"{_differences(said)} {_loss(float(self.lost.sum()))}"

    def __repr__(self) -> str:
        first, second = sentence_of(self.words), sentence_of(self.words_without)
        return f"With all heads: {first}\n{_without(self.silent)}: {second}\n{self.summary}"

    def _repr_html_(self) -> str:
        differ, differ_without = ({place for change in self.changes for place in change[side]} for side in (0, 1))
        scale = TALLEST / max(1.0, abs(self.lost).max())
        columns = [
            _column(_marked(word, place in differ), loss, scale)
            for place, (word, loss) in enumerate(zip([*self.words, END], self.lost, strict=True))
        ]
        without = sentence_of(self.words_without, lambda place, word: _marked(word, place in differ_without))
        return (
            '<div class="silencing" style="max-width: 640px; overflow-wrap: anywhere">'
            "<div><strong>With all heads</strong><br>Above a word: how much log-probability it loses, in nats.</div>"
            f'<div style="display: flex; flex-wrap: wrap; align-items: flex-end; gap: 4px 8px">{"".join(columns)}</div>'
            f'<div style="{APART}"><strong>{escape(_without(self.silent))}</strong><br>{without or "(nothing)"}</div>'
            f'<div style="{APART}">{escape(self.summary)}</div></div>'
        )


def name_heads(heads: Iterable[Head]) -> str:
    """Heads in words, counted from 1."""
    by_kind: dict[str, list[str]] = {}
    for kind, layer, head in heads:
        by_kind.setdefault(KIND_LABELS[KINDS.index(kind)], []).append(f"layer {layer + 1} head {head + 1}")
    return "; ".join(f"{kind} {', '.join(places)}" for kind, places in by_kind.items()) or "none"


def sentence_of(words: Sequence[str], shown: Callable[[int, str], str] = lambda place, word: word) -> str:
    """Words as a line of text, each as `shown(place, word)` has it."""
    spaced = [("" if word in CLOSING else " ") + shown(place, word) for place, word in enumerate(words)]
    return "".join(spaced).strip()


def _without(heads: Sequence[Head]) -> str:
    return f"Without {name_heads(heads)}" if heads else "With no head silenced"


def _column(word: str, loss: float, scale: float) -> str:
    """A word with a bar and a number above it."""
    color = BLUE if loss > 0 else ORANGE
    number, height = f"{loss:.2f}".replace("-", "−"), abs(loss) * scale
    if abs(loss) < SMALLEST:
        number, height, color = "0", 0, "none"
    bar = f"width: 20px; height: {height:.1f}px; background: {color}; border-bottom: 1px solid {FAINT}"
    return (  # upside down, so that the word comes before its number for a screen reader
        '<span style="display: inline-flex; flex-direction: column-reverse; align-items: center">'
        f'<span>{word}</span><span style="{bar}"></span><small>{number}</small></span>'
    )


def _marked(word: str, differs: bool) -> str:
    """A word that differs is bold and underlined: it is found without color."""
    return f"<strong><u>{escape(word)}</u></strong>" if differs else escape(word)


def _change(words: str, others: str) -> str:
    words, others = (textwrap.shorten(text, LONGEST_SAID, placeholder=" …") for text in (words, others))
    if not others:
        return f"“{words}” is gone"
    return f"“{words}” becomes “{others}”" if words else f"“{others}” is new"


def _differences(changes: Sequence[str]) -> str:
    if not changes:
        return "The two translations are the same."
    rest = [f"{len(changes) - MOST_SAID} more"] if len(changes) > MOST_SAID else []
    places = "1 place" if len(changes) == 1 else f"{len(changes)} places"
    return f"They differ in {places}: {', '.join([*changes[:MOST_SAID], *rest])}."


def _loss(total: float) -> str:
    if abs(total) < SMALLEST:
        return "The first translation stays as likely as it was."
    loses, falls = ("loses", "falls") if total > 0 else ("gains", "rises")
    return (
        f"The first translation {loses} {abs(total):.2f} nats in all: "
        f"its probability {falls} by a factor of {_factor(abs(total))}."
    )


def _factor(nats: float) -> str:
    factor = math.exp(min(nats, 100))
    if factor >= 1_000_000:
        return "more than a million"
    return f"{factor:.2f}" if factor < 2 else f"{factor:.1f}" if factor < 10 else f"{factor:,.0f}"
