"""A whole training in a folder: vocabulary, updates, log, checkpoints, average; stopped and resumed exactly."""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

import torch

from transformer_lib.batching import Batch, EncodedPairs, TokenBatches, encode_pairs
from transformer_lib.corpus.files import InputError, check_writable, write_atomically
from transformer_lib.corpus.sources import ParallelCorpus
from transformer_lib.corpus.tokenizer import Tokenizer
from transformer_lib.decoding import average_weights
from transformer_lib.model import Transformer
from transformer_lib.run.progress import Progress
from transformer_lib.run.recipes import Recipe
from transformer_lib.run.records import Log, environment
from transformer_lib.run.store import (
    TrainingState,
    checkpoints,
    keep_newest,
    read_json,
    read_tensors,
    save_model,
)
from transformer_lib.schedule import paper_adam
from transformer_lib.training import token_loss, train


@dataclass
class Run:
    """One training and the folder that holds it."""

    folder: Path
    corpus: ParallelCorpus
    recipe: Recipe
    device: str = "cpu"
    max_minutes: float | None = None
    quiet: bool = False
    command: str = ""  # what started it, for the record
    tokenizer: Tokenizer = field(init=False)
    model: Transformer = field(init=False)
    was_interrupted: bool = field(init=False, default=False)

    def train(self, resume: bool = False) -> Path:
        """Train to the recipe's end, the time limit or Ctrl-C; returns the folder of the averaged model.

        Each of these leaves a checkpoint from which `resume` continues exactly. InputError, before
        anything is written, when the folder holds another run or cannot be written.
        """
        self.folder = Path(self.folder)
        self.check_folder(resume)
        self.prepare(resume)
        optimizer = paper_adam(self.model.parameters())
        start = self.restore(optimizer) if resume else 0
        progress = Progress(
            self.recipe,
            Log(self.folder / "log.jsonl", start),
            start,
            checkpoint=lambda update: self.checkpoint(update, optimizer),
            development_loss=lambda: token_loss(self.model, self.dev),
            max_minutes=self.max_minutes,
            quiet=self.quiet,
        )
        with progress:
            train(
                self.model,
                self.data,
                self.recipe.training,
                optimizer=optimizer,
                start=start,
                on_update=progress.after_update,
            )
        self.was_interrupted = progress.interrupted.is_set()
        return self.finish()

    def check_folder(self, resume: bool) -> None:
        """Refuse a folder that would be overwritten, or that holds nothing to resume."""
        check_writable(self.folder)
        if resume and not checkpoints(self.folder / "checkpoints"):
            raise InputError(f"{self.folder} holds no checkpoint to resume from")
        if not resume and (self.folder / "recipe.json").exists():
            raise InputError(f"{self.folder} already holds a training: resume it, or name another folder")
        if resume:
            self.check_recipe(read_json(self.folder / "recipe.json"))

    def check_recipe(self, stored: dict) -> None:
        """A resumed training must be the same one; only its length may change."""
        wanted = json.loads(json.dumps(self.description()))
        for description in (stored, wanted):
            description["training"].pop("max_updates")
        changed = sorted(name for name in stored.keys() | wanted.keys() if stored.get(name) != wanted.get(name))
        if changed:
            name = changed[0]
            raise InputError(
                f"{self.folder} was trained with {name} = {stored.get(name)}, now asked for {wanted.get(name)}: "
                "resume with the same settings"
            )

    def description(self) -> dict:
        """What `recipe.json` says of this run."""
        return {"data": self.corpus.name, **self.recipe.to_dict()}

    def prepare(self, resume: bool) -> None:
        """Vocabulary, encoded corpus and a fresh model; all that can fail does so before a file is written."""
        recipe = self.recipe
        if resume:
            self.tokenizer = Tokenizer.load(self.folder / "tokenizer.model")
        else:
            self.tokenizer = Tokenizer.train((text for pair in self.corpus.train for text in pair), recipe.vocab_size)
        pairs = self.encode(self.corpus.train)
        config = recipe.transformer_config(self.tokenizer.vocab_size)
        self.data = self.batches(pairs)
        self.dev = self.one_epoch(self.corpus.dev)
        torch.manual_seed(recipe.training.seed)
        self.model = Transformer(config).to(self.device)
        if not resume:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.tokenizer.save(self.folder / "tokenizer.model")
            circumstances = {"command": self.command, **environment()}
            write_atomically(self.folder / "environment.json", json.dumps(circumstances, indent=2) + "\n")
        write_atomically(self.folder / "recipe.json", json.dumps(self.description(), indent=2) + "\n")
        if pairs.dropped_empty or pairs.dropped_long:
            print(
                f"dropped {pairs.dropped_empty} pairs with an empty side and "
                f"{pairs.dropped_long} of more than {recipe.max_length} tokens; {len(pairs)} are left",
                file=sys.stderr,
            )

    def encode(self, pairs: list[tuple[str, str]]) -> EncodedPairs:
        """Pairs as ids, within the recipe's length."""
        return encode_pairs(pairs, self.tokenizer.encode_all, self.recipe.max_length)

    def batches(self, pairs: EncodedPairs) -> TokenBatches:
        """A stream of the recipe's batches."""
        return TokenBatches(pairs, self.recipe.training.max_tokens, seed=self.recipe.training.seed)

    def one_epoch(self, pairs: list[tuple[str, str]]) -> list[Batch]:
        """All pairs in batches, the same in every run."""
        data = self.batches(self.encode(pairs))
        return [data.collate(rows) for rows in data.epoch(0)]

    def restore(self, optimizer: torch.optim.Optimizer) -> int:
        """Load the newest checkpoint; returns the update it was written after."""
        newest = checkpoints(self.folder / "checkpoints")[-1]
        return TrainingState.restore(newest, self.model, optimizer).update

    def checkpoint(self, update: int, optimizer: torch.optim.Optimizer) -> None:
        """Write a checkpoint and delete those too old for the average."""
        folder = self.folder / "checkpoints"
        TrainingState(update, optimizer).save(folder / f"{update:07d}", self.model, self.tokenizer)
        keep_newest(folder, max(self.recipe.average_last, 2))

    def finish(self) -> Path:
        """Average the last checkpoints (section 6.1) and write the model that translates."""
        newest = checkpoints(self.folder / "checkpoints")[-self.recipe.average_last :]
        mean = average_weights([read_tensors(path / "model.safetensors") for path in newest])
        averaged = Transformer(self.model.config)
        averaged.load_state_dict(mean, strict=False)
        save_model(self.folder / "model", averaged, self.tokenizer)
        self.say(f"averaged {len(newest)} checkpoints into {self.folder / 'model'}")
        return self.folder / "model"

    def say(self, text: str) -> None:
        """A line for the person who waits."""
        if not self.quiet:
            print(text)
