"""Fetch the front-end files that the pages need into `book/_ext/vendor`, with their checksums (`make vendor`).

The pages load nothing from the network, so these files are committed. Their versions belong together with
Altair's and ipywidgets' (a test compares); change one here, run this, commit what it writes. Needs npm.
"""

import hashlib
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

VENDOR = Path(__file__).parents[1] / "book" / "_ext" / "vendor"
CHECKSUMS = "SHA256SUMS"

VERSIONS = {
    "vega": "6.4.0",
    "vega-lite": "6.4.1",
    "vega-embed": "7.3.0",
    "mathjax": "3.2.2",  # Sphinx 7 speaks MathJax 3
    "requirejs": "2.3.7",
    "@jupyter-widgets/html-manager": "1.0.15",
}
# package, pattern inside it -> folder inside VENDOR; LICENSE files keep the package's name.
FILES = [
    ("vega", "build/vega.min.js", "vega"),
    ("vega-lite", "build/vega-lite.min.js", "vega"),
    ("vega-embed", "build/vega-embed.min.js", "vega"),
    ("mathjax", "es5/tex-chtml-full.js", "mathjax"),
    ("mathjax", "es5/output/chtml/fonts/woff-v2/*.woff", "mathjax/output/chtml/fonts/woff-v2"),
    ("requirejs", "require.js", "requirejs"),
    ("@jupyter-widgets/html-manager", "dist/embed-amd.js", "html-manager"),
    ("@jupyter-widgets/html-manager", "dist/*.woff2", "html-manager"),
]


def fetch(package: str, folder: Path) -> Path:
    """Unpack one npm package below `folder` and return where it lies."""
    target = folder / package.replace("/", "-")
    target.mkdir()
    subprocess.run(["npm", "pack", "--silent", f"{package}@{VERSIONS[package]}"], cwd=target, check=True)
    (archive,) = target.glob("*.tgz")
    with tarfile.open(archive) as tar:
        tar.extractall(target, filter="data")
    return target / "package"


def copy_files(packages: dict[str, Path]) -> None:
    """Fill VENDOR anew with the files named above and the packages' licences."""
    shutil.rmtree(VENDOR, ignore_errors=True)
    for package, pattern, folder in FILES:
        destination = VENDOR / folder
        destination.mkdir(parents=True, exist_ok=True)
        for path in sorted(packages[package].glob(pattern)):
            shutil.copyfile(path, destination / path.name)
        license_file = packages[package] / "LICENSE"
        if license_file.exists():
            shutil.copyfile(license_file, VENDOR / Path(folder).parts[0] / f"LICENSE.{package}")


def checksums(folder: Path = VENDOR) -> dict[str, str]:
    """SHA-256 of every vendored file, by its path inside the folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != CHECKSUMS)
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def recorded_checksums(folder: Path = VENDOR) -> dict[str, str]:
    """What SHA256SUMS says, in the form of `checksums`."""
    lines = (folder / CHECKSUMS).read_text().splitlines()
    return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        copy_files({package: fetch(package, Path(temporary)) for package in VERSIONS})
    lines = [f"{digest}  {name}\n" for name, digest in checksums().items()]
    (VENDOR / CHECKSUMS).write_text("".join(lines))
    print(f"{len(lines)} files in {VENDOR}")


if __name__ == "__main__":
    main()
