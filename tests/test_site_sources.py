"""What the pages are made from: vendored scripts, the public address, requirements stated twice."""

import ast
import re
import shutil
import tomllib

import altair
import nbformat
import pytest
import yaml
from built_site import CHAPTERS, ROOT
from packaging.requirements import Requirement

from tools import address, references, vendor

FIRST_CELL = """\
import sys

if "google.colab" in sys.modules:
    %pip install -q "transformer-lib @ git+{address}@main\""""


def test_vendored_files_have_their_recorded_checksums():
    assert vendor.checksums() == vendor.recorded_checksums()


@pytest.mark.parametrize(
    ("package", "wanted"),
    [
        ("vega", altair.VEGA_VERSION),
        ("vega-lite", altair.VEGALITE_VERSION),
        ("vega-embed", altair.VEGAEMBED_VERSION),
    ],
)
def test_vendored_version_is_the_one_altair_asks_for(package, wanted):
    assert f"{vendor.VERSIONS[package]}.".startswith(f"{wanted}.")


@pytest.mark.parametrize(
    ("file", "package", "form"),
    [
        ("vega/vega.min.js", "vega", 'version="{}"'),
        ("vega/vega-lite.min.js", "vega-lite", '"{}"'),
        ("vega/vega-embed.min.js", "vega-embed", '"{}"'),
        ("mathjax/tex-chtml-full.js", "mathjax", 'VERSION="{}"'),
        ("requirejs/require.js", "requirejs", "RequireJS {} "),
    ],
)
def test_vendored_file_is_of_the_version_named(file, package, form):
    assert form.format(vendor.VERSIONS[package]) in (vendor.VENDOR / file).read_text()


def test_every_file_shows_the_address_of_pyproject():
    assert address.outdated_files() == {}


def test_address_is_written_in_full_wherever_it_stands():
    owner, name = address.repository().split("/")[-2:]
    known = address.spellings(address.repository())
    for path in address.tracked_files():
        text = path.read_text(encoding="utf-8")
        starts = {found.start() for form in known for found in re.finditer(re.escape(form), text)}
        ends = {start + len(form) for start in starts for form in known if text.startswith(form, start)}
        for found in re.finditer(rf"{re.escape(owner)}(/|\.github\.io/){re.escape(name)}", text, re.IGNORECASE):
            assert found.end() in ends, f"{path.relative_to(ROOT)}: {text[found.start() - 30 : found.end()]!r}"


def test_no_other_repository_is_named_as_this_one():
    own = address.spellings(address.repository())
    patterns = [r"git\+(https://[^@\s\"']+)", r"(https://colab\.research\.google\.com/github/[\w.-]+/[\w.-]+)"]
    for path in address.tracked_files():
        for pattern in patterns:
            for found in re.findall(pattern, path.read_text(encoding="utf-8")):
                assert found in own, f"{path.relative_to(ROOT)}: {found}"


def test_changing_the_address_in_pyproject_changes_it_everywhere(tmp_path):
    old = address.repository()
    new = "https://github.com/somebody/another-name"
    for path in address.tracked_files():
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    project = tmp_path / "pyproject.toml"
    project.write_text(project.read_text().replace(old, new))
    for path, text in address.rewritten_files(tmp_path, sorted(tmp_path.rglob("*.*"))).items():
        path.write_text(text)
    left = [path for path in tmp_path.rglob("*.*") if path.is_file() and old in path.read_text()]
    assert left == []
    assert address.written(tmp_path) == new
    chapter = next(iter(sorted((tmp_path / "book").glob("*.ipynb"))))
    assert new in nbformat.read(chapter, as_version=4).cells[1].source


@pytest.mark.parametrize("path", sorted((ROOT / "book").glob("*.ipynb")), ids=lambda path: path.stem)
def test_first_code_cell_installs_the_library_on_colab_only(path):
    cells = nbformat.read(path, as_version=4).cells
    first = next(cell for cell in cells if cell.cell_type == "code")
    assert first.source == FIRST_CELL.format(address=address.repository())
    assert first.metadata.get("tags") == ["remove-cell"]


def test_contents_name_each_chapter_by_number_and_title():
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]
    chapters = [chapter for part in parts for chapter in part["chapters"] if "title" in chapter]
    assert [chapter["file"] for chapter in chapters] == CHAPTERS
    for chapter in chapters:
        heading = references.TITLE.search(references.markdown(ROOT / "book" / f"{chapter['file']}.ipynb"))[1]
        assert chapter["title"] == f"{int(chapter['file'][:2])}. {heading}"


def test_module_docstrings_are_one_line_so_that_nbdev_export_changes_nothing():
    modules = {path: ast.parse(path.read_text()) for path in (ROOT / "transformer_lib").rglob("*.py")}
    assert len(modules) > 50
    assert [path for path, tree in modules.items() if "\n" in (ast.get_docstring(tree) or "")] == []


def requirements_of_pyproject() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    # The hub's client is for who fetches WMT 2014; neither environment installs it.
    groups = [project["dependencies"], *(lines for name, lines in extras.items() if name != "hub")]
    return {str(Requirement(line)) for group in groups for line in group}


def test_conda_environment_states_the_requirements_of_pyproject():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    pip = next(entry["pip"] for entry in environment if isinstance(entry, dict))
    python = next(entry for entry in environment if isinstance(entry, str) and entry.startswith("python"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert python == f"python{project['requires-python']}"
    assert {str(Requirement(line)) for line in pip if not line.startswith("-")} == requirements_of_pyproject()


def test_constraints_satisfy_every_requirement():
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    pinned = {normalized(name): version for name, version in (line.split("==") for line in lines)}
    for requirement in map(Requirement, requirements_of_pyproject()):
        assert requirement.specifier.contains(pinned[normalized(requirement.name)]), requirement


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
