"""What figures of attention share in the page: the choices of the reader, tokens, weights, and what follows of them."""

from collections.abc import Sequence

import altair as alt

from ..examples import KINDS, AttentionExample
from ..packing import ALPHABET, pack

MOST_WEIGHTS = 1_000_000  # a byte each in the page
KIND_LABELS = ["encoder self-attention", "decoder self-attention", "cross-attention"]
Shown = tuple[list[int], list[int]]


def as_examples(examples: AttentionExample | Sequence[AttentionExample]) -> list[AttentionExample]:
    """One example or several of one model, as a list; `ValueError` for none, or for those of different models."""
    examples = [examples] if isinstance(examples, AttentionExample) else list(examples)
    if not examples:
        raise ValueError("no example to draw, expected at least one AttentionExample")
    sizes = sorted({example.heads for example in examples})
    if len(sizes) > 1:
        raise ValueError(f"the examples differ in (layers, heads): {sizes}")
    return examples


def shown_heads(
    examples: Sequence[AttentionExample], layers: Sequence[int] | None = None, heads: Sequence[int] | None = None
) -> Shown:
    """Indexes of the layers and of the heads to show, by default all; `ValueError` where a page cannot hold them."""
    chosen = zip(("layers", "heads"), (layers, heads), examples[0].heads, strict=True)
    layers, heads = (_indexes(*each) for each in chosen)
    pairs = sum(queries * keys for example in examples for queries, keys in map(example.sizes, KINDS))
    weights = pairs * len(layers) * len(heads)
    if weights > MOST_WEIGHTS:
        raise ValueError(
            f"{weights:,} weights are too many for a page, at most {MOST_WEIGHTS:,}: choose some of them with "
            "`layers=` and `heads=`, or draw fewer or shorter sentences"
        )
    return layers, heads


def _indexes(name: str, chosen: Sequence[int] | None, count: int) -> list[int]:
    indexes = sorted(set(range(count) if chosen is None else chosen))
    if not indexes or not set(indexes) <= set(range(count)):
        raise ValueError(f"{name}: expected some of 0 to {count - 1}, got {indexes}")
    return indexes


def longest_side(examples: Sequence[AttentionExample]) -> int:
    """The number of tokens of the longest sentence."""
    return max(len(tokens) for example in examples for tokens in (example.source, example.target))


def sentence_choice(examples: Sequence[AttentionExample]) -> alt.Parameter:
    """Which example; one leaves no choice."""
    names = [example.title or _short(" ".join(example.source)) for example in examples]
    sentence = alt.binding_select(options=list(range(len(names))), labels=names, name="Sentence ")
    return alt.param(name="sentence", value=0, bind=sentence) if len(names) > 1 else alt.param(name="sentence", value=0)


def kind_choice(first: str = KINDS[0]) -> alt.Parameter:
    """Which of the three attentions; `first` is the one chosen at first, `ValueError` for one that there is not."""
    if first not in KINDS:
        raise ValueError(f"kind: expected one of {', '.join(KINDS)}, got {first!r}")
    kind = alt.binding_select(options=list(range(len(KINDS))), labels=KIND_LABELS, name="Attention ")
    return alt.param(name="kind", value=KINDS.index(first), bind=kind)


def head_choices(shown: Shown, *, last_layer: bool = False) -> list[alt.Parameter]:
    """Which layer and head, counted from 1: a slider over neighbors, a select over others."""
    layers, heads = shown
    return [_number("layer", layers, layers[-last_layer]), _number("head", heads, heads[0])]


def _number(name: str, indexes: list[int], chosen: int) -> alt.Parameter:
    label, first, last = f"{name.capitalize()} ", indexes[0] + 1, indexes[-1] + 1
    neighbors = len(indexes) == last - first + 1
    slider = alt.binding_range(min=first, max=last, step=1, name=label)
    choice = alt.binding_select(options=[index + 1 for index in indexes], name=label)
    return alt.param(name=name, value=chosen + 1, bind=slider if neighbors else choice)


def query_choice(longest: int) -> alt.Parameter:
    """Which query is singled out, from 1; what the pointer does, for the keyboard."""
    query = alt.binding_range(min=0, max=longest, step=1, name="Query (0: all) ")
    return alt.param(name="query", value=0, bind=query)


def data(examples: Sequence[AttentionExample], shown: Shown) -> list[alt.Parameter]:
    """Tokens and weights of all examples, by sentence and side or kind."""
    layers, heads = ([index + 1 for index in indexes] for indexes in shown)
    values = {
        "alphabet": ALPHABET,
        "layers": layers,
        "heads": heads,
        "tokens": [[list(example.source), list(example.target)] for example in examples],
        "gold": [[target * len(example.source) + source for target, source in example.gold] for example in examples],
        "weights": [[_packed(example, kind, shown) for kind in KINDS] for example in examples],
    }
    return [alt.param(name=name, value=value) for name, value in values.items()]


def _packed(example: AttentionExample, kind: str, shown: Shown) -> str:
    """Weights of one kind in the layers and heads shown."""
    layers, heads = shown
    weights, masked = (matrix[layers][:, heads] for matrix in (getattr(example, kind), example.masked(kind)))
    return pack(weights, masked)


def derived() -> list[alt.Parameter]:
    """What follows from the choices: the words on both sides, the chosen head's weights, the query singled out."""
    cells = "length(queries) * length(keys)"
    expressions = {
        "queries": "tokens[sentence][kind == 0 ? 0 : 1]",
        "keys": "tokens[sentence][kind == 1 ? 1 : 0]",
        "start": f"(indexof(layers, layer) * length(heads) + indexof(heads, head)) * {cells}",
        "levels": f"substring(weights[sentence][kind], start, start + {cells})",
        "focus": "(isArray(hover.query) ? hover.query[0] : min(query, length(queries))) - 1",
        "row": "substring(levels, focus * length(keys), (focus + 1) * length(keys))",
        "strongest": "peek(sort(split(row, '')))",
    }
    return [alt.param(name=name, expr=expression) for name, expression in expressions.items()]


def title() -> alt.TitleParams:
    """The head that is drawn."""
    return alt.TitleParams(text=alt.expr(f"{KIND_LABELS}[kind] + ', layer ' + layer + ', head ' + head"))


def _short(text: str, longest: int = 40) -> str:
    return text if len(text) <= longest else text[: longest - 2] + " …"
