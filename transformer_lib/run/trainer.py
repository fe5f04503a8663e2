"""A whole training in a folder: vocabulary, updates, log, checkpoints, average; stopped and resumed exactly."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import torch

from transformer_lib.corpus.bleu import bleu
from transformer_lib.corpus.files import InputError, write_atomically
from transformer_lib.corpus.sources import ParallelCorpus
from transformer_lib.decoding import average_weights
from transformer_lib.model import Transformer
from transformer_lib.run.checkpoints import TrainingState, averaged, keep_newest, sound_checkpoints
from transformer_lib.run.engine import Engine
from transformer_lib.run.hardware import Hardware
from transformer_lib.run.loading import SharedBatches
from transformer_lib.run.preparation import TrainingData, prepare
from transformer_lib.run.progress import Progress, Watcher
from transformer_lib.run.recipes import Recipe
from transformer_lib.run.records import Log, environment
from transformer_lib.run.recovery import TrainingStopped, find_bad_batch, save_batch
from transformer_lib.run.run_folder import check_folder, outermost_missing
from transformer_lib.run.store import CheckpointError, read_tensors, save_model
from transformer_lib.run.translator import Translator
from transformer_lib.training import DivergenceError, token_loss, train


@dataclass
class Run:
    """One training and the folder that holds it.

    `device` is "auto", "cpu" or "cuda". `watchers` are called with every entry of the log. Under `torchrun`
    or `accelerate launch` each process makes the same `Run`, and together they are one training.
    """

    folder: Path
    corpus: ParallelCorpus
    recipe: Recipe
    device: str = "auto"
    max_minutes: float | None = None
    quiet: bool = False
    command: str = ""  # what started it, for the record
    watchers: Sequence[Watcher] = ()
    hardware: Hardware = field(init=False)
    data: TrainingData = field(init=False)
    model: Transformer = field(init=False)
    engine: Engine = field(init=False)
    was_interrupted: bool = field(init=False, default=False)

    def train(self, resume: bool | None = False) -> Path:
        """Train to the recipe's end, the time limit or Ctrl-C; returns the folder of the averaged model.

        Each of these leaves a checkpoint from which `resume` continues exactly; `resume=None` continues
        where there is something to continue, and begins otherwise. InputError, before anything is written,
        when the folder holds another run or cannot be written. TrainingStopped when the loss is no longer
        a number; the batch that did it is then in `bad_batch`.
        """
        self.folder, self.hardware = Path(self.folder), Hardware(self.device)
        resume = check_folder(self.folder, self.description(), resume, self.hardware)
        self.prepare()
        start = self.begin_or_resume(resume)
        with self.progress(start) as progress:
            try:
                train(
                    self.model,
                    self.shared_batches(),
                    self.recipe.training,
                    start=start,
                    on_update=progress.after_update,
                    step=self.engine.step,
                )
                progress.write_log()
            except DivergenceError as error:
                self.explain(error)
        self.was_interrupted = progress.interrupted.is_set()
        return self.finish()

    def description(self) -> dict:
        """What `recipe.json` says of this run."""
        return {"data": self.corpus.name, **self.recipe.to_dict()}

    def prepare(self) -> None:
        """Vocabulary, token store, a fresh model and its engine; a corpus of no use leaves no folder behind."""
        training, made = self.recipe.training, outermost_missing(self.folder)
        try:
            self.data = prepare(self.folder, self.corpus, self.recipe, self.hardware, self.quiet)
        except InputError:
            if made is not None:
                shutil.rmtree(made, ignore_errors=True)
            raise
        torch.manual_seed(training.seed)
        self.model = Transformer(self.recipe.transformer_config(self.data.tokenizer.vocab_size))
        self.model.to(self.hardware.device)
        self.engine = Engine(self.model, training.label_smoothing, self.hardware)
        self.hardware.part_noise(training.seed)

    def begin_or_resume(self, resume: bool) -> int:
        """Load the newest sound checkpoint, or write the first; returns its update."""
        start = self.restore() if resume else 0
        if self.hardware.is_main:
            if not resume:
                circumstances = {"command": self.command, **environment()}
                write_atomically(self.folder / "environment.json", json.dumps(circumstances, indent=2) + "\n")
            write_atomically(self.folder / "recipe.json", json.dumps(self.description(), indent=2) + "\n")
        if not resume:
            self.checkpoint(0)
        return start

    def restore(self) -> int:
        """Load the newest checkpoint that is sound; returns the update it was written after."""
        newest = next(sound_checkpoints(self.folder / "checkpoints"), None)
        if newest is None:
            raise CheckpointError(f"{self.folder}: no checkpoint is sound; nothing can be resumed")
        state = TrainingState.restore(newest, self.model, self.engine.optimizer)
        self.hardware.restore_random_states(state.random)
        self.engine.scaler.load_state_dict(state.scaler)
        return state.update

    def checkpoint(self, update: int) -> None:
        """Write a checkpoint and delete those that neither the average nor a resumed run needs."""
        random = self.hardware.random_states()
        if self.hardware.is_main:
            folder, recipe = self.folder / "checkpoints", self.recipe
            state = TrainingState(update, self.engine.optimizer, random, self.engine.scaler.state_dict())
            state.save(folder / f"{update:07d}", self.model, self.data.tokenizer)
            keep_newest(folder, max(recipe.average_last, 2), recipe.checkpoint_every)

    def shared_batches(self) -> SharedBatches:
        """This process's share of the batches."""
        hardware = self.hardware
        return SharedBatches(self.data.train, hardware.rank, hardware.world, pinned=hardware.device.type == "cuda")

    def progress(self, start: int) -> Progress:
        """What follows the loop: bar, log, checkpoints."""
        log = Log(self.folder / "log.jsonl", start, read_only=not self.hardware.is_main)
        return Progress(
            self.recipe,
            log,
            self.hardware,
            start,
            checkpoint=self.checkpoint,
            development=self.development_scores,
            max_minutes=self.max_minutes,
            quiet=self.quiet,
            watchers=self.watchers,
        )

    def development_scores(self) -> dict[str, float]:
        """Cross-entropy on the development set, and BLEU of its first sentences, decoded greedily."""
        scores = {"dev_loss": token_loss(self.model, self.data.development)}
        pairs = list(islice(self.corpus.dev, self.recipe.bleu_sentences))
        if pairs:
            outputs = Translator(self.model, self.data.tokenizer).translate(
                [source for source, _ in pairs], beam_size=1
            )
            self.model.train()
            scores["dev_bleu"] = bleu(outputs, [target for _, target in pairs])[0]
        return scores

    def explain(self, error: DivergenceError) -> None:
        """Go back to the last checkpoint and find the batch at which the loss failed; always raises."""
        start, config = self.restore(), self.recipe.training
        found = find_bad_batch(
            self.engine, self.shared_batches(), config, self.model.config.d_model, start, error.update
        )
        lead = f"{error}. From the checkpoint of update {start}, replayed one by one, "
        if found is None:
            raise TrainingStopped(f"{lead}it did not happen again: resume to go on from there") from error
        update, batch = found
        if self.hardware.is_main:
            save_batch(self.folder / "bad_batch", batch, self.data.tokenizer, update)
        raise TrainingStopped(
            f"{lead}the first loss that is not finite is that of update {update}. Its batch is in "
            f"{self.folder / 'bad_batch'}: look at it, or train with a smaller rate_scale"
        ) from error

    def finish(self) -> Path:
        """Average the last checkpoints (section 6.1) and write the model that translates."""
        if self.hardware.is_main:
            sound = list(sound_checkpoints(self.folder / "checkpoints", weights_only=True))[::-1]
            newest = averaged(sound, self.recipe.average_last, self.recipe.checkpoint_every) or sound[-1:]
            mean = average_weights([read_tensors(path / "model.safetensors") for path in newest])
            model = Transformer(self.model.config)
            model.load_state_dict(mean, strict=False)
            save_model(self.folder / "model", model, self.data.tokenizer)
            self.say(f"averaged {len(newest)} checkpoints into {self.folder / 'model'}")
        self.hardware.wait()
        return self.folder / "model"

    def say(self, text: str) -> None:
        """A line for the person who waits."""
        if not self.quiet:
            print(text)
