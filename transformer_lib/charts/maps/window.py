"""The part of a long sentence's map that is drawn: the reader moves it, and is told what lies outside of it."""

from dataclasses import dataclass

import altair as alt

from ..packing import ALPHABET
from ..page import Patch

WHOLE = 64  # tokens a side up to which maps are drawn whole: with more cells the page no longer follows the reader
WINDOW = 48  # tokens a side that are drawn where a figure holds a longer sentence


@dataclass(frozen=True)
class Drawn:
    """The rows and columns that are drawn, as expressions of the page: how many, and the first, counted from 1."""

    queries: str
    keys: str
    first_query: str
    first_key: str


ALL = Drawn("length(queries)", "length(keys)", "1", "1")
PART = Drawn("drawn_queries", "drawn_keys", "top", "left")  # names of `window_parameters`


def drawn_tokens(longest: int) -> int:
    """The most tokens a side that are drawn at once in a figure whose longest sentence has that many."""
    return longest if longest <= WHOLE else WINDOW


def window_parameters() -> list[alt.Parameter]:
    """Size and place of the window; the sliders may ask for more than the sentence at hand has."""
    first = "clamp({0}, 1, length({1}) - {2} + 1)"
    expressions = {
        PART.queries: f"min(length(queries), {WINDOW})",
        PART.keys: f"min(length(keys), {WINDOW})",
        PART.first_query: first.format("first_query", "queries", PART.queries),
        PART.first_key: first.format("first_key", "keys", PART.keys),
        "unseen": f"substring(row, 0, {PART.first_key} - 1) + substring(row, {PART.first_key} - 1 + {PART.keys})",
        "unseen_weight": f"({_sum_of('unseen')}) / {(len(ALPHABET) - 1) ** 2}",
    }
    return [alt.param(name=name, expr=expression) for name, expression in expressions.items()]


def window_sliders(longest: int) -> Patch:
    """Two sliders move the window; choosing a query moves it too, as far as that query needs."""
    follow = f"query > 0 ? clamp(first_query, query - {WINDOW} + 1, query) : first_query"
    follows = {"first_query": [{"events": {"signal": "query"}, "update": follow}], "first_key": []}
    sliders = [
        {"name": name, "value": 1, "bind": _slider(name.replace("_", " ").capitalize(), longest), "on": events}
        for name, events in follows.items()
    ]
    return [{"op": "add", "path": "/signals/-", "value": slider} for slider in sliders]


def window_notes() -> list[str]:
    """Two lines, as expressions: what is drawn, and how much of the weight of the query singled out is not."""
    side = "{0} ' + {1} + ' to ' + ({1} + {2} - 1) + ' of ' + length({0})".format
    queries, keys = side("queries", PART.first_query, PART.queries), side("keys", PART.first_key, PART.keys)
    outside = "'Outside of these: ' + format(unseen_weight, '.2f') + ' of the weight of “' + queries[focus] + '”.'"
    return [f"'Drawn: {queries} + ', {keys} + '.'", f"focus < 0 ? ' ' : {outside}"]


def _slider(label: str, longest: int) -> dict[str, object]:
    return {"input": "range", "min": 1, "max": longest - WINDOW + 1, "step": 1, "name": f"{label} "}


def _sum_of(text: str) -> str:
    """The levels of a packed text squared and added up: expressions have no sum, but they can count a character."""
    return " + ".join(
        f"{level**2} * (length(split({text}, '{character}')) - 1)" for level, character in enumerate(ALPHABET) if level
    )
