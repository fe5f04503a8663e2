"""Size and speed of the attention explorer in headless Chromium, at the size of the base model: prints JSON.

Run as `python benchmarks/charts.py [tokens]` from the root of the repository (30 tokens a side by default).
"""

import gzip
import json
import statistics
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from figure_page import chromium, open_figure  # noqa: E402

from transformer_lib.charts import AttentionExample, attention_explorer  # noqa: E402

LAYERS, HEADS = 6, 8
PAGES, REPEATS = 5, 15
SWITCH_HEAD = "view.signal('head', view.signal('head') % 8 + 1)"
HOVER = """cells[i * (view.signal('keys').length + 1)].dispatchEvent(
            new PointerEvent('pointerover', {bubbles: true, pointerType: 'mouse'}))"""
# From the event to the changed SVG, without the wait for the next frame.
TIMED = """async () => {
    const cells = document.querySelectorAll("[aria-roledescription='rect mark']"), times = [];
    for (let i = 0; i < %d; i++) {
        const begun = performance.now();
        %s;
        await view.runAsync();
        document.querySelector("#figure svg").getBoundingClientRect();
        times.push(performance.now() - begun);
    }
    return times;
}"""


def random_example(tokens: int) -> AttentionExample:
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 2, (3, LAYERS, HEADS, tokens, tokens))
    scores[1, ..., np.triu(np.ones((tokens, tokens), dtype=bool), 1)] = -np.inf
    weights = np.exp(scores)
    source, target = ([f"{side}{i}" for i in range(tokens)] for side in ("source", "target"))
    return AttentionExample(source, target, *(weights / weights.sum(-1, keepdims=True)))


def measure(tokens: int) -> dict[str, float]:
    """KiB and milliseconds; medians."""
    chart = attention_explorer(random_example(tokens))
    spec = chart.to_json(indent=None).encode()
    with chromium() as browser:
        embedded = []
        for _ in range(PAGES):
            page = open_figure(browser, chart)
            embedded.append(page.evaluate("window.embedded"))
            times = {
                name: page.evaluate(TIMED % (REPEATS, act)) for name, act in (("head", SWITCH_HEAD), ("hover", HOVER))
            }
            assert page.complaints == []
            page.close()
    return {
        "tokens": tokens,
        "size_kib": round(len(spec) / 1024, 1),
        "gzip_kib": round(len(gzip.compress(spec)) / 1024, 1),
        "embed_ms": round(statistics.median(embedded), 1),
        "head_switch_ms": round(statistics.median(times["head"]), 1),
        "hover_ms": round(statistics.median(times["hover"]), 1),
    }


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 30), indent=2))
