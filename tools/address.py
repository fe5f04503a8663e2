"""The public address of the repository, written from `pyproject.toml` into every file that shows it.

`[project.urls] Repository` is the one place to edit. After a change, `python -m tools.address` writes it into the
first cell of each chapter, `_config.yml`, `CITATION.cff` and the README; `--check` only says which files differ.
"""

import argparse
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Ways to write a repository's address: as itself, as its pages, and as seen by Colab or as raw files.
SPELLINGS = [
    "https://github.com/{owner}/{name}",
    "https://{owner}.github.io/{name}",
    "https://colab.research.google.com/github/{owner}/{name}",
    "https://raw.githubusercontent.com/{owner}/{name}",
]


def repository(root: Path = ROOT) -> str:
    """The address that stands in pyproject.toml."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    return project["urls"]["Repository"].rstrip("/")


def written(root: Path = ROOT) -> str:
    """The address that the other files were last written with."""
    return re.search(r"^  url: (\S+)$", (root / "_config.yml").read_text(), re.MULTILINE)[1].rstrip("/")


def spellings(address: str) -> list[str]:
    """Every way in which the files write a repository's address."""
    owner, name = address.split("/")[-2:]
    return [spelling.format(owner=owner, name=name) for spelling in SPELLINGS]


def site(address: str) -> str:
    """Where the built pages are published."""
    return spellings(address)[1]


def raw(address: str) -> str:
    """Where single files can be fetched."""
    return spellings(address)[3]


def tracked_files(root: Path = ROOT) -> list[Path]:
    """The text files of the project: those that git tracks or would, without vendored scripts and data."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.split("\0")
    paths = [root / name for name in names if name and not name.startswith(("book/_ext/vendor/", "data/"))]
    return [path for path in paths if path.is_file() and b"\0" not in path.read_bytes()[:8192]]


def rewritten(text: str, old: str, new: str) -> str:
    for before, after in zip(spellings(old), spellings(new), strict=True):
        text = re.sub(re.escape(before) + r"(?![\w-])", after, text)
    return text


def rewritten_files(root: Path, paths: list[Path]) -> dict[Path, str]:
    """The given files that show another address than `root`'s pyproject.toml, with the text they should have."""
    old, new = written(root), repository(root)
    texts = {path: path.read_text(encoding="utf-8") for path in paths if path.is_file()}
    changed = {path: rewritten(text, old, new) for path, text in texts.items()}
    return {path: text for path, text in changed.items() if text != texts[path]}


def outdated_files(root: Path = ROOT) -> dict[Path, str]:
    """Every file of the project that shows another address than its pyproject.toml."""
    return rewritten_files(root, tracked_files(root))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail where a file shows another address")
    arguments = parser.parse_args()
    outdated = outdated_files()
    for path, text in outdated.items():
        print(f"{path.relative_to(ROOT)}: {'shows another address' if arguments.check else 'written'}")
        if not arguments.check:
            path.write_text(text, encoding="utf-8")
    return 1 if outdated and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
