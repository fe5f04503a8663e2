"""Sinusoidal positions in the language of the page, as a table and as waves; the explorer chooses what they mark."""

import altair as alt

from ..style import BLUE, DASHES, DIVERGING, INK, ORANGE, TIGHT, pixels, words

TABLE, WIDTH, HEIGHT = 256, 232, 240
STEPS = 4  # points of a wave from one position to the next
ROOM = {"minExtent": 28, "maxExtent": 28}  # for the numbers left of a view, so that all views begin at one line
NAMES = ["sine", "cosine"]


def angle(position: str, pair: str, d_model: int) -> str:
    """The argument of sine and cosine in section 3.5, an expression in radians: pos / 10000^(2i / d_model)."""
    return f"(({position}) * pow(10000, -2 * ({pair}) / {d_model}))"


def turned(rows: alt.Chart, d_model: int, pair: str = "pair", position: str = "datum.at") -> alt.Chart:
    """Rows with the angle of a pair of components at a position, its sine and its cosine.

    A field named `position` or `pair` is one that a click on its mark chooses; elsewhere the position is `at`.
    """
    angled = rows.transform_calculate(angle=angle(position, pair, d_model))
    return angled.transform_calculate(sine="sin(datum.angle)", cosine="cos(datum.angle)")


def once(**fields: str) -> alt.Chart:
    """A single row, for a mark that shows the reader's choice."""
    return alt.Chart(alt.sequence(0, 1, as_="once")).transform_calculate(**fields)


def position_axis(positions: int) -> alt.X:
    """The axis along the positions."""
    scale = alt.Scale(domain=[-0.5, positions - 0.5], nice=False)
    return alt.X("at:Q", title="position", scale=scale, axis=alt.Axis(tickMinStep=1))


def table_panel(d_model: int, positions: int) -> alt.LayerChart:
    """Positions by components; frames around the chosen row and the two columns of the chosen pair."""
    cells = alt.Chart(alt.sequence(0, positions * d_model, as_="cell")).transform_calculate(
        position=f"floor(datum.cell / {d_model})",
        component=f"datum.cell % {d_model}",
        pair="floor(datum.component / 2)",
    )
    cells = turned(cells, d_model, "datum.pair", "datum.position").transform_calculate(
        value="datum.component % 2 ? datum.cosine : datum.sine"
    )
    legend = alt.Legend(orient="bottom", gradientLength=160, values=[-1, 0, 1])
    rectangles = (
        cells.transform_calculate(
            about="'position ' + datum.position + ', component ' + datum.component + ': ' + format(datum.value, '.2f')"
        )
        .mark_rect(cursor="pointer")
        .encode(
            x=alt.X("component:O", title="component", axis=_every(8, d_model), scale=TIGHT),
            y=alt.Y("position:O", title="position", axis=_every(10, positions, **ROOM), scale=TIGHT),
            color=alt.Color("value:Q", scale=alt.Scale(domain=[-1, 0, 0, 1], range=DIVERGING), legend=legend),
            description="about:N",
            tooltip=["position:Q", "component:Q", alt.Tooltip("value:Q", format=".3f")],
        )
    )
    said = words(
        "'The row: position ' + position + '.'",
        "'The two columns: components ' + 2 * pair + ' and ' + (2 * pair + 1) + ','",
        "'the sine and cosine of pair ' + pair + '.'",
    )
    column, row = _cell(TABLE, d_model), _cell(HEIGHT, positions)
    panel = alt.layer(rectangles, *_frames(column, row))
    return panel.properties(name="position_table", width=d_model * column, height=positions * row, title=said)


def _cell(length: int, count: int) -> float:
    """The side of one of `count` cells in so many pixels, whole where it can be: others show seams between them."""
    return length // count or length / count


