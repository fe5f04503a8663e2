"""A bare page with one figure in Chromium, answered from memory: every other address is blocked."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import altair as alt
from playwright.sync_api import Browser, Locator, Page, Route, sync_playwright

VENDOR = Path(__file__).parents[1] / "book" / "_ext" / "vendor" / "vega"
SCRIPTS = ("vega.min.js", "vega-lite.min.js", "vega-embed.min.js")
ADDRESS = "http://figure.test/"
FLAGS = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
COLORS = {"light": "background: white; color: #222832", "dark": "background: #121212; color: #ced6dd"}


@contextmanager
def chromium() -> Iterator[Browser]:
    """The system's Chromium, else Playwright's own."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS.split())
        try:
            yield browser
        finally:
            browser.close()


def open_figure(browser: Browser, chart: alt.TopLevelMixin, *, width: int = 1280, mode: str = "light") -> Page:
    """A page with the chart drawn: its Vega view is `window.view`, its complaints are `page.complaints`."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.complaints = []
    page.on("console", lambda message: page.complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.route("**/*", lambda route: _answer(route, _html(chart, COLORS[mode])))
    page.goto(ADDRESS)
    page.wait_for_function("window.view || window.failed", timeout=20_000)
    return page


def opened(browser: Browser, chart: alt.TopLevelMixin) -> Iterator[Page]:
    """A page for a fixture, which has complained of nothing in the end: `yield from opened(browser, chart)`."""
    page = open_figure(browser, chart)
    yield page
    complaints = page.complaints
    page.close()
    assert complaints == []


def control(page: Page, name: str) -> Locator:
    """The input that is bound to a signal of the chart."""
    return page.locator(f".vega-bindings [name={name}]")


def settle(page: Page) -> None:
    """Wait until the chart shows what was chosen."""
    page.evaluate("async () => { await view.runAsync(); }")


def press(page: Page, name: str, *keys: str) -> None:
    """Use a control by keyboard."""
    control(page, name).focus()
    for key in keys:
        page.keyboard.press(key)
    settle(page)


def _answer(route: Route, html: str) -> None:
    name = route.request.url.removeprefix(ADDRESS)
    if name == "":
        route.fulfill(body=html, content_type="text/html")
    elif name in SCRIPTS:
        route.fulfill(path=VENDOR / name, content_type="text/javascript")
    elif name == "favicon.ico":
        route.fulfill(body="")
    else:
        route.abort()


def _html(chart: alt.TopLevelMixin, colors: str) -> str:
    scripts = "".join(f'<script src="{name}"></script>' for name in SCRIPTS)
    return f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Figure</title>{scripts}
    <body style="margin: 16px; {colors}"><div style="overflow-x: auto"><div id="figure"></div></div>
    <script>
    const begun = performance.now();
    vegaEmbed("#figure", {chart.to_json(indent=None)}).then(
        (result) => {{ window.embedded = performance.now() - begun; window.view = result.view; }},
        (error) => {{ window.failed = true; console.error(String(error)); }});
    </script>"""
