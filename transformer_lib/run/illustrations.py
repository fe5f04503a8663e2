"""How a translator comes to a translation, as the charts take it: the steps of greedy search, the tree of a beam."""

from collections.abc import Iterator

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_lib.charts import BeamNode, DecodingSteps, SearchTree
from transformer_lib.corpus.files import InputError
from transformer_lib.decoding import Extensions, LiveBeams, beam_search, greedy_search, length_penalty_of
from transformer_lib.inspection import AttentionMaps, generation_attention, record_attention
from transformer_lib.run.translator import Translator


def decoding_steps(translator: Translator, sentence: str, *, num_candidates: int = 5) -> DecodingSteps:
    """Greedy search for a translation, step by step, with the likeliest pieces of each step.

    InputError for a sentence without a piece, or with more than the translator reads.
    """
    model, config, pieces = translator.model, translator.model.config, translator.tokenizer.pieces_of
    source = _source(translator, sentence)
    written = [*greedy_search(model, source)[0].tokens, config.eos_id]
    read = torch.tensor([[config.bos_id, *written[:-1]]], device=source.device)
    with torch.inference_mode():
        cross = generation_attention(model, source, read).cross
        probabilities = model(source, read)[0].softmax(-1)
        probabilities[:, [config.pad_id, config.bos_id]] = 0.0  # these are never said
    likely = [_likeliest(row, token, num_candidates) for row, token in zip(probabilities, written, strict=True)]
    candidates = [list(zip(pieces(list(row)), row.values(), strict=True)) for row in likely]
    return DecodingSteps(pieces(source[0].tolist()), pieces(written), candidates, torch.cat(cross), sentence.strip())


def search_tree(
    translator: Translator,
    sentence: str,
    *,
    beam_size: int = 4,
    length_penalty: float = 0.6,
    num_hypotheses: int | None = None,
) -> SearchTree:
    """Every hypothesis that `beam_search` keeps or finishes on its way, with the attention that it was chosen with.

    InputError for a sentence without a piece, or with more than the translator reads.
    """
    source = _source(translator, sentence)
    with record_attention(translator.model) as maps:
        watcher = TreeWatcher(translator, maps, length_penalty)
        beam_search(
            translator.model,
            source,
            beam_size=beam_size,
            length_penalty=length_penalty,
            num_hypotheses=num_hypotheses,
            watch=watcher,
        )
    pieces = translator.tokenizer.pieces_of(source[0].tolist())
    return SearchTree(pieces, watcher.nodes, torch.stack(watcher.cross, 2), sentence.strip())


class TreeWatcher:
    """Watches the beam search for one sentence, while `maps` records its attention, and writes down the tree."""

    def __init__(self, translator: Translator, maps: AttentionMaps, length_penalty: float) -> None:
        self.maps, self.length_penalty = maps, length_penalty
        self.pieces, self.eos_id = translator.tokenizer.pieces_of, translator.model.config.eos_id
        self.nodes: list[BeamNode] = []
        self.cross: list[Float[Tensor, "layers heads n_src"]] = []
        self.beam: list[int | None] = [None]  # the node that stands at each place of the beam; at first only bos

    def __call__(self, live: LiveBeams, found: Extensions, kept: Extensions) -> None:
        """Write down a step of the search."""
        # What is chosen now was chosen in the last row, that of the token before it.
        cross = torch.stack([weights[:, :, -1] for weights in self.maps.cross], 1)  # (beam, layers, heads, n_src)
        self.maps.cross.clear()
        penalty = length_penalty_of(live.tokens.size(2), self.length_penalty)
        for extension in _finite(found):
            if extension[2] == self.eos_id:
                self._add(cross, *extension, score=extension[0] / penalty)
        self.beam = [self._add(cross, *extension) for extension in _finite(kept)]

    def _add(self, cross: Tensor, log_probability: float, parent: int, token: int, score: float | None = None) -> int:
        self.nodes.append(BeamNode(self.pieces([token])[0], self.beam[parent], log_probability, score))
        self.cross.append(cross[parent])
        return len(self.nodes) - 1


def _finite(extensions: Extensions) -> Iterator[tuple[float, int, int]]:
    """Those of the only sentence, without the ones that stand for an empty place of the beam."""
    for extension in zip(*(column[0].tolist() for column in extensions), strict=True):
        if extension[0] > float("-inf"):
            yield extension


def _likeliest(probabilities: Float[Tensor, " vocab"], taken: int, count: int) -> dict[int, float]:
    """The likeliest tokens with their probabilities, the one taken among them: at the length limit eos had to come."""
    ids = probabilities.topk(count).indices.tolist()
    if taken not in ids:
        ids[-1] = taken
    return {index: probabilities[index].item() for index in ids}


def _source(translator: Translator, sentence: str) -> Int[Tensor, "1 n_src"]:
    ids = translator.encode([sentence], strict=True)
    if not ids[0]:
        raise InputError("the sentence is empty: there is nothing to translate")
    return translator.source_batch(ids)
