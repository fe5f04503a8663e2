"""The plain-Markdown edition of the chapters (`make colab`): what Colab, Kaggle and Jupyter open and people download.

Those programs show MyST as raw text. This edition resolves it, drops outputs, and keeps the metadata that asks
for a GPU where a chapter has it.
"""

import shutil
import sys
from pathlib import Path

import nbformat

from tools import references
from tools.plain_markdown import UnknownConstructError, to_plain

ROOT = Path(__file__).parents[1]


def edition(path: Path, known: references.References) -> nbformat.NotebookNode:
    """One chapter in plain Markdown."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None)
        else:
            try:
                cell.source = to_plain(cell.source, known)
            except UnknownConstructError as error:
                raise UnknownConstructError(f"{path.name}, cell {cell.id}: {error}") from error
    page = known.page(path.stem)
    notebook.cells[0].source += f"\n\n*This chapter as a page: [{page}]({page})*"
    return notebook


def build(folder: Path, root: Path = ROOT) -> list[Path]:
    """Write the edition of every chapter into `folder`, anew, and return the files."""
    known = references.collect(root)
    chapters = [path for path in sorted((root / "book").glob("*.ipynb")) if path.stem in known.documents]
    notebooks = {path.name: edition(path, known) for path in chapters}
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, notebook in notebooks.items():
        nbformat.write(notebook, folder / name)
    return [folder / name for name in notebooks]


def main() -> int:
    try:
        files = build(ROOT / "_build" / "html" / "colab")
    except UnknownConstructError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{len(files)} chapters in {files[0].parent}" if files else "no chapters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
