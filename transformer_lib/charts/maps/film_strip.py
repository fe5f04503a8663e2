"""Beside a training film: a small map of each moment, and the loss with the moment marked."""

from collections.abc import Sequence

import altair as alt

from ..style import BLUE, INK, pixels
from .panels import WEIGHT_SCALE

PER_ROW, SIDE, GAP, LABEL = 5, 40, 7, 15  # small maps a row; pixels, so that a row fits a phone below the map
WIDTH = PER_ROW * (SIDE + GAP) - GAP
FAINTEST = 0.04  # a smaller weight is not to be seen in a map this small
CHOSEN = "datum.moment == moment"


def strip(updates: Sequence[int], longest: int) -> alt.LayerChart:
    """Each moment's map of the chosen head, its update above it; the frame around one takes a click."""
    rows = -(-len(updates) // PER_ROW)
    layers = [_small_cells(len(updates), longest), *_frames(updates)]
    height = rows * (SIDE + LABEL + GAP) - GAP
    return alt.layer(*layers).properties(
        name="strip", width=WIDTH, height=height, title=_heading("the same head after update")
    )


def _small_cells(moments: int, longest: int) -> alt.Chart:
    """The weights that can be seen, as rectangles; they read the same letters as the large map."""
    count = "length(queries) * length(keys)"
    row = f"floor((datum.cell % ({count})) / length(keys))"
    column = "datum.cell % length(keys)"
    visible = (
        alt.Chart(alt.sequence(0, moments * longest**2, as_="cell"))
        .transform_filter(f"datum.cell < {moments} * {count}")
        .transform_calculate(moment=f"floor(datum.cell / ({count})) + 1")
        .transform_calculate(
            level=f"indexof(alphabet, weights[datum.moment - 1][kind][start + datum.cell % ({count})])"
        )
        .transform_calculate(weight="datum.level < 0 ? 0 : pow(datum.level / (length(alphabet) - 1), 2)")
        .transform_filter(f"datum.weight > {FAINTEST}")
    )
    placed = _placed(visible).transform_calculate(
        x=f"datum.left + {column} / length(keys) * {SIDE}", y=f"datum.top + {row} / length(queries) * {SIDE}"
    )
    sized = placed.transform_calculate(x2=f"datum.x + {SIDE} / length(keys)", y2=f"datum.y + {SIDE} / length(queries)")
    return sized.mark_rect(aria=False).encode(
        x=pixels(alt.X, "x"),
        y=pixels(alt.Y, "y"),
        x2="x2:Q",
        y2="y2:Q",
        color=alt.Color("weight:Q", scale=WEIGHT_SCALE, legend=None),
    )


def _frames(updates: Sequence[int]) -> list[alt.Chart]:
    """A frame and a label a moment; the one on show has a thick frame and a bold label."""
    values = [{"moment": number, "update": update} for number, update in enumerate(updates, 1)]
    frames = _placed(alt.Chart(alt.Data(values=values))).transform_calculate(
        right=f"datum.left + {SIDE}", bottom=f"datum.top + {SIDE}", about=_about_moment()
    )
    rectangles = frames.mark_rect(fill="transparent", cursor="pointer").encode(
        x=pixels(alt.X, "left"),
        y=pixels(alt.Y, "top"),
        x2="right:Q",
        y2="bottom:Q",
        stroke=alt.condition(CHOSEN, alt.value(BLUE), alt.value("gray")),
        strokeWidth=alt.condition(CHOSEN, alt.value(3), alt.value(0.6)),
        description="about:N",
        tooltip="about:N",
    )
    labels = frames.mark_text(align="left", baseline="bottom", dy=-3, fontSize=11, color=INK, aria=False)
    weight = alt.expr(f"{CHOSEN} ? 'bold' : 'normal'")
    labels = labels.encode(x=pixels(alt.X, "left"), y=pixels(alt.Y, "top"), text=alt.Text("update:Q", format=","))
    labels.mark.fontWeight = weight
    return [rectangles, labels]


def _about_moment() -> str:
    """What a small map says: its update, and what the query singled out attends to most at that moment."""
    row = "substring(weights[datum.moment - 1][kind], start + focus * length(keys), start + (focus + 1) * length(keys))"
    strongest = f"peek(sort(split({row}, '')))"
    weight = f"format(pow(indexof(alphabet, {strongest}) / (length(alphabet) - 1), 2), '.2f')"
    said = (
        f"', query ' + queries[focus] + ' attends most to key ' + keys[indexof({row}, {strongest})] + ', ' + {weight}"
    )
    silent = f"focus < 0 || indexof(alphabet, {strongest}) < 0"
    return f"'update ' + format(datum.update, ',') + ({silent} ? '' : {said})"


def loss_curve(updates: Sequence[int], losses: Sequence[tuple[int, float]]) -> alt.LayerChart:
    """The loss over the updates, on a scale that shows the first hundred too; a line marks the moment on show."""
    values = [{"update": update, "loss": loss} for update, loss in losses]
    marked = [{"moment": number, "update": update} for number, update in enumerate(updates, 1)]
    scale = alt.Scale(type="symlog", constant=20, domain=[0, max(updates[-1], losses[-1][0])], nice=False)
    axis = alt.Axis(title="update", values=list(updates), labelOverlap=True, labelExpr="format(datum.value, ',')")
    x = alt.X("update:Q", scale=scale, axis=axis)
    curve = alt.Chart(alt.Data(values=values)).mark_line(color=BLUE, strokeWidth=2, aria=False)
    now = alt.Chart(alt.Data(values=marked)).transform_filter(CHOSEN).mark_rule(color=INK, strokeDash=[4, 3])
    y = alt.Y("loss:Q", scale=alt.Scale(zero=False), axis=alt.Axis(title=None, tickCount=4))
    layers = [curve.encode(x=x, y=y), now.encode(x=x, description=alt.value("the moment on show"))]
    return alt.layer(*layers).properties(name="loss", width=WIDTH, height=80, title=_heading("loss, nats a token"))


def _placed(rows: alt.Chart) -> alt.Chart:
    """Where the small map of each row's moment begins."""
    return rows.transform_calculate(
        left=f"(datum.moment - 1) % {PER_ROW} * {SIDE + GAP}",
        top=f"floor((datum.moment - 1) / {PER_ROW}) * {SIDE + LABEL + GAP} + {LABEL}",
    )


def _heading(text: str) -> alt.TitleParams:
    return alt.TitleParams(text=text, fontSize=12, fontWeight="normal", frame="group", offset=4)
