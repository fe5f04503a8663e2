"""Environments of their own, outside the checkout, which reuse nothing of this one but torch and the kernel."""

import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
REUSED = ("torch", "ipykernel")


def closure(names: Iterable[str]) -> dict[str, Distribution]:
    """The named distributions and all that they need, as installed here."""
    found: dict[str, Distribution] = {}
    waiting = list(names)
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in found:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:  # needed only on another platform or by an extra
            continue
        requirements = map(Requirement, found[name].requires or [])
        waiting += [r.name for r in requirements if r.marker is None or r.marker.evaluate({"extra": ""})]
    return found


def top_level(package: Distribution) -> set[Path]:
    """What a distribution put directly into site-packages."""
    site = Path(package.locate_file(""))
    firsts = {file.parts[0] for file in package.files or [] if file.parts[0] not in ("..", "__pycache__")}
    return {site / name for name in firsts}


def create(folder: Path) -> Path:
    """Make an environment that sees torch and the kernel of this one; return its Python."""
    venv.create(folder / "env", with_pip=True)
    reused = folder / "reused"
    reused.mkdir()
    for package in closure(REUSED).values():
        for path in top_level(package):
            if path.exists() and not (reused / path.name).exists():
                (reused / path.name).symlink_to(path)
    (site_packages,) = (folder / "env").glob("lib/python*/site-packages")
    (site_packages / "reused.pth").write_text(f"{reused}\n")
    return folder / "env" / "bin" / "python"


def variables(**more: str) -> dict[str, str]:
    """The environment variables for such a Python: nothing that points back into the checkout."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "COV", "PYTEST"))}
    return {**kept, "PIP_CONSTRAINT": str(ROOT / "constraints.txt"), "OMP_NUM_THREADS": "1", **more}


def run(python: Path, *arguments: str | Path, cwd: Path, **more: str) -> str:
    """Run a Python and return what it printed; what went wrong is shown."""
    command = [str(python), *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, env=variables(**more), capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def copy_of_sources(folder: Path) -> Path:
    """The files of the project as git would commit them now."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def wheel(folder: Path) -> Path:
    """Build the library's wheel from a copy of the sources."""
    sources = copy_of_sources(folder / "sources")
    run(Path(sys.executable), "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, sources, cwd=folder)
    (path,) = folder.glob("transformer_lib-*.whl")
    return path


def clone(folder: Path) -> Path:
    """A git repository whose branch main holds the files of the project."""
    copy_of_sources(folder)
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.com"]
    for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], [*identity, "commit", "-q", "-m", "The sources"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    return folder
