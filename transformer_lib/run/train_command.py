"""`transformer-lib train`: a recipe, what the command line changes in it, and the scores at the end."""

import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import torch

from transformer_lib.corpus.files import InputError
from transformer_lib.corpus.sources import ParallelCorpus, load_corpus
from transformer_lib.run.evaluation import evaluate_corpus
from transformer_lib.run.recipes import Recipe, recipe_for
from transformer_lib.run.store import write_json
from transformer_lib.run.trainer import Run
from transformer_lib.run.translator import Translator


@dataclass(frozen=True)
class Train:
    """Train a model on a corpus: lab, lab-micro, multi30k-en-de, multi30k-en-fr, or your own text."""

    data: str | None = None
    """A corpus by name, or a tab-separated file: source, target. The lab corpus when nothing is given."""
    source: Path | None = None
    """In place of --data: a text file, one sentence a line,"""
    target: Path | None = None
    """and its translation, line by line."""
    output: Path | None = None
    """Folder of the run; runs/<data> when not given."""
    config: Literal["tiny", "base", "big"] | None = None
    """Model size; the recipe's when not given."""
    resume: bool = False
    """Continue the run in the output folder from its newest checkpoint."""
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
    device: str = "cuda" if torch.cuda.is_available() else "cpu"
    """Where to train."""
    quiet: bool = False
    """No progress bar."""

    def __call__(self) -> None:
        """Train, average, score on the test split, and write results.json."""
        corpus = open_corpus(self.data, self.source, self.target)
        folder = self.output or Path("runs") / Path(corpus.name).name.split(".")[0]
        command = shlex.join(["transformer-lib", *sys.argv[1:]])
        run = Run(folder, corpus, self.checked_recipe(corpus), self.device, self.max_minutes, self.quiet, command)
        run.train(self.resume)
        if run.was_interrupted:
            return
        results = evaluate_corpus(
            Translator.load(folder / "model", device=self.device).translate, corpus, search_of(run.recipe)
        )
        write_json(folder / "results.json", results)
        print(f"test: BLEU {results['test']['bleu']}, exact match {results['test']['exact_match']} %")
        print(f"the model: {folder / 'model'}")

    def checked_recipe(self, corpus: ParallelCorpus) -> Recipe:
        """`recipe`, or InputError that names the option's value that makes no sense."""
        try:
            recipe = self.recipe(corpus)
            recipe.transformer_config(recipe.vocab_size)
        except ValueError as error:
            raise InputError(str(error)) from None
        return recipe

    def recipe(self, corpus: ParallelCorpus) -> Recipe:
        """The corpus's recipe with what the command line changes in it."""
        recipe = recipe_for(corpus.name)
        recipe = replace(
            recipe,
            config=self.config or recipe.config,
            vocab_size=self.vocab_size or recipe.vocab_size,
            model=recipe.model if self.dropout is None else {**recipe.model, "dropout": self.dropout},
        )
        return recipe.with_training(
            max_updates=self.max_updates,
            max_tokens=self.max_tokens,
            accumulate=self.accumulate,
            warmup_steps=self.warmup_steps,
            rate_scale=self.rate_scale,
            seed=self.seed,
        )


def open_corpus(data: str | None, source: Path | None, target: Path | None) -> ParallelCorpus:
    """The corpus that the options name; the lab corpus when they name none."""
    if data is None and source is None and target is None:
        data = "lab"
    return load_corpus(data, source=source, target=target)


def search_of(recipe: Recipe) -> dict[str, float]:
    """How the recipe decodes."""
    return {"beam_size": recipe.beam_size, "length_penalty": recipe.length_penalty}
