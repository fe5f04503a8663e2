"""A learner changes a line of a chapter and trains: the loss must be that of the changed line."""

import ast
import json
from functools import partial
from pathlib import Path

import pytest

from transformer_lib.training import train_miniature

BOOK = Path(__file__).parents[1] / "book"
EDITS = {
    "03_attention": (" / math.sqrt(query.size(-1))", ""),
    "04_multi_head": ("return self.w_o(join_heads(heads))", "return join_heads(heads)"),
    "05_masks": (".tril()", ".tril(1)"),
    "06_feed_forward": ("self.w_1(x).relu()", "self.w_1(x)"),
    "07_embeddings": ("F.embedding(ids, self.weight) * self.scale", "F.embedding(ids, self.weight)"),
    "08_positional_encoding": ("encoding[:, 0::2] = angles.sin()", "encoding[:, 0::2] = 0.0"),
}


def code_cells(chapter: str) -> list[str]:
    cells = json.loads((BOOK / f"{chapter}.ipynb").read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def closing_call(cells: list[str]) -> ast.Expression:
    """The chapter's own call of `train_miniature` with the part that it defines."""
    for source in reversed([cell for cell in cells if "train_miniature(" in cell]):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "train_miniature":
                return ast.Expression(node)
    raise AssertionError("the chapter does not train")


def losses_of(chapter: str, old: str = "", new: str = "") -> list[float]:
    """Run the exported cells, with one line changed, and train as the chapter's last section does."""
    cells = code_cells(chapter)
    exported = "\n\n".join(cell for cell in cells if cell.startswith("#| export"))
    assert old in exported, f"the line to edit is no longer in {chapter}"
    namespace = {"train_miniature": partial(train_miniature, 4)}
    exec(compile(exported.replace(old, new, 1) if old else exported, chapter, "exec"), namespace)
    return eval(compile(closing_call(cells), chapter, "eval"), namespace)


@pytest.mark.parametrize("chapter", EDITS)
def test_the_chapters_own_part_is_what_trains(chapter):
    unchanged, changed = losses_of(chapter), losses_of(chapter, *EDITS[chapter])
    assert unchanged == pytest.approx(train_miniature(4), rel=1e-4)
    assert changed != pytest.approx(unchanged, rel=1e-4)
