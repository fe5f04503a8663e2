"""Size and speed of every interactive figure in headless Chromium, each at its full size, with random numbers in it.

    python benchmarks/charts.py                                 measure and print a table in Markdown
    python benchmarks/charts.py --output benchmarks/results     write charts.json too, and the table into the README
    python benchmarks/charts.py --only "beam tree" --pages 2    measure some of them, more roughly

Times are medians over all pages and repetitions, in milliseconds: until the chart is drawn, and from a moved control
or pointer to the changed SVG, without the wait for the next frame.
"""

import argparse
import gzip
import json
import os
import re
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from figure_page import chromium, open_figure  # noqa: E402
from playwright.sync_api import Browser  # noqa: E402

from tools.vendor import VERSIONS  # noqa: E402
from transformer_lib import charts  # noqa: E402
from transformer_lib.run.records import environment  # noqa: E402
from transformer_lib.run.tracing import STEPS  # noqa: E402

LAYERS, HEADS, D_MODEL, D_FF, D_K, VOCAB = 6, 8, 512, 2048, 64, 37_000  # the base model
BEAM, MOMENTS, CANDIDATES = 4, 10, 5
REPEATS = 15
random = np.random.default_rng(0)


def weights(*shape: int, causal: bool = False) -> np.ndarray:
    """Rows of probabilities, as unequal as those of a trained model."""
    scores = random.normal(0, 2, shape)
    if causal:
        scores[..., np.triu(np.ones(shape[-2:], dtype=bool), 1)] = -np.inf
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum(-1, keepdims=True)


def words(side: str, tokens: int) -> list[str]:
    return [f"{side}{number}" for number in range(tokens)]


def example(tokens: int, layers: int = LAYERS, heads: int = HEADS) -> charts.AttentionExample:
    size = layers, heads, tokens, tokens
    sides = words("source", tokens), words("target", tokens)
    return charts.AttentionExample(*sides, weights(*size), weights(*size, causal=True), weights(*size))


def of_each_head() -> dict[str, np.ndarray]:
    return {kind: random.normal(size=(LAYERS, HEADS)) for kind in ("encoder", "decoder", "cross")}


def attention_explorer(tokens: int) -> alt.TopLevelMixin:
    return charts.attention_explorer(example(tokens))


def head_grid(tokens: int) -> alt.TopLevelMixin:
    return charts.head_grid(example(tokens), measures={"entropy": of_each_head()})


def ablation_matrix(tokens: int) -> alt.TopLevelMixin:
    return charts.ablation_matrix(of_each_head(), example(tokens), baseline=30.0)


def softmax_lab(tokens: int) -> alt.TopLevelMixin:
    open_cells = np.tri(tokens, dtype=bool)
    sides = words("query", tokens), words("key", tokens)
    return charts.softmax_lab(random.normal(0, 8, (tokens, tokens)), *sides, d_k=D_K, mask=open_cells)


def attention_steps(tokens: int) -> alt.TopLevelMixin:
    query, key, value = random.normal(size=(3, tokens, D_K))
    return charts.attention_steps(query, key, value, words("query", tokens), words("key", tokens))


def head_sum(tokens: int) -> alt.TopLevelMixin:
    return charts.head_sum(random.normal(size=(HEADS, tokens, D_MODEL)), words("token", tokens))


def positional_explorer(tokens: int) -> alt.TopLevelMixin:
    return charts.positional_explorer(d_model=D_K, positions=tokens)


def decoding_film(tokens: int) -> alt.TopLevelMixin:
    others = [(f"▁other{number}", 0.1) for number in range(CANDIDATES - 1)]
    target = words("▁target", tokens)
    candidates = [[(piece, 0.5), *others] for piece in target]
    cross = weights(LAYERS, HEADS, tokens, tokens)
    return charts.decoding_film(charts.DecodingSteps(words("▁source", tokens), target, candidates, cross))


def beam_tree(tokens: int) -> alt.TopLevelMixin:
    """Four hypotheses that live side by side to the end, and end there."""
    nodes = []
    for step in range(tokens):
        for beam in range(BEAM):
            parent = len(nodes) - BEAM if step else None
            nodes.append(charts.BeamNode(f"▁piece{step}", parent, -step - beam / BEAM))
    last = [(len(nodes) - BEAM + beam, nodes[beam - BEAM].log_probability - 1) for beam in range(BEAM)]
    nodes += [charts.BeamNode("</s>", parent, total, total / 2) for parent, total in last]
    cross = weights(LAYERS, HEADS, len(nodes), tokens)
    return charts.beam_tree(charts.SearchTree(words("▁source", tokens), nodes, cross))


def training_film(tokens: int) -> alt.TopLevelMixin:
    """Of the lab's model, which has 3 layers of 4 heads."""
    moments = [(100 * moment, example(tokens, 3, 4)) for moment in range(MOMENTS)]
    return charts.training_film(moments, losses=[(update, 9 - update / 200) for update in range(0, 1000, 5)])


def shape_tracer(tokens: int) -> alt.TopLevelMixin:
    sizes = dict.fromkeys(("n_src", "n_tgt", "n_q", "n_k"), tokens)
    sizes |= {"heads": HEADS, "d_k": D_K, "d_model": D_MODEL, "d_ff": D_FF, "vocab": VOCAB}
    shapes = [[sizes[axis] for axis in step.axes.split()] for step in STEPS]
    tensors = zip(STEPS, map(random.standard_normal, shapes), strict=True)
    traced = [
        charts.TracedTensor(
            step.block, step.name, step.axes.split(), values, step.change, words("t", values.shape[-2:][0])
        )
        for step, values in tensors
    ]
    return charts.shape_tracer(traced)


