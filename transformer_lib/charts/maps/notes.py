"""Lines of words above a map: the query singled out, what hatching and outlines mean, which part is drawn."""

import altair as alt

from .window import PART, Drawn, window_notes

FOCUS = (
    "focus < 0 ? 'Hover over a cell, or choose a query.' : "
    "indexof(alphabet, strongest) < 0 ? 'Query “' + queries[focus] + '” may not attend to any key.' : "
    "'Query “' + queries[focus] + '” attends most to key “' + keys[indexof(row, strongest)] + '”, '"
    " + format(pow(indexof(alphabet, strongest) / (length(alphabet) - 1), 2), '.2f')"
)
HATCHED = "indexof(levels, '*') < 0 ? ' ' : 'Hatched: masked or padding, no attention.'"
OUTLINED = "kind == 2 && length(gold[sentence]) ? 'Outlined: aligned words.' : ' '"


def notes(gold: bool, drawn: Drawn, *first: str) -> alt.Expr:
    """What the reader has to know about the cells; the number of lines stays, so that nothing below them moves.

    `first` are lines, as expressions, that stand above the others.
    """
    lines = [*first, FOCUS, HATCHED] + [OUTLINED] * gold + (window_notes() if drawn is PART else [])
    return alt.expr(f"[{', '.join(lines)}]")
