"""What a shift does to sinusoidal positions: it turns each pair like the hand of a clock, and dot products see it."""

import altair as alt
import numpy as np

from ..style import BLUE, DASHES, FAINT, INK, ORANGE, words
from .sinusoids import HEIGHT, ROOM, WIDTH, angle, once, position_axis, turned

START = -46  # where the words above a view begin, left of its numbers and their title
RIM = 1.4  # half the side of the view; the hand has length 1
SIDE = alt.Scale(domain=[-RIM, RIM], nice=False)
FACE = {
    "x": alt.X("x:Q", title="sine", scale=SIDE, axis=alt.Axis(values=[-1, 0, 1])),
    "y": alt.Y("y:Q", title="cosine", scale=SIDE, axis=alt.Axis(values=[-1, 0, 1], **ROOM)),
}


def clock_panel(d_model: int, positions: int) -> alt.LayerChart:
    """The chosen pair as a hand, sine to the right and cosine up, before and after the shift; the turn in between."""
    turn = f"(shift * {angle('1', 'pair', d_model)})"
    said = words(
        "'From ' + position + ' to ' + (position + shift) + ' the hand of pair ' + pair + ' turns'",
        f"'by ' + format({turn}, '.2f') + ' radians, ' + format({turn} * 180 / PI, '.1f') + '°, as from anywhere.'",
        f"'The cosine of this turn is ' + format(cos({turn}), '.2f') + '.'",
    )
    before = _hand("position", d_model, BLUE, DASHES[0], reach=1.14)
    after = _hand("position + shift", d_model, ORANGE, DASHES[1], reach=1.3)
    layers = [_rim(d_model), _places(d_model, positions), _turn(d_model), *after, *before]
    return alt.layer(*layers).properties(name="position_clock", width=HEIGHT, height=HEIGHT, title=said)


def _on_face(rows: alt.Chart, radius: str = "1") -> alt.Chart:
    return rows.transform_calculate(x=f"{radius} * datum.sine", y=f"{radius} * datum.cosine")


def _rim(d_model: int) -> alt.Chart:
    around = turned(alt.Chart(alt.sequence(0, 73, as_="step")), d_model, "0", "datum.step * PI / 36")
    return _on_face(around).mark_line(color=FAINT, aria=False).encode(**FACE, order="step:Q")


def _places(d_model: int, positions: int) -> alt.Chart:
    """Where the hand points at each position."""
    places = turned(
        alt.Chart(alt.sequence(0, positions, as_="position")), d_model, "pair", "datum.position"
    ).transform_calculate(
        about="'position ' + datum.position + ': sine ' + format(datum.sine, '.2f')"
        " + ', cosine ' + format(datum.cosine, '.2f')"
    )
    points = _on_face(places).mark_point(filled=True, opacity=0.5, color=INK, size=16, cursor="pointer")
    values = [alt.Tooltip(f"{name}:Q", format=".3f") for name in ("sine", "cosine")]
    return points.encode(**FACE, description="about:N", tooltip=["position:Q", *values])


def _turn(d_model: int) -> alt.Chart:
    """An arc from hand to hand; more than one turn winds outward."""
    fractions = alt.Chart(alt.sequence(0, 201, as_="step")).transform_calculate(
        at="position + shift * datum.step / 200"
    )
    arc = turned(fractions, d_model).transform_calculate(since=f"datum.angle - {angle('position', 'pair', d_model)}")
    arc = _on_face(arc, "(0.3 + datum.since / 60)")
    return arc.mark_line(color=INK, strokeWidth=1.5, aria=False).encode(**FACE, order="step:Q")


def _hand(position: str, d_model: int, color: str, dash: list[int], *, reach: float) -> list[alt.Chart]:
    """From the middle to the rim, with the number of its position at `reach`."""
    hand = turned(once(at=position), d_model).transform_calculate(about="'hand at position ' + datum.at")
    rule = _on_face(hand).mark_rule(color=color, strokeWidth=3, strokeDash=dash)
    rule = rule.encode(**FACE, x2=alt.datum(0), y2=alt.datum(0), description="about:N")
    number = _on_face(hand, str(reach)).mark_text(fontWeight="bold", color=INK, aria=False)
    return [rule, number.encode(**FACE, text="at:N")]


