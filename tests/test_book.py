"""The built book in a real browser: every page, light and dark, wide and phone width, with no network."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from built_site import CHAPTERS, DOCUMENTS, PAGES, ROOT, chromium, server, visit

from tools import address, references
from transformer_lib.run.translator import Translator

pytestmark = pytest.mark.pages
LIGHT_ENOUGH, DARK_ENOUGH = 200, 60  # of 255: the mean of a background's channels


@pytest.fixture(scope="module")
def browser():
    with chromium() as launched:
        yield launched


@pytest.fixture(scope="module")
def site():
    assert (PAGES / "index.html").exists(), "nothing is built yet: run `make book` first"
    with server() as running:
        yield running


@pytest.fixture(scope="module", params=DOCUMENTS)
def wide(request, browser, site):
    """Each page once, light, on a desktop."""
    with visit(browser, f"{site}/{request.param}.html") as seen:
        seen.name = request.param
        yield seen


@pytest.fixture(scope="module", params=DOCUMENTS)
def narrow(request, browser, site):
    """Each page once, dark, on a phone."""
    with visit(browser, f"{site}/{request.param}.html", width=360, scheme="dark") as seen:
        yield seen


def brightness(page) -> float:
    color = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(float(part) for part in color.strip("rgba()").split(",")[:3]) / 3


def too_wide(page) -> int:
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def test_wide_light_page_opens_without_error_or_network_and_fits(wide):
    assert wide.complaints == []
    assert wide.page.locator("article h1").count() == 1
    assert too_wide(wide.page) == 0
    assert brightness(wide.page) > LIGHT_ENOUGH


def test_narrow_dark_page_opens_without_error_or_network_and_fits(narrow):
    assert narrow.complaints == []
    assert narrow.page.locator("article h1").count() == 1
    assert too_wide(narrow.page) == 0
    assert brightness(narrow.page) < DARK_ENOUGH


def test_every_chart_is_drawn(wide):
    charts = wide.page.locator("[id^='altair-viz-']")
    assert charts.count() == (PAGES / f"{wide.name}.html").read_text().count('<div id="altair-viz-')
    for chart in charts.all():
        assert chart.locator("svg.marks, canvas.marks").count() == 1
        assert chart.locator(".error").count() == 0


@pytest.mark.parametrize(
    ("chapter", "model", "sentence"),
    [
        ("18_attention_patterns", "lab-en-de", "The ladies wash the cup because it is dirty."),
        ("20_full_training", "tatoeba-en-de", "I lost my key, so I cannot open the door."),
    ],
)
def test_maps_of_a_shipped_model_name_their_queries_and_keys(browser, site, chapter, model, sentence):
    example = Translator.load(model).attention(sentence)
    assert len(example.source) != len(example.target)
    with visit(browser, f"{site}/{chapter}.html") as seen:
        explorers = seen.page.locator("[id^='altair-viz-']", has=seen.page.locator(".vega-bindings [name=kind]"))
        for index, kind in enumerate(("encoder", "decoder", "cross")):
            explorers.first.locator(".vega-bindings [name=kind]").select_option(index=index)
            seen.page.wait_for_timeout(300)
            cells = explorers.first.locator("[aria-roledescription='rect mark']").evaluate_all(
                "cells => cells.map(cell => cell.getAttribute('aria-label'))"
            )
            pairs = [re.fullmatch(r"query (.+) (?:attends|may not attend) to key (.+?)(?:, [\d.]+)?", c) for c in cells]
            queries, keys = example.labels(kind)
            assert [pair.groups() for pair in pairs] == [(query, key) for query in queries for key in keys]
    assert seen.complaints == []


def test_icon_fonts_of_widgets_lie_beside_the_page(browser, site):
    with visit(browser, f"{site}/18_attention_patterns.html") as seen:
        seen.page.wait_for_selector(".jupyter-widgets")
        styles = seen.page.locator("style").evaluate_all("styles => styles.map(style => style.textContent).join()")
    fonts = {url for url in re.findall(r"url\(['\"]?([^)'\"]+)", styles) if url.endswith(".woff2")}
    assert len(fonts) >= 3
    assert all(url.startswith(f"{site}/_static/html-manager/") for url in fonts)


def test_every_equation_is_typeset(wide):
    written = (PAGES / f"{wide.name}.html").read_text().count('class="math notranslate')
    assert wide.page.locator("article .math mjx-container").count() == written
    assert wide.page.locator("mjx-merror").count() == 0


def test_chapter_links_to_its_notebook_edition(wide):
    if wide.name not in CHAPTERS:
        assert wide.page.locator(".chapter-links").count() == 0
        return
    owner_and_name = "/".join(address.repository().split("/")[-2:])
    colab = wide.page.locator("a.open-in-colab").get_attribute("href")
    download = wide.page.locator("a.download-notebook").get_attribute("href")
    assert colab == f"https://colab.research.google.com/github/{owner_and_name}/blob/gh-pages/{download}"
    notebook = nbformat.read(PAGES / download, as_version=4)
    nbformat.validate(notebook)
    assert notebook.cells[0].source.startswith("# ")


def test_exported_cells_say_where_they_went(browser, site):
    for chapter in CHAPTERS:
        cells = nbformat.read(ROOT / "book" / f"{chapter}.ipynb", as_version=4).cells
        exported = [cell for cell in cells if cell.cell_type == "code" and cell.source.startswith("#| export")]
        hidden = [cell for cell in exported if "remove-cell" in cell.metadata.get("tags", [])]
        page = (PAGES / f"{chapter}.html").read_text()
        assert page.count('class="export-mark"') == len(exported) - len(hidden), chapter
        assert "#|" not in page, chapter
        assert "NBVAL" not in page, chapter


def test_equation_numbers_are_those_of_the_notebook_edition():
    known = references.collect(ROOT)
    for label, target in known.equations.items():
        document = target.link.split("/")[-1].split(".html")[0]
        page = (PAGES / f"{document}.html").read_text()
        start = page.index(f'id="equation-{label}"')
        assert f'<span class="eqno">({target.text})' in page[start : start + 200]


class Anchors(HTMLParser):
    """The targets a page offers and the addresses it links to."""

    def __init__(self, path: Path):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids |= {attributes[name] for name in ("id", "name") if attributes.get(name)}
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])


def test_every_internal_link_resolves():
    pages = {path.name: Anchors(path) for path in PAGES.glob("*.html")}
    checked = 0
    for name, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = unquote(parts.path) or name
            assert (PAGES / target).exists(), f"{name}: {link}"
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].ids, f"{name}: {link}"
            checked += 1
    assert checked > len(pages)


def test_search_finds_a_word(browser, site):
    with visit(browser, f"{site}/search.html?q=attention") as seen:
        seen.page.wait_for_selector("#search-results li a")
    assert seen.complaints == []


def test_keyboard_focus_is_visible(browser, site):
    with visit(browser, f"{site}/{CHAPTERS[0]}.html") as seen:
        link = seen.page.locator("a.open-in-colab")
        seen.page.keyboard.press("Tab")
        link.focus()
        assert link.evaluate("e => getComputedStyle(e).outlineStyle") == "solid"
        assert float(link.evaluate("e => parseFloat(getComputedStyle(e).outlineWidth)")) >= 2


def test_page_reads_without_scripts(browser, site):
    with visit(browser, f"{site}/{CHAPTERS[0]}.html", script=False) as seen:
        assert seen.page.locator("article h1").is_visible()
        assert seen.page.locator("article p").first.is_visible()
    assert not [complaint for complaint in seen.complaints if "another host" in complaint]
