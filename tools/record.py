"""Copy what a finished run says of itself into `data/runs/NAME`: recipe, log, results, circumstances.

    python -m tools.record runs/lab lab-en-de

Text of the corpus is in none of these files, and weights stay where they are.
"""

import argparse
import shutil
from pathlib import Path

FILES = ("recipe.json", "environment.json", "log.jsonl", "results.json")


def record(run: Path, name: str) -> Path:
    """Copy the four files; FileNotFoundError names one that the run has not written yet."""
    folder = Path("data/runs") / name
    missing = [file for file in FILES if not (run / file).exists()]
    if missing:
        raise FileNotFoundError(f"{run} has no {', '.join(missing)}: is the run finished?")
    folder.mkdir(parents=True, exist_ok=True)
    for file in FILES:
        shutil.copyfile(run / file, folder / file)
    return folder


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("name")
    arguments = parser.parse_args()
    print(record(arguments.run, arguments.name))
