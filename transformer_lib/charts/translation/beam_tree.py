"""The tree of a beam search: what it kept at each step, what became of that, and where the model looked."""

import textwrap

import altair as alt

from ..page import Patch, clickable, finished, one_column_below, playing_step
from ..style import BLUE, INK, ORANGE, pixels, words
from .search_tree import SearchTree
from .tree_rows import CARD_HEIGHT, ENDING, GAP, each_row_once, said_so_far, step_tops, tree_rows
from .word_bars import LINE, LOOKS, NO_LINE, WIDTH, looks, looks_panel, text_of

CARD, COLUMN, LEFT = 66, 70, 24  # pixels: width of a hypothesis, distance of the columns, room for the steps' numbers
LEGEND = [
    "'Beam search after step ' + step",
    "'Blue, bold, first column: the best (★ its score)'",
    "'Orange: the hypothesis chosen, and its path'",
    "'Dashed: given up by now'",
]
FATE = (  # of the hypothesis that is told of, at the step that is shown
    "told.ends == told.step ? 'Finished at step ' + told.step : told.ends <= step ? 'Translations have come of it' : "
    "told.lives < step ? 'Given up at step ' + (told.lives + 1) + ', where others were likelier' : "
    "step == last_step ? 'Unfinished when the search stopped' : 'In the beam'"
)
LINE_STYLE = {
    "stroke": alt.expr("datum.color"),
    "strokeWidth": alt.expr("datum.width"),
    "strokeDash": alt.expr("datum.given_up ? [3, 3] : [1, 0]"),
}
FRAME = {"x": pixels(alt.X, "x"), "x2": "right:Q", "y": pixels(alt.Y, "y"), "y2": "bottom:Q"}


def beam_tree(tree: SearchTree) -> alt.ConcatChart:
    """Every hypothesis that a beam search kept or finished, step below step (section 6.1).

    A card has the newest piece and the log-probability of all; an ending hangs below it, with the score under the
    length penalty. The best translation is the first column, bold and blue; what is dashed was given up. A click on a
    card, or the list of hypotheses, shows its text and the cross-attention with which its newest piece was chosen. The
    tree stands complete; the step slider takes it back, and Play lets it grow. A beam of 4 fits a phone.
    """
    rows = tree_rows(tree)
    cross, row_of = each_row_once(tree)
    said = [f"told.said[{line}]" for line in range(len(rows[0]["said"]))]
    details = looks_panel(len(tree.source), title=[*said, "told.place", FATE, *LOOKS])
    chart = alt.concat(_tree_panel(tree, [*LEGEND, *[NO_LINE] * len(said)]), details, columns=2, spacing=24)
    chart = chart.add_params(*looks(tree.source, cross, f"{row_of}[chosen - 1]"), *_parameters(tree, rows))
    chart = chart.properties(title=textwrap.wrap(tree.title, LINE))
    about = f"Beam search for a translation of “{text_of(tree.source)}”, a tree of {len(tree.nodes)} hypotheses"
    return finished(chart, about, patch=one_column_below(2 * WIDTH + 120) + _controls(tree))


def _parameters(tree: SearchTree, rows: list[dict[str, object]]) -> list[alt.Parameter]:
    """What the page knows of each hypothesis; the one that it tells of is the one picked, once it is in the tree."""
    best = rows[tree.best]["path"]
    followed = f"best[min(step, {len(best)}) - 1]"
    return [
        alt.param(name="nodes", value=rows),
        alt.param(name="best", value=best),
        alt.param(name="last_step", value=max(tree.steps)),
        alt.param(name="chosen", expr=f"node > 0 && nodes[node - 1].step <= step ? node : {followed}"),
        alt.param(name="told", expr="nodes[chosen - 1]"),
    ]


def _controls(tree: SearchTree) -> Patch:
    """Which hypothesis is told of, by a click or from a list, and which step is the last that is drawn."""
    labels = [f"{step}: {_short(said_so_far(tree, index))}" for index, step in enumerate(tree.steps)]
    labels = ["the best translation", *labels]
    listed = {"input": "select", "options": list(range(len(labels))), "labels": labels, "name": "Hypothesis "}
    return clickable("node", 0, listed) + playing_step("step", max(tree.steps), label="Step", start=max(tree.steps))


def _short(text: str, longest: int = 30) -> str:
    return text if len(text) <= longest else "… " + text[2 - longest :]


