"""The built pages on a loopback address in Chromium: other hosts are blocked, and every complaint is kept."""

import functools
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tools import browser as system_browser
from tools.references import reading_order
from tools.site import PAGES

ROOT = Path(__file__).parents[1]
DOCUMENTS = reading_order(ROOT)
CHAPTERS = [name for name in DOCUMENTS if (ROOT / "book" / f"{name}.ipynb").exists()]


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@contextmanager
def server(folder: Path = PAGES) -> Iterator[str]:
    """Serve a folder and give its address."""
    handler = functools.partial(QuietHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=system_browser.find(), args=system_browser.FLAGS)
        yield launched
        launched.close()


@dataclass
class Visit:
    """An open page, and what went wrong on it: console errors, failed requests, requests to other hosts."""

    page: Page
    name: str = ""
    complaints: list[str] = field(default_factory=list)


@contextmanager
def visit(
    browser: Browser, address: str, *, width: int = 1280, scheme: str = "light", script: bool = True
) -> Iterator[Visit]:
    """Open one page of the served book in a fresh context and wait until it has settled."""
    host = "/".join(address.split("/")[:3]) + "/"
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=script
    )
    seen = Visit(context.new_page())
    watch(context, seen, host)
    seen.page.goto(address, wait_until="networkidle")
    yield seen
    context.close()


def watch(context: BrowserContext, seen: Visit, host: str) -> None:
    def route(request):
        if request.request.url.startswith(host):
            request.continue_()
        else:
            seen.complaints.append(f"asks another host: {request.request.url}")
            request.abort()

    context.route(lambda url: url.startswith(("http:", "https:")), route)
    page = seen.page
    page.on("console", lambda message: message.type == "error" and seen.complaints.append(message.text))
    page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    page.on("requestfailed", lambda request: seen.complaints.append(f"failed: {request.url}"))
    page.on("response", lambda answer: answer.status >= 400 and seen.complaints.append(f"{answer.status} {answer.url}"))
