"""Roles that the theme's pages lack: a landmark around the logo, items in the list of references."""

from pathlib import Path

from sphinx.application import Sphinx

TEMPLATES = Path(__file__).parents[1] / "templates"


def connect(app: Sphinx) -> None:
    app.config.templates_path += [str(TEMPLATES)]
    app.connect("html-page-context", name_references)


def name_references(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """docutils gives each reference a role that no longer exists, inside a list that then has no items."""
    context["body"] = (context.get("body") or "").replace('role="doc-biblioentry"', 'role="listitem"')
