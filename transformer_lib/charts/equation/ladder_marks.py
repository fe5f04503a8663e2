"""The marks that the two views of `attention_steps` are made of: words, strips of numbers, bars, headings."""

import altair as alt

from ..maps.panels import CELLS
from ..style import BLUE, DIVERGING, FAINT, INK, MASKED, pixels

# Pixels. Each view is at most 320 wide, for a phone.
WORD, STRIP, NUMBER, BAR, ROW, LINE, BOX = 64, 140, 54, 58, 18, 16, 22
CELL = ROW - 4
QUERY, KEY = "queries[chosen_query - 1]", "keys[datum.key - 1]"
TEXT = {"baseline": "middle", "color": INK, "fontSize": 11}
ONCE = alt.Chart(alt.Data(values=[{}]))
CHOSEN = "datum.chosen_query == chosen_query"


def from_step(step: int, rows: alt.Chart = CELLS) -> alt.Chart:
    """The rows once the reader has come to this step, and none before."""
    return rows.transform_filter(f"step >= {step}")


def strips(rows: alt.Chart, name: str, top: str, left: float, count: int, color: alt.Color) -> list[alt.Chart]:
    """Vectors as `count` colored cells in a frame, from rows of `number`, `component` and `about`, each at `top`."""
    placed = rows.transform_calculate(
        left=f"{left} + {STRIP} * (datum.component - 1) / {count}", right=f"datum.left + {STRIP / count}"
    ).transform_calculate(top=top, bottom=f"datum.top + {CELL}")
    tall = {"y": pixels(alt.Y, "top"), "y2": "bottom:Q"}
    cells = placed.mark_rect().encode(
        pixels(alt.X, "left"), x2="right:Q", **tall, color=color, description="about:N", tooltip=alt.Tooltip("about:N")
    )
    frames = placed.transform_filter("datum.component == 1").mark_rect(filled=False, stroke=FAINT, aria=False)
    return [frames.encode(x=alt.value(left), x2=alt.value(left + STRIP), **tall), cells.properties(name=name)]


def colors(largest: float, title: str) -> alt.Color:
    """Blue above zero, orange below, nothing at zero; as deep as the square root, so that small numbers are seen."""
    scale = alt.Scale(type="sqrt", domain=[-largest, 0, 0, largest], range=DIVERGING, clamp=True)
    marked = [-largest, 0, largest]
    legend = alt.Legend(orient="bottom", title=title, gradientLength=STRIP, values=marked, format=".2~g")
    return alt.Color("number:Q", scale=scale, legend=legend)


def key_words(top: str) -> alt.Chart:
    """The key of each row, on the left."""
    placed = CELLS.transform_calculate(middle=f"{top} + {CELL / 2}")
    return _word("key_token", placed).encode(x=alt.value(WORD - 6), y=pixels(alt.Y, "middle"), text="key_token:N")


def _word(field: str, rows: alt.Chart, **look: object) -> alt.Chart:
    """A word in the first column; a long one is smaller."""
    fitting = alt.expr(f"clamp({1.4 * (WORD - 6):.0f} / length(datum.{field}), 7, 11)")
    return rows.mark_text(align="right", limit=WORD - 6, aria=False, **TEXT | {"fontSize": fitting} | look)


def numbers(step: int, name: str, meaning: str, top: str, right: float) -> alt.Chart:
    """The field `name` of each key as a number, faint where the key is masked."""
    placed = (
        from_step(step)
        .transform_calculate(middle=f"{top} + {CELL / 2}", written=f"format(datum.{name}, '.2f')")
        .transform_calculate(about=f"'query ' + {QUERY} + ', key ' + {KEY} + ': {meaning} is ' + datum.written")
    )
    text = placed.mark_text(align="right", **TEXT).encode(
        x=alt.value(right),
        y=pixels(alt.Y, "middle"),
        text="written:N",
        description="about:N",
        opacity=alt.condition("datum.level < 0", alt.value(0.5), alt.value(1)),
    )
    return text.properties(name=name)


