"""What a figure needs of its page: a description, an export menu, one column where it is narrow, a step that plays."""

from collections.abc import Sequence
from typing import TypeVar

import altair as alt

from .style import CONFIG, EMBED_OPTIONS

# Vega-Lite knows neither a number of columns that follows the window nor a clock that can be paused. The Vega that it
# compiles to does: these are changes (JSON Patch) that vega-embed makes to it before it draws.
Patch = list[dict[str, object]]
Figure = TypeVar("Figure", bound=alt.TopLevelMixin)


def finished(chart: Figure, description: str, *, patch: Sequence[dict[str, object]] = ()) -> Figure:
    """The figure as it stands on a page: the house's look, `description` for a screen reader, SVG and PNG export."""
    options = EMBED_OPTIONS
    if patch:
        options = options | {"patch": list(patch)}
        chart = chart.add_params(alt.param(name="patched", value=True))  # the list that changes append to must exist
    return chart.configure(**CONFIG).properties(description=description, usermeta={"embedOptions": options})


def one_column_below(pixels: int, columns: int = 2) -> Patch:
    """Views of a concatenation stand below each other where the window is narrower than `pixels`."""
    number = f"windowSize()[0] < {pixels} ? 1 : {columns}"
    signal = {"name": "columns", "update": number, "on": [{"events": "window:resize", "update": number}]}
    return [
        {"op": "add", "path": "/signals/-", "value": signal},
        {"op": "replace", "path": "/layout/columns", "value": {"signal": "columns"}},
    ]


def playing_step(
    name: str,
    steps: int,
    *,
    label: str,
    start: int = 1,
    milliseconds: int = 1200,
    by_click: bool = False,
) -> Patch:
    """Two controls: a slider for the signal `name`, from 1 to `steps`, and a box that lets it run until the last step.

    A film starts still, for every reader, and so for those who prefer reduced motion. The signal is made here and not
    in the specification, whose expressions may use its name all the same. `steps` is at least 1. A film that stands at
    its end at first, with `start` = `steps`, plays from the beginning. With `by_click` a click goes to
    a step too, as in `clickable`.
    """
    if steps < 1:
        raise ValueError(f"a film of {steps} steps, expected at least 1")
    playing = {"name": f"{name}_playing", "value": False, "bind": {"input": "checkbox", "name": "Play "}}
    clock = {
        "events": {"type": "timer", "throttle": milliseconds},
        "update": f"{name}_playing && {name} < {steps} ? {name} + 1 : {name}",
    }
    again = {"events": {"signal": f"{name}_playing"}, "update": f"{name}_playing && {name} >= {steps} ? 1 : {name}"}
    slider = {"input": "range", "min": 1, "max": steps, "step": 1, "name": f"{label} "}
    step = {"name": name, "value": start, "bind": slider, "on": [_on_click(name)] * by_click + [clock, again]}
    # A select or slider of the specification comes first on the page, these two after it.
    return [{"op": "add", "path": "/signals/-", "value": signal} for signal in (step, playing)]


def clickable(name: str, value: int, control: dict[str, object]) -> Patch:
    """A control for the signal `name`; a click on any mark whose row has a field of that name sets it to the field."""
    # In a specification a parameter is bound to an input or set by events, never both.
    signal = {"name": name, "value": value, "bind": control, "on": [_on_click(name)]}
    return [{"op": "add", "path": "/signals/-", "value": signal}]


def _on_click(name: str) -> dict[str, object]:
    # By the field and not by the mark: Altair and Vega-Lite rename the marks of a layer in a concatenation.
    return {"events": "click", "update": f"datum && isValid(datum.{name}) ? datum.{name} : {name}"}
