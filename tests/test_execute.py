"""Executed chapters are kept while the library is the same, and so is what Sphinx has read of them."""

import pytest

from tools import execute


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A stand-in for the library, with the build folders beside it."""
    monkeypatch.setattr(execute, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(execute, "PAGES_READ", tmp_path / "doctrees")
    state = {"fingerprint": "first"}
    monkeypatch.setattr(execute, "fingerprint", lambda: state["fingerprint"])
    return state


def kept(tmp_path):
    """Whether a file in each of the two folders survives another opening."""
    files = [tmp_path / folder / "kept" for folder in ("cache", "doctrees")]
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.touch()
    execute.open_cache()
    return [file.exists() for file in files]


def test_a_changed_library_forgets_chapters_and_pages(library, tmp_path):
    execute.open_cache()
    assert kept(tmp_path) == [True, True]
    library["fingerprint"] = "second"
    assert kept(tmp_path) == [False, False]
    assert kept(tmp_path) == [True, True]
