"""The training film: the map of one head at moments of a training, all of them small, one of them large."""

import math
from collections.abc import Sequence
from itertools import pairwise

import altair as alt

from ..examples import AttentionExample
from ..page import finished, one_column_below, playing_step
from .film_strip import loss_curve, strip
from .notes import notes
from .panels import cells, heat_panel
from .parameters import (
    Shown,
    as_examples,
    data,
    derived,
    head_choices,
    kind_choice,
    longest_side,
    query_choice,
    shown_heads,
    title,
)
from .window import ALL

Moment, Losses = tuple[int, AttentionExample], Sequence[tuple[int, float]]
LONGEST, MOST_MOMENTS = 32, 20  # tokens a side, small maps: what a page draws while the reader waits for nothing
SIZE = 230


def training_film(
    moments: Sequence[Moment],
    *,
    losses: Losses = (),
    kind: str = "cross",
    layers: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
) -> alt.ConcatChart:
    """The heads of a model at moments of its training: a map that a slider or a Play box takes through the moments.

    `moments` are pairs of an update (0 before the first) and the attention recorded after it, always of the same
    tokens. Small maps beside the large one show every moment of the chosen head; a click on one goes there. `losses`,
    pairs of an update and a loss in nats a target token, add a curve with the moment marked. The film stands at its
    last moment and at the last layer of `kind`; played, it starts over. `layers` and `heads` are indexes of those to
    show. `ValueError` for moments out of order, more than 20 of them, other tokens or sizes in one of them, sentences
    of more than 32 tokens, and losses that are no numbers.
    """
    updates, examples = _checked(moments, losses)
    shown, longest = shown_heads(examples, layers, heads), longest_side(examples)
    gold = any(example.gold for example in examples)
    about = alt.TitleParams(text=notes(gold, ALL, _moment_note(losses)), fontSize=12, fontWeight="normal", offset=8)
    large = heat_panel(max(SIZE, 8 * longest), gold=gold).properties(title=about)
    small = [strip(updates, longest)] + ([loss_curve(updates, losses)] if losses else [])
    views = [large, alt.vconcat(*small, spacing=18)]
    chart = alt.concat(*views, **cells(longest), columns=2, spacing=24, title=title())
    chart = chart.resolve_scale(color="independent").add_params(
        *_controls(shown, longest, kind), *data(examples, shown), *derived(), *_of_moments(updates, losses)
    )
    play = playing_step("moment", len(updates), label="Moment", start=len(updates), by_click=True)
    return finished(chart, "Attention of one head at moments of a training", patch=one_column_below(720) + play)


def _checked(moments: Sequence[Moment], losses: Losses) -> tuple[list[int], list[AttentionExample]]:
    """Updates and examples that make a film."""
    updates, examples = [int(update) for update, _ in moments], as_examples([example for _, example in moments])
    if len(updates) > MOST_MOMENTS:
        raise ValueError(f"{len(updates)} moments are too many to draw, at most {MOST_MOMENTS}: leave some out")
    if updates[0] < 0 or any(before >= after for before, after in pairwise(updates)):
        raise ValueError(f"moments: the updates must rise from 0 or more, got {updates}")
    tokens = [(example.source, example.target) for example in examples]
    for update, pair in zip(updates, tokens, strict=True):
        if pair != tokens[0]:
            raise ValueError(f"moments: update {update} has other tokens than update {updates[0]}: {pair}")
    if longest_side(examples) > LONGEST:
        raise ValueError(f"a film shows sentences of at most {LONGEST} tokens, got {longest_side(examples)}")
    if not all(math.isfinite(loss) for _, loss in losses):
        raise ValueError("losses: expected finite numbers")
    if any(before >= after for (before, _), (after, _) in pairwise(losses)):
        raise ValueError("losses: the updates must rise")
    return updates, examples


def _controls(shown: Shown, longest: int, kind: str) -> list[alt.Parameter]:
    """What the reader chooses beside the moment; at first the last layer, which is the one that decides."""
    layer, head = head_choices(shown, last_layer=True)
    return [kind_choice(kind), layer, head, query_choice(longest)]


def _of_moments(updates: list[int], losses: Losses) -> list[alt.Parameter]:
    """The moments in the page; each has the place of a sentence in the explorer's parameters."""
    return [
        alt.param(name="sentence", expr="moment - 1"),
        alt.param(name="updates", value=updates),
        alt.param(name="moment_losses", value=[_loss_at(update, losses) for update in updates] if losses else []),
    ]


def _loss_at(moment: int, losses: Losses) -> float:
    """The last loss known at an update; before the first, that one."""
    known = [loss for update, loss in losses if update <= moment]
    return known[-1] if known else losses[0][1]


def _moment_note(losses: Losses) -> str:
    loss = " + ', loss ' + format(moment_losses[moment - 1], '.2f') + ' nats a token'" if losses else ""
    return f"'After update ' + format(updates[moment - 1], ','){loss} + '.'"
