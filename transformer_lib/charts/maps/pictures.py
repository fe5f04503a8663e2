"""Small maps of many heads as one picture, which the page draws from the packed weights: an SVG with a path a shade."""

import json
import math
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import quote

import altair as alt

from ..packing import ALPHABET
from ..style import BLUE, MASKED

# Levels of the packing that share a shade; below the first a cell stays empty. Five shades are as many as cells of a
# pixel or two can show.
SHADES = list(pairwise([6, 14, 22, 32, 44, 64]))
END_OF_ROW, END_OF_MAP, END_OF_LINE = "|", "~", "!"
SCHEME = "data:image/svg+xml,"


@dataclass(frozen=True)
class Sheet:
    """Where small maps stand: how many in all and in a line; in pixels the side of one, and from one to the next."""

    count: int
    columns: int
    side: int
    across: int
    down: int

    @property
    def width(self) -> int:
        """In pixels, as the height."""
        return self.columns * self.across

    @property
    def height(self) -> int:
        """With the room below the last line."""
        return math.ceil(self.count / self.columns) * self.down


def picture(sheet: Sheet) -> list[alt.Parameter]:
    """Parameters of the page, of which `picture` is the address of the image: the maps of the chosen sentence and kind.

    Their order is that of the indexes in `seats`. All are in one picture: of one for each, 48 take three times as long.
    """
    ends = [END_OF_MAP + END_OF_LINE * (place % sheet.columns == 0) for place in range(1, sheet.count + 1)]
    cells = "length(queries) * length(keys)"
    expressions = {
        "maps": f"split({_ended('weights[sentence][kind]', '.', cells, END_OF_MAP)}, '{END_OF_MAP}')",
        "seated": " + ".join(f"maps[seats[{place}]] + '{end}'" for place, end in enumerate(ends)),
        "seated_rows": _ended("seated", f"[^{END_OF_MAP}{END_OF_LINE}]", "length(keys)", END_OF_ROW),
        "picture": " + ".join([*_opening(sheet), *_paths(sheet), _text("</svg>")]),
    }
    return [alt.param(name=name, expr=expression) for name, expression in expressions.items()]


def _ended(text: str, character: str, length: str, end: str) -> str:
    """With `end` after so many of the characters."""
    return _replaced(text, f"'{character}{{' + {length} + '}}'", f"'$&{end}'")


def _opening(sheet: Sheet) -> list[str]:
    # A cell is `side` units wide and high, so that every length is a whole number of them.
    tag = f'<svg xmlns="http://www.w3.org/2000/svg" fill="none" stroke-width="{sheet.side}" preserveAspectRatio="none"'
    size = [f"{sheet.width} * length(keys)", "' '", f"{sheet.height} * length(queries)"]
    return [_text(f'{tag} viewBox="0 0 ', SCHEME), *size, _text('">')]


def _paths(sheet: Sheet) -> list[str]:
    """One for the masked cells, one for each shade."""
    colors = {"[*]": (MASKED, 1.0)}
    for first, end in SHADES:
        shade = (first + end - 1) / 2 / (len(ALPHABET) - 1)  # the square root of the weight, as in a large map
        colors[f"[{ALPHABET[first]}-{ALPHABET[end - 1]}]"] = BLUE, shade
    return [
        part
        for characters, (color, opacity) in colors.items()
        for part in (
            _text(f'<path stroke="{color}" stroke-opacity="{opacity:.2f}" d="M0 {sheet.side / 2:g}'),
            _strokes(characters, sheet),
            _text('"/>'),
        )
    ]


def _strokes(characters: str, sheet: Sheet) -> str:
    """A pen that follows the cells of all maps in turn: down where one of the characters stands, else up."""
    side, four = sheet.side, 4 * sheet.side
    moves = {
        characters: "'/'",
        f"[^/{END_OF_ROW}{END_OF_MAP}{END_OF_LINE}]": f"'m{side} 0'",
        f"(m{side} 0){{4}}": f"'m{four} 0'",
        "/": f"'h{side}'",
        f"[{END_OF_ROW}]": f"'m-' + {side} * length(keys) + ' {side}'",
        END_OF_MAP: f"'m' + {sheet.across} * length(keys) + ' -' + {side} * length(queries)",
        END_OF_LINE: f"'m-' + {sheet.width} * length(keys) + ' ' + {sheet.down} * length(queries)",
    }
    path = "seated_rows"
    for pattern, move in moves.items():
        path = _replaced(path, f"'{pattern}'", move)
    return path


def _replaced(text: str, pattern: str, by: str) -> str:
    return f"replace({text}, regexp({pattern}, 'g'), {by})"


def _text(markup: str, scheme: str = "") -> str:
    """A string of the expression language, with the markup as an address may hold it."""
    return json.dumps(scheme + quote(markup, safe=" =:/,()"))
