"""Tables for the chapters: rows that a cell has computed, on the page and in a notebook alike."""

import re
from collections.abc import Mapping, Sequence
from html import escape


class Table:
    """Rows with the same keys as a table; `_repr_html_` is what notebooks and the page show."""

    def __init__(self, rows: Sequence[Mapping[str, object]]) -> None:
        if not rows or any(row.keys() != rows[0].keys() for row in rows):
            raise ValueError("a table needs rows, all with the same columns")
        self.cells = [[str(name) for name in rows[0]], *([str(value) for value in row.values()] for row in rows)]

    def _repr_html_(self) -> str:
        head, *body = self.cells
        lines = [f"<tr>{''.join(f'<th>{marked(cell)}</th>' for cell in head)}</tr>"]
        lines += [f"<tr>{''.join(f'<td>{marked(cell)}</td>' for cell in row)}</tr>" for row in body]
        # The theme keeps a dark page dark around tables of this class only.
        table = f'<table class="dataframe"><thead>{lines[0]}</thead><tbody>{"".join(lines[1:])}</tbody></table>'
        # A focusable box, so that a wide table scrolls by itself on a phone, and by keyboard.
        return f'<div class="wide-table" style="overflow-x: auto" tabindex="0">{table}</div>'

    def __repr__(self) -> str:
        widths = [max(map(len, column)) for column in zip(*self.cells, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in self.cells]
        return "\n".join(line.rstrip() for line in lines)


def table(rows: Sequence[Mapping[str, object]]) -> Table:
    """Rows, which are dicts with the same keys, as a table. `Backticks` in a cell make it code."""
    return Table(rows)


def marked(text: str) -> str:
    """HTML of a cell."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", escape(text))
