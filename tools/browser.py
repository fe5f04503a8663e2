"""The Chromium that opens the built pages in the tests: the system's, else Playwright's own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# No sandbox: it does not start as root in a container. The rest keeps the browser off the network.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find() -> str | None:
    """Path of a Chromium on this machine, or None. The variable CHROMIUM names one outright."""
    named = os.environ.get("CHROMIUM")
    if named:
        return named
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    return found or downloaded()


def downloaded() -> str | None:
    """Path of the Chromium that `playwright install` fetched, or None."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def install() -> None:
    """Install Chromium: from the distribution as root on Debian and its kin, else by Playwright."""
    if os.name == "posix" and os.geteuid() == 0 and shutil.which("apt-get"):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-q"], check=True, env=environment)
        packages = ["chromium", "fonts-dejavu-core"]
        command = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages]
        subprocess.run(command, check=True, env=environment)
    else:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=True)


def main() -> int:
    if find() is None:
        print("no Chromium found: installing one", flush=True)
        install()
    path = find()
    print(f"browser: {path}" if path else "no browser could be installed; set CHROMIUM to one")
    return 0 if path else 1


if __name__ == "__main__":
    sys.exit(main())
