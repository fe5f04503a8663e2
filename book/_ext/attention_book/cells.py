"""Code cells as a reader sees them: an export mark in place of the lines that speak to tools."""

import re
from pathlib import Path

import nbformat
from docutils import nodes
from sphinx.application import Sphinx

DIRECTIVE = re.compile(r"^#\|.*\n?", re.MULTILINE)
EXPORT = re.compile(r"^#\|\s*exports?\s*$", re.MULTILINE)
DEFAULT_MODULE = re.compile(r"^#\|\s*default_exp\s+(\S+)", re.MULTILINE)
NBVAL = re.compile(r"^# NBVAL_[A-Z_]+.*\n?", re.MULTILINE)


def connect(app: Sphinx) -> None:
    app.connect("doctree-read", mark_exports)


def exported_module(path: Path) -> str | None:
    """The library module that a notebook writes, for example "attention"."""
    if path.suffix != ".ipynb":
        return None
    sources = (cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code")
    return next((found[1] for source in sources if (found := DEFAULT_MODULE.search(source))), None)


def mark_exports(app: Sphinx, doctree: nodes.document) -> None:
    """Take directive lines out of every code cell; say under an exported one where its code went."""
    module = exported_module(Path(app.env.doc2path(app.env.docname)))
    for cell in list(doctree.findall(is_code_cell)):
        for block in list(cell.findall(is_input)):
            clean_input(app, cell, block, module)


def is_code_cell(node: nodes.Node) -> bool:
    return isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"


def is_input(node: nodes.Node) -> bool:
    return isinstance(node, nodes.literal_block) and "cell_input" in node.parent.get("classes", [])


def clean_input(app: Sphinx, cell: nodes.container, block: nodes.literal_block, module: str | None) -> None:
    source = block.astext()
    text = NBVAL.sub("", DIRECTIVE.sub("", source)).strip("\n")
    if not text:
        cell.parent.remove(cell)
        return
    block.rawsource = text
    block.children = [nodes.Text(text)]
    if module and EXPORT.search(source):
        cell["classes"].append("exported")
        block.parent.insert(0, export_mark(app, module))


def export_mark(app: Sphinx, module: str) -> nodes.paragraph:
    """The words "exported to transformer_lib.<module>", linked to the module in the repository."""
    options = app.config.html_theme_options
    address = f"{options['repository_url']}/blob/{options['repository_branch']}"
    path = f"transformer_lib/{module.replace('.', '/')}.py"
    name = nodes.literal("", f"transformer_lib.{module}")
    link = nodes.reference("", "", name, refuri=f"{address}/{path}", internal=False)
    return nodes.paragraph("", "", nodes.Text("exported to "), link, classes=["export-mark"])
