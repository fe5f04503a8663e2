"""Execute the chapters side by side and leave the results where jupyter-book looks for them, in its cache.

jupyter-book executes one chapter after the other and knows a result by the chapter's code alone. Here as many run
at once as there are cores, and a change of the library or of its data makes every result out of date.
"""

import hashlib
import os
import shutil
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from jupyter_cache.executors.utils import ExecutionResult, single_nb_execution

from tools.references import reading_order

ROOT = Path(__file__).parents[1]
CACHE = ROOT / "_build" / ".jupyter_cache"
# What Sphinx has read: it does not read a chapter again while the notebook is the same.
PAGES_READ = ROOT / "_build" / ".doctrees"
CELL_TIMEOUT = 300
AT_ONCE = min(4, os.cpu_count() or 1)


def fingerprint() -> str:
    """A digest of what the chapters import and read: the library and the data that ships."""
    digest = hashlib.sha256()
    for folder in ("transformer_lib", "data"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def open_cache() -> JupyterCacheAbstract:
    """The cache of executed chapters, emptied when the library has changed since it was filled."""
    mark = CACHE / "library.sha256"
    if not mark.exists() or mark.read_text() != fingerprint():
        for stale in (CACHE, PAGES_READ):
            shutil.rmtree(stale, ignore_errors=True)
        CACHE.mkdir(parents=True)
        mark.write_text(fingerprint())
    return get_cache(CACHE)


def is_cached(cache: JupyterCacheAbstract, path: Path) -> bool:
    try:
        cache.match_cache_notebook(nbformat.read(path, as_version=4))
    except KeyError:
        return False
    return True


def execute(path: Path) -> ExecutionResult:
    """Run one chapter in a kernel of its own."""
    notebook = nbformat.read(path, as_version=4)
    return single_nb_execution(notebook, cwd=str(path.parent), timeout=CELL_TIMEOUT, allow_errors=False)


def execute_all() -> bool:
    """Execute every chapter that the cache does not hold; False when one fails, and its error is printed."""
    cache = open_cache()
    paths = [path for name in reading_order(ROOT) if (path := ROOT / "book" / f"{name}.ipynb").exists()]
    pending = [path for path in paths if not is_cached(cache, path)]
    failed = 0
    with ProcessPoolExecutor(AT_ONCE) as pool:
        for path, result in zip(pending, pool.map(execute, pending), strict=True):
            print(f"{path.name}: {result.time:.0f} s" if result.err is None else result.exc_string, flush=True)
            if result.err is None:
                bundle = CacheBundleIn(result.nb, str(path), data={"execution_seconds": result.time})
                cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
            failed += result.err is not None
    return not failed
