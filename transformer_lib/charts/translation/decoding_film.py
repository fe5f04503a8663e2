"""A translation piece by piece: what was written, what could come next, and where the model looked to choose."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import altair as alt
import numpy as np

from ..examples import checked_tokens, checked_weights
from ..page import finished, one_column_below, playing_step
from .word_bars import LINE, LOOKS, NO_LINE, WIDTH, looks, looks_panel, text_of, texts_in_lines, word_bars


@dataclass(frozen=True, eq=False)
class DecodingSteps:
    """The steps in which a model wrote a translation, checked.

    `source` are the pieces that the encoder read, `target` those that the decoder wrote, `</s>` last; each is a step.
    `candidates` has for each step the likeliest pieces with their probabilities, the piece that was taken among them.
    `cross` of shape `(layers, heads, steps, n_source)` is the attention with which each piece was chosen: row 0 is that
    of `<s>`, where the first piece was chosen. `ValueError` where these do not fit together.
    """

    source: Sequence[str]
    target: Sequence[str]
    candidates: Sequence[Sequence[tuple[str, float]]]
    cross: np.ndarray | Any = field(repr=False)
    title: str = ""

    def __post_init__(self) -> None:
        for side in ("source", "target"):
            object.__setattr__(self, side, checked_tokens(side, getattr(self, side)))
        size = len(self.target), len(self.source)
        object.__setattr__(self, "cross", checked_weights("cross", self.cross, size))
        if len(self.candidates) != len(self.target):
            raise ValueError(f"candidates of {len(self.candidates)} steps for {len(self.target)} target pieces")
        for step, (taken, likely) in enumerate(zip(self.target, self.candidates, strict=True), 1):
            _check_candidates(f"candidates of step {step}", taken, likely)


def _check_candidates(name: str, taken: str, likely: Sequence[tuple[str, float]]) -> None:
    if wrong := [p for _, p in likely if not 0 <= p <= 1]:
        raise ValueError(f"{name}: the probability {wrong[0]} is not in [0, 1]")
    if (total := sum(p for _, p in likely)) > 1.001:
        raise ValueError(f"{name}: the probabilities sum to {total:.4g}, more than 1")
    if taken not in [piece for piece, _ in likely]:
        raise ValueError(f"{name}: the piece that was taken, {taken!r}, is not among them")


def decoding_film(steps: DecodingSteps) -> alt.ConcatChart:
    """A translation to step through or to play: at each step the text so far, likely next pieces, and the source.

    Bars show the probability of each candidate, the one taken bold and ticked, and the cross-attention with which it
    was chosen (section 3.2.3): of a layer and head, or the mean over the heads of a layer.
    """
    count = len(steps.target)
    before = texts_in_lines([text_of(steps.target[:step]) for step in range(count)])
    title = [*LOOKS, *[NO_LINE] * len(before[0])]  # as many lines as the other panel has: their bars begin side by side
    panels = [_candidates_panel(steps, before), looks_panel(len(steps.source), title=title)]
    chart = alt.concat(*panels, columns=2, spacing=24, title=textwrap.wrap(steps.title, LINE))
    written = [alt.param(name="before", value=before), alt.param(name="target", value=list(steps.target))]
    chart = chart.add_params(*looks(steps.source, steps.cross, "step - 1"), *written)
    about = f"The {count} steps in which “{text_of(steps.source)}” becomes “{text_of(steps.target)}”"
    return finished(chart, about, patch=one_column_below(2 * WIDTH + 120) + playing_step("step", count, label="Step"))


def _candidates_panel(steps: DecodingSteps, before: list[list[str]]) -> alt.LayerChart:
    rows = alt.Chart(alt.Data(values=list(_candidate_rows(steps)))).transform_filter("datum.step == step")
    rows = rows.transform_calculate(
        shown="format(datum.value, '.2f') + (datum.strong ? ' ✓' : '')",
        about="'step ' + datum.step + ': ' + datum.word + ', probability ' + format(datum.value, '.2f')"
        " + (datum.strong ? ', taken' : '')",
    )
    written = [f"before[step - 1][{line}]" for line in range(len(before[0]))]
    title = [f"'Step ' + step + ' of {len(before)}: after'", *written, "'the model takes “' + target[step - 1] + '”'"]
    return word_bars(rows, 1 + max(map(len, steps.candidates)), name="next_pieces", title=title)


def _candidate_rows(steps: DecodingSteps) -> Iterator[dict[str, object]]:
    """The likeliest pieces of each step, and all others together in its last row."""
    for step, (taken, likely) in enumerate(zip(steps.target, steps.candidates, strict=True), 1):
        for place, (piece, p) in enumerate(likely, 1):
            yield {"step": step, "place": place, "word": piece, "value": round(p, 4), "strong": piece == taken}
        others = max(0.0, 1 - sum(p for _, p in likely))
        yield {"step": step, "place": len(likely) + 1, "word": "all others", "value": round(others, 4), "strong": False}
