"""Line and bar charts for the chapters, in a call of one line."""

from collections.abc import Iterable, Mapping, Sequence

import altair as alt

from .style import BLUE, DASHES, SERIES

Data = Mapping[str, Iterable] | Sequence[Mapping[str, object]]


def line_chart(
    data: Data,
    x: str,
    y: str | Sequence[str],
    color: str | None = None,
    *,
    title: str = "",
    x_title: str | None = None,
    y_title: str | None = None,
    log_x: bool = False,
    log_y: bool = False,
    y_domain: tuple[float, float] | None = None,
    points: bool = False,
    width: int | str = "container",
    height: int = 260,
) -> alt.Chart:
    """One line, or one for each column named in `y`, or one for each value of the column `color`.

    `data` is a table: columns by name (sequences, arrays or tensors) or a list of rows. Lines differ in color and dash,
    so that they can be told apart in grey.
    """
    rows = _rows(data)
    if not isinstance(y, str):
        rows = [{x: row[x], "value": row[name], "series": name} for name in y for row in rows]
        y, color, y_title = "value", "series", y_title or "value"
    chart = alt.Chart(alt.Data(values=rows)).mark_line(
        point={"color": BLUE, "size": 25} if points else False, clip=True, strokeWidth=2, color=BLUE
    )
    chart = chart.encode(
        x=alt.X(x, type="quantitative", title=x_title or x, scale=_scale(log_x)),
        y=alt.Y(y, type="quantitative", title=y_title or y, scale=_scale(log_y, y_domain)),
        tooltip=[alt.Tooltip(name, type="nominal") for name in filter(None, (color, x, y))],
    )
    if color is not None:
        names = list(dict.fromkeys(row[color] for row in rows))
        chart = chart.encode(
            color=_series(alt.Color, color, names, SERIES), strokeDash=_series(alt.StrokeDash, color, names, DASHES)
        )
    return chart.properties(
        title=title, width=width, height=height, description=title or f"{y_title or y} by {x_title or x}"
    )


def bar_chart(
    data: Data,
    x: str,
    y: str,
    *,
    color: str | None = None,
    title: str = "",
    x_title: str | None = None,
    y_title: str | None = None,
    horizontal: bool = True,
    width: int | str = "container",
    height: int | None = None,
) -> alt.Chart:
    """Bars of the quantity `x` for each category `y`, in the order given; `horizontal=False` swaps the two axes."""
    rows = _rows(data)
    types = ("quantitative", "nominal") if horizontal else ("nominal", "quantitative")
    length, category = (x, y) if horizontal else (y, x)
    count = len({row[category] for row in rows})
    chart = alt.Chart(alt.Data(values=rows)).mark_bar(color=BLUE)
    chart = chart.encode(
        x=alt.X(
            x,
            type=types[0],
            title=x_title or x,
            sort=None,
            axis=alt.Axis(labelAngle=0, labelOverlap=True, labelFlush=False),
        ),
        y=alt.Y(y, type=types[1], title=y_title or y, sort=None),
        tooltip=[alt.Tooltip(category, type="nominal"), alt.Tooltip(length, type="quantitative", format=".3~g")],
    )
    if color is not None:
        chart = chart.encode(color=_series(alt.Color, color, list(dict.fromkeys(row[color] for row in rows)), SERIES))
    height = height or (max(60, 22 * count) if horizontal else 260)
    return chart.properties(title=title, width=width, height=height, description=title or f"{length} by {category}")


def _scale(log: bool, domain: tuple[float, float] | None = None) -> alt.Scale:
    fixed = {} if domain is None else {"domain": list(domain)}
    return alt.Scale(type="log", nice=False, **fixed) if log else alt.Scale(zero=False, nice=False, **fixed)


def _series(channel: type, field: str, names: list, values: list) -> object:
    """Assign `values` to the series in the order in which they appear; the legend sits above the lines."""
    chosen = [values[index % len(values)] for index in range(len(names))]
    legend = alt.Legend(orient="top", title=None, symbolType="stroke", symbolSize=300, symbolStrokeWidth=2, columns=2)
    return channel(field, type="nominal", scale=alt.Scale(domain=names, range=chosen), legend=legend)


def _rows(data: Data) -> list[dict[str, object]]:
    """The table as JSON can hold it."""
    if isinstance(data, Mapping):
        columns = {name: _plain(column) for name, column in data.items()}
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"the columns differ in length: {lengths}")
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return [{name: _plain(value) for name, value in row.items()} for row in data]


def _plain(values: object) -> object:
    """A Python number or list of an array, a tensor, or anything iterable but a string."""
    if hasattr(values, "tolist"):
        return values.tolist()
    if isinstance(values, Iterable) and not isinstance(values, str):
        return [_plain(value) for value in values]
    return values
