"""Figure 1 of the paper as data: blocks with place, section and chapter, and the arrows between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..style import SERIES

BLUE, ORANGE, GREEN, PURPLE, _, GREY = SERIES
# Places are in pixels from the upper left corner of a figure of this size, which a phone shows without shrinking it.
WIDTH, HEIGHT = 296, 612
ENCODER, DECODER, BETWEEN = 77, 219, 148  # the middle of each column, and where the memory passes from one to the other
BLOCK_WIDTH, STACK_WIDTH, PADDING, LINE = 122, 141, 13, 14
TAP, MARGIN = 10, 8  # how far below a sub-layer a residual connection leaves the stream, and how far beside it runs
Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Block:
    """A box of Figure 1: its words, what tells it apart from boxes of the same words, and where it belongs.

    `x` and `y` are its middle, `section` is one of the paper, `document` the chapter of this book that explains it.
    Below the box that stands for a stack hangs the frame around its layers, down to `frame_bottom`.
    """

    name: str
    lines: tuple[str, ...]
    where: str
    x: float
    y: float
    section: str
    document: str
    color: str = GREY
    width: float = BLOCK_WIDTH
    frame_bottom: float | None = None

    @property
    def height(self) -> float:
        """Pixels from top to bottom."""
        return PADDING + LINE * len(self.lines)

    @property
    def left(self) -> float:
        """The left edge."""
        return self.x - self.width / 2

    @property
    def top(self) -> float:
        """The upper edge."""
        return self.y - self.height / 2

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.y + self.height / 2

    @property
    def title(self) -> str:
        """The words of the block, and which of the blocks with these words it is."""
        return f"{' '.join(self.lines)} {self.where}".strip()


ATTENTION, MASKED, FEED_FORWARD = ("Multi-head", "attention"), ("Masked multi-head", "attention"), ("Feed forward",)
ADD_NORM, EMBEDDING, POSITIONS = ("Add & norm",), "embedding", ("Add positional", "encoding")
# A frame is wider than its blocks on the outer side, where the residual connections run.
LAYERS = {"width": STACK_WIDTH, "frame_bottom": 449}

# In the order of the forward pass, and named as the model names its modules.
ENCODER_BLOCKS = (
    Block("source", ("Inputs",), "of the encoder", ENCODER, 588, "5.1", "11_data_and_batching"),
    Block("source_embedding", ("Input", EMBEDDING), "", ENCODER, 534, "3.4", "07_embeddings", ORANGE),
    Block("source_positions", POSITIONS, "to the input", ENCODER, 480, "3.5", "08_positional_encoding", ORANGE),
    Block("encoder.self_attention", ATTENTION, "in the encoder", ENCODER, 408, "3.2.2", "04_multi_head", BLUE),
    Block("encoder.residual_attention", ADD_NORM, "after the encoder's attention", ENCODER, 366, "3.1", "02_stacks"),
    Block("encoder.feed_forward", FEED_FORWARD, "in the encoder", ENCODER, 318, "3.3", "06_feed_forward", GREEN),
    Block("encoder.residual_feed_forward", ADD_NORM, "at the encoder's end", ENCODER, 282, "3.1", "02_stacks"),
    Block("encoder", ("Encoder: N layers",), "", ENCODER - 5.5, 246, "3.1", "02_stacks", **LAYERS),
)
DECODER_BLOCKS = (
    Block("target", ("Outputs", "(shifted right)"), "", DECODER, 588, "3.1", "11_data_and_batching"),
    Block("target_embedding", ("Output", EMBEDDING), "", DECODER, 534, "3.4", "07_embeddings", ORANGE),
    Block("target_positions", POSITIONS, "to the output", DECODER, 480, "3.5", "08_positional_encoding", ORANGE),
    Block("decoder.self_attention", MASKED, "in the decoder", DECODER, 408, "3.2.3", "05_masks", BLUE),
    Block("decoder.residual_self_attention", ADD_NORM, "after masked attention", DECODER, 366, "3.1", "02_stacks"),
    Block("decoder.cross_attention", ATTENTION, "over the memory", DECODER, 312, "3.2.3", "05_masks", BLUE),
    Block("decoder.residual_cross_attention", ADD_NORM, "after cross-attention", DECODER, 270, "3.1", "02_stacks"),
    Block("decoder.feed_forward", FEED_FORWARD, "in the decoder", DECODER, 222, "3.3", "06_feed_forward", GREEN),
    Block("decoder.residual_feed_forward", ADD_NORM, "at the decoder's end", DECODER, 186, "3.1", "02_stacks"),
    Block("decoder", ("Decoder: N layers",), "", DECODER + 5.5, 150, "3.1", "02_stacks", **LAYERS),
    Block("output", ("Linear",), "", DECODER, 112, "3.4", "07_embeddings", PURPLE),
    Block("softmax", ("Softmax",), "", DECODER, 70, "3.4", "07_embeddings", PURPLE),
    Block("probabilities", ("Output", "probabilities"), "", DECODER, 22, "6.1", "15_decoding"),
)
BLOCKS = ENCODER_BLOCKS + DECODER_BLOCKS
BY_NAME = {block.name: block for block in BLOCKS}
STACKS = tuple(block for block in BLOCKS if block.frame_bottom)
# Not in Figure 1: equation 1, which is inside each of its attention blocks.
EQUATION = Block("attention", ("Scaled dot-product", "attention"), "", ENCODER, 128, "3.2.1", "03_attention", BLUE)
MAP = (*BLOCKS, EQUATION)
MEMORY = (BETWEEN - 8, 218)  # where the word ends that names the encoder's output


def arrows() -> list[Points]:
    """The corners of every arrow from tail to head: the two streams, the residual connections, the memory."""
    columns = ((ENCODER, ENCODER_BLOCKS, -1), (DECODER, DECODER_BLOCKS, 1))
    streams = [[(x, low.top), (x, high.bottom)] for x, blocks, _ in columns for low, high in pairwise(blocks)]
    residual = [
        _around(sublayer, total, outward)
        for _, blocks, outward in columns
        for sublayer, total in pairwise(blocks)
        if total.lines == ADD_NORM
    ]
    return [*streams, *residual, _memory()]


def _around(sublayer: Block, total: Block, outward: int) -> Points:
    """The residual connection: it leaves the stream below the sub-layer and goes round it, on the outer side."""
    tap, edge = sublayer.bottom + TAP, total.x + outward * total.width / 2
    beside = edge + outward * MARGIN
    return [(total.x, tap), (beside, tap), (beside, total.y), (edge, total.y)]


def _memory() -> Points:
    """The encoder's output, on its way to every layer of the decoder."""
    encoder, reader = BY_NAME["encoder"], BY_NAME["decoder.cross_attention"]
    above = encoder.top - TAP
    return [(ENCODER, encoder.top), (ENCODER, above), (BETWEEN, above), (BETWEEN, reader.y), (reader.left, reader.y)]
