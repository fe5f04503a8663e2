"""Every page for readers with a keyboard, a screen reader or an aversion to motion: axe-core, and what it misses."""

import re
from pathlib import Path

import pytest
import test_colors
from axe_playwright_python.sync_playwright import Axe
from built_site import CHAPTERS, DOCUMENTS, PAGES, chromium, server, visit
from playwright.sync_api import expect

pytestmark = pytest.mark.pages
EVERY_PAGE = [*DOCUMENTS, "genindex", "search"]
# WCAG 2.0 to 2.2, level AA, and axe's best practices: the size of targets is the one rule of 2.2 that it leaves out.
RULES = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
NARROWEST = 320  # pixels: success criterion 1.4.10
CONTROLS = ".vega-bindings select, .vega-bindings input, summary"
DRAWN = "document.querySelectorAll('svg.marks').length == document.querySelectorAll('[id^=altair-viz-]').length"
UNFOLD = """() => {
    document.querySelectorAll("details").forEach((folded) => (folded.open = true));
    document.querySelectorAll(".toggle-hidden").forEach((folded) => folded.classList.remove("toggle-hidden"));
}"""
FOCUS = """control => {
    const style = getComputedStyle(control);
    return [control === document.activeElement, style.outlineStyle, parseFloat(style.outlineWidth)];
}"""
# The longest animation or transition of the page, in seconds; a smooth scroll counts as one.
LONGEST_MOTION = """() => Math.max(...[...document.querySelectorAll("*")].flatMap((element) => {
    const style = getComputedStyle(element), smooth = style.scrollBehavior === "smooth" ? 1 : 0;
    return [smooth, ...(style.transitionDuration + ", " + style.animationDuration).split(", ").map(parseFloat)];
}))"""
CHOSEN = "() => [...document.querySelectorAll('.vega-bindings input')].map((input) => input.value)"


@pytest.fixture(scope="module")
def opened():
    """Opens a page of the book by its name."""
    assert (PAGES / "index.html").exists(), "nothing is built yet: run `make book` first"
    with chromium() as browser, server() as site:
        yield lambda name, **look: visit(browser, f"{site}/{name}.html", **look)


@pytest.fixture(scope="module", params=EVERY_PAGE)
def wide(request, opened):
    """Each page once, light, on a desktop."""
    with opened(request.param) as seen:
        seen.page.wait_for_function(DRAWN)
        yield seen.page


@pytest.fixture(scope="module", params=EVERY_PAGE)
def narrow(request, opened):
    """Each page once, dark, on a phone."""
    with opened(request.param, width=360, scheme="dark") as seen:
        seen.page.wait_for_function(DRAWN)
        yield seen.page


def violations(page) -> str:
    """What axe-core finds wrong, however harmless: the rule, how bad, what to do, and where."""
    found = Axe().run(page, options=RULES).response["violations"]
    return "\n".join(
        f"{rule['id']} ({rule['impact']}): {rule['help']}\n"
        + "\n".join(f"  {node['target']}: {node['failureSummary']}" for node in rule["nodes"][:5])
        for rule in found
    )


def unfold(page) -> None:
    """Open everything that is folded, without the fading in."""
    page.emulate_media(reduced_motion="reduce")
    page.evaluate(UNFOLD)


def test_every_chart_says_what_it_is(wide):
    labels = wide.locator(".vega-embed .chart-wrapper").evaluate_all("charts => charts.map((chart) => chart.ariaLabel)")
    assert "Vega visualization" not in labels  # what a chart without a description is called


def test_tab_reaches_every_control_of_every_chart_and_shows_where_it_is(wide):
    for chart in wide.locator(".vega-embed").all():
        controls = chart.locator(CONTROLS)
        controls.first.focus()
        wide.keyboard.press("Shift+Tab")
        for control in controls.all():
            wide.keyboard.press("Tab")
            reached, style, width = control.evaluate(FOCUS)
            assert reached, control.evaluate("control => control.outerHTML")
            assert style == "solid"
            assert width >= 2


