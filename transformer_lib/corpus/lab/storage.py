"""The lab corpus on disk: tab-separated pairs, and JSON lines with all annotations."""

import os
import tempfile
from pathlib import Path

from transformer_lib.corpus.files import InputError, write_atomically
from transformer_lib.corpus.lab.example import LabExample
from transformer_lib.corpus.lab.lexicon import VARIANTS
from transformer_lib.corpus.lab.profile import SPLITS
from transformer_lib.corpus.lab.splits import generate


def write_lab(folder: str | os.PathLike, *, seed: int = 2017, variant: str = "lab", processes: int = 1) -> list[Path]:
    """Write every split as ``<split>.tsv`` (source, tab, target) and ``<split>.jsonl`` (everything); return the paths.

    Each file is written beside its place and renamed, so an older one is replaced whole or not at all.

    Raises:
        ValueError: unknown variant.
        OSError: the folder cannot be made or written to; nothing has been written then.

    """
    if variant not in VARIANTS:
        raise InputError(f"unknown variant {variant!r}: expected one of {', '.join(VARIANTS)}")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):  # fails before anything is written
        pass
    paths = []
    for split in SPLITS:
        workers = processes if split == "train" else 1  # the others are made before a process has started
        examples = generate(split, seed=seed, variant=variant, processes=workers)
        contents = {
            folder / f"{split}.tsv": "".join([f"{example.source}\t{example.target}\n" for example in examples]),
            folder / f"{split}.jsonl": "".join([example.to_json() + "\n" for example in examples]),
        }
        for path, text in contents.items():
            write_atomically(path, text)
            paths.append(path)
    return paths


def read_jsonl(path: str | os.PathLike) -> list[LabExample]:
    """The examples of a file that :func:`write_lab` wrote. Raises ``ValueError`` naming file and line if one is not."""
    examples = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                examples.append(LabExample.from_json(line))
            except (KeyError, TypeError, ValueError) as error:
                raise InputError(f"{path}, line {number}: expected one lab example as JSON") from error
    return examples
