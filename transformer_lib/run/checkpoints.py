"""Checkpoints: all that decides the rest of a training, sealed so that a damaged one is noticed and passed over."""

import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from transformer_lib.corpus.files import file_sha256
from transformer_lib.corpus.tokenizer import Tokenizer
from transformer_lib.model import Transformer
from transformer_lib.run.store import (
    FORMAT,
    CheckpointError,
    check_format,
    fill_model,
    load_weights,
    read_json,
    read_tensors,
    save_tensors,
    write_folder,
    write_json,
)

STATE = "training.safetensors"  # twice the size of the weights
MOMENTS = ("step", "exp_avg", "exp_avg_sq")  # what Adam keeps of each weight


@dataclass
class TrainingState:
    """What, beside the weights, decides every later update.

    The position in the data and the learning rate follow from `update`. `random` holds the generators by
    name, `scaler` the state of a GradScaler, empty where there is none.
    """

    update: int
    optimizer: torch.optim.Optimizer
    random: dict[str, torch.Tensor]
    scaler: dict[str, Any] = field(default_factory=dict)

    def save(self, folder: Path, model: Transformer, tokenizer: Tokenizer) -> None:
        """Write a checkpoint from which training continues exactly."""
        write_folder(folder, lambda beside: self.fill(beside, model, tokenizer))

    def fill(self, folder: Path, model: Transformer, tokenizer: Tokenizer) -> None:
        """Write the files of a checkpoint into an existing folder; last the one that seals the others."""
        fill_model(folder, model, tokenizer, torch.float32)
        tensors = dict(self.random)
        for name, parameter in model.named_parameters():
            for key, value in self.optimizer.state[parameter].items():
                tensors[f"{key}/{name}"] = value.detach().cpu()
        save_tensors(tensors, folder / STATE)
        seal = {path.name: file_sha256(path) for path in sorted(folder.iterdir())}
        write_json(
            folder / "training.json", {"format": FORMAT, "update": self.update, "scaler": self.scaler, "files": seal}
        )

    @classmethod
    def restore(cls, folder: Path, model: Transformer, optimizer: torch.optim.Optimizer) -> "TrainingState":
        """Put model and optimizer back where `save` found them; the generators are in `random` of what it returns."""
        stored = check_sound(folder)
        load_weights(model, folder / "model.safetensors")
        tensors = read_tensors(folder / STATE)
        optimizer.state.clear()
        # Before the first update Adam has no moments yet.
        for name, parameter in model.named_parameters() if stored["update"] else ():
            for key in MOMENTS:
                if f"{key}/{name}" not in tensors:
                    raise CheckpointError(f"{folder}: {key} of {name} is missing from {STATE}")
                # A fused optimizer counts its steps on the device too.
                on_cpu = key == "step" and not optimizer.defaults.get("fused")
                value = tensors[f"{key}/{name}"]
                optimizer.state[parameter][key] = value if on_cpu else value.to(parameter.device)
        random = {name: value for name, value in tensors.items() if name.startswith("rng")}
        return cls(stored["update"], optimizer, random, stored["scaler"])


def check_sound(folder: Path, *, weights_only: bool = False) -> dict[str, Any]:
    """What `training.json` says; CheckpointError names a file that is missing or not as it was written.

    `weights_only` looks at no more than an average needs.
    """
    stored = read_json(folder / "training.json")
    check_format(folder, stored)
    if not {"update", "scaler", "files"} <= stored.keys():
        raise CheckpointError(f"{folder}: training.json is no checkpoint of this version")
    for name, expected in stored["files"].items():
        if weights_only and name == STATE:
            continue
        if not (folder / name).is_file():
            raise CheckpointError(f"{folder / name} is missing")
        if file_sha256(folder / name) != expected:
            raise CheckpointError(f"{folder / name} is damaged: its SHA-256 is not the one it was written with")
    return stored


def checkpoints(folder: Path) -> list[Path]:
    """The checkpoints under `folder`, oldest first, sound or not."""
    return sorted(path for path in Path(folder).glob("[0-9]*") if path.is_dir())


def sound_checkpoints(folder: Path, *, weights_only: bool = False) -> Iterator[Path]:
    """The checkpoints that can be used, newest first; says on standard error which one it passes over and why."""
    for path in reversed(checkpoints(folder)):
        try:
            check_sound(path, weights_only=weights_only)
        except CheckpointError as error:
            print(f"passing over a checkpoint: {error}", file=sys.stderr)
        else:
            yield path


def averaged(paths: Iterable[Path], number: int, every: int | None = None) -> list[Path]:
    """Of checkpoints in order, the `number` newest that section 6.1 averages: trained, and regular if `every` is given.

    Regular is a checkpoint whose update is a multiple of `every`; others come by the clock.
    """
    updates = {path: int(path.name) for path in paths}
    return [path for path, update in updates.items() if update and (every is None or update % every == 0)][-number:]


def keep_newest(folder: Path, number: int, every: int | None = None) -> None:
    """Delete all checkpoints but the `number` that would be `averaged`, and the newest two.

    Of those two, one is to continue from, and one is there should that be damaged. Of the others only the
    weights are left, for the average: the rest takes two thirds of the room.
    """
    paths = checkpoints(folder)
    wanted = averaged(paths, number, every)
    for path in paths[:-2]:
        if path in wanted:
            (path / STATE).unlink(missing_ok=True)
        else:
            shutil.rmtree(path)
