"""The chosen token's vectors in `head_sum`, and their sum, as strips of bars."""

import altair as alt

from ..packing import ALPHABET
from ..style import BLUE, FAINT, INK, ORANGE, pixels, words
from .head_lengths import LEFT, WIDTH, name_of, shares_of

# Two characters a component: levels from -HALF to HALF, an error of at most 1 / (2 * HALF) of the largest component.
HALF = len(ALPHABET) ** 2 // 2 - 1
ROW, STRIP = 58, 40  # heights of a strip with its heading, and of its bars
FADED = 0.25  # opacity of a head that is left out


def strips_panel(heads: int, drawn: int, width: int) -> alt.LayerChart:
    """A strip of bars for each head and, below them, for the sum of those kept; `reach` fills half a strip."""
    components = _components(heads, drawn)
    bars = components.mark_rect(aria=False).encode(
        **_box("middle", "tip"),
        color=alt.condition("datum.shown < 0", alt.value(ORANGE), alt.value(BLUE)),
        opacity=alt.condition("datum.kept", alt.value(1), alt.value(FADED)),
    )
    # As high as the strip and invisible: a short bar is hard to hit.
    cells = components.mark_rect(opacity=0).encode(
        **_box("top", "bottom"),
        description="about:N",
        tooltip=["vector:N", "component:Q", alt.Tooltip("shown:Q", title="value", format=".3g")],
    )
    part = f"{width} components" if drawn == width else f"the first {drawn} of {width} components"
    said = words(
        f"'A bar for each of {part}:'",
        "'positive up, negative down; the edge is ±' + format(reach[token - 1], '.2g')",
    )
    layers = [*_strips(heads), bars, _headings(heads), cells]
    size = {"width": WIDTH, "height": (heads + 1) * ROW}
    return alt.layer(*layers).properties(name="head_strips", title=said, **size)


def _components(heads: int, drawn: int) -> alt.Chart:
    """Each component of each head at the chosen token; the rows of head number `heads` are the sum of those kept."""
    digits = [f"indexof(alphabet, vectors[token - 1][2 * datum.cell + {place}])" for place in (0, 1)]
    level = f"{len(ALPHABET)} * {digits[0]} + {digits[1]}"
    values = (
        alt.Chart(alt.sequence(0, (heads + 1) * drawn, as_="cell"))
        .transform_calculate(head=f"floor(datum.cell / {drawn})", component=f"datum.cell % {drawn}")
        .transform_calculate(
            value=f"datum.head < {heads} ? (({level}) / {HALF} - 1) * largest : 0",
            kept=f"datum.head == {heads} || kept[datum.head]",
            vector=name_of("datum.head", heads),
        )
        .transform_calculate(added="datum.kept ? datum.value : 0")
        .transform_joinaggregate(total="sum(added)", groupby=["component"])
        .transform_calculate(shown=f"datum.head < {heads} ? datum.value : datum.total")
    )
    about = "datum.vector + ', component ' + datum.component + ': ' + format(datum.shown, '.3g')"
    return _placed(values, drawn).transform_calculate(about=f"{about} + (datum.kept ? '' : ', left out')")


def _placed(values: alt.Chart, drawn: int) -> alt.Chart:
    middle, step = f"(datum.head + 1) * {ROW} - {STRIP / 2}", (LEFT + WIDTH) / drawn
    return values.transform_calculate(
        left=f"datum.component * {step} - {LEFT}",
        right=f"(datum.component + 1) * {step} - {LEFT}",
        top=f"{middle} - {STRIP / 2}",
        middle=middle,
        tip=f"{middle} - datum.shown / reach[token - 1] * {STRIP / 2}",
        bottom=f"{middle} + {STRIP / 2}",
    )


def _box(start: str, end: str) -> dict[str, object]:
    return {"x": pixels(alt.X, "left"), "x2": "right:Q", "y": pixels(alt.Y, start), "y2": f"{end}:Q"}


def _strips(heads: int) -> list[alt.Chart]:
    """The frame of each strip and its zero."""
    one_each = alt.Chart(alt.sequence(0, heads + 1, as_="head")).transform_calculate(component="0", shown="0")
    strips = _placed(one_each, 1)
    frames = strips.mark_rect(filled=False, stroke=FAINT, aria=False).encode(**_box("top", "bottom"))
    return [frames, strips.mark_rect(filled=False, stroke=FAINT, aria=False).encode(**_box("middle", "tip"))]


def _headings(heads: int) -> alt.Chart:
    """What each strip is, its length and its share."""
    headings = shares_of(heads).transform_calculate(heading=f"(datum.head + 1) * {ROW} - {STRIP + 3}")
    text = headings.mark_text(align="left", baseline="bottom", color=INK, fontSize=12, aria=False)
    return text.encode(alt.X(value=-LEFT), pixels(alt.Y, "heading"), text="said:N")
