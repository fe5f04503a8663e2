"""Build the book's pages into `_build/html` (`make book`) and serve them on this machine (`make serve`)."""

import argparse
import functools
import http.server
import os
import subprocess
import sys
from pathlib import Path

from tools import colab, execute

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "_build" / "html"


def build() -> None:
    """Execute every chapter and build the pages, strictly: a warning is an error."""
    command = [Path(sys.executable).parent / "jupyter-book", "build", "book"]
    command += ["--config", ROOT / "_config.yml", "--toc", ROOT / "_toc.yml", "--path-output", ROOT]
    # One thread a kernel: the tensors are small, and more threads only wait for each other.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if not execute.execute_all():
        raise SystemExit("the book was not built: a chapter fails, see above")
    subprocess.run([*command, "-n", "-W", "--keep-going"], cwd=ROOT, check=True)
    if not (PAGES / "index.html").exists():
        raise SystemExit("the build wrote no landing page: _build/html/index.html is missing")
    (PAGES / ".nojekyll").touch()
    colab.build(PAGES / "colab")


def serve(port: int) -> None:
    """Serve the built pages on the loopback address until interrupted."""
    if not (PAGES / "index.html").exists():
        raise SystemExit("nothing is built yet: run `make book` first")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=PAGES)
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        print(f"The book is at http://127.0.0.1:{server.server_port}/ (Ctrl-C ends)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=["build", "serve"])
    parser.add_argument("--port", type=int, default=8000)
    arguments = parser.parse_args()
    if arguments.action == "serve":
        serve(arguments.port)
        return 0
    try:
        build()
    except subprocess.CalledProcessError as error:
        print("The book was not built: the cause stands above.", file=sys.stderr)
        return error.returncode
    print(f"\nThe book is built. Open {(PAGES / 'index.html').as_uri()}\nor serve it with `make serve`.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
