"""A training filmed: the attention that the model pays to one sentence pair, at moments of its training."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from tqdm import tqdm

from transformer_lib.corpus.files import InputError
from transformer_lib.corpus.sources import ParallelCorpus
from transformer_lib.corpus.tokenizer import Tokenizer
from transformer_lib.model import Transformer
from transformer_lib.run.engine import Engine
from transformer_lib.run.hardware import Hardware
from transformer_lib.run.preparation import prepare
from transformer_lib.run.recipes import Recipe
from transformer_lib.run.records import environment
from transformer_lib.run.translator import Translator
from transformer_lib.training import Update, train

if TYPE_CHECKING:
    from transformer_lib.charts import AttentionExample

LOSS_EVERY = 25  # updates whose mean loss is noted


class Camera:
    """Follows a training: where an update is one of `moments`, it keeps the attention paid to a sentence pair.

    0 is the model before its first update. Looking changes neither weights nor random numbers, so a training is the
    same with a camera and without.
    """

    def __init__(
        self, model: Transformer, tokenizer: Tokenizer, sentence: str, translation: str, moments: Sequence[int]
    ) -> None:
        self.model, self.tokenizer, self.pair, self.moments = model, tokenizer, (sentence, translation), set(moments)
        self.film: list[tuple[int, AttentionExample]] = []
        self.look(0)

    def after_update(self, update: Update) -> None:
        """The callback for `train`."""
        self.look(update.number)

    def look(self, update: int) -> None:
        """Keep the attention of this moment, where it is one to keep."""
        if update in self.moments:
            was_training = self.model.training
            self.film.append((update, Translator(self.model, self.tokenizer).attention(*self.pair)))
            self.model.train(was_training)


def film_training(
    folder: Path,
    corpus: ParallelCorpus,
    recipe: Recipe,
    pair: tuple[str, str],
    moments: Sequence[int],
    *,
    alignment: Sequence[tuple[int, int]] = (),
    device: str = "auto",
    quiet: bool = False,
) -> dict[str, Any]:
    """Train by a recipe and film one sentence pair: a record that `load_film` turns back into moments.

    `folder` takes the vocabulary and the token store. `moments` are updates, 0 for the untrained model. The record
    holds the weights as packed text, the mean loss of every 25 updates in nats a target token, the recipe, and the
    environment. `alignment` are pairs of a source and a target word, to be outlined on the map of cross-attention.
    InputError for a moment that the training does not reach.
    """
    training = recipe.training
    late = [moment for moment in moments if not 0 <= moment <= training.max_updates]
    if late or not moments:
        raise InputError(f"moments {list(moments)}: expected updates from 0 to {training.max_updates}")
    hardware = Hardware(device)
    data = prepare(Path(folder), corpus, recipe, hardware, quiet)
    torch.manual_seed(training.seed)
    model = Transformer(recipe.transformer_config(data.tokenizer.vocab_size)).to(hardware.device)
    engine = Engine(model, training.label_smoothing, hardware)
    camera = Camera(model, data.tokenizer, *pair, moments)
    with tqdm(total=training.max_updates, unit="update", disable=quiet) as bar:

        def follow(update: Update) -> None:
            camera.after_update(update)
            bar.update()

        losses = train(model, data.train, training, on_update=follow, step=engine.step)
    return {
        **film_record(camera.film),
        "gold": aligned_pieces(data.tokenizer, pair, alignment),
        "losses": mean_losses(losses),
        "recipe": {"data": corpus.name, **asdict(recipe)},
        "environment": environment(),
    }


def film_record(film: Sequence[tuple[int, "AttentionExample"]]) -> dict[str, Any]:
    """A film as JSON can hold it: tokens once, and the weights of each moment as packed text."""
    from transformer_lib.charts.examples import KINDS
    from transformer_lib.charts.packing import pack

    first = film[0][1]
    frames = [
        {"update": update, **{kind: pack(getattr(example, kind), example.masked(kind)) for kind in KINDS}}
        for update, example in film
    ]
    layers, heads = first.heads
    about = {"title": first.title, "source": list(first.source), "target": list(first.target)}
    return {**about, "layers": layers, "heads": heads, "moments": frames}


def aligned_pieces(
    tokenizer: Tokenizer, pair: tuple[str, str], alignment: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Cells `(row, key)` of aligned words: the row is the one in which a target piece is chosen, a place before it."""
    source, target = (tokenizer.piece_to_word(text) for text in pair)
    return [(row, key) for row, t in enumerate(target) for key, s in enumerate(source) if (s, t) in set(alignment)]


def mean_losses(losses: Sequence[float], every: int = LOSS_EVERY) -> list[tuple[int, float]]:
    """The loss of the first update, then the mean of each `every` updates, with the number of the last of them."""
    blocks = [losses[start : start + every] for start in range(0, len(losses), every)]
    ends = [min((index + 1) * every, len(losses)) for index in range(len(blocks))]
    means = [(end, round(sum(block) / len(block), 4)) for end, block in zip(ends, blocks, strict=True)]
    return [(1, round(losses[0], 4)), *means]
