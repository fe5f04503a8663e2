"""Bars beside words: how likely each next piece is, and how much a layer or head looks at each source piece."""

import textwrap
from collections.abc import Sequence

import altair as alt
import numpy as np

from ..packing import ALPHABET, pack
from ..style import BLUE, INK, MASKED, pixels, words

WORD, BAR, NUMBER, ROW = 88, 150, 62, 19  # pixels: a word, a bar of 1, the number after it, the height of a row
WIDTH = WORD + BAR + NUMBER
LINE = 46  # characters of text that go above a panel
MOST_WEIGHTS = 80_000
WEIGHT = "pow(indexof(alphabet, {}) / (length(alphabet) - 1), 2)"
LOOKS = [  # lines that say what `looks_panel` shows
    "'Attention: layer ' + layer + (head ? ', head ' + head : ', mean of its heads')",
    f"'Most on “' + source[indexof(seen, strongest)] + '”, ' + format({WEIGHT.format('strongest')}, '.2f')",
]
NO_LINE = "'\u00a0'"  # a blank would not take the room of a line


def word_bars(rows: alt.Chart, count: int, *, name: str, title: list[str]) -> alt.LayerChart:
    """A bar from 0 to 1 for each row, its word before it and its number after it, below lines of words.

    A row has its `place` (1 to `count`), `word`, `value`, the number as it is `shown`, whether it is `strong`, and what
    it is `about`, for a screen reader. The lines of `title` are expressions of the page.
    """
    placed = rows.transform_calculate(
        top=f"(datum.place - 1) * {ROW}", bottom=f"datum.place * {ROW}", middle=f"(datum.place - 0.5) * {ROW}"
    ).transform_calculate(start=f"{WORD}", end=f"{WORD} + {BAR} * datum.value", number="datum.end + 6")
    bar = alt.Chart()  # inherits the rows
    text = {"color": INK, "fontSize": 12, "fontWeight": alt.expr("datum.strong ? 'bold' : 'normal'")}
    text |= {"baseline": "middle", "aria": False}
    start, middle = pixels(alt.X, "start"), pixels(alt.Y, "middle")
    opacity = alt.condition("datum.strong", alt.value(1), alt.value(0.6))
    layers = [
        bar.mark_rule(stroke=MASKED, strokeWidth=12, aria=False).encode(
            x=alt.value(WORD), x2=alt.value(WORD + BAR), y=middle
        ),
        bar.mark_rule(stroke=BLUE, strokeWidth=12, aria=False).encode(x=start, x2="end:Q", y=middle, opacity=opacity),
        bar.mark_text(align="right", limit=WORD - 6, **text).encode(x=alt.value(WORD - 6), y=middle, text="word:N"),
        bar.mark_text(align="left", **text).encode(x=pixels(alt.X, "number"), y=middle, text="shown:N"),
        _described(bar),
    ]
    panel = alt.layer(*layers, data=placed.data, transform=placed.transform)
    return panel.properties(name=name, width=WIDTH, height=count * ROW, title=words(*title))


def _described(bar: alt.Chart) -> alt.Chart:
    """The whole row answers the pointer, and says what it shows."""
    return bar.mark_rect(fill="transparent").encode(
        x=alt.value(0),
        x2=alt.value(WIDTH),
        y=pixels(alt.Y, "top"),
        y2="bottom:Q",
        description="about:N",
        tooltip="about:N",
    )


def text_of(pieces: Sequence[str]) -> str:
    """What pieces say, as text: their marks for spaces are spaces, an end of sentence is not said."""
    return "".join(piece for piece in pieces if piece not in ("<s>", "</s>")).replace("▁", " ").strip()


def texts_in_lines(texts: Sequence[str]) -> list[list[str]]:
    """Each text, in quotes, broken into lines; all have as many. Of no text there is `<s>`, which began it."""
    broken = [textwrap.wrap(f"“{text}”" if text else "<s>", LINE) for text in texts]
    count = max(map(len, broken))
    return [[*found, *["\u00a0"] * (count - len(found))] for found in broken]


def looks(source: Sequence[str], cross: np.ndarray, row: str) -> list[alt.Parameter]:
    """Controls for layer and head, and the cross-attention `(layers, heads, rows, n_source)` of which `row` is shown.

    Layers and heads count from 1, rows from 0. Head 0 is the mean over the heads of a layer, shown at first, and the
    only one where there are more than 80,000 weights: a page should not grow with every head of a large model.
    """
    layers, heads = cross.shape[:2] if cross.size <= MOST_WEIGHTS else (len(cross), 0)
    with_mean = np.concatenate([cross.mean(axis=1, keepdims=True), cross[:, :heads]], axis=1)
    layer = alt.binding_range(min=1, max=layers, step=1, name="Layer ")
    head = {"bind": alt.binding_range(min=0, max=heads, step=1, name="Head (0: mean) ")} if heads else {}
    seen = f"substring(cross[layer - 1][head], ({row}) * {len(source)}, ({row} + 1) * {len(source)})"
    return [
        alt.param(name="layer", value=layers, bind=layer),
        alt.param(name="head", value=0, **head),
        alt.param(name="alphabet", value=ALPHABET),
        alt.param(name="source", value=list(source)),
        alt.param(name="cross", value=[[pack(weights) for weights in heads] for heads in with_mean]),
        alt.param(name="seen", expr=seen),
        alt.param(name="strongest", expr="peek(sort(split(seen, '')))"),
    ]


def looks_panel(count: int, *, title: list[str]) -> alt.LayerChart:
    """How much of its attention the model gives to each of `count` source pieces, below lines of words."""
    rows = (
        alt.Chart(alt.sequence(1, count + 1, as_="place"))
        .transform_calculate(word="source[datum.place - 1]", level="seen[datum.place - 1]")
        .transform_calculate(value=WEIGHT.format("datum.level"), strong="datum.level == strongest")
        .transform_calculate(shown="format(datum.value, '.2f')")
        .transform_calculate(about="'source piece ' + datum.word + ', attention ' + datum.shown")
    )
    return word_bars(rows, count, name="looks", title=title)
