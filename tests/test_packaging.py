"""The wheel in an environment of its own, outside the checkout."""

import json
import zipfile

import clean_environment
import pytest

OPTIONAL = ("altair", "ipywidgets", "tyro", "requests", "platformdirs", "datasets", "sacremoses")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return clean_environment.wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def python(tmp_path_factory, wheel):
    python = clean_environment.create(tmp_path_factory.mktemp("clean"))
    clean_environment.run(python, "-m", "pip", "install", "--quiet", wheel, cwd=wheel.parent)
    return python


@pytest.mark.clean_environment
def test_wheel_holds_the_package_and_what_ships(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "transformer_lib/py.typed" in names
    assert any(name.startswith("transformer_lib/data/lab/") for name in names)
    assert any(name.startswith("transformer_lib/data/checkpoints/lab-en-de/") for name in names)
    assert not any(name.startswith(("tests/", "book/", "tools/", "data/")) for name in names)
    assert any(name.endswith("/licenses/LICENSE") for name in names)


@pytest.mark.clean_environment
def test_installed_library_translates_outside_the_checkout(python, tmp_path):
    program = """
import json, transformer_lib
from transformer_lib import Translator
german = Translator.load("lab-en-de").translate(["The small dog sleeps.", ""])
print(json.dumps([transformer_lib.__file__, german]))
"""
    place, german = json.loads(clean_environment.run(python, "-c", program, cwd=tmp_path))
    assert not place.startswith(str(clean_environment.ROOT))
    assert german == ["Der kleine Hund schläft.", ""]


@pytest.mark.clean_environment
def test_command_line_is_installed(python, tmp_path):
    output = clean_environment.run(python.parent / "transformer-lib", "--help", cwd=tmp_path)
    for command in ("lab", "train", "translate", "evaluate"):
        assert command in output


@pytest.mark.clean_environment
def test_installed_requirements_are_consistent(python, tmp_path):
    clean_environment.run(python, "-m", "pip", "check", cwd=tmp_path)


@pytest.mark.clean_environment
@pytest.mark.parametrize("module", ["transformer_lib", "transformer_lib.run.trainer", "transformer_lib.run.evaluation"])
def test_importing_imports_nothing_that_only_some_uses_need(python, tmp_path, module):
    """A training needs the core alone: a large GPU's machine may have no network to fetch more."""
    program = f"import json, sys, {module}; print(json.dumps([n for n in {OPTIONAL} if n in sys.modules]))"
    assert json.loads(clean_environment.run(python, "-c", program, cwd=tmp_path)) == []