def dots_panel(d_model: int, positions: int) -> alt.LayerChart:
    """The dot product of the chosen position with every other; those as far ahead and back as the shift marked."""
    others = _products(d_model, positions)
    x = position_axis(positions)
    y = alt.Y("dot:Q", title="dot product", axis=alt.Axis(**ROOM), scale=_dot_scale(d_model, positions))
    drawn = others.transform_filter(f"inrange(datum.at, [0, {positions - 1}])")
    line = drawn.mark_line(color=BLUE, strokeWidth=1.5, aria=False).encode(x, y)
    points = (
        drawn.transform_calculate(position="datum.at")
        .mark_point(filled=True, opacity=1, cursor="pointer")
        .encode(
            x,
            y,
            color=alt.condition("datum.marked", alt.value(ORANGE), alt.value(BLUE)),
            shape=alt.condition("datum.marked", alt.value("diamond"), alt.value("circle")),
            size=alt.condition("datum.marked || datum.offset == 0", alt.value(110), alt.value(14)),
            description="about:N",
            tooltip=["position:Q", "offset:Q", alt.Tooltip("dot:Q", title="dot product", format=".3f")],
        )
    )
    layers = [line, points, *_readings(others, positions)]
    return alt.layer(*layers).properties(name="position_dots", width=WIDTH, height=HEIGHT)


def _products(d_model: int, positions: int) -> alt.Chart:
    """PE(position) times PE of each position within reach of a shift, summed over the pairs."""
    pairs, reach = d_model // 2, positions // 2
    terms = alt.Chart(alt.sequence(0, (positions + 2 * reach) * pairs, as_="term"))
    terms = terms.transform_calculate(at=f"floor(datum.term / {pairs}) - {reach}", pair=f"datum.term % {pairs}")
    here = angle("position", "datum.pair", d_model)
    products = turned(terms, d_model, "datum.pair").transform_calculate(
        product=f"sin({here}) * datum.sine + cos({here}) * datum.cosine"
    )
    sums = products.transform_aggregate(dot="sum(product)", groupby=["at"])
    sums = sums.transform_calculate(offset="datum.at - position")
    return sums.transform_calculate(
        marked="datum.offset != 0 && abs(datum.offset) == shift",
        about="'position ' + datum.at + ', offset ' + datum.offset + ': dot product ' + format(datum.dot, '.2f')",
    )


def _dot_scale(d_model: int, positions: int) -> alt.Scale:
    """From the lowest product within the axis to d_model / 2, the same for every choice."""
    frequencies = 10_000.0 ** (-np.arange(0, d_model, 2) / d_model)
    products = np.cos(np.outer(np.arange(positions), frequencies)).sum(axis=1)
    return alt.Scale(domain=[min(0.0, float(products.min().round(2))), d_model / 2 * 1.05], nice=False)


def _readings(others: alt.Chart, positions: int) -> list[alt.Chart]:
    """Three lines of words above the curve: the product with itself, with the position ahead and with the one back."""
    about = "'PE(' + position + ') · PE(' + datum.at + ') = ' + format(datum.dot, '.2f')"
    missing = f"datum.at < 0 || datum.at >= {positions} ? 'no such position here' : "
    starts = {
        "datum.offset == 0": "'With itself: '",
        "datum.offset == shift": "shift + ' ahead: '",
        "datum.offset == -shift": "shift + ' back: '",
    }
    readings = []
    for row, (chosen, start) in enumerate(starts.items()):
        said = others.transform_filter(chosen).transform_calculate(said=f"{start} + ({missing}{about})")
        text = said.mark_text(align="left", baseline="bottom", color=INK, fontSize=12, aria=False)
        readings.append(text.encode(x=alt.value(START), y=alt.value(14 * row - 38), text="said:N"))
    return readings
