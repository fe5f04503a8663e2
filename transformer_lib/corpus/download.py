"""Files of published corpora: from the folder that ``TRANSFORMER_DATA`` names, or downloaded and checked by SHA-256."""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transformer_lib.corpus.files import InputError, file_sha256, shipped

DATA_VARIABLE = "TRANSFORMER_DATA"
TIMEOUT = 30  # seconds without an answer, or without a byte, after which a connection counts as broken
BLOCK = 1 << 14  # bytes written at a time: of what came before a break, less than this is lost


def locate(corpus: str, file_name: str) -> Path:
    """Path of one file of a published corpus that ``data/sources.json`` lists, downloaded if need be.

    A file ``<corpus>/<file_name>`` in the folder that ``TRANSFORMER_DATA`` names comes first, and is taken as it is.
    Otherwise the file is downloaded once, to the user's cache folder, and must have the SHA-256 of the manifest.

    Raises:
        InputError: the folder does not exist, or the file can be neither found nor downloaded.

    """
    found = find_local(corpus, file_name)
    if found:
        return found
    entry = json.loads(shipped("sources.json").read_text("utf-8"))[corpus]
    if file_name not in entry["files"]:
        raise InputError(_not_offered(corpus, file_name, entry))
    destination = cache_folder() / corpus / file_name
    return download([f"{base}/{file_name}" for base in entry["base_urls"]], entry["files"][file_name], destination)


def find_local(corpus: str, *file_names: str) -> Path | None:
    """The first of these files that is in ``<corpus>/`` of the folder that ``TRANSFORMER_DATA`` names, or None.

    Raises:
        InputError: the variable names no folder.

    """
    folder = _local_folder()
    candidates = [folder / corpus / name for name in file_names] if folder else []
    return next((path for path in candidates if path.is_file()), None)


def cache_folder() -> Path:
    """Where downloads are kept, in the place that the operating system has for such files."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("transformer-lib", appauthor=False))


def download(urls: Sequence[str], sha256: str, destination: Path) -> Path:
    """Fetch a file from the first of ``urls`` that has it, to ``destination``, unless it lies there already.

    The file gets its name when it is complete and has the expected SHA-256; before that, or after an error, whatever
    was at ``destination`` is untouched. A file there with another checksum is downloaded again. What came before a
    connection broke stays beside it, and the next attempt, now or in another process, asks for the rest only.

    Raises:
        InputError: no address could be reached, or what came has another checksum; each one's reason is given.

    """
    if destination.exists() and file_sha256(destination) == sha256:
        return destination
    destination.parent.mkdir(parents=True, exist_ok=True)
    part = destination.with_name(f".{destination.name}.part")
    reasons = []
    for url in urls:
        try:
            if _fetch_checked(url, part, sha256):
                os.replace(part, destination)
                return destination
            reasons.append(f"{url}: the file there does not have the expected SHA-256 {sha256}; it was not kept")
        except OSError as error:  # every error of the requests library is one
            reasons.append(f"{url}: {error}")
    raise InputError(
        f"cannot download {destination.name}:\n  " + "\n  ".join(reasons) + f"\nIf you have a copy, put it under "
        f"{destination.parent.name}/{destination.name} in a folder and name that folder with {DATA_VARIABLE}."
    )


def _fetch_checked(url: str, part: Path, sha256: str) -> bool:
    """Complete ``part`` from ``url``; if the result is another file than expected, it is deleted."""
    resumed = _size(part) > 0
    _fetch(url, part)
    if file_sha256(part) == sha256:
        return True
    part.unlink()
    return resumed and _fetch_checked(url, part, sha256)  # the part may have been of another version of the file


def _fetch(url: str, part: Path) -> None:
    """Complete ``part``, connecting again after each break as long as something came before it."""
    while True:
        before = _size(part)
        try:
            return _fetch_rest(url, part)
        except OSError:
            if _size(part) <= before:
                raise


def _fetch_rest(url: str, part: Path) -> None:
    """Append to ``part`` what the server sends from there on; a server that sends the whole file starts it anew."""
    import requests

    have = _size(part)
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
        if have and response.status_code == requests.codes.requested_range_not_satisfiable:
            return  # there is no more; whether it is the right file, the checksum says
        response.raise_for_status()
        goes_on = response.headers.get("Content-Range", "").startswith(f"bytes {have}-")
        if response.status_code == requests.codes.partial_content and not goes_on:
            part.unlink()
            return _fetch_rest(url, part)
        _write(response, part, have if goes_on else 0)


def _write(response: Any, part: Path, have: int) -> None:
    """Write the body of a response behind the first ``have`` bytes of ``part``; OSError when it ends too early."""
    from tqdm.auto import tqdm

    total = have + int(response.headers["Content-Length"]) if "Content-Length" in response.headers else None
    bar = tqdm(total=total, initial=have, unit="B", unit_scale=True, desc=part.name[1:-5], disable=not _on_screen())
    with open(part, "ab" if have else "wb") as file, bar:
        for block in response.iter_content(BLOCK):
            bar.update(file.write(block))
        file.flush()
        os.fsync(file.fileno())
    if total is not None and _size(part) < total:
        raise ConnectionError(f"the connection broke after {_size(part):,} of {total:,} bytes")


def _on_screen() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _local_folder() -> Path | None:
    value = os.environ.get(DATA_VARIABLE)
    if not value:
        return None
    if not Path(value).is_dir():
        raise InputError(f"{DATA_VARIABLE}={value}: there is no such folder")
    return Path(value)


def _not_offered(corpus: str, file_name: str, entry: dict) -> str:
    local = _local_folder()
    where = f"{local / corpus / file_name} does not exist" if local else f"{DATA_VARIABLE} is not set"
    return (
        f"{file_name} cannot be downloaded by checksum, because {entry['no_download']}. Get it from "
        f"{entry['homepage']}, put it under {corpus}/ in a folder, and name that folder with {DATA_VARIABLE} "
        f"({where}); or give the text file inside it, {entry['member']}, as your own tab-separated file."
    )
