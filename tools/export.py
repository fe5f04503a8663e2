"""Write the library's modules from the chapters (`make export`), or check that they are in step (`--check`).

This is nbdev's own export without what `nbdev-export` adds around it: an index and a list of modules that nothing
here reads. It would also list in `transformer_lib/__init__.py` every module with a docstring of more than a line, which
is why there is none.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def export(root: Path) -> None:
    """Export every chapter below `root`, which has the layout of this repository."""
    from nbdev.export import nb_export

    os.chdir(root)
    for notebook in sorted(Path("book").glob("*.ipynb")):
        nb_export(notebook)


def modules(root: Path) -> dict[str, str]:
    """Text of every module below `root`, by its path in the package."""
    package = root / "transformer_lib"
    return {path.relative_to(package).as_posix(): path.read_text() for path in sorted(package.rglob("*.py"))}


def out_of_step() -> list[str]:
    """Modules that an export would write differently; the working tree stays as it is."""
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary)
        shutil.copy(ROOT / "pyproject.toml", copy)
        shutil.copytree(ROOT / "transformer_lib", copy / "transformer_lib")
        shutil.copytree(ROOT / "book", copy / "book", ignore=shutil.ignore_patterns("_*"))
        command = [sys.executable, "-m", "tools.export", "--root", str(copy)]
        subprocess.run(command, cwd=ROOT, check=True)
        before, after = modules(ROOT), modules(copy)
    return sorted(name for name in after if before.get(name) != after[name])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a module is out of step")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.check:
        export(arguments.root)
        return 0
    names = out_of_step()
    for name in names:
        print(f"transformer_lib/{name} is not what the chapters export: run `make export`")
    return 1 if names else 0


if __name__ == "__main__":
    sys.exit(main())
