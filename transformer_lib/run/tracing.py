"""One sentence's way through a trained model, as the figure of the shapes wants it."""

from typing import NamedTuple

import torch

from transformer_lib.charts.architecture.traced import TracedTensor
from transformer_lib.corpus.files import InputError
from transformer_lib.inspection import record_calls, trace_tensors
from transformer_lib.model import TransformerConfig
from transformer_lib.run.translator import Translator


class Step(NamedTuple):
    """A tensor worth stopping at: its block in Figure 1, its name and axes, where it is found, what has changed."""

    block: str
    name: str
    axes: str
    found: str
    change: str


EMBED = "Each id becomes its row of the embedding, times √d_model: a new axis of {d_model}."
PLACE = "A vector that depends on the position alone is added. The shape stays."
SPLIT = "w_q makes {num_heads} queries of {d_k} from each vector. Keys and values come about alike."
MEET = "Each query meets every key of its head. d_k is summed away, keys are the new axis."
MASK = "As in the encoder, but the keys of later tokens are masked: the shape is the same."
JOIN = "Weights average the values, heads are joined, and w_o brings rows back to d_model."
ADD = "Added to what went in, {normalized}. Only equal shapes can be added."
WIDEN = "w_1 widens each vector by itself to {d_ff}; ReLU sets negative numbers to zero."
NARROW = "w_2 brings each vector back to d_model, so that it can be added again."
MEMORY = "Keys and values come from the memory, {n_src} of each. Queries come from the target."
CROSS = "{n_tgt} queries meet {n_src} keys: the only shape in which both lengths occur."
NORMALIZED = {"post": "then normalized", "pre": "which was normalized before"}

STEPS = (
    Step("source", "source", "n_src", "source", "An id for each token of the sentence; </s> ends it."),
    Step("source_embedding", "x", "n_src d_model", "source_embedding", EMBED),
    Step("source_positions", "x", "n_src d_model", "source_positions", PLACE),
    Step("encoder.self_attention", "queries", "heads n_q d_k", "encoder.query", SPLIT),
    Step("encoder.self_attention", "weights", "heads n_q n_k", "encoder.weights", MEET),
    Step("encoder.self_attention", "output", "n_src d_model", "encoder.layers.0.self_attention", JOIN),
    Step("encoder.residual_attention", "x", "n_src d_model", "encoder.layers.0.residual_attention", ADD),
    Step("encoder.feed_forward", "hidden", "n_src d_ff", "encoder.layers.0.feed_forward.dropout", WIDEN),
    Step("encoder.feed_forward", "output", "n_src d_model", "encoder.layers.0.feed_forward", NARROW),
    Step("encoder.residual_feed_forward", "x", "n_src d_model", "encoder.layers.0", ADD),
    Step("encoder", "memory", "n_src d_model", "encoder", "{more}What the last one gives is the memory."),
    Step("target", "target", "n_tgt", "target", "The translation, moved by one place: <s> comes first."),
    Step("target_embedding", "x", "n_tgt d_model", "target_embedding", EMBED),
    Step("target_positions", "x", "n_tgt d_model", "target_positions", PLACE),
    Step("decoder.self_attention", "queries", "heads n_q d_k", "decoder.query", SPLIT),
    Step("decoder.self_attention", "weights", "heads n_q n_k", "decoder.weights", MASK),
    Step("decoder.self_attention", "output", "n_tgt d_model", "decoder.layers.0.self_attention", JOIN),
    Step("decoder.residual_self_attention", "x", "n_tgt d_model", "decoder.layers.0.residual_self_attention", ADD),
    Step("decoder.cross_attention", "keys", "heads n_k d_k", "cross.key", MEMORY),
    Step("decoder.cross_attention", "weights", "heads n_q n_k", "cross.weights", CROSS),
    Step("decoder.cross_attention", "output", "n_tgt d_model", "decoder.layers.0.cross_attention", JOIN),
    Step("decoder.residual_cross_attention", "x", "n_tgt d_model", "decoder.layers.0.residual_cross_attention", ADD),
    Step("decoder.feed_forward", "hidden", "n_tgt d_ff", "decoder.layers.0.feed_forward.dropout", WIDEN),
    Step("decoder.feed_forward", "output", "n_tgt d_model", "decoder.layers.0.feed_forward", NARROW),
    Step("decoder.residual_feed_forward", "x", "n_tgt d_model", "decoder.layers.0", ADD),
    Step("decoder", "x", "n_tgt d_model", "decoder", "{more}All of them read the same memory."),
    Step("output", "logits", "n_tgt vocab", "logits", "Each vector meets each row of the embedding: {vocab} scores."),
    Step("softmax", "probabilities", "n_tgt vocab", "probabilities", "Each row now sums to 1. The shape stays."),
    Step("probabilities", "likeliest", "n_tgt", "likeliest", "The likeliest token after each of those that went in."),
)


