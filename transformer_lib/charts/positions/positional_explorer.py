"""Positional encoding to turn by hand: the table, its waves, the clock and the dot products (section 3.5)."""

from collections.abc import Sequence

import altair as alt

from ..page import Patch, clickable, finished, one_column_below
from .clock import clock_panel, dots_panel
from .sinusoids import table_panel, waves_panel

# What each view needs the reader to choose.
CHOICES = {
    "table": ("position", "pair"),
    "waves": ("position", "pair"),
    "clock": ("position", "pair", "shift"),
    "dots": ("position", "shift"),
}
MOST_CELLS = 4_096  # an SVG with more takes too long to draw beside three other views
FIRST_POSITION, FIRST_PAIR, FIRST_SHIFT = 7, 3, 5


def positional_explorer(
    d_model: int = 64, positions: int = 50, *, show: Sequence[str] = tuple(CHOICES), title: str = ""
) -> alt.ConcatChart:
    """Sinusoidal positions for a position, pair of components and shift that the reader chooses (section 3.5).

    The page works out every number from the formula. `show` names the views, in order: "table" (positions by
    components), "waves" (sine and cosine of the pair along the positions), "clock" (the pair as a hand, and what the
    shift does to it) and "dots" (dot products of the position with all others). Positions and pairs count from 0, as
    in the paper; a click on a position chooses it, as the slider does. `ValueError` for an odd `d_model`, fewer than
    2 positions, a table of more than 4,096 cells, and views that are none or unknown.
    """
    _check(d_model, positions, show)
    choices = {choice for view in show for choice in CHOICES[view]}
    turning = "shift" in choices
    views = {
        "table": lambda: table_panel(d_model, positions),
        "waves": lambda: waves_panel(d_model, positions, turning=turning),
        "clock": lambda: clock_panel(d_model, positions),
        "dots": lambda: dots_panel(d_model, positions),
    }
    chart = alt.concat(*(views[view]() for view in show), columns=2, spacing=24, title=title)
    chart = chart.resolve_scale(color="independent", strokeDash="independent")  # each legend below its own view
    about = "Positional encoding, computed for the position, pair and shift chosen: " + ", ".join(show)
    controls = _controls(d_model, positions)
    patch = [change for choice, slider in controls.items() if choice in choices for change in slider]
    return finished(chart, about, patch=[*patch, *one_column_below(760)])


def _check(d_model: int, positions: int, show: Sequence[str]) -> None:
    if d_model < 2 or d_model % 2:
        raise ValueError(f"d_model = {d_model}: expected an even number of components, two for each pair")
    if positions < 2:
        raise ValueError(f"positions = {positions}: expected at least 2")
    if isinstance(show, str) or not show or not set(show) <= set(CHOICES) or len(set(show)) < len(show):
        raise ValueError(f"show = {show!r}: expected a list of {', '.join(CHOICES)}, each once at most")
    if "table" in show and positions * d_model > MOST_CELLS:
        raise ValueError(f"a table of {positions * d_model:,} cells is too large to draw, at most {MOST_CELLS:,}")


def _controls(d_model: int, positions: int) -> dict[str, Patch]:
    """A slider for each choice; a click on a point or a cell moves those that its row has a field of."""
    sliders = {
        "position": ("Position ", positions - 1, FIRST_POSITION),
        "pair": ("Pair i ", d_model // 2 - 1, FIRST_PAIR),
        "shift": ("Shift k ", positions // 2, FIRST_SHIFT),
    }
    return {
        name: clickable(name, min(first, last), {"input": "range", "min": 0, "max": last, "step": 1, "name": label})
        for name, (label, last, first) in sliders.items()
    }
