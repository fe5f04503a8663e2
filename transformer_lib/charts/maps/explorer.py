"""The attention explorer: every layer and head of a model on sentences to choose from, in a page without a kernel."""

from collections.abc import Sequence

import altair as alt

from ..examples import AttentionExample
from ..page import finished, one_column_below
from .lines import line_panel
from .notes import notes
from .panels import cells, heat_panel
from .parameters import (
    as_examples,
    data,
    derived,
    head_choices,
    kind_choice,
    longest_side,
    query_choice,
    sentence_choice,
    shown_heads,
    title,
)
from .window import ALL, PART, WHOLE, drawn_tokens, window_parameters, window_sliders

SIZE, PIXELS_PER_TOKEN = 230, 8


def attention_explorer(
    examples: AttentionExample | Sequence[AttentionExample],
    *,
    kind: str = "encoder",
    layers: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
    size: int | None = None,
) -> alt.ConcatChart:
    """Heat map and linked lines for a sentence, kind of attention, layer and head that the reader chooses.

    Rows and left words are queries, columns and right words are keys; in cross-attention the queries are target tokens.
    Hovering over a query, or choosing its number, singles it out and writes its weights beside the keys. Hatched cells
    are masked or padding. A sentence of more than 64 tokens is drawn through a window of 48 that the reader moves.
    `kind` is shown first. `layers` and `heads` are indexes of those to show, all by default; the page counts them from
    1. `size` is the side of a panel in pixels, by default one that fits a phone for up to 30 tokens. `ValueError` when
    the examples are none, come from models of different sizes, or have more than a million weights, and for an unknown
    kind.
    """
    examples = as_examples(examples)
    shown, longest = shown_heads(examples, layers, heads), longest_side(examples)
    drawn, most = PART if longest > WHOLE else ALL, drawn_tokens(longest)
    size = size or max(SIZE, PIXELS_PER_TOKEN * most)
    gold = any(example.gold for example in examples)
    lines = alt.TitleParams(text=notes(gold, drawn), fontSize=12, fontWeight="normal", offset=8)
    panels = [heat_panel(size, gold=gold).properties(title=lines), line_panel(size, drawn)]
    chart = alt.concat(*panels, **cells(most, drawn), columns=2, spacing=24, title=title())
    controls = [sentence_choice(examples), kind_choice(kind), *head_choices(shown), query_choice(longest)]
    chart = chart.add_params(*controls, *data(examples, shown), *derived())
    about = "Attention of the chosen layer and head: a heat map of queries by keys, and lines between them"
    patch = one_column_below(2 * size + 260)
    if drawn is PART:
        chart, patch = chart.add_params(*window_parameters()), patch + window_sliders(longest)
    return finished(chart, about, patch=patch)
