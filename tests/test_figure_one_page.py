"""The map of the book in a real browser: keyboard, focus, color, size; with scripts off."""

from itertools import pairwise

import numpy as np
import pytest
from figure_page import ADDRESS, COLORS
from test_accessibility import violations
from test_colors import FOR_TEXT, contrast, over, rgba

from transformer_lib.charts import figure_one
from transformer_lib.charts.architecture.blocks import MAP, WIDTH

LINKS = {block.document: f"{block.document}.html" for block in MAP}
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Map</title>
<body style="margin: 16px; {colors}"><main><h1>Map</h1>{svg}</main></body>"""
LOOK = """link => {
    const [box, words] = ["rect", "text"].map((part) => getComputedStyle(link.querySelector(part)));
    return [parseFloat(box.strokeWidth), words.textDecorationLine];
}"""
PAGE_COLORS = "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
COLORED = """link => [...link.querySelectorAll("rect, text, tspan")].map((part) => {
    const style = getComputedStyle(part);
    return [style.fill, parseFloat(style.fillOpacity)];
})"""


@pytest.fixture
def opened(browser):
    """Opens the map on a bare page, in which every address answers and no script runs."""
    contexts = []

    def open_map(width=1280, mode="light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, java_script_enabled=False)
        contexts.append(context)
        html = PAGE.format(colors=COLORS[mode], svg=figure_one(LINKS).svg)
        context.route("**/*", lambda route: route.fulfill(body=html, content_type="text/html"))
        page = context.new_page()
        page.goto(ADDRESS)
        return page

    yield open_map
    for context in contexts:
        context.close()


def test_tab_goes_through_the_blocks_in_the_order_of_the_forward_pass(opened):
    page = opened()
    reached = []
    for _ in MAP:
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.getAttribute('href')"))
    assert reached == [LINKS[block.document] for block in MAP]


def test_enter_and_click_open_the_chapter_of_a_block_without_scripts(opened):
    page = opened()
    page.get_by_role("link", name="Masked multi-head attention in the decoder, section 3.2.3, chapter 5").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(ADDRESS + "05_masks.html")
    page.get_by_text("Feed forward 3.3").first.click()
    page.wait_for_url(ADDRESS + "06_feed_forward.html")


def test_focus_and_pointer_show_by_more_than_color(opened):
    page = opened()
    links = page.locator(".figure-one a")
    (width, line), _ = links.nth(0).evaluate(LOOK), page.keyboard.press("Tab")
    assert links.nth(0).evaluate(LOOK) == [3, "underline"]
    links.nth(5).hover()
    assert links.nth(5).evaluate(LOOK) == [3, "underline"]
    assert links.nth(7).evaluate(LOOK) == [width, line]
    assert width < 2
    assert line == "none"


@pytest.mark.parametrize("mode", COLORS)
def test_words_stand_out_from_their_block(opened, mode):
    page = opened(mode=mode)
    background, ink = (rgba(color)[:3] for color in page.evaluate(PAGE_COLORS))
    for link in page.locator(".figure-one a").all():
        for focused in (False, True):
            if focused:
                page.keyboard.press("Tab")
            box, *words = link.evaluate(COLORED)
            assert (box[1] > 0.2) == focused
            box = over(np.append(rgba(box[0])[:3], box[1]), background)
            for color, opacity in words:
                assert rgba(color)[:3] == pytest.approx(ink)
                assert contrast(over(np.append(ink, opacity), box), box) >= FOR_TEXT


@pytest.mark.parametrize("mode", COLORS)
@pytest.mark.parametrize("width", [1280, 360, 320])
def test_map_fits_the_page_and_stays_legible(opened, width, mode):
    page = opened(width, mode)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    scale = page.locator(".figure-one").bounding_box()["width"] / WIDTH
    sizes = page.eval_on_selector_all(
        ".figure-one text, .figure-one tspan", "words => words.map(word => parseFloat(getComputedStyle(word).fontSize))"
    )
    assert min(sizes) * scale >= (11 if width >= 360 else 10.5)
    for link in page.locator(".figure-one a").all():
        box, words = link.locator("rect").bounding_box(), link.locator("text").bounding_box()
        assert min(box["width"], box["height"]) >= 24
        assert box["x"] <= words["x"]
        assert words["x"] + words["width"] <= box["x"] + box["width"]
        assert box["y"] <= words["y"]
        assert words["y"] + words["height"] <= box["y"] + box["height"]


def test_links_do_not_touch(opened):
    boxes = [link.bounding_box() for link in opened(320).locator(".figure-one a rect").all()]
    left = sorted((box for box in boxes if box["x"] < 160), key=lambda box: box["y"])
    assert len(left) > 5
    assert all(above["y"] + above["height"] + 3 <= below["y"] for above, below in pairwise(left))


@pytest.mark.parametrize("mode", COLORS)
def test_axe_finds_nothing_wrong_with_the_map(browser, mode):
    page = browser.new_page(viewport={"width": 360, "height": 900})
    page.set_content(PAGE.format(colors=COLORS[mode], svg=figure_one(LINKS).svg))
    assert violations(page) == ""
    page.close()
