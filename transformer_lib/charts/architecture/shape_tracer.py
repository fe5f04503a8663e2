"""The shape tracer: a sentence's tensors on their way through Figure 1, block by block."""

from collections.abc import Sequence

import altair as alt

from ..page import finished, one_column_below, playing_step
from .block_diagram import block_diagram
from .blocks import BY_NAME
from .tensor_panel import tensor_panel
from .traced import TracedTensor


def shape_tracer(traced: Sequence[TracedTensor]) -> alt.ConcatChart:
    """Follow `traced` tensors, in the order of the forward pass, through the blocks of the paper's Figure 1.

    A slider, a film that can be stopped, or a click on a block chooses the step. Beside the figure stand the block's
    name, what has changed, the tensor's shape with its axes, and a picture. `ValueError` where nothing was traced.
    """
    traced = list(traced)
    if not traced:
        raise ValueError("nothing was traced, expected at least one TracedTensor")
    names = [tensor.block for tensor in traced]
    first = {name: names.index(name) + 1 for name in names}
    headings = [[" ".join(BY_NAME[name].lines), BY_NAME[name].where or " "] for name in names]
    chart = alt.concat(block_diagram(first), tensor_panel(traced), columns=2, spacing=24).add_params(
        alt.param(name="blocks", value=names),
        alt.param(name="current", expr="blocks[step - 1]"),
        alt.param(name="headings", value=headings),
    )
    about = "The blocks of Figure 1 with one of them marked, and the shape and a picture of the tensor that it makes"
    step = playing_step("step", len(traced), label=f"Step (of {len(traced)})", by_click=True)
    chart = chart.properties(padding={"left": 2, "right": 2, "top": 5, "bottom": 5})  # fits the column of a phone
    return finished(chart, about, patch=[*one_column_below(720), *step])
