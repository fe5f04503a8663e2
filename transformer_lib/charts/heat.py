"""A single matrix as a heat map."""

import json
from collections.abc import Sequence

import altair as alt
import numpy as np

from .examples import as_array
from .style import FAINT, INK, MASKED, TIGHT, color_scale, hatching

MOST_CELLS = 16_384  # an SVG with more takes half a second to draw
MOST_OUTLINED = 1_000
SIDE, LARGEST_CELL, NUMBER_WIDTH = 260, 36, 32


def heat_map(
    matrix: object,
    row_labels: Sequence[str] | None = None,
    column_labels: Sequence[str] | None = None,
    *,
    row_title: str,
    column_title: str,
    value_title: str = "weight",
    title: str = "",
    domain: tuple[float, float] | None = None,
    mask: object | None = None,
    show_values: bool = False,
    width: int | str | None = None,
    height: int | None = None,
) -> alt.LayerChart:
    """Color for each entry of a `(rows, columns)` matrix; every cell describes itself to a screen reader.

    Without labels, rows and columns are numbered from 0. Negative entries bring a diverging scale around 0. Where
    `mask` (True = may attend) is False, or a score is minus infinity, the cell is hatched. `ValueError` where labels or
    mask do not fit the matrix, where it has other entries that are not finite, or more than 16,384 cells.
    """
    values = _matrix(matrix)
    open_cells = _open_cells(mask, values)
    values = np.where(open_cells, values, 0.0)
    rows = _labels("row", row_labels, values.shape[0])
    columns = _labels("column", column_labels, values.shape[1])
    cells = _cells(values, rows, columns, open_cells)
    x = alt.X("column:O", axis=_axis(column_title, columns, orient="top"), scale=TIGHT)
    y = alt.Y("row:O", axis=_axis(row_title, rows, orient="left"), scale=TIGHT)
    outline = 0.5 if values.size <= MOST_OUTLINED else 0
    scale = color_scale(domain or domain_of(values), numbers=show_values)
    rectangles = _rectangles(cells, (row_title, column_title, value_title), scale, outline)
    layers = [rectangles.encode(x, y)]
    if not open_cells.all():
        layers.append(hatching(cells.transform_filter("!datum.open"), "column", "row"))
    if show_values:
        numbers = cells.transform_filter("datum.open").mark_text(color=INK, fontSize=10, aria=False)
        layers.append(numbers.encode(x, y, text=alt.Text("data:Q", format=".2~f")))
    step = max(min(SIDE / max(values.shape), LARGEST_CELL), NUMBER_WIDTH if show_values else 0)
    size = {"width": width or step * values.shape[1], "height": height or step * values.shape[0]}
    about = title or f"{value_title} by {row_title} and {column_title}"
    return alt.layer(*layers).properties(title=title, description=about, **size)


def _matrix(matrix: object) -> np.ndarray:
    values = as_array(matrix)
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"expected a matrix of rows and columns, got shape {values.shape}")
    if values.size > MOST_CELLS:
        raise ValueError(
            f"{values.size:,} cells are too many to draw, at most {MOST_CELLS:,}: draw a part of the matrix"
        )
    return values


def _open_cells(mask: object | None, values: np.ndarray) -> np.ndarray:
    open_cells = np.ones(values.shape, dtype=bool) if mask is None else np.asarray(mask, dtype=bool)
    if open_cells.shape != values.shape:
        raise ValueError(f"mask has shape {open_cells.shape}, the matrix {values.shape}")
    open_cells = open_cells & ~np.isneginf(values)
    if not np.isfinite(values[open_cells]).all():
        raise ValueError("the matrix has entries that are not finite numbers")
    return open_cells


def _labels(side: str, labels: Sequence[str] | None, count: int) -> list[str]:
    names = [str(label) for label in labels] if labels is not None else [str(index) for index in range(count)]
    if len(names) != count:
        raise ValueError(f"{len(names)} {side} labels for {count} {side}s")
    return names


def domain_of(values: np.ndarray) -> tuple[float, float]:
    """From 0 to the largest entry, or as far below 0 as above it."""
    largest = float(np.abs(values).max()) or 1.0
    return (-largest, largest) if values.min() < 0 else (0.0, largest)


def _cells(values: np.ndarray, rows: list[str], columns: list[str], open_cells: np.ndarray) -> alt.Chart:
    """One number a cell in the page's data; everything else about a cell is worked out there."""
    numbers = [float(f"{value:.4g}") for value in values.ravel()]
    openings = "".join("01"[is_open] for is_open in open_cells.ravel().tolist())
    is_open = "true" if open_cells.all() else f"'{openings}'[datum.cell - 1] == '1'"
    return (
        alt.Chart(alt.Data(values=numbers))
        .transform_window(cell="row_number()")
        .transform_calculate(
            row=f"floor((datum.cell - 1) / {len(columns)})", column=f"(datum.cell - 1) % {len(columns)}"
        )
        .transform_calculate(
            row_label=f"{json.dumps(rows)}[datum.row]",
            column_label=f"{json.dumps(columns)}[datum.column]",
            open=is_open,
        )
        .transform_calculate(shown="datum.open ? format(datum.data, '.3~g') : 'masked'")
    )


def _rectangles(cells: alt.Chart, titles: tuple[str, str, str], scale: alt.Scale, outline: float) -> alt.Chart:
    fields = dict(zip(("row_label", "column_label", "shown"), titles, strict=True))
    about = " + ', ' + ".join(f"{json.dumps(title + ' ')} + datum.{field}" for field, title in fields.items())
    color = alt.Color(
        "data:Q",
        scale=scale,
        legend=alt.Legend(title=fields["shown"], orient="bottom", gradientLength=160),
    )
    return (
        cells.transform_calculate(about=about)
        .mark_rect(stroke=FAINT, strokeWidth=outline)
        .encode(
            color=alt.condition("datum.open", color, alt.value(MASKED)),
            description="about:N",
            tooltip=[alt.Tooltip(f"{field}:N", title=title) for field, title in fields.items()],
        )
    )


def _axis(title: str, labels: list[str], orient: str) -> alt.Axis:
    upright = max(map(len, labels)) <= 3
    turned = {"labelAngle": -60, "labelAlign": "left"} if orient == "top" and not upright else {"labelAngle": 0}
    text = f"{json.dumps(labels)}[datum.value]"
    return alt.Axis(
        title=title,
        orient=orient,
        labelExpr=text,
        labelOverlap=all(map(str.isdigit, labels)),
        labelLimit=90,
        ticks=False,
        domain=False,
        **turned,
    )
