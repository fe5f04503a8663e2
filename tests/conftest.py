"""Shapes and types of the paper's modules are checked while the tests run in this process.

Compiled and exported models cannot be traced through these checks: such tests start a process of their own.
"""

from pathlib import Path

import pytest
from jaxtyping import install_import_hook

PACKAGE = Path(__file__).parents[1] / "transformer_lib"
SHAPED = [f"transformer_lib.{path.stem}" for path in PACKAGE.glob("*.py") if "from jaxtyping" in path.read_text()]

install_import_hook(SHAPED, "beartype.beartype")


@pytest.fixture(scope="module")
def browser():
    """Chromium, for the figures of one file of tests."""
    from figure_page import chromium

    with chromium() as launched:
        yield launched
