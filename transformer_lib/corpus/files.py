"""Files on disk: find what ships with the project, read text strictly, and write so that nothing is lost."""

import codecs
import contextlib
import gzip
import hashlib
import io
import os
import secrets
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

GZIP_MAGIC = b"\x1f\x8b"  # no valid UTF-8 text begins with these two bytes


class InputError(ValueError):
    """What the user gave is wrong: the message names the value and what was expected.

    The command line prints the message and exits with code 2; every other exception is a fault of the library.
    """


def shipped(relative: str) -> Path:
    """Path of a file or folder that ships with the project, for example ``shipped("checkpoints/lab-en-de")``.

    In a checkout it lies under ``data/`` beside the package; a wheel carries it as ``transformer_lib/data/``.

    Raises:
        FileNotFoundError: it is in neither place; the message names both.

    """
    package = Path(__file__).resolve().parents[1]
    candidates = [package / "data" / relative, package.parent / "data" / relative]
    for candidate in candidates:
        if candidate.exists():
            return candidate
    looked = " nor ".join(str(candidate) for candidate in candidates)
    raise FileNotFoundError(f"shipped data {relative!r} not found: neither {looked} exists")


def write_atomically(path: str | Path, data: bytes | str) -> None:
    """Write ``data`` (a string as UTF-8) to ``path`` so that a reader sees the old content or the new, never a part.

    The bytes go to a file beside it, reach the disk, and the file is renamed over ``path``. If anything fails,
    ``path`` is as it was. Missing parent folders are made; a symbolic link is followed, not replaced.
    """
    payload = data.encode("utf-8") if isinstance(data, str) else data
    path = Path(path).resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with open(beside, "xb") as file:
            file.write(payload)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def write_folder(folder: str | Path, fill: Callable[[Path], None]) -> None:
    """Make ``folder`` by filling a folder beside it, syncing it to the disk, and renaming it.

    An older folder of that name stays whole until the new one is, and is put back if anything fails.
    """
    folder = Path(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside, old = folder.with_name(f".{folder.name}.new"), folder.with_name(f".{folder.name}.old")
    for leftover in (beside, old):
        shutil.rmtree(leftover, ignore_errors=True)
    beside.mkdir()
    try:
        fill(beside)
        _sync_tree(beside)
        if folder.exists():
            folder.rename(old)
        beside.rename(folder)
        _sync_folder(folder.parent)
    except BaseException:
        if old.exists() and not folder.exists():
            old.rename(folder)
        raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _sync_tree(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_dir():
            _sync_folder(path)
        else:
            with open(path, "r+b") as file:
                os.fsync(file.fileno())
    _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    """Make a rename in ``folder`` survive a power cut, where the system lets a folder be synced."""
    with contextlib.suppress(OSError):  # Windows and some network file systems cannot open a folder
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def check_writable(folder: str | Path) -> None:
    """Check that files can be written in ``folder``, or that it can be made, and leave nothing behind.

    Raises:
        InputError: it cannot; the message names the folder and why.

    """
    folder = Path(folder)
    existing = folder.absolute()
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot write to the folder {folder}: {existing}: {reason}") from error


def read_bytes(path: str | Path) -> bytes:
    """Content of ``path``, decompressed if it is gzipped, whatever its name.

    Raises:
        InputError: the file is missing, cannot be read, or is a damaged gzip file.

    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    if not content.startswith(GZIP_MAGIC):
        return content
    try:
        return gzip.decompress(content)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path} is a truncated or damaged gzip file: {error}") from error


def file_sha256(path: str | Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal.

    Raises:
        InputError: the file cannot be read.

    """
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def decode_lines(content: bytes, name: str | Path) -> list[str]:
    r"""Lines of UTF-8 text, without their ends. Only ``\n`` and ``\r\n`` end a line, and a byte order mark is dropped.

    Raises:
        InputError: a line is not valid UTF-8; the message gives ``name``, the line and the byte in it, from 1.

    """
    return list(_decoded(io.BytesIO(content), name))


def read_lines(path: str | Path) -> list[str]:
    """Lines of a UTF-8 text file, gzipped or not; `decode_lines` says what a line is.

    Raises:
        InputError: the file cannot be read, or is not UTF-8 (file, line and byte are named).

    """
    return list(iterate_lines(path))


def iterate_lines(path: str | Path) -> Iterator[str]:
    """`read_lines`, one line after the other: the text is never in memory as a whole."""
    try:
        with open(path, "rb") as file:
            gzipped = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
            file.seek(0)
            yield from _decoded(gzip.GzipFile(fileobj=file) if gzipped else file, path)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path} is a truncated or damaged gzip file: {error}") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def _decoded(lines: Iterable[bytes], name: str | Path) -> Iterator[str]:
    mark = 0
    for number, raw in enumerate(lines, start=1):
        if number == 1 and raw.startswith(codecs.BOM_UTF8):
            mark = len(codecs.BOM_UTF8)
            raw = raw[mark:]
        try:
            text = raw.decode()
        except UnicodeDecodeError as error:
            byte = error.start + 1 + (mark if number == 1 else 0)
            bad = raw[error.start]
            raise InputError(f"{name}, line {number}, byte {byte}: 0x{bad:02x} is not valid UTF-8") from error
        if text:
            yield text.removesuffix("\n").removesuffix("\r")
