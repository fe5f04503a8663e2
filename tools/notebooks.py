"""Keep the chapters clean: nbstripout takes the outputs out, nbdev-clean the metadata (`--check` only tells)."""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent


def clean(root: Path) -> None:
    """Clean every chapter below `root`, which has the layout of this repository."""
    chapters = sorted(path.relative_to(root) for path in (root / "book").glob("*.ipynb"))
    subprocess.run([BIN / "nbstripout", "--keep-id", *chapters], cwd=root, check=True)
    subprocess.run([BIN / "nbdev-clean", "--fname", "book"], cwd=root, check=True)


def unclean() -> list[Path]:
    """Chapters that cleaning would change; the working tree stays as it is."""
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary)
        shutil.copy(ROOT / "pyproject.toml", copy)
        shutil.copytree(ROOT / "book", copy / "book", ignore=shutil.ignore_patterns("_*"))
        clean(copy)
        chapters = sorted((copy / "book").glob("*.ipynb"))
        return [path for path in chapters if path.read_bytes() != (ROOT / "book" / path.name).read_bytes()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a chapter is not clean")
    if not parser.parse_args().check:
        clean(ROOT)
        return 0
    chapters = unclean()
    for path in chapters:
        print(f"book/{path.name} is not clean: run `python -m tools.notebooks`")
    return 1 if chapters else 0


if __name__ == "__main__":
    sys.exit(main())
