"""What is lost when a head is silenced: a matrix for each kind of attention, and the map of the chosen head."""

import math
from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np

from ..examples import KINDS, AttentionExample
from ..heat import domain_of
from ..style import FAINT, INK, TIGHT, color_scale, words
from .overview import CHOSEN, beside_map, every_head, number_format, per_head
from .parameters import KIND_LABELS, as_examples

WIDTH, NARROWEST, TALL = 240, 30, 22  # pixels: the width of a matrix, of a cell at least, and the height of a cell


def ablation_matrix(
    losses: Mapping[str, object],
    examples: AttentionExample | Sequence[AttentionExample],
    *,
    baseline: float,
    unit: str = "BLEU",
    size: int | None = None,
) -> alt.ConcatChart:
    """The loss without each head, as numbers and colors, and the attention map of the head that the reader chooses.

    `losses` are arrays `(layers, heads)`, `{"encoder": ..., "decoder": ..., "cross": ...}`: `baseline`, the score of
    the whole model in `unit`, less its score with that head silenced; a gain is negative. The three matrices share one
    scale. A click on a cell, or the controls, choose the head; the one with the largest loss is chosen first. `size` is
    the side of its map in pixels. `ValueError` where losses do not fit the examples, or numbers are not finite.
    """
    examples = as_examples(examples)
    losses = per_head("losses", losses, examples[0].heads)
    if not math.isfinite(baseline):
        raise ValueError(f"baseline: expected a finite number, got {baseline}")
    stacked = np.stack([losses[kind] for kind in KINDS])
    kind, layer, head = np.unravel_index(stacked.argmax(), stacked.shape)
    return beside_map(
        _matrices(stacked, unit),
        examples,
        _parameters(stacked, float(baseline), unit),
        chosen=(int(kind), int(layer) + 1, int(head) + 1),
        description=f"Loss of {unit} when each head is silenced, and the attention map of the chosen head",
        size=size,
    )


def _parameters(losses: np.ndarray, baseline: float, unit: str) -> list[alt.Parameter]:
    values = {
        "losses": [[float(f"{loss:.4g}") for loss in kind.ravel()] for kind in losses],
        "baseline": baseline,
        "score": unit,
        "digits": number_format(baseline, losses),
        "kinds": KIND_LABELS,
    }
    loss = alt.param(name="loss", expr=f"losses[kind][(layer - 1) * {losses.shape[2]} + head - 1]")
    return [*(alt.param(name=name, value=value) for name, value in values.items()), loss]


def _outcome(of: str = "") -> tuple[str, str]:
    """Two lines as expressions: without a head, how the score changes; of the chosen head, or of a row with `of`."""
    before, after = "format(baseline, digits)", f"format(baseline - {of}loss, digits)"
    change = (
        f"{before} == {after} ? ' stays at ' : ({of}loss > 0 ? ' falls from ' : ' rises from ') + {before} + ' to '"
    )
    head = f"'Without ' + kinds[{of}kind] + ' head ' + {of}head"
    return head, f"'of layer ' + {of}layer + ', ' + score + ({change}) + {after} + '.'"


def _matrices(losses: np.ndarray, unit: str) -> alt.VConcatChart:
    """One below the other, the legend of all three below the last."""
    kinds, layers, heads = losses.shape
    legend = alt.Legend(title=f"loss of {unit}", orient="bottom", gradientLength=160, format=".2~f")
    legends = [None] * (kinds - 1) + [legend]
    scale = color_scale(domain_of(losses), numbers=True)
    matrices = [
        _matrix(kind, layers, heads, alt.Color("loss:Q", scale=scale, legend=legends[kind])) for kind in range(kinds)
    ]
    stacked = alt.vconcat(*matrices, spacing=6, title=words(*_outcome()))
    return stacked.resolve_scale(color="independent")


def _matrix(kind: int, layers: int, heads: int, color: alt.Color) -> alt.LayerChart:
    """Layers by heads of one kind: colors, numbers, and a frame around the chosen head."""
    rows = (
        every_head(layers, heads)
        .transform_calculate(kind=str(kind), loss=f"losses[{kind}][datum.index]")
        .transform_calculate(shown="format(datum.loss, digits)", about=" + ' ' + ".join(_outcome("datum.")))
    )
    at = {
        "x": alt.X("head:O", axis=_axis("top", "(datum.value == 1 ? 'head ' : '') + datum.value"), scale=TIGHT),
        "y": alt.Y("layer:O", axis=_axis("left", "'layer ' + datum.value"), scale=TIGHT),
    }
    cells = alt.Chart().mark_rect(stroke=FAINT, strokeWidth=0.5, cursor="pointer")
    tooltip = ["layer:O", "head:O", alt.Tooltip("shown:N", title="loss")]
    numbers = alt.Chart().mark_text(color=INK, fontSize=10, aria=False, cursor="pointer")
    frame = alt.Chart().transform_filter(f"kind == {kind} && {CHOSEN}")
    layered = alt.layer(
        cells.encode(**at, color=color, description="about:N", tooltip=tooltip),
        numbers.encode(**at, text="shown:N"),
        frame.mark_rect(filled=False, stroke=INK, strokeWidth=2, aria=False).encode(**at),
        data=rows.data,
        transform=rows.transform,
    )
    width = heads * max(NARROWEST, WIDTH // heads)
    name = alt.TitleParams(text=KIND_LABELS[kind], fontSize=12, fontWeight="normal", offset=4)
    return layered.properties(name=f"{KINDS[kind]}_losses", width=width, height=layers * TALL, title=name)


def _axis(orient: str, label: str) -> alt.Axis:
    return alt.Axis(title=None, orient=orient, labelExpr=label, labelAngle=0, ticks=False, domain=False)
