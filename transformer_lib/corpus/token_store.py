"""Stores: the token ids of a corpus in files that are mapped into memory, so that its size does not matter."""

# A store is a folder with four arrays in NumPy's ``.npy`` format and a description, ``store.json``:
#
# * ``sources.ids.npy`` and ``targets.ids.npy``: all tokens, row after row, as uint16, or as int32 for a vocabulary of
#   over 65,536 pieces.
# * ``sources.offsets.npy`` and ``targets.offsets.npy``: where each row begins, and where the last one ends, as int64.

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from transformer_lib.corpus.encoding import EncodedBlock, TokenRows, encoded_blocks, id_type, usable_cores
from transformer_lib.corpus.files import InputError, file_sha256, write_atomically, write_folder
from transformer_lib.corpus.pairs import Pair, fingerprint
from transformer_lib.corpus.tokenizer import Tokenizer

__all__ = ["StoredPairs", "TokenRows", "open_store", "store_fingerprint", "write_store"]

FORMAT = 1  # of a store; a larger number is refused
DESCRIPTION = "store.json"
ARRAYS = tuple(f"{side}.{part}" for side in ("sources", "targets") for part in ("ids", "offsets"))


@dataclass(frozen=True)
class StoredPairs:
    """Sentence pairs as token ids, and how many pairs were dropped when they were encoded."""

    sources: TokenRows
    targets: TokenRows
    dropped_empty: int = 0
    dropped_long: int = 0

    def __len__(self) -> int:
        return len(self.sources)


def write_store(
    folder: str | Path,
    pairs: Collection[Pair],
    tokenizer: Tokenizer,
    max_length: int = 256,
    *,
    processes: int | None = None,
    progress: bool = False,
) -> None:
    """Encode ``pairs`` into a store at ``folder``; only a few blocks of 8,192 pairs are in memory at any time.

    A store that is there already, of the same text, tokenizer and ``max_length``, is left as it is.
    Pairs with an empty side, or one of over ``max_length`` tokens, are dropped and counted. What was at ``folder``
    stays until the store is complete. The result does not depend on ``processes``.

    Args:
        folder: where the store goes.
        pairs: (source, target), gone through twice; files as `pairs.tab_separated` and `pairs.aligned` open them.
        tokenizer: gives the ids.
        max_length: in tokens, bos and eos not counted.
        processes: how many encode, one for each core if None; few pairs are encoded in this process.
        progress: whether to show a progress bar.

    Raises:
        InputError: no pair is left, one cannot be read or encoded, or what is at ``folder`` is no store, or a
            newer one.

    """
    folder, wanted = Path(folder), store_fingerprint(pairs, tokenizer, max_length)
    if (folder / DESCRIPTION).exists() and _read_description(folder)["fingerprint"] == wanted:
        return
    blocks = encoded_blocks(pairs, tokenizer, max_length, usable_cores() if processes is None else processes)

    def fill(beside: Path) -> None:
        counts = _write_arrays(beside, _with_progress(blocks, len(pairs), progress), id_type(tokenizer))
        if not counts["pairs"]:
            empty, long = counts["dropped_empty"], counts["dropped_long"]
            raise InputError(
                f"no sentence pair is left of {len(pairs)}: {empty} had an empty side, {long} more than {max_length} "
                "tokens"
            )
        _describe(beside, counts | {"fingerprint": wanted})

    write_folder(folder, fill)


def open_store(folder: str | Path) -> StoredPairs:
    """The pairs of a store, mapped into memory: read from the files on demand, and shared by all that open them.

    Raises:
        InputError: ``folder`` is no store, a newer version of the library wrote it, or a file of it is damaged.

    """
    folder = Path(folder)
    description = _read_description(folder)
    for name in ARRAYS:
        found, expected = file_sha256(folder / f"{name}.npy"), description["sha256"][name]
        if found != expected:
            raise InputError(
                f"{folder / name}.npy is damaged: expected SHA-256 {expected}, found {found}; delete {folder}"
            )
    maps = [np.lib.format.open_memmap(folder / f"{name}.npy", mode="r") for name in ARRAYS]
    sources, targets = TokenRows(*maps[:2]), TokenRows(*maps[2:])
    return StoredPairs(sources, targets, description["dropped_empty"], description["dropped_long"])