def _tree_panel(tree: SearchTree, title: list[str]) -> alt.LayerChart:
    node = alt.Chart()  # inherits the rows
    layers = [*_branches(node), *_cards(node), *_steps(tree), _described(node)]
    rows = _drawn(len(tree.nodes))
    panel = alt.layer(*layers, data=rows.data, transform=rows.transform)
    width = LEFT + CARD + COLUMN * max(tree.columns.values())
    return panel.properties(name="tree", title=words(*title), width=max(width, WIDTH), height=step_tops(tree)[-1])


def _drawn(count: int) -> alt.Chart:
    """The hypotheses up to the step at hand, in pixels and in style."""
    rows = alt.Chart(alt.sequence(1, count + 1, as_="node")).transform_calculate(at="nodes[datum.node - 1]")
    rows = rows.transform_filter("datum.at.step <= step").transform_calculate(
        finished="datum.at.ends == datum.at.step",
        given_up="datum.at.lives < step && datum.at.ends > step",
        best="indexof(best, datum.node) >= 0",
        told="indexof(told.path, datum.node) >= 0",
        x=f"{LEFT} + {COLUMN} * datum.at.column",
        y="datum.at.y",
        from_x=f"{LEFT + CARD / 2} + {COLUMN} * datum.at.from",
    )
    return rows.transform_calculate(
        middle=f"datum.x + {CARD / 2}",
        right=f"datum.x + {CARD}",
        bottom=f"datum.y + (datum.finished ? {ENDING} : {CARD_HEIGHT})",
        color=f"datum.told ? '{ORANGE}' : datum.best ? '{BLUE}' : 'gray'",
        width="datum.told || datum.best ? 2 : 1",
    )


def _branches(node: alt.Chart) -> list[alt.Chart]:
    """Down from the parent to below the endings of its step, then over to the child."""
    branches = node.transform_filter("!datum.finished").transform_calculate(
        stem="datum.at.stem", joint=f"datum.y - {GAP}"
    )
    rule = branches.mark_rule(aria=False, **LINE_STYLE)
    from_x = pixels(alt.X, "from_x")
    return [
        rule.encode(x=from_x, y=pixels(alt.Y, "stem"), y2="joint:Q"),
        rule.encode(x=from_x, x2="middle:Q", y=pixels(alt.Y, "joint"), y2="y:Q"),
    ]


def _cards(node: alt.Chart) -> list[alt.Chart]:
    """A frame with the newest piece and the log-probability, or, as an ending, with the score alone."""
    tint = alt.expr("datum.best ? 0.14 : 0")
    style = {"color": INK, "baseline": "middle", "aria": False, "opacity": alt.expr("datum.given_up ? 0.65 : 1")}
    style["fontWeight"] = alt.expr("datum.best ? 'bold' : 'normal'")
    pieces = node.transform_filter("!datum.finished").transform_calculate(line="datum.y + 9", piece="datum.at.piece")
    numbers = node.transform_calculate(line="datum.y + (datum.finished ? 9 : 22)", number="datum.at.number")
    middle, line = pixels(alt.X, "middle"), pixels(alt.Y, "line")
    return [
        node.mark_rect(cornerRadius=3, fill=BLUE, fillOpacity=tint, aria=False, **LINE_STYLE).encode(**FRAME),
        pieces.mark_text(fontSize=11, limit=CARD - 3, **style).encode(x=middle, y=line, text="piece:N"),
        numbers.mark_text(fontSize=10, **style).encode(x=middle, y=line, text="number:N"),
    ]


def _steps(tree: SearchTree) -> list[alt.Chart]:
    """The steps' numbers on the left, and `<s>`, where all begins."""
    tops = step_tops(tree)[:-1]
    rows = [{"step": step, "line": top + 9, "label": step or "<s>"} for step, top in enumerate(tops)]
    marks = alt.Chart(alt.Data(values=rows)).transform_filter("datum.step <= step")
    marks = marks.transform_calculate(x=f"datum.step ? 8 : {LEFT + CARD / 2}")
    numbers = marks.mark_text(color=INK, fontSize=11, baseline="middle", aria=False)
    return [numbers.encode(x=pixels(alt.X, "x"), y=pixels(alt.Y, "line"), text="label:N")]


def _described(node: alt.Chart) -> alt.Chart:
    """What answers the pointer and tells a screen reader; a thicker frame shows which one is told of."""
    about = node.transform_calculate(about="trim(join(datum.at.said, ' ')) + ': ' + datum.at.place")
    chosen = alt.expr(f"datum.node == chosen ? '{ORANGE}' : 'transparent'")
    mark = about.mark_rect(cornerRadius=3, fill="transparent", stroke=chosen, strokeWidth=4, cursor="pointer")
    return mark.encode(description="about:N", tooltip="about:N", **FRAME)