@dataclass(frozen=True)
class Figure:
    """What is measured: a chart for a number of tokens a side, and a control of it with its first and last value."""

    name: str
    build: Callable[[int], alt.TopLevelMixin]
    control: tuple[str, int, int]
    tokens: int = 30


FIGURES = [
    Figure("attention explorer", attention_explorer, ("head", 1, HEADS)),
    Figure("attention explorer, 64 tokens", attention_explorer, ("head", 1, HEADS), tokens=64),
    Figure("head grid", head_grid, ("kind", 0, 2)),
    Figure("ablation matrix", ablation_matrix, ("head", 1, HEADS)),
    Figure("softmax lab", softmax_lab, ("temperature", 1, 4)),
    Figure("attention steps", attention_steps, ("chosen_query", 1, 2)),
    Figure("head sum", head_sum, ("token", 1, 2)),
    Figure("positional explorer", positional_explorer, ("position", 0, 2), tokens=50),
    Figure("decoding film", decoding_film, ("step", 1, 2)),
    Figure("beam tree", beam_tree, ("step", 1, 2)),
    Figure("training film", training_film, ("moment", 1, 2), tokens=15),
    Figure("shape tracer", shape_tracer, ("step", 1, len(STEPS)), tokens=20),
]
# Every signal counts up and starts over; the pointer goes to marks all over the figure.
SWITCH = "const [name, first, last] = %s; view.signal(name, view.signal(name) >= last ? first : view.signal(name) + 1)"
HOVER = """const marks = document.querySelectorAll("#figure svg [role=graphics-symbol]");
        const mark = marks[Math.floor((i + 0.5) / repeats * marks.length)];
        mark.dispatchEvent(new PointerEvent("pointerover", {bubbles: true, pointerType: "mouse"}))"""
TIMED = """async (repeats) => {
    const times = [];
    for (let i = 0; i < repeats; i++) {
        const begun = performance.now();
        %s;
        await view.runAsync();
        document.querySelector("#figure svg").getBoundingClientRect();
        times.push(performance.now() - begun);
    }
    return times;
}"""


def measure(browser: Browser, figure: Figure, pages: int, tokens: int | None = None) -> dict[str, Any]:
    """KiB and milliseconds of one figure, with the number of tokens asked for instead of its own."""
    tokens = tokens or figure.tokens
    chart = figure.build(tokens)
    spec = chart.to_json(indent=None).encode()
    times: dict[str, list[float]] = {"embed_ms": [], "switch_ms": [], "hover_ms": []}
    for _ in range(pages):
        page = open_figure(browser, chart)
        times["embed_ms"].append(page.evaluate("embedded"))
        times["switch_ms"] += page.evaluate(TIMED % SWITCH % json.dumps(figure.control), REPEATS)
        times["hover_ms"] += page.evaluate(TIMED % HOVER, REPEATS)
        if page.complaints:
            raise RuntimeError(f"{figure.name}: {page.complaints}")
        page.close()
    sizes = {"size_kib": len(spec) / 1024, "gzip_kib": len(gzip.compress(spec)) / 1024}
    medians = {name: statistics.median(values) for name, values in times.items()}
    rounded = {name: round(value, 1) for name, value in (sizes | medians).items()}
    return {"figure": figure.name, "tokens": tokens, "control": figure.control[0], **rounded}


def circumstances(browser: Browser, pages: int) -> dict[str, Any]:
    versions = {"altair": alt.__version__, **{name: VERSIONS[name] for name in ("vega", "vega-lite", "vega-embed")}}
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {**environment(), "chromium": browser.version, **versions, "load_before": load, "pages": pages}


def table(record: dict[str, Any]) -> str:
    """Markdown; what is over its limit is bold."""
    lines = [
        "| figure | tokens | KiB | gzip KiB | embed ms | control ms | pointer ms |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in record["figures"]:
        numbers = [f"{row[name]:.0f}" for name in ("size_kib", "gzip_kib", "embed_ms", "switch_ms", "hover_ms")]
        lines.append(f"| {row['figure']} | {row['tokens']} | {' | '.join(numbers)} |")
    return "\n".join(lines) + "\n"


def write(record: dict[str, Any], folder: Path, readme: Path) -> None:
    """The record, and its table in place of the one that stands in the README."""
    (folder / "charts.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    text = readme.read_text(encoding="utf-8")
    readme.write_text(re.sub(r"(?:^\| figure \|.*\n)(?:^\|.*\n)+", table(record), text, flags=re.M), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=[figure.name for figure in FIGURES])
    parser.add_argument("--tokens", type=int, help="tokens a side, in place of each figure's own")
    parser.add_argument("--pages", type=int, default=5, help="how often each is drawn (%(default)s)")
    parser.add_argument("--output", type=Path, help="folder for charts.json; its parent has the README")
    arguments = parser.parse_args()
    chosen = [figure for figure in FIGURES if not arguments.only or figure.name in arguments.only]
    with chromium() as browser:
        record = {"environment": circumstances(browser, arguments.pages), "figures": []}
        for figure in chosen:
            record["figures"].append(measure(browser, figure, arguments.pages, arguments.tokens))
            print(record["figures"][-1], file=sys.stderr, flush=True)
    print(table(record))
    if arguments.output:
        write(record, arguments.output, arguments.output.parent / "README.md")


if __name__ == "__main__":
    main()
