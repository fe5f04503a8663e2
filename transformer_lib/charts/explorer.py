"""The attention explorer: every layer and head of a model on sentences to choose from, in a page without a kernel."""

from collections.abc import Sequence

import altair as alt

from .examples import KINDS, AttentionExample
from .packing import ALPHABET, masked_cells, pack
from .page import finished, one_column_below
from .panels import cells, heat_panel, line_panel

LONGEST = 64  # tokens a side: more cells than that and the page no longer follows the pointer
KIND_LABELS = ["encoder self-attention", "decoder self-attention", "cross-attention"]
SIZE, PIXELS_PER_TOKEN = 230, 8


def attention_explorer(
    examples: AttentionExample | Sequence[AttentionExample], *, size: int | None = None
) -> alt.ConcatChart:
    """Heat map and linked lines for a sentence, kind of attention, layer and head that the reader chooses.

    Rows and left words are queries, columns and right words are keys; in cross-attention the queries are target tokens.
    Hovering over a query, or choosing its number, singles it out and writes its weights beside the keys. Hatched cells
    are masked. Of more than 64 tokens the first 64 are drawn, and the chart says so. `size` is the side of a panel in
    pixels, by default one that fits a phone for up to 30 tokens. `ValueError` when the examples are none, or come from
    models with different numbers of layers and heads.
    """
    examples = [examples] if isinstance(examples, AttentionExample) else list(examples)
    if not examples:
        raise ValueError("no example to draw, expected at least one AttentionExample")
    heads = sorted({example.heads for example in examples})
    if len(heads) > 1:
        raise ValueError(f"the examples differ in (layers, heads): {heads}")
    longest = min(max(len(tokens) for example in examples for tokens in (example.source, example.target)), LONGEST)
    size = size or max(SIZE, PIXELS_PER_TOKEN * longest)
    gold = [_gold_cells(example) for example in examples]
    notes = _notes(cropped=any(max(example.sizes("cross")) > LONGEST for example in examples))
    panels = [heat_panel(size, gold=any(gold)).properties(title=notes), line_panel(size)]
    chart = alt.concat(*panels, **cells(longest), columns=2, spacing=24, title=_title())
    chart = chart.add_params(*_controls(examples, longest), *_data(examples, gold), *_derived(examples[0].heads))
    about = "Attention of the chosen layer and head: a heat map of queries by keys, and lines between them"
    return finished(chart, about, patch=one_column_below(2 * size + 260))


def _controls(examples: Sequence[AttentionExample], longest: int) -> list[alt.Parameter]:
    """What the reader chooses. Layers, heads and tokens count from 1."""
    layers, heads = examples[0].heads
    names = [example.title or _short(" ".join(example.source)) for example in examples]
    sentence = alt.binding_select(options=list(range(len(names))), labels=names, name="Sentence ")
    kind = alt.binding_select(options=list(range(len(KINDS))), labels=KIND_LABELS, name="Attention ")
    return [
        alt.param(name="sentence", value=0, bind=sentence) if len(names) > 1 else alt.param(name="sentence", value=0),
        alt.param(name="kind", value=0, bind=kind),
        alt.param(name="layer", value=1, bind=alt.binding_range(min=1, max=layers, step=1, name="Layer ")),
        alt.param(name="head", value=1, bind=alt.binding_range(min=1, max=heads, step=1, name="Head ")),
        alt.param(name="query", value=0, bind=alt.binding_range(min=0, max=longest, step=1, name="Query (0: all) ")),
    ]


def _data(examples: Sequence[AttentionExample], gold: list[list[int]]) -> list[alt.Parameter]:
    """Tokens and weights of all examples, by sentence and side or kind."""
    tokens = [[list(example.source[:LONGEST]), list(example.target[:LONGEST])] for example in examples]
    lengths = [[len(example.source), len(example.target)] for example in examples]
    return [
        alt.param(name="alphabet", value=ALPHABET),
        alt.param(name="tokens", value=tokens),
        alt.param(name="lengths", value=lengths),
        alt.param(name="gold", value=gold),
        alt.param(name="weights", value=[[_packed(example, kind) for kind in KINDS] for example in examples]),
    ]


def _packed(example: AttentionExample, kind: str) -> str:
    """Weights of all layers and heads of one kind, as far as they are drawn."""
    weights = getattr(example, kind)
    masked = masked_cells(weights, causal=kind == "decoder")
    return pack(weights[:, :, :LONGEST, :LONGEST], masked[:, :, :LONGEST, :LONGEST])


def _gold_cells(example: AttentionExample) -> list[int]:
    """Indexes of the aligned cells of the cross map."""
    keys = min(len(example.source), LONGEST)
    return [target * keys + source for target, source in example.gold if max(target, source) < LONGEST]


def _derived(heads: tuple[int, int]) -> list[alt.Parameter]:
    """What follows from the choices: the words on both sides, the chosen head's weights, the query singled out."""
    cells = "length(queries) * length(keys)"
    expressions = {
        "queries": "tokens[sentence][kind == 0 ? 0 : 1]",
        "keys": "tokens[sentence][kind == 1 ? 1 : 0]",
        "start": f"((layer - 1) * {heads[1]} + head - 1) * {cells}",
        "levels": f"substring(weights[sentence][kind], start, start + {cells})",
        "focus": "(isArray(hover.query) ? hover.query[0] : min(query, length(queries))) - 1",
        "row": "substring(levels, focus * length(keys), (focus + 1) * length(keys))",
        "strongest": "peek(sort(split(row, '')))",
    }
    return [alt.param(name=name, expr=expression) for name, expression in expressions.items()]


def _title() -> alt.TitleParams:
    return alt.TitleParams(text=alt.expr(f"{KIND_LABELS}[kind] + ', layer ' + layer + ', head ' + head"))


def _notes(*, cropped: bool) -> alt.TitleParams:
    """What the query singled out attends to most, and what the reader has to know about the cells.

    The number of lines is always the same, so that the panels below do not move.
    """
    focus = (
        "focus < 0 ? 'Hover over a cell, or choose a query.' : "
        "indexof(alphabet, strongest) < 0 ? 'Query “' + queries[focus] + '” may not attend to any key.' : "
        "'Query “' + queries[focus] + '” attends most to key “' + keys[indexof(row, strongest)] + '”, '"
        " + format(pow(indexof(alphabet, strongest) / (length(alphabet) - 1), 2), '.2f')"
    )
    masked = "indexof(levels, '*') < 0 ? ' ' : 'Hatched: masked, no attention allowed.'"
    longest = "max(lengths[sentence][0], lengths[sentence][1])"
    window = f"{longest} <= {LONGEST} ? ' ' : 'Of ' + {longest} + ' tokens the first {LONGEST} are drawn.'"
    lines = ", ".join([focus, masked] + [window] * cropped)
    return alt.TitleParams(text=alt.expr(f"[{lines}]"), fontSize=12, fontWeight="normal", offset=8)


def _short(text: str, longest: int = 40) -> str:
    return text if len(text) <= longest else text[: longest - 2] + " …"
