"""Downloads, from a server on this machine that behaves well or badly."""

import hashlib
import http.server
import json
import random
import threading
from itertools import pairwise

import pytest

from transformer_lib.corpus import download as downloads
from transformer_lib.corpus.download import download, locate
from transformer_lib.corpus.files import InputError

CONTENT = random.Random(7).randbytes(1_000_003)
CUT = 300_007
SHA256 = hashlib.sha256(CONTENT).hexdigest()
OTHER = bytes(len(CONTENT))


class Handler(http.server.BaseHTTPRequestHandler):
    """The first part of the path says how the server behaves."""

    def do_GET(self):
        self.server.requested.append((self.path, self.headers.get("Range")))
        kind = self.path.strip("/").partition("/")[0]
        if kind in ("absent", "broken"):
            self.send_error({"absent": 404, "broken": 503}[kind])
            return
        content = {"corrupt": CONTENT[:-1] + b"\1", "other": OTHER}.get(kind, CONTENT)
        start = self.first_byte() if kind not in ("no-ranges", "cut-no-ranges") else 0
        if start >= len(content):
            self.send_error(416)
            return
        self.answer(content, start + (7 if kind == "wrong-range" and start else 0), partial=start > 0)
        self.wfile.write(content[start : start + CUT] if kind.startswith("cut") else content[start:])

    def first_byte(self):
        return int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").removesuffix("-"))

    def answer(self, content, start, partial):
        self.send_response(206 if partial else 200)
        if partial:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.requested = []
        server.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def destination(tmp_path):
    (tmp_path / "multi30k").mkdir()
    return tmp_path / "multi30k" / "train.en.gz"


@pytest.fixture
def part(destination):
    return destination.with_name(".train.en.gz.part")


def test_download_fetches_a_file_once(server, destination):
    for _ in range(2):
        assert download([f"{server.address}/good"], SHA256, destination).read_bytes() == CONTENT
    assert server.requested == [("/good", None)]
    assert list(destination.parent.iterdir()) == [destination]


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("corrupt", "expected SHA-256"), ("other", "expected SHA-256"), ("absent", "404"), ("broken", "503")],
)
def test_download_refuses_what_is_not_the_file_and_leaves_nothing(server, destination, kind, reason):
    with pytest.raises(InputError) as error:
        download([f"{server.address}/{kind}"], SHA256, destination)
    for expected in ("train.en.gz", f"{server.address}/{kind}", reason, "TRANSFORMER_DATA"):
        assert expected in str(error.value)
    assert list(destination.parent.iterdir()) == []


def test_download_connects_again_after_each_break_and_asks_for_the_rest_only(server, destination):
    assert download([f"{server.address}/cut"], SHA256, destination).read_bytes() == CONTENT
    starts = [int(asked.removeprefix("bytes=").removesuffix("-")) for _, asked in server.requested[1:]]
    gains = [later - earlier for earlier, later in pairwise([0, *starts])]
    assert all(CUT - downloads.BLOCK < gain <= CUT for gain in gains)
    assert list(destination.parent.iterdir()) == [destination]


def test_download_gives_up_on_a_server_that_breaks_and_knows_no_ranges_and_keeps_the_part(server, destination, part):
    with pytest.raises(InputError, match="cut-no-ranges: "):
        download([f"{server.address}/cut-no-ranges"], SHA256, destination)
    kept = part.read_bytes()
    assert CUT - downloads.BLOCK < len(kept) <= CUT
    assert CONTENT.startswith(kept)
    assert download([f"{server.address}/good"], SHA256, destination).read_bytes() == CONTENT
    assert server.requested[-1] == ("/good", f"bytes={len(kept)}-")


@pytest.mark.parametrize("kind", ["good", "no-ranges", "wrong-range"])
def test_download_completes_a_part_whatever_the_server_makes_of_ranges(server, destination, part, kind):
    part.write_bytes(CONTENT[:53])
    assert download([f"{server.address}/{kind}"], SHA256, destination).read_bytes() == CONTENT
    assert server.requested[0] == (f"/{kind}", "bytes=53-")
    assert list(destination.parent.iterdir()) == [destination]


@pytest.mark.parametrize("size", [53, len(CONTENT), len(CONTENT) + 7])
def test_download_starts_anew_when_the_part_is_of_another_file(server, destination, part, size):
    part.write_bytes(bytes(size))
    assert download([f"{server.address}/good"], SHA256, destination).read_bytes() == CONTENT
    assert [asked for _, asked in server.requested] == [f"bytes={size}-", None]


def test_download_needs_no_byte_more_when_the_part_is_complete(server, destination, part):
    part.write_bytes(CONTENT)
    assert download([f"{server.address}/good"], SHA256, destination).read_bytes() == CONTENT
    assert [asked for _, asked in server.requested] == [f"bytes={len(CONTENT)}-"]


def test_download_refuses_a_file_that_changed_while_the_part_waited(server, destination, part):
    part.write_bytes(CONTENT[:53])
    with pytest.raises(InputError, match="expected SHA-256"):
        download([f"{server.address}/other"], SHA256, destination)
    assert list(destination.parent.iterdir()) == []


def test_download_replaces_a_damaged_copy_only_by_a_whole_one(server, destination):
    destination.write_bytes(CONTENT[:53])
    with pytest.raises(InputError):
        download([f"{server.address}/corrupt"], SHA256, destination)
    assert destination.read_bytes() == CONTENT[:53]
    assert download([f"{server.address}/good"], SHA256, destination).read_bytes() == CONTENT
    assert list(destination.parent.iterdir()) == [destination]


def test_download_tries_the_next_address_and_names_each_that_failed(server, tmp_path):
    addresses = [f"{server.address}/{kind}" for kind in ("absent", "corrupt", "good")]
    assert download(addresses, SHA256, tmp_path / "a.gz").read_bytes() == CONTENT
    assert server.requested == [("/absent", None), ("/corrupt", None), ("/good", None)]
    with pytest.raises(InputError) as error:
        download(addresses[:2], SHA256, tmp_path / "b.gz")
    assert all(address in str(error.value) for address in addresses[:2])


def test_download_says_that_a_server_cannot_be_reached(server, tmp_path):
    closed = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    port = closed.server_port
    closed.server_close()
    with pytest.raises(InputError, match=rf"cannot download a\.gz:\n  http://127\.0\.0\.1:{port}/a\.gz: "):
        download([f"http://127.0.0.1:{port}/a.gz"], SHA256, tmp_path / "a.gz")


def test_locate_downloads_to_the_cache_what_the_manifest_lists(server, tmp_path, monkeypatch):
    manifest = {"multi30k": {"base_urls": [f"{server.address}/good"], "files": {"train.en.gz": SHA256}}}
    (tmp_path / "sources.json").write_text(json.dumps(manifest))
    monkeypatch.setattr(downloads, "shipped", lambda name: tmp_path / name)
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda project, appauthor: str(tmp_path / project))
    monkeypatch.delenv("TRANSFORMER_DATA", raising=False)
    path = locate("multi30k", "train.en.gz")
    assert path == tmp_path / "transformer-lib" / "multi30k" / "train.en.gz"
    assert path.read_bytes() == CONTENT
    assert server.requested == [("/good/train.en.gz", None)]