def weights(step: int, top: str) -> list[alt.Chart]:
    """A bar as long as the weight of each key, and the weight; masked keys hatched."""
    placed = from_step(step).transform_calculate(
        left=str(WORD), right=f"{WORD} + {BAR} * datum.weight", top=top, bottom=f"{top} + {CELL}"
    )
    masked = placed.transform_filter("datum.level < 0")
    wide = {"x": alt.value(WORD), "x2": alt.value(WORD + BAR)}
    tall = {"y": pixels(alt.Y, "top"), "y2": "bottom:Q"}
    hatch = masked.mark_rule(color="gray", strokeWidth=0.7, aria=False)
    bars = placed.mark_rect(color=BLUE).encode(
        pixels(alt.X, "left"), x2="right:Q", **tall, description="about:N", tooltip=alt.Tooltip("about:N")
    )
    shown = placed.mark_text(align="left", dy=CELL / 2, aria=False, **TEXT)
    return [
        masked.mark_rect(color=MASKED, aria=False).encode(**wide, **tall),
        hatch.encode(**wide, y=pixels(alt.Y, "bottom"), y2="top:Q"),
        bars.properties(name="weights"),
        shown.encode(x=alt.value(WORD + BAR + 5), y=pixels(alt.Y, "top"), text="shown:N"),
    ]


def label(step: int, text: str, top: float, right: float) -> alt.Chart:
    """The name of a single vector, on its left; `text` is an expression."""
    named = from_step(step, ONCE).transform_calculate(text=text)
    return _word("text", named, fontWeight="bold").encode(
        x=alt.value(right - 6), y=alt.value(top + CELL / 2), text="text:N"
    )


def heading(step: int, text: str, bottom: float, x: float, align: str = "left") -> alt.Chart:
    """What a column holds."""
    mark = from_step(step, ONCE).mark_text(align=align, aria=False, **TEXT | {"baseline": "bottom"})
    return mark.encode(x=alt.value(x), y=alt.value(bottom), text=alt.value(text))


def line(at: float, rows: alt.Chart, text: str) -> alt.Chart:
    """A line of words `at` pixels from the top, for one row or for none; `text` is an expression."""
    mark = rows.transform_calculate(line=text).mark_text(align="left", **TEXT | {"fontSize": 12})
    return mark.encode(text="line:N", description="line:N", x=alt.value(0), y=alt.value(at))


def word_boxes(words: list[str], width: float = 310) -> list[dict[str, object]]:
    """Where each query word stands, as in a paragraph: left and right edge, and line; words count from 1."""
    boxes, left, line = [], 0.0, 0
    for number, word in enumerate(words, 1):
        wide = min(12 + 6.5 * len(word), width)
        if left + wide > width:
            left, line = 0.0, line + 1
        boxes.append({"chosen_query": number, "left": left, "right": left + wide, "line": line})
        left += wide + 3
    return boxes


def word_buttons(words: list[str]) -> list[alt.Chart]:
    """The query words, each in a box that can be clicked; the chosen one stands out."""
    boxes = alt.Chart(alt.Data(values=word_boxes(words))).transform_calculate(
        word="queries[datum.chosen_query - 1]",
        about="'query ' + queries[datum.chosen_query - 1]",
        top=f"{LINE} + {BOX} * datum.line",
        bottom=f"{LINE + BOX - 4} + {BOX} * datum.line",
        middle=f"{LINE + BOX / 2 - 2} + {BOX} * datum.line",
        center="(datum.left + datum.right) / 2",
    )
    text = boxes.mark_text(align="center", aria=False, **TEXT)
    buttons = boxes.mark_rect(fill=BLUE, cornerRadius=4, cursor="pointer").encode(
        pixels(alt.X, "left"),
        pixels(alt.Y, "top"),
        x2="right:Q",
        y2="bottom:Q",
        fillOpacity=alt.condition(CHOSEN, alt.value(0.3), alt.value(0)),
        stroke=alt.condition(CHOSEN, alt.value(BLUE), alt.value(FAINT)),
        description="about:N",
    )
    return [
        text.encode(pixels(alt.X, "center"), pixels(alt.Y, "middle"), text="word:N"),
        buttons.properties(name="words"),
    ]
