"""The plain-Markdown edition: what it says, and that chapters run on a machine like Colab's."""

import json
import re

import clean_environment
import nbformat
import pytest
from built_site import CHAPTERS, DOCUMENTS, ROOT
from nbclient import NotebookClient

from tools import address, colab, references
from tools.plain_markdown import UnknownConstructError, to_plain

MYST = re.compile(r"\{[a-zA-Z][\w:-]*\}`|^\s*>?\s*`{3,}\{|^:::|^\([\w-]+\)=|^:[a-z]+: ", re.MULTILINE)


@pytest.fixture(scope="module")
def edition(tmp_path_factory):
    return colab.build(tmp_path_factory.mktemp("colab"))


@pytest.fixture
def known():
    book = references.References("https://github.com/owner/name", works={"ba2016layer": ("Ba et al.", "2016")})
    references.collect_page(
        book,
        "07_first",
        "# First\n\n(sec-one)=\n## One\n\n$$\nx\n$$ (eq-x)\n\n```{figure} f.svg\n:name: fig-f\nF.\n```",
    )
    references.collect_page(book, "11_second", "# Second\n\n$$ y $$ (eq-y)")
    return book


SITE = "https://owner.github.io/name"


@pytest.mark.parametrize(
    ("myst", "plain"),
    [
        ("see {doc}`07_first`", f"see [First]({SITE}/07_first.html)"),
        ("see {doc}`it <07_first>`", f"see [it]({SITE}/07_first.html)"),
        ("in {ref}`sec-one`", f"in [One]({SITE}/07_first.html#sec-one)"),
        ("by {eq}`eq-y`", f"by [(2)]({SITE}/11_second.html#equation-eq-y)"),
        ("in {numref}`fig-f`", f"in [Fig. 1]({SITE}/07_first.html#fig-f)"),
        ("{cite:t}`ba2016layer` do", f"Ba et al. [[2016]({SITE}/bibliography.html)] do"),
        ("so {cite:p}`ba2016layer`", f"so [[Ba et al., 2016]({SITE}/bibliography.html)]"),
        ("(sec-one)=\n## One", "## One"),
        ("$$\nx\n$$ (eq-x)", "$$\nx\n\\tag{1}$$"),
        ("`{doc}` in code, and ``{ref}`x` ``", "`{doc}` in code, and ``{ref}`x` ``"),
        ("[it](07_first.ipynb#one), [out](https://a.b)", f"[it]({SITE}/07_first.html#one), [out](https://a.b)"),
        ("```{admonition} Claim $x$\n:class: paper\nOne.\n\nTwo.\n```", "> **Claim $x$**\n>\n> One.\n>\n> Two."),
        ("```{note}\nOne.\n```", "> **Note**\n>\n> One."),
        ("```{margin}\nOne.\n```", "> One."),
        (
            "````{dropdown} Solution\n```python\nx = {1}\n```\n````",
            "<details><summary>Solution</summary>\n\n```python\nx = {1}\n```\n\n</details>",
        ),
        (
            "```{figure} f.svg\n:name: fig-f\n:alt: words\nF.\n```",
            "![words](https://raw.githubusercontent.com/owner/name/main/book/f.svg)\n\nFig. 1 F.",
        ),
    ],
)
def test_myst_becomes_plain_markdown(known, myst, plain):
    assert to_plain(myst, known) == plain


@pytest.mark.parametrize(
    "myst",
    ["{glue:text}`x`", "```{exercise}\nx\n```", ":::{note}\nx\n:::", "{ref}`no-such-label`", "a note[^1]"],
)
def test_what_cannot_be_shown_is_refused(known, myst):
    with pytest.raises(UnknownConstructError):
        to_plain(myst, known)


def test_edition_has_every_chapter(edition):
    assert [path.stem for path in edition] == sorted(CHAPTERS)


def test_edition_holds_no_role_and_no_directive(edition):
    for path in edition:
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown":
                prose = re.sub(r"^`{3,}\w*\n.*?^`{3,}$|``.+?``|(?<!`)`[^`{\n]+`", "", cell.source, flags=re.M | re.S)
                assert not MYST.search(prose), f"{path.name}, {cell.id}: {MYST.search(prose)[0]}"


def test_edition_keeps_the_code_and_the_metadata(edition):
    for path in edition:
        chapter = nbformat.read(ROOT / "book" / path.name, as_version=4)
        plain = nbformat.read(path, as_version=4)
        nbformat.validate(plain)
        assert plain.metadata == chapter.metadata
        for before, after in zip(chapter.cells, plain.cells, strict=True):
            assert before.cell_type == after.cell_type
            if after.cell_type == "code":
                assert after.source == before.source
                assert after.outputs == []


def test_full_training_asks_for_a_gpu(edition):
    (path,) = (path for path in edition if path.name.startswith("20_"))
    assert nbformat.read(path, as_version=4).metadata["accelerator"] == "GPU"


def test_every_label_stands_for_one_thing():
    pages = [path for name in DOCUMENTS for path in (ROOT / "book").glob(f"{name}.*")]
    text = "\n".join(references.markdown(path) for path in pages)
    patterns = (references.LABEL, references.LABELLED_EQUATION, references.NAMED_FIGURE)
    labels = [label for pattern in patterns for label in pattern.findall(text)]
    assert len(labels) == len(set(labels))


@pytest.fixture(scope="module")
def colab_machine(tmp_path_factory):
    """An environment without the library, a kernel that has `google.colab`, and the repository at its address."""
    folder = tmp_path_factory.mktemp("machine")
    python = clean_environment.create(folder)
    stand_in = folder / "stand_in" / "google" / "colab"
    stand_in.mkdir(parents=True)
    (stand_in / "__init__.py").touch()
    startup = folder / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00-colab.py").write_text("import google.colab\n")
    kernel = folder / "jupyter" / "kernels" / "colab"
    kernel.mkdir(parents=True)
    variables = {
        "PYTHONPATH": str(stand_in.parents[1]),
        "PIP_CONSTRAINT": str(ROOT / "constraints.txt"),
        "IPYTHONDIR": str(folder / "ipython"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{clean_environment.clone(folder / 'clone').as_uri()}.insteadOf",
        "GIT_CONFIG_VALUE_0": address.repository(),
    }
    command = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": command, "env": variables, "display_name": "Colab", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(spec))
    return folder


@pytest.mark.clean_environment
@pytest.mark.parametrize("number", ["03", "20"])
def test_chapter_runs_on_a_machine_like_colab(colab_machine, edition, tmp_path, monkeypatch, number):
    path = next(path for path in edition if path.name.startswith(number))
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(2, nbformat.v4.new_code_cell("import transformer_lib; transformer_lib.__file__"))
    monkeypatch.setenv("JUPYTER_PATH", str(colab_machine / "jupyter"))
    NotebookClient(notebook, kernel_name="colab", timeout=600, resources={"metadata": {"path": tmp_path}}).execute()
    place = notebook.cells[2].outputs[0]["data"]["text/plain"]
    assert str(colab_machine) in place
