"""Figure 1 of the paper as a map of the book: an inline SVG in which every block is a link to its chapter."""

from collections.abc import Mapping
from html import escape

from ..style import FONT, INK
from .blocks import EQUATION, HEIGHT, MAP, MEMORY, STACKS, WIDTH, Block, Points, arrows

TITLE = "Figure 1 of the paper as a map of this book"
DESCRIPTION = (
    "The Transformer. On the left the encoder: N layers of self-attention and feed forward, each followed by add and "
    "norm, read the embedded inputs. On the right the decoder: N layers of masked self-attention, attention over the "
    "encoder's output and feed forward; a linear layer and a softmax make of it the probabilities of the next token."
)
HINT = ("Each block opens its", "chapter. The numbers", "are the paper's sections.")
INSIDE = "Inside every attention:"
# Hover and focus show in the border's width and in underlined words, not by color alone. Nothing moves.
STYLE = """\
.figure-one { display: block; width: 100%; max-width: 22rem; height: auto; margin: 1.5rem auto; overflow: visible; }
.figure-one a { color: inherit; text-decoration: none; cursor: pointer; }
.figure-one a:is(:hover, :focus-visible) rect { stroke-width: 3; fill-opacity: 0.3; }
.figure-one a:is(:hover, :focus-visible) text { text-decoration: underline; }"""


class FigureOne:
    """An SVG drawing: text as `svg`, and shown as it is in notebooks."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_html_(self) -> str:
        return self.svg


def figure_one(links: Mapping[str, str] | None = None) -> FigureOne:
    """Figure 1 redrawn, its blocks linked to `links`, the address of each chapter by its document's name.

    A block whose document has no address is drawn without a link. It needs no script, follows the color of the text
    around it, and fits a width of 320 pixels. `ValueError` for a document that no block belongs to.
    """
    links = links or {}
    if unknown := links.keys() - {block.document for block in MAP}:
        raise ValueError(f"no block of Figure 1 belongs to {', '.join(sorted(unknown))}")
    parts = [
        f"<style>{STYLE}</style>",
        f'<title id="figure-one-title">{TITLE}</title><desc id="figure-one-desc">{DESCRIPTION}</desc>',
        *map(_frame, STACKS),
        *map(_arrow, arrows()),
        *(_text(line, 2, 20 + 15 * row) for row, line in enumerate(HINT) if links),
        _text(INSIDE, EQUATION.left, EQUATION.top - 7),
        _text("memory", *MEMORY, anchor="end"),
        *(_linked(block, links.get(block.document)) for block in MAP),
    ]
    attributes = 'role="group" aria-labelledby="figure-one-title" aria-describedby="figure-one-desc"'
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" class="figure-one" font-family="{FONT}" {size} {attributes}>'
    return FigureOne("\n".join([opening, *parts, "</svg>"]))


def _frame(stack: Block) -> str:
    """Around the layers of a stack, hanging from the block that stands for all of them."""
    path = f"M{stack.left:g} {stack.bottom:g} V{stack.frame_bottom:g} h{stack.width:g} V{stack.bottom:g}"
    return f'<path d="{path}" fill="none" stroke="{INK}" stroke-opacity="0.5" stroke-dasharray="4 3"/>'


def _arrow(points: Points) -> str:
    """A line round its corners, with a head that is part of the path: a marker would need an id of its own."""
    (x, y), (before_x, before_y) = points[-1], points[-2]
    along_x, along_y = (x > before_x) - (x < before_x), (y > before_y) - (y < before_y)
    left, right = ((x - 5 * along_x + side * along_y, y - 5 * along_y + side * along_x) for side in (3, -3))
    line, head = _path(points), _path((left, (x, y), right))
    return f'<path d="{line} {head}" fill="none" stroke="{INK}" stroke-opacity="0.75" aria-hidden="true"/>'


def _path(points: Points) -> str:
    return "M" + " L".join(f"{x:g} {y:g}" for x, y in points)


def _linked(block: Block, address: str | None) -> str:
    """The block inside its link; the link's name begins with the words that are seen."""
    if address is None:
        return _block(block)
    chapter = int(block.document.split("_")[0])
    name = escape(f"{block.title}, section {block.section}, chapter {chapter}")
    return f'<a href="{escape(address)}" aria-label="{name}"><title>{name}</title>{_block(block)}</a>'


def _block(block: Block) -> str:
    place = f'x="{block.left:g}" y="{block.top:g}" width="{block.width:g}" height="{block.height:g}" rx="5"'
    look = f'fill="{block.color}" fill-opacity="0.14" stroke="{block.color}" stroke-width="1.2"'
    return f"<rect {place} {look}/>{_words(block)}"


def _words(block: Block) -> str:
    """The block's lines around its middle; the section stands behind the last one."""
    *lines, last = map(escape, block.lines)
    last += f' <tspan font-size="11" fill-opacity="0.85">{block.section}</tspan>'
    first = block.y + 4 - 7 * len(lines)
    rows = "".join(
        f'<tspan x="{block.x:g}" y="{first + 14 * row:g}">{line}</tspan>' for row, line in enumerate([*lines, last])
    )
    return f'<text text-anchor="middle" font-size="12" fill="{INK}">{rows}</text>'


def _text(words: str, x: float, y: float, anchor: str = "start") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="11" fill="{INK}">{words}</text>'
