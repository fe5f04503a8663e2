"""Put what a finished run says of itself into `data/runs/NAME`: recipe, circumstances, log, results.

    python -m tools.record copy runs/lab lab-en-de
    python -m tools.record unpack records/multi30k-en-de.json

Text of the corpus is in none of these files, and weights stay where they are.
"""

import argparse
import json
import shutil
from pathlib import Path

FILES = ("recipe.json", "environment.json", "log.jsonl", "results.json")
RUNS = Path("data/runs")


def copy(run: Path, name: str) -> Path:
    """Copy the four files; FileNotFoundError names one that the run has not written yet."""
    folder = RUNS / name
    missing = [file for file in FILES if not (run / file).exists()]
    if missing:
        raise FileNotFoundError(f"{run} has no {', '.join(missing)}: is the run finished?")
    folder.mkdir(parents=True, exist_ok=True)
    for file in FILES:
        shutil.copyfile(run / file, folder / file)
    return folder


def unpack(record: Path) -> Path:
    """Take apart a record that `tools.gpu_records` has packed into one file."""
    folder = RUNS / record.stem
    contents = json.loads(record.read_text(encoding="utf-8"))
    if set(contents) != set(FILES):
        raise ValueError(f"{record} is no record: it holds {sorted(contents)}, not {sorted(FILES)}")
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in contents.items():
        (folder / file).write_text(text, encoding="utf-8")
    return folder


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    copying = commands.add_parser("copy", help="of a run's folder")
    copying.add_argument("run", type=Path)
    copying.add_argument("name")
    unpacking = commands.add_parser("unpack", help="a record in one file")
    unpacking.add_argument("record", type=Path)
    arguments = parser.parse_args()
    print(copy(arguments.run, arguments.name) if arguments.command == "copy" else unpack(arguments.record))
