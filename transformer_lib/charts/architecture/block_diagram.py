"""Figure 1 inside a chart: the blocks and arrows of the map, one block marked as the current one."""

from collections.abc import Mapping

import altair as alt

from ..style import INK, pixels
from .blocks import BLOCKS, HEIGHT, MEMORY, STACKS, WIDTH, Block, arrows

Row = dict[str, object]
RING = 3.5  # pixels between a block and the line around it


def block_diagram(first: Mapping[str, int]) -> alt.LayerChart:
    """Blocks by name in the parameter `current` are marked; `first` has the number of the first step of each."""
    layers = [_room(), _frames(), _lines(), _heads(), _boxes(first), _words(), _ring(), _targets(first)]
    return alt.layer(*layers).properties(name="figure_one", width=WIDTH, height=HEIGHT)


def _rows(rows: list[Row]) -> alt.Chart:
    return alt.Chart(alt.Data(values=rows))


def _box(block: Block, margin: float = 0) -> Row:
    return {
        "name": block.name,
        "left": block.left - margin,
        "right": block.left + block.width + margin,
        "top": block.top - margin,
        "bottom": block.bottom + margin,
    }


BOX = {"x": pixels(alt.X, "left"), "x2": "right:Q", "y": pixels(alt.Y, "top"), "y2": "bottom:Q"}


def _room() -> alt.Chart:
    """What the ring can reach at most: without it the views beside would move when the ring does."""
    room = {"left": -RING - 1, "right": WIDTH + RING + 1, "top": -RING - 1, "bottom": HEIGHT + RING + 1}
    return _rows([room]).mark_rect(opacity=0, aria=False).encode(**BOX)


def _frames() -> alt.Chart:
    rows = [_box(stack) | {"top": stack.bottom, "bottom": stack.frame_bottom} for stack in STACKS]
    outline = {"filled": False, "stroke": INK, "strokeOpacity": 0.5, "strokeDash": [4, 3]}
    return _rows(rows).mark_rect(**outline, aria=False).encode(**BOX)


def _lines() -> alt.Chart:
    corners = [
        {"arrow": number, "corner": corner, "x": x, "y": y}
        for number, points in enumerate(arrows())
        for corner, (x, y) in enumerate(points)
    ]
    line = _rows(corners).mark_line(color=INK, strokeWidth=1, strokeOpacity=0.75, aria=False)
    return line.encode(pixels(alt.X, "x"), pixels(alt.Y, "y"), detail="arrow:N", order="corner:Q")


def _heads() -> alt.Chart:
    """A triangle where each arrow ends, turned in the direction of its last piece; none of them points downward."""
    rows = []
    for points in arrows():
        (x, y), (before, _) = points[-1], points[-2]
        along = (x > before) - (x < before)
        rows.append({"x": x - 3 * along, "y": y + 3 * (along == 0), "angle": 90 * along})
    head = _rows(rows).mark_point(shape="triangle", size=28, filled=True, color=INK, opacity=1, aria=False)
    return head.encode(pixels(alt.X, "x"), pixels(alt.Y, "y"), angle=alt.Angle("angle:Q", scale=None))


def _words() -> alt.Chart:
    rows = [{"x": MEMORY[0], "y": MEMORY[1] - 4, "text": "memory", "align": "right"}]
    for block in BLOCKS:
        start = block.y - 7 * (len(block.lines) - 1)
        rows += [{"x": block.x, "y": start + 14 * row, "text": line} for row, line in enumerate(block.lines)]
    align = alt.expr("datum.align || 'center'")
    text = _rows(rows).mark_text(align=align, baseline="middle", fontSize=12, color=INK, aria=False)
    return text.encode(pixels(alt.X, "x"), pixels(alt.Y, "y"), text="text:N")


def _ring() -> alt.Chart:
    """A second line around the current block: it stands out in grey, too."""
    ring = _rows([_box(block, margin=RING) for block in BLOCKS]).transform_filter("datum.name == current")
    return ring.mark_rect(filled=False, stroke=INK, strokeWidth=2, cornerRadius=7, aria=False).encode(**BOX)


def _boxes(first: Mapping[str, int]) -> alt.Chart:
    about = (
        "datum.title + (datum.step ? ', from step ' + datum.step : '') + (datum.name == current ? ', shown now' : '')"
    )
    boxes = _rows(_steps(first)).transform_calculate(about=about).mark_rect(cornerRadius=5, strokeWidth=1.2)
    opacity = alt.condition("datum.name == current", alt.value(0.4), alt.value(0.14))
    fill, stroke = alt.Fill("color:N", scale=None), alt.Stroke("color:N", scale=None)
    return boxes.encode(fill, stroke, **BOX, fillOpacity=opacity, description="about:N")


def _targets(first: Mapping[str, int]) -> alt.Chart:
    """On top of box and words, so that a click or a pointer anywhere in a block meets it."""
    rows = [row for row in _steps(first) if row["step"]]
    tooltip = [alt.Tooltip("title:N", title="block"), alt.Tooltip("section:N", title="section of the paper")]
    targets = _rows(rows).mark_rect(color="transparent", cursor="pointer", aria=False)
    return targets.encode(**BOX, tooltip=tooltip)


def _steps(first: Mapping[str, int]) -> list[Row]:
    """The blocks, and the number of the first step that each of them has."""
    look = {block.name: {"title": block.title, "section": block.section, "color": block.color} for block in BLOCKS}
    return [_box(block) | look[block.name] | {"step": first.get(block.name)} for block in BLOCKS]
