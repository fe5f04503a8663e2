"""Kill a training at random moments and resume it, again and again: what a power cut does.

`python -m tests.kills 50 FILE` kills 50 times and writes what happened as JSON (`make hardening`).
"""

import json
import multiprocessing
import os
import platform
import random
import signal
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent))
from helpers import number_corpus, small_recipe

from transformer_lib.run.checkpoints import checkpoints, sound_checkpoints
from transformer_lib.run.records import read_log
from transformer_lib.run.trainer import Run

# A server that has the library loaded and no thread running yet makes the processes: fast, and safe to fork.
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["helpers", "transformer_lib.run.trainer"])

EVERY = 5  # updates between checkpoints
RECIPE = replace(small_recipe(max_updates=120), checkpoint_every=EVERY, evaluate_every=1000, average_last=3)


@dataclass
class Outcome:
    """What kills did to trainings."""

    kills: int = 0
    trainings: int = 0
    most_updates_lost: int = 0  # between the log and the checkpoint that a training resumed from
    equal: bool = True  # the last checkpoint to that of a training that nothing disturbed, bit for bit


def train(folder: Path) -> None:
    """Begin or resume; runs in a process of its own."""
    Run(folder, number_corpus(), RECIPE, "cpu", quiet=True).train(resume=None)


def kill_and_resume(kills: int, seed: int = 0) -> Outcome:
    """Kill trainings until there were as many kills, each resumed from what the one before had left."""
    rng, outcome = random.Random(seed), Outcome()
    with tempfile.TemporaryDirectory() as folder:
        started = time.monotonic()
        was_killed(Path(folder) / "whole", None)
        seconds = time.monotonic() - started
        expected = last_checkpoint(Path(folder) / "whole")
        while outcome.kills < kills:
            disturbed = Path(folder) / f"disturbed-{outcome.trainings}"
            while was_killed(disturbed, rng.uniform(0, seconds) if outcome.kills < kills else None):
                outcome.kills += 1
                outcome.most_updates_lost = max(outcome.most_updates_lost, updates_lost(disturbed))
            outcome.trainings += 1
            outcome.equal &= last_checkpoint(disturbed) == expected
    return outcome


def was_killed(folder: Path, after: float | None) -> bool:
    """Train in a process of its own, killed after so many seconds unless it is done by then."""
    process = SERVER.Process(target=train, args=(folder,))
    process.start()
    process.join(after)
    if process.is_alive():
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        return True
    if process.exitcode:
        raise RuntimeError(f"a resumed training ended with exit code {process.exitcode}")
    return False


def updates_lost(folder: Path) -> int:
    """How far the log is ahead of the newest sound checkpoint."""
    logged = max((entry["update"] for entry in read_log(folder / "log.jsonl")), default=0)
    newest = next(sound_checkpoints(folder / "checkpoints"), None)
    return logged - (int(newest.name) if newest else 0)


def last_checkpoint(folder: Path) -> dict[str, bytes]:
    """The files of the newest checkpoint."""
    return {path.name: path.read_bytes() for path in sorted(checkpoints(folder / "checkpoints")[-1].iterdir())}


if __name__ == "__main__":
    torch.set_num_threads(1)
    outcome = kill_and_resume(int(sys.argv[1]), seed=date.today().toordinal())
    record = {
        "date": date.today().isoformat(),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "machine": platform.machine(),
        "updates": RECIPE.training.max_updates,
        "checkpoint_every": EVERY,
        **asdict(outcome),
    }
    Path(sys.argv[2]).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(record))
    sys.exit(not (outcome.equal and outcome.most_updates_lost <= EVERY))