def _frames(column: float, row: float) -> list[alt.Chart]:
    # In pixels: a place on the table's own scales would have every cell drawn anew with each choice.
    chosen = once(
        top=f"position * {row}",
        bottom=f"(position + 1) * {row}",
        left=f"2 * pair * {column}",
        right=f"2 * (pair + 1) * {column}",
    )
    frame = chosen.mark_rect(filled=False, stroke=INK, strokeWidth=1.5, aria=False)
    return [
        frame.encode(x=alt.value(0), x2=alt.value("width"), y=pixels(alt.Y, "top"), y2="bottom:Q"),
        frame.encode(x=pixels(alt.X, "left"), x2="right:Q", y=alt.value(0), y2=alt.value("height")),
    ]


def _every(step: int, count: int, **options: object) -> alt.Axis:
    return alt.Axis(
        values=list(range(0, count, step)), labelAngle=0, labelOverlap=False, ticks=False, domain=False, **options
    )


def waves_panel(d_model: int, positions: int, *, turning: bool) -> alt.LayerChart:
    """Sine and cosine of the chosen pair along the positions; where a shift turns it, the shifted position too."""
    steps = alt.Chart(alt.sequence(0, (positions - 1) * STEPS + 1, as_="step"))
    waves = turned(steps.transform_calculate(at=f"datum.step / {STEPS}"), d_model)
    waves = waves.transform_fold(NAMES, as_=["wave", "value"])
    x = position_axis(positions)
    y = alt.Y("value:Q", scale=alt.Scale(domain=[-1.1, 1.1]), axis=alt.Axis(values=[-1, 0, 1], **ROOM))
    color = _by_wave(alt.Color, [BLUE, ORANGE])
    curves = waves.mark_line(strokeWidth=1.5, aria=False).encode(x, y, color, _by_wave(alt.StrokeDash, DASHES[:2]))
    points = waves.transform_filter(f"datum.step % {STEPS} == 0").transform_calculate(position="datum.at")
    points = points.transform_calculate(
        about="'position ' + datum.position + ': ' + datum.wave + ' ' + format(datum.value, '.2f')"
    )
    points = points.mark_point(filled=True, opacity=1, cursor="pointer").encode(
        x,
        y,
        color,
        shape=alt.condition("datum.wave == 'sine'", alt.value("circle"), alt.value("square")),
        size=alt.condition("datum.position == position", alt.value(90), alt.value(14)),
        description="about:N",
        tooltip=["position:Q", "wave:N", alt.Tooltip("value:Q", format=".3f")],
    )
    layers = [*_uprights(x, positions, turning=turning), curves, points]
    turn = f"format(2 * PI / {angle('1', 'pair', d_model)}, ',.1f')"
    said = [f"'Pair ' + pair + ': a full turn takes ' + {turn} + ' positions.'", _both("position", "''", d_model)]
    if turning:
        said.append(_both("position + shift", "' (dashed)'", d_model))
    return alt.layer(*layers).properties(name="position_waves", width=WIDTH, height=HEIGHT, title=words(*said))


def _by_wave(channel: type, values: list) -> alt.SchemaBase:
    """Color, dash and shape say the same, so that the two waves can be told apart in grey."""
    legend = alt.Legend(orient="bottom", title=None, symbolType="stroke", symbolSize=300, symbolStrokeWidth=2)
    return channel("wave:N", scale=alt.Scale(domain=NAMES, range=values), legend=legend)


def _both(position: str, mark: str, d_model: int) -> str:
    """Sine and cosine of the chosen pair in words."""
    at = angle(position, "pair", d_model)
    values = f"': sine ' + format(sin({at}), '.2f') + ', cosine ' + format(cos({at}), '.2f')"
    return f"'At ' + ({position}) + {mark} + {values}"


def _uprights(x: alt.X, positions: int, *, turning: bool) -> list[alt.Chart]:
    here, there = once(at="position"), once(at="position + shift")
    upright = {"color": INK, "strokeWidth": 1, "aria": False}
    solid = here.mark_rule(**upright).encode(x)
    dashed = there.transform_filter(f"datum.at < {positions}").mark_rule(strokeDash=DASHES[1], **upright)
    return [solid, dashed.encode(x)] if turning else [solid]
