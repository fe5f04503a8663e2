"""The folder of a training: what may begin in it, and what may go on."""

import json
from pathlib import Path
from typing import Any

from transformer_lib.corpus.files import InputError, check_writable
from transformer_lib.run.checkpoints import checkpoints
from transformer_lib.run.hardware import Hardware
from transformer_lib.run.store import read_json

# A resumed training may have another length, and may be looked at, saved and decoded otherwise.
MAY_CHANGE = ("evaluate_every", "bleu_sentences", "checkpoint_minutes", "beam_size", "length_penalty")


def check_folder(folder: Path, description: dict[str, Any], resume: bool | None, hardware: Hardware) -> bool:
    """True where a training is to be resumed, False where one is to begin; every process must ask.

    `description` is what `recipe.json` will say. `resume` is what the user wants: yes, no, or None for either.
    InputError for a folder that cannot be written, that would be overwritten, that holds nothing to resume,
    or another training. A training that was killed before its first checkpoint begins again.
    """
    check_writable(folder)
    begun = (folder / "recipe.json").exists()
    if resume and not begun:
        raise InputError(f"{folder} holds no training to resume")
    hardware.wait()  # until every process has looked
    if not begun:
        return False
    has_checkpoint = bool(checkpoints(folder / "checkpoints"))
    if resume is False and has_checkpoint:
        raise InputError(f"{folder} already holds a training: resume it, or name another folder")
    check_same(folder, read_json(folder / "recipe.json"), json.loads(json.dumps(description)))
    return has_checkpoint


def check_same(folder: Path, stored: dict[str, Any], wanted: dict[str, Any]) -> None:
    """InputError that names a setting in which the training in `folder` differs from the one that is wanted."""
    for description in (stored, wanted):
        description["training"].pop("max_updates")
    for name in sorted((stored.keys() | wanted.keys()) - set(MAY_CHANGE)):
        if stored.get(name) != wanted.get(name):
            raise InputError(
                f"{folder} was trained with {name} = {stored.get(name)}, now asked for {wanted.get(name)}: "
                "resume with the same settings, or name another folder"
            )


def outermost_missing(folder: Path) -> Path | None:
    """The outermost of the folders that are made with `folder`; None when it is there."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    return missing[-1] if missing else None
