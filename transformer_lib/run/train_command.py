"""`transformer-lib train`: a recipe, what the command line changes in it, and the scores at the end."""

import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from transformer_lib.corpus.files import InputError
from transformer_lib.corpus.sources import ParallelCorpus, load_corpus
from transformer_lib.run.evaluation import evaluate_corpus
from transformer_lib.run.progress import Watcher
from transformer_lib.run.recipes import RECIPES, Recipe, corpus_of, recipe_for
from transformer_lib.run.store import write_json
from transformer_lib.run.trainer import Run
from transformer_lib.run.translator import Translator


@dataclass(frozen=True)
class Train:
    """Train a model on a corpus that has a recipe, such as lab, multi30k-en-de or tatoeba-en-de, or on your own text.

    Under `torchrun` or `accelerate launch` all processes train one model, with the same updates as one alone.
    """

    data: str | None = None
    """A recipe or a corpus by name, or a tab-separated file: source, target. The lab corpus when nothing is given."""
    source: Path | None = None
    """In place of --data: a text file, one sentence a line,"""
    target: Path | None = None
    """and its translation, line by line."""
    output: Path | None = None
    """Folder of the run; runs/<data> when not given."""
    recipe: str | None = None
    """Train by the recipe of this name in place of the data's own, for example multi30k-cpu."""
    config: Literal["tiny", "base", "big"] | None = None
    """Model size; the recipe's when not given."""
    resume: bool = False
    """Continue the run in the output folder from its newest checkpoint."""
    auto_resume: bool = False
    """Continue where the output folder holds a run, else begin one: for machines that come and go."""
    max_updates: int | None = None
    """Updates in all; the recipe's when not given."""
    max_minutes: float | None = None
    """Stop after this many minutes of training, with a checkpoint."""
    max_tokens: int | None = None
    """Tokens a side in a batch, padding included."""
    accumulate: int | None = None
    """Batches to an update."""
    warmup_steps: int | None = None
    """Updates until the learning rate peaks (equation 3)."""
    rate_scale: float | None = None
    """Factor on equation 3; the paper's is 1."""
    vocab_size: int | None = None
    """Pieces of the joint vocabulary."""
    dropout: float | None = None
    """Dropout of the model."""
    seed: int | None = None
    """Seed of weights, batches and dropout."""
    checkpoint_minutes: float | None = None
    """Minutes between two checkpoints; the paper's 10 when not given."""
    device: str = "auto"
    """Where to train: auto, cpu or cuda."""
    tensorboard: bool = False
    """Write the log for TensorBoard too, to <output>/tensorboard."""
    quiet: bool = False
    """No progress bar."""

    def __call__(self) -> None:
        """Train, average, score on the test split, and write results.json."""
        recipe = self.checked_recipe()
        corpus = open_corpus(self.data, self.source, self.target)
        folder = self.output or Path("runs") / Path(self.data or corpus.name).name.split(".")[0]
        command = shlex.join(["transformer-lib", *sys.argv[1:]])
        run = Run(folder, corpus, recipe, self.device, self.max_minutes, self.quiet, command, self.watchers(folder))
        run.train(None if self.auto_resume else self.resume)
        if run.was_interrupted or not run.hardware.is_main:
            return
        translator = Translator.load(folder / "model", device=run.hardware.device)
        results = evaluate_corpus(translator.translate, corpus, search_of(run.recipe))
        write_json(folder / "results.json", results)
        print(f"test: BLEU {results['test']['bleu']}, exact match {results['test']['exact_match']} %")
        print(f"the model: {folder / 'model'}")

    def watchers(self, folder: Path) -> list[Watcher]:
        """Who follows the log beside the bar."""
        if not self.tensorboard:
            return []
        from transformer_lib.run.watchers import tensorboard

        return [tensorboard(folder / "tensorboard")]

    def checked_recipe(self) -> Recipe:
        """The recipe with what the command line changes in it; InputError names a value that makes no sense."""
        if self.recipe is not None and self.recipe not in RECIPES:
            raise InputError(f"unknown recipe {self.recipe!r}: expected one of {', '.join(RECIPES)}")
        try:
            recipe = self.changed(recipe_for(self.recipe or self.data or self.own_name()))
            recipe.transformer_config(recipe.vocab_size)
        except ValueError as error:
            raise InputError(str(error)) from None
        return recipe

    def own_name(self) -> str:
        """What stands for the data where it is not named: the default corpus, or one's own files."""
        return "lab" if self.source is None and self.target is None else "own text"

    def changed(self, recipe: Recipe) -> Recipe:
        """A recipe with the options that were given."""
        given = {"config": self.config, "vocab_size": self.vocab_size, "checkpoint_minutes": self.checkpoint_minutes}
        recipe = replace(recipe, **{name: value for name, value in given.items() if value is not None})
        if self.dropout is not None:
            recipe = replace(recipe, model={**recipe.model, "dropout": self.dropout})
        return recipe.with_training(
            max_updates=self.max_updates,
            max_tokens=self.max_tokens,
            accumulate=self.accumulate,
            warmup_steps=self.warmup_steps,
            rate_scale=self.rate_scale,
            seed=self.seed,
        )


def open_corpus(data: str | None, source: Path | None, target: Path | None) -> ParallelCorpus:
    """The corpus that the options name, by its own name or its recipe's; the lab corpus when they name none."""
    if data is None and source is None and target is None:
        data = "lab"
    return load_corpus(data and corpus_of(data), source=source, target=target)


def search_of(recipe: Recipe) -> dict[str, float]:
    """How the recipe decodes."""
    return {"beam_size": recipe.beam_size, "length_penalty": recipe.length_penalty}