def store_fingerprint(pairs: Iterable[Pair], tokenizer: Tokenizer, max_length: int) -> str:
    """What a store is made from, in 64 hexadecimal digits: the text, the tokenizer and the longest row."""
    parts = (fingerprint(pairs), hashlib.sha256(tokenizer.to_bytes()).hexdigest(), str(max_length))
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()


def _describe(folder: Path, facts: dict[str, Any]) -> None:
    checksums = {name: file_sha256(folder / f"{name}.npy") for name in ARRAYS}
    write_atomically(
        folder / DESCRIPTION, json.dumps({"format": FORMAT, **facts, "sha256": checksums}, indent=2) + "\n"
    )


def _read_description(folder: Path) -> dict[str, Any]:
    path = folder / DESCRIPTION
    try:
        description = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"{folder} is no token store: cannot read {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise InputError(f"{path} is damaged: {error}; delete {folder}") from error
    version = description.get("format") if isinstance(description, dict) else None
    if not isinstance(version, int) or version < 1:
        raise InputError(f"{folder} is no token store: expected a format number in {path}, found {version!r}")
    if version > FORMAT:
        raise InputError(f"{folder}: written in format {version}, this version reads up to {FORMAT}: upgrade")
    missing = {"dropped_empty", "dropped_long", "fingerprint", "sha256"} - description.keys()
    if missing or set(ARRAYS) - description["sha256"].keys():
        raise InputError(f"{path} is damaged: {', '.join(sorted(missing)) or 'a checksum'} is missing; delete {folder}")
    return description


def _with_progress(blocks: Iterator[EncodedBlock], total: int, shown: bool) -> Iterator[EncodedBlock]:
    from tqdm.auto import tqdm

    with tqdm(total=total, unit=" pairs", desc="encoding", disable=not shown, delay=1, leave=False) as bar:
        for block in blocks:
            yield block
            bar.update(len(block.sources) + block.dropped_empty + block.dropped_long)


class _GrowingArray:
    """A one-dimensional ``.npy`` file to which values are appended; on leaving, its header gets their number."""

    def __init__(self, path: Path, dtype: type) -> None:
        self._path, self._dtype, self._length = path, np.dtype(dtype), 0

    def __enter__(self) -> "_GrowingArray":
        self._file = open(self._path, "xb")
        self._write_header()
        return self

    def append(self, values: np.ndarray) -> None:
        self._file.write(values.astype(self._dtype, copy=False).tobytes())
        self._length += len(values)

    def __exit__(self, *error: object) -> None:
        self._file.seek(0)
        self._write_header()  # as long as the first time: NumPy leaves room for the number to grow
        self._file.close()

    def _write_header(self) -> None:
        header = {"descr": self._dtype.str, "fortran_order": False, "shape": (self._length,)}
        np.lib.format.write_array_header_1_0(self._file, header)


def _write_arrays(folder: Path, blocks: Iterable[EncodedBlock], dtype: type) -> dict[str, int]:
    """Append all blocks to the arrays in ``folder``; gives the counts of the description."""
    counts = dict.fromkeys(("pairs", "source_tokens", "target_tokens", "dropped_empty", "dropped_long"), 0)
    with ExitStack() as stack:
        arrays = {
            name: stack.enter_context(_GrowingArray(folder / f"{name}.npy", np.int64 if "offsets" in name else dtype))
            for name in ARRAYS
        }
        for side in ("sources", "targets"):
            arrays[f"{side}.offsets"].append(np.zeros(1))
        for block in blocks:
            for side, rows in (("source", block.sources), ("target", block.targets)):
                arrays[f"{side}s.ids"].append(rows.ids)
                arrays[f"{side}s.offsets"].append(rows.offsets[1:] + counts[f"{side}_tokens"])
                counts[f"{side}_tokens"] += len(rows.ids)
            counts["pairs"] += len(block.sources)
            counts["dropped_empty"] += block.dropped_empty
            counts["dropped_long"] += block.dropped_long
    return counts
