"""Run the benchmarks and the long recipes on one large GPU, in stages of at most eight minutes.

    make gpu-records STAGE=2 DATA=corpora OUT=records

| stage | what | files in OUT |
|---|---|---|
| 1 | training speed of base and big beside their peers | training-<gpu>.json, training-<gpu>.md |
| 2 | recipe multi30k-en-de | multi30k-en-de.json |
| 3 | recipe multi30k-en-fr | multi30k-en-fr.json |
| 4 | recipe tatoeba-en-de | tatoeba-en-de.json, tatoeba-en-de.tar: the model to ship |

Stages are independent, can be repeated, and need no network: the library is imported from the working tree, corpora
are read from DATA, a folder as `TRANSFORMER_DATA` describes it. Beyond the library's core, stage 1 needs
transformers for one of its peers, stages 2 and 3 sacremoses for the published score; the stage says so before
it begins. `python -m tools.record unpack FILE` puts a record under data/runs. `--updates 5` makes a trial on a CPU.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from tools.record import FILES
from transformer_lib.corpus.sources import ParallelCorpus, load_corpus
from transformer_lib.run.evaluation import evaluate_corpus
from transformer_lib.run.recipes import recipe_for
from transformer_lib.run.store import load_model, save_model, write_json
from transformer_lib.run.train_command import search_of
from transformer_lib.run.trainer import Run
from transformer_lib.run.translator import Translator

ROOT = Path(__file__).parents[1]
MINUTES = 5.5  # of training, which leaves the rest of eight for compilation, data and scores
RECIPES = {2: "multi30k-en-de", 3: "multi30k-en-fr", 4: "tatoeba-en-de"}
TRIAL_SENTENCES = 4


@dataclass(frozen=True)
class Stage:
    """What the command line asks for."""

    number: int
    out: Path
    updates: int | None = None  # a trial of so many

    def run(self) -> list[Path]:
        """Do it; returns the files written."""
        self.out.mkdir(parents=True, exist_ok=True)
        return self.speed() if self.number == 1 else self.recipe(RECIPES[self.number])

    def speed(self) -> list[Path]:
        """Tokens a second and memory of updates; in a trial, of a miniature on a CPU."""
        # Each contender is compiled at each size; the chapters' code alone is what the trainer compiles on a GPU.
        options = ["--model", "base", "big", "--padding", "0", "--rounds", "8"]
        options += ["--contenders", "this model", "torch.nn.Transformer", "Marian (transformers)"]
        if self.updates is not None:
            options = ["--device", "cpu", "--model", "miniature", "--vocabulary", "300", "--sentences", "5"]
            options += ["--length", "7", "--rounds", str(self.updates), "--warm-up", "1", "--padding", "0"]
        before = set(self.out.iterdir())
        command = [sys.executable, "benchmarks/training.py", *options, "--output", str(self.out)]
        subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True)
        return sorted(set(self.out.iterdir()) - before) or sorted(self.out.glob("training-*"))

    def recipe(self, name: str) -> list[Path]:
        """Train, average and score; the folder of the run itself stays on that machine."""
        if name.startswith("multi30k") and importlib.util.find_spec("sacremoses") is None:
            sys.exit("sacremoses is not installed: the published score of Multi30k needs it")
        corpus, recipe = load_corpus(name), recipe_for(name)
        if self.updates is not None:
            recipe = recipe.with_training(max_updates=self.updates, max_tokens=256)
            corpus = shortened(corpus)
        with tempfile.TemporaryDirectory() as folder:
            run = Run(
                Path(folder) / name, corpus, recipe, max_minutes=MINUTES, command=f"transformer-lib train --data {name}"
            )
            translator = Translator.load(run.train(), device=run.hardware.device)
            results = evaluate_corpus(translator.translate, corpus, search_of(recipe))
            write_json(run.folder / "results.json", results)
            print(json.dumps(results["test"], indent=2))
            files = [pack_record(run.folder, self.out / f"{name}.json")]
            if name == "tatoeba-en-de":
                files.append(pack_model(run.folder / "model", self.out / f"{name}.tar"))
        return files


def shortened(corpus: ParallelCorpus) -> ParallelCorpus:
    """A corpus whose scores take no time."""
    return replace(corpus, dev=corpus.dev[:TRIAL_SENTENCES], test=corpus.test[:TRIAL_SENTENCES])


def pack_record(run: Path, path: Path) -> Path:
    """The files of a run's record in one JSON file, which `tools.record unpack` takes apart."""
    write_json(path, {file: (run / file).read_text(encoding="utf-8") for file in FILES})
    return path


def pack_model(folder: Path, path: Path) -> Path:
    """A model in half precision, as it ships, in one file."""
    with tempfile.TemporaryDirectory() as half:
        save_model(Path(half) / "model", *load_model(folder), torch.float16)
        with tarfile.open(path, "w") as archive:
            for file in sorted((Path(half) / "model").iterdir()):
                archive.add(file, file.name)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stage", type=int, choices=(1, *RECIPES))
    parser.add_argument("--data", type=Path, help="folder of corpora; TRANSFORMER_DATA when not given")
    parser.add_argument("--out", type=Path, default=Path("records"))
    parser.add_argument("--updates", type=int, help="a trial of so many updates")
    arguments = parser.parse_args()
    if arguments.data is not None:
        os.environ["TRANSFORMER_DATA"] = str(arguments.data.resolve())
    for path in Stage(arguments.stage, arguments.out.resolve(), arguments.updates).run():
        print(path, f"{path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