def test_nothing_moves_by_itself_for_a_reader_who_asks_for_that(wide):
    wide.emulate_media(reduced_motion="reduce")
    assert wide.evaluate(LONGEST_MOTION) <= 0.001
    films = wide.locator(".vega-bindings [name$=_playing]")
    assert not any(film.is_checked() for film in films.all())
    before = wide.evaluate(CHOSEN)
    wide.wait_for_timeout(1500 if films.count() else 0)
    assert wide.evaluate(CHOSEN) == before


def test_axe_finds_nothing_wrong_on_a_wide_light_page(wide):
    unfold(wide)
    assert not (found := violations(wide)), found


def test_narrow_page_does_not_scroll_sideways(narrow):
    size = narrow.viewport_size
    narrow.set_viewport_size(size | {"width": NARROWEST})
    assert narrow.evaluate("document.documentElement.scrollWidth") <= NARROWEST
    narrow.set_viewport_size(size)


def test_axe_finds_nothing_wrong_on_a_narrow_dark_page(narrow):
    unfold(narrow)
    assert not (found := violations(narrow)), found


@pytest.mark.parametrize("mode", test_colors.PAGES)
def test_charts_are_checked_against_the_colors_of_the_pages(opened, mode):
    with opened(CHAPTERS[0], scheme=mode) as seen:
        page = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
        ink = seen.page.locator(".vega-embed").first.evaluate("chart => getComputedStyle(chart).color")
    assert [test_colors.rgba(color).tolist() for color in (page, ink)] == [
        test_colors.rgba(color).tolist() for color in test_colors.PAGES[mode]
    ]


@pytest.mark.parametrize(
    ("opener", "dialog", "width"),
    [
        ("button.search-button__button", "#pst-search-dialog", 1280),
        ("button.primary-toggle", "#pst-primary-sidebar-modal", 360),
        ("button.secondary-toggle", "#pst-secondary-sidebar-modal", 360),
    ],
)
def test_axe_finds_nothing_wrong_in_an_open_dialog(opened, opener, dialog, width):
    with opened(CHAPTERS[0], width=width, scheme="dark") as seen:
        seen.page.locator(opener).first.click()
        assert seen.page.locator(dialog).is_visible()
        assert not (found := violations(seen.page)), found


def test_a_chart_is_saved_without_a_mouse(opened):
    with opened(CHAPTERS[0]) as seen:
        menu = seen.page.locator(".vega-embed summary").first
        assert menu.get_attribute("aria-label") == "Save this chart"
        menu.focus()
        seen.page.keyboard.press("Enter")
        for start in (b"<svg", b"\x89PNG"):
            seen.page.keyboard.press("Tab")
            with seen.page.expect_download() as saved:
                seen.page.keyboard.press("Enter")
            assert Path(saved.value.path()).read_bytes().startswith(start)
        seen.page.keyboard.press("Escape")
        assert not seen.page.locator(".vega-actions").first.is_visible()


def test_what_a_control_changes_is_told_and_the_label_of_a_title_keeps_up(opened):
    with opened("18_attention_patterns") as seen:
        chart = seen.page.locator(".vega-embed", has=seen.page.locator(".vega-bindings [name=head]")).first
        status = chart.get_by_role("status")
        assert status.bounding_box()["width"] <= 1
        chart.locator(".vega-bindings [name=head]").focus()
        seen.page.keyboard.press("End")
        expect(status).to_have_text(re.compile("attention, layer 1, head [2-9]"))
        said = status.text_content()
        labels = chart.locator("[aria-roledescription=title]").evaluate_all(
            "all => all.map((title) => title.ariaLabel)"
        )
        assert [label for label in labels if label and label in said]


def test_a_tooltip_that_covers_something_goes_away_on_escape(opened):
    with opened("18_attention_patterns") as seen:
        seen.page.locator("[aria-roledescription='rect mark']").first.hover()
        tooltip = seen.page.locator(".vg-tooltip")
        assert tooltip.is_visible()
        seen.page.keyboard.press("Escape")
        assert not tooltip.is_visible()
