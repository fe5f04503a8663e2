"""Train on every GPU of a notebook's machine, such as Kaggle's two T4, from one cell."""

from pathlib import Path

from transformer_lib.corpus.sources import load_corpus
from transformer_lib.run.recipes import Recipe, corpus_of, recipe_for
from transformer_lib.run.trainer import Run


def train_on_all(
    folder: str | Path,
    data: str = "lab",
    *,
    processes: int = 1,
    recipe: Recipe | None = None,
    resume: bool | None = None,
) -> Path:
    """Train `data` by its recipe, or another, in `processes` processes, a GPU each; returns the model's folder.

    Continues what the folder holds, so that the same cell goes on after a disconnect. With several
    processes, call it before anything has touched a GPU: restart the notebook's kernel if something has.
    """
    arguments = (folder, data, recipe or recipe_for(data), resume)
    if processes == 1:
        train_here(*arguments)
    else:
        from accelerate import notebook_launcher

        notebook_launcher(train_here, arguments, num_processes=processes)
    return Path(folder) / "model"


def train_here(folder: str | Path, data: str, recipe: Recipe, resume: bool | None) -> None:
    """What each process does."""
    Run(Path(folder), load_corpus(corpus_of(data)), recipe).train(resume)
