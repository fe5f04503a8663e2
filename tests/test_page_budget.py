"""What a reader downloads: the HTML of each page, and each chart in it."""

import json
import re

import pytest
from built_site import DOCUMENTS, PAGES

pytestmark = pytest.mark.pages
MIB, KIB = 1024**2, 1024
# The HTML file alone, which holds the charts' data and the pictures of a page. Scripts, style sheets and fonts lie in
# files that all pages share; a browser fetches them once.
LARGEST_PAGE = 1.5 * MIB
LARGEST_CHART = 150 * KIB
# Altair writes each chart as the arguments of a function: the specification, then the options of vega-embed.
CHART = re.compile(r"^\s*\}\)\((?=\{)", re.MULTILINE)


def page(name: str) -> str:
    path = PAGES / f"{name}.html"
    assert path.exists(), "nothing is built yet: run `make book` first"
    return path.read_text(encoding="utf-8")


def charts(html: str) -> list[tuple[str, int]]:
    """What each chart is about, and its size on the page."""
    read = [(found.end(), json.JSONDecoder().raw_decode(html, found.end())) for found in CHART.finditer(html)]
    return [(chart.get("description", "no description"), size(html[start:end])) for start, (chart, end) in read]


def size(text: str) -> int:
    return len(text.encode())


@pytest.mark.parametrize("name", DOCUMENTS)
def test_page_is_at_most_a_megabyte_and_a_half(name):
    assert size(page(name)) <= LARGEST_PAGE


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_chart_is_at_most_150_kib(name):
    html = page(name)
    found = charts(html)
    assert len(found) == html.count('<div id="altair-viz-')
    assert not [f"{about}: {bytes / KIB:.0f} KiB" for about, bytes in found if bytes > LARGEST_CHART]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_scripts_and_styles_are_shared_files(name):
    """A library written into a page would be fetched again with each of them."""
    scripts = re.findall(r"<script(?![^>]*\bsrc=)(?![^>]*application/)[^>]*>(.*?)</script>", page(name), re.DOTALL)
    assert max(size(CHART.split(script)[0]) for script in scripts) < 10 * KIB
