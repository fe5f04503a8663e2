"""Each chapter's links to its plain-Markdown edition: open it in Colab, or download it."""

from html import escape

from sphinx.application import Sphinx

COLAB = "https://colab.research.google.com/github"


def connect(app: Sphinx) -> None:
    app.connect("html-page-context", add_links)


def colab_address(repository: str, pagename: str) -> str:
    """Where Colab opens a chapter: the published pages carry the plain-Markdown edition under `colab/`."""
    owner_and_name = "/".join(repository.rstrip("/").rsplit("/", 2)[-2:])
    return f"{COLAB}/{owner_and_name}/blob/gh-pages/colab/{pagename}.ipynb"


def add_links(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """Put both links under the chapter's title."""
    if context.get("page_source_suffix") != ".ipynb":
        return
    colab = colab_address(app.config.html_theme_options["repository_url"], pagename)
    download = context["pathto"](f"colab/{pagename}.ipynb", 1)
    line = (
        '<p class="chapter-links">'
        f'<a class="open-in-colab" href="{escape(colab)}">Open in Colab</a>'
        f'<a class="download-notebook" href="{escape(download)}" download>Download notebook</a></p>'
    )
    context["body"] = context["body"].replace("</h1>", "</h1>\n" + line, 1)
