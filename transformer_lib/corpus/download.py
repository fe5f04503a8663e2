"""Files of published corpora: from the folder that ``TRANSFORMER_DATA`` names, or downloaded and checked by SHA-256."""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from transformer_lib.corpus.files import InputError, shipped

DATA_VARIABLE = "TRANSFORMER_DATA"


def locate(corpus: str, file_name: str) -> Path:
    """Path of one file of a published corpus that ``data/sources.json`` lists, downloaded if need be.

    A file ``<corpus>/<file_name>`` in the folder that ``TRANSFORMER_DATA`` names comes first, and is taken as it is.
    Otherwise the file is downloaded once, to the user's cache folder, and must have the SHA-256 of the manifest.

    Raises:
        InputError: the folder does not exist, or the file can be neither found nor downloaded.

    """
    local = _local_folder()
    if local and (local / corpus / file_name).is_file():
        return local / corpus / file_name
    entry = json.loads(shipped("sources.json").read_text("utf-8"))[corpus]
    if file_name not in entry["files"]:
        raise InputError(_not_offered(corpus, file_name, entry, local))
    import pooch

    destination = pooch.os_cache("transformer-lib") / corpus / file_name
    return download([f"{base}/{file_name}" for base in entry["base_urls"]], entry["files"][file_name], destination)


def download(urls: Sequence[str], sha256: str, destination: Path) -> Path:
    """Fetch a file from the first of ``urls`` that answers, to ``destination``, unless it lies there already.

    The file gets its name when it is complete and has the expected SHA-256; before that, or after an error, whatever
    was at ``destination`` is untouched. A file there with another checksum is downloaded again.

    Raises:
        InputError: no address could be reached, or what came has another checksum; each one's reason is given.

    """
    import pooch

    reasons = []
    for url in urls:
        try:
            pooch.retrieve(
                url,
                known_hash=f"sha256:{sha256}",
                fname=destination.name,
                path=destination.parent,
                progressbar=sys.stderr.isatty(),
            )
            return destination
        except OSError as error:  # every error of the requests library is one
            reasons.append(f"{url}: {error}")
        except ValueError:
            reasons.append(f"{url}: the file there does not have the expected SHA-256 {sha256}; it was not kept")
    raise InputError(
        f"cannot download {destination.name}:\n  " + "\n  ".join(reasons) + f"\nIf you have a copy, put it under "
        f"{destination.parent.name}/{destination.name} in a folder and name that folder with {DATA_VARIABLE}."
    )


def _local_folder() -> Path | None:
    value = os.environ.get(DATA_VARIABLE)
    if not value:
        return None
    if not Path(value).is_dir():
        raise InputError(f"{DATA_VARIABLE}={value}: there is no such folder")
    return Path(value)


def _not_offered(corpus: str, file_name: str, entry: dict, local: Path | None) -> str:
    where = f"{local / corpus / file_name} does not exist" if local else f"{DATA_VARIABLE} is not set"
    return (
        f"{file_name} cannot be downloaded by checksum, because {entry['no_download']}. Get it from "
        f"{entry['homepage']}, put it under {corpus}/ in a folder, and name that folder with {DATA_VARIABLE} "
        f"({where}); or give the text file inside it, {entry['member']}, as your own tab-separated file."
    )