def trace_of(translator: Translator, sentence: str, translation: str | None = None) -> list[TracedTensor]:
    """The tensors of one sentence, block by block of Figure 1, for `charts.shape_tracer`.

    Of the layers the first is followed, and what the last one gives. The decoder reads `translation`, the model's own
    if None. There is one sentence, so the batch axis is left out. InputError for an empty sentence, ValueError for one
    of more tokens than can be drawn.
    """
    if translation is None:
        translation = translator.translate([sentence])[0]
    source, target = translator.encode([sentence.strip(), translation.strip()], strict=True)
    if not source:
        raise InputError("the sentence is empty: there is nothing to trace")
    config = translator.model.config
    found = _found(translator, [*source, config.eos_id], [config.bos_id, *target])
    tokens = {name: translator.tokenizer.pieces_of(found[name][0]) for name in ("source", "target", "likeliest")}
    sizes = _sizes(config) | {"n_src": len(tokens["source"]), "n_tgt": len(tokens["target"])}
    return [_traced(step, found, tokens[_rows(step)], sizes) for step in STEPS]


def _found(translator: Translator, source: list[int], target: list[int]) -> dict[str, torch.Tensor]:
    """Everything a step may name, with its batch axis: the modules' outputs, the first layers' attention, ids."""
    ids = {"source": source, "target": target}
    ids = {name: torch.tensor([tokens], device=translator.device) for name, tokens in ids.items()}
    with torch.inference_mode(), record_calls(translator.model) as calls:
        found = dict(trace_tensors(translator.model, ids["source"], ids["target"]))
    for kind, layers in calls.items():
        found |= {f"{kind}.{name}": getattr(layers[0], name) for name in ("query", "key", "weights", "mask")}
    probabilities = found["logits"].softmax(dim=-1)
    return found | ids | {"probabilities": probabilities, "likeliest": probabilities.argmax(dim=-1)}


def _sizes(config: TransformerConfig) -> dict[str, object]:
    """What the sentences of the steps leave open."""
    more = config.num_layers - 1
    layers = f"{more} more layer{'s' * (more > 1)} of the same shapes. " if more else ""
    d_k = config.d_model // config.num_heads if config.d_k is None else config.d_k
    rest = {"vocab": config.vocab_size, "more": layers, "normalized": NORMALIZED[config.norm]}
    return config.to_dict() | rest | {"d_k": d_k}


def _rows(step: Step) -> str:
    """Whose tokens the rows of a step's tensor are."""
    if step.found == "likeliest":
        return step.found
    return "source" if step.block.startswith(("source", "encoder")) or step.name == "keys" else "target"


def _traced(step: Step, found: dict[str, torch.Tensor], tokens: list[str], sizes: dict[str, object]) -> TracedTensor:
    values, masked = found[step.found][0], None
    if step.name == "weights":
        mask = found[step.found.replace("weights", "mask")]
        masked = None if mask is None else (~mask[0]).expand_as(values).cpu().numpy()
    return TracedTensor(step.block, step.name, step.axes.split(), values, step.change.format(**sizes), tokens, masked)
