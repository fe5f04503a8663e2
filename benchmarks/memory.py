"""Memory of a whole training, from a file of sentence pairs to the trained model: prints JSON.

    python benchmarks/data.py --write 450000 pairs.tsv
    python benchmarks/memory.py pairs.tsv --repeat 10 --updates 1000 --output benchmarks/results/memory.json

Private memory (USS) is what would be free again without the processes; PSS adds their share of what they have in
common, such as the mapped token store. Both are summed over the training and all that it starts.
"""

import argparse
import json
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from datetime import date
from pathlib import Path

import psutil
import torch

EVERY = 0.5  # seconds between two looks


def memory_of(process: psutil.Process) -> tuple[int, int]:
    """USS and PSS of a process and its descendants, in bytes."""
    uss = pss = 0
    for member in [process, *process.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            full = member.memory_full_info()
            uss, pss = uss + full.uss, pss + full.pss
    return uss, pss


def watch(command: list[str], folder: Path) -> dict[str, float]:
    """Run a command to its end; the highest memory while it prepared the data and while it trained, in MiB."""
    highest = {f"{phase}_{kind}_mib": 0.0 for phase in ("preparation", "training") for kind in ("uss", "pss")}
    process = psutil.Popen(command, stderr=subprocess.DEVNULL)
    began, trained = time.monotonic(), None
    while process.poll() is None:
        with suppress(psutil.NoSuchProcess):
            is_training = (folder / "log.jsonl").exists()
            trained = trained or (time.monotonic() if is_training else None)
            for kind, size in zip(("uss", "pss"), memory_of(process), strict=True):
                key = f"{'training' if is_training else 'preparation'}_{kind}_mib"
                highest[key] = max(highest[key], size / 2**20)
        time.sleep(EVERY)
    if process.returncode:
        sys.exit(f"the training ended with exit code {process.returncode}")
    seconds = {"preparation_seconds": (trained or time.monotonic()) - began, "seconds": time.monotonic() - began}
    return {name: round(value, 1) for name, value in {**highest, **seconds}.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pairs", type=Path, help="a tab-separated file")
    parser.add_argument("--repeat", type=int, default=1, help="how often the file stands behind itself")
    parser.add_argument("--updates", type=int, default=1000)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "pairs.tsv"
        with corpus.open("wb") as all_pairs:
            for _ in range(arguments.repeat):
                with arguments.pairs.open("rb") as once:
                    shutil.copyfileobj(once, all_pairs)
        with corpus.open("rb") as file:
            lines = sum(1 for _ in file)
        run = Path(folder) / "run"
        command = [sys.executable, "-m", "transformer_lib.run.cli", "train", "--data", str(corpus), "--quiet"]
        command += ["--recipe", "lab-micro", "--max-updates", str(arguments.updates), "--output", str(run)]
        record = {
            "date": date.today().isoformat(),
            "machine": platform.machine(),
            "python": platform.python_version(),
            "torch": str(torch.__version__),
            "pairs": lines,
            "repeated": arguments.repeat,
            "updates": arguments.updates,
            **watch(command, run),
        }
    text = json.dumps(record, indent=2) + "\n"
    print(text, end="")
    if arguments.output is not None:
        arguments.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
