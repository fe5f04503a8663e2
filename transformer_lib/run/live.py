"""What the figures with a kernel ask of a translator: how it translates without some of its heads."""

from collections.abc import Callable, Iterable

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_lib.charts import Silencing
from transformer_lib.corpus.files import InputError
from transformer_lib.inspection import Head, silence_heads
from transformer_lib.run.translator import Translator


def without_heads(
    translator: Translator,
    sentence: str,
    heads: Iterable[Head],
    *,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> Silencing:
    """The translation of a sentence, the one without `heads`, and what the first loses, word by word.

    The loss of a word is the log-probability that the whole model gives it after the words before it, less the one of
    the model without the heads, in nats. InputError for an empty sentence or one with more than the translator reads,
    ValueError for a head that the model does not have.
    """
    heads = tuple(heads)
    if not sentence.strip():
        raise InputError("the sentence is empty: there is nothing to translate")
    translator.encode([sentence], strict=True)
    translation = translator.translate([sentence])[0]
    report(1, 3)
    scores = word_scores(translator, sentence, translation)
    with silence_heads(translator.model, heads):
        other = translator.translate([sentence])[0]
        report(2, 3)
        lost = scores - word_scores(translator, sentence, translation)
    report(3, 3)
    words = [translator.tokenizer.words(text)[0] for text in (translation, other)]
    return Silencing(heads, *words, lost)


def layers_and_heads(translator: Translator) -> tuple[int, int]:
    """How many layers the model has in a stack, and how many heads in a layer."""
    return translator.model.config.num_layers, translator.model.config.num_heads


@torch.inference_mode()
def word_scores(translator: Translator, sentence: str, translation: str) -> Float[Tensor, " words_and_end"]:
    """Log-probability of each word of a translation, its pieces added up, and last of its end."""
    source, target = translator.encode([sentence, translation], strict=True)
    config = translator.model.config
    written = torch.tensor([*target, config.eos_id], device=translator.device)
    read = torch.tensor([[config.bos_id, *target]], device=translator.device)
    scores = translator.model(translator.source_batch([source]), read)[0].float().log_softmax(-1)
    said = scores.gather(1, written.unsqueeze(1)).squeeze(1)
    words, word_of_piece = translator.tokenizer.words(translation)
    word = torch.tensor([*word_of_piece, len(words)], device=said.device)
    return said.new_zeros(len(words) + 1).index_add(0, word, said)
