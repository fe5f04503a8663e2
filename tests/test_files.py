"""Files: shipped data in both layouts, atomic writing, strict reading."""

import gzip
import hashlib
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from transformer_lib.corpus import files
from transformer_lib.corpus.files import (
    InputError,
    check_writable,
    decode_lines,
    file_sha256,
    iterate_lines,
    read_lines,
    shipped,
    write_atomically,
    write_folder,
)


def test_shipped_finds_data_beside_the_package_in_a_checkout():
    root = Path(files.__file__).resolve().parents[2]
    assert shipped("sources.json") == root / "data" / "sources.json"


@pytest.mark.parametrize("data_folder", ["data", "transformer_lib/data"], ids=["checkout", "wheel"])
def test_shipped_finds_data_in_either_layout(tmp_path, data_folder):
    package = tmp_path / "transformer_lib" / "corpus"
    package.mkdir(parents=True)
    (tmp_path / "transformer_lib" / "__init__.py").touch()
    (package / "__init__.py").touch()
    shutil.copy(files.__file__, package)
    (tmp_path / data_folder / "lab").mkdir(parents=True)
    (tmp_path / data_folder / "lab" / "nouns.txt").write_text("dog")
    code = "from transformer_lib.corpus.files import shipped; print(shipped('lab/nouns.txt').read_text())"
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stdout == "dog\n"


def test_shipped_names_what_is_missing_and_both_places():
    with pytest.raises(FileNotFoundError) as error:
        shipped("checkpoints/no-such-model")
    message = str(error.value)
    assert "'checkpoints/no-such-model'" in message
    assert os.path.join("transformer_lib", "data", "checkpoints") in message
    assert str(Path(files.__file__).resolve().parents[2] / "data" / "checkpoints") in message


def test_write_atomically_writes_bytes_and_text_and_leaves_nothing_beside(tmp_path):
    write_atomically(tmp_path / "new" / "a.bin", b"\x00\xff")
    write_atomically(tmp_path / "new" / "a.txt", "größer\n")
    assert {path.name: path.read_bytes() for path in (tmp_path / "new").iterdir()} == {
        "a.bin": b"\x00\xff",
        "a.txt": "größer\n".encode(),
    }


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_write_atomically_keeps_the_old_file_when_it_fails(tmp_path, monkeypatch, failing):
    path = tmp_path / "model.bin"
    path.write_bytes(b"old")

    def fail(*arguments):
        raise OSError("disk full")

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_write_atomically_has_the_file_complete_on_disk_before_the_rename(tmp_path, monkeypatch):
    events = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda descriptor: (events.append("fsync"), fsync(descriptor)))
    monkeypatch.setattr(os, "replace", lambda old, new: (events.append(Path(old).read_bytes()), replace(old, new)))
    write_atomically(tmp_path / "a", b"content")
    assert events[:2] == ["fsync", b"content"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has neither these modes nor free symbolic links")
def test_write_atomically_gives_ordinary_permissions_and_follows_links(tmp_path):
    (tmp_path / "ordinary").touch()
    (tmp_path / "link").symlink_to(tmp_path / "aim")
    write_atomically(tmp_path / "link", b"content")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "aim").read_bytes() == b"content"
    assert stat.S_IMODE((tmp_path / "aim").stat().st_mode) == stat.S_IMODE((tmp_path / "ordinary").stat().st_mode)


def test_check_writable_accepts_a_folder_and_one_to_be_made_and_leaves_nothing(tmp_path):
    check_writable(tmp_path)
    check_writable(tmp_path / "to" / "be" / "made")
    assert list(tmp_path.iterdir()) == []


def test_check_writable_refuses_a_path_through_a_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="run7"):
        check_writable(tmp_path / "file" / "run7")


def test_check_writable_names_a_folder_that_refuses(tmp_path):
    folder = Path("/proc") if Path("/proc").is_dir() else tmp_path / "locked"
    if not folder.exists():
        folder.mkdir(mode=0o500)
    with pytest.raises(InputError, match=f"cannot write to the folder {folder}"):
        check_writable(folder)


def test_read_lines_reads_plain_and_gzipped_text_alike(tmp_path):
    text = "der Hund\n\nläuft\u2028weiter\x0b\n"
    (tmp_path / "a.txt").write_bytes(text.encode())
    (tmp_path / "gzipped_without_suffix").write_bytes(gzip.compress(text.encode()))
    expected = ["der Hund", "", "läuft\u2028weiter\x0b"]
    assert read_lines(tmp_path / "a.txt") == read_lines(tmp_path / "gzipped_without_suffix") == expected


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"a\nb\n", ["a", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\rb\n", ["a\rb"]),
        (b"\xef\xbb\xbfa\n", ["a"]),
        (b"\xef\xbb\xbf", []),
        (b"\xef\xbb\xbf\n", [""]),
        (b"a\n\xef\xbb\xbfb\n", ["a", "\ufeffb"]),
        (b"a\r\r\n\n", ["a\r", ""]),
    ],
)
def test_decode_lines_ends_lines_at_line_feeds_only(content, lines):
    assert decode_lines(content, "x") == lines


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "with byte order mark"])
def test_read_lines_names_file_line_and_byte_of_invalid_utf8(tmp_path, mark):
    path = tmp_path / "train.de"
    path.write_bytes(mark + "gut\nläuft\nabc".encode() + b"\xffdef\n")
    with pytest.raises(InputError, match=r"train\.de, line 3, byte 4: 0xff is not valid UTF-8"):
        read_lines(path)
    path.write_bytes(mark + b"ab\xff\n")
    with pytest.raises(InputError, match=rf"line 1, byte {len(mark) + 3}: 0xff"):
        read_lines(path)


def test_read_lines_names_a_missing_file_a_folder_and_a_damaged_gzip(tmp_path):
    with pytest.raises(InputError, match=r"missing\.en: No such file"):
        read_lines(tmp_path / "missing.en")
    with pytest.raises(InputError, match=str(tmp_path)):
        read_lines(tmp_path)
    whole = gzip.compress(b"some text\n" * 101)
    for damaged in (whole[:-5], whole[:20] + b"\xff\xff\xff" + whole[23:], whole[:-8] + bytes(8)):
        (tmp_path / "a.gz").write_bytes(damaged)
        with pytest.raises(InputError, match=r"a\.gz is a truncated or damaged gzip file"):
            read_lines(tmp_path / "a.gz")


def test_iterate_lines_reads_no_further_than_it_is_asked(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\ntwo\n\xff\n")
    lines = iterate_lines(path)
    assert [next(lines), next(lines)] == ["one", "two"]
    with pytest.raises(InputError, match=r"a\.txt, line 3, byte 1: 0xff"):
        next(lines)


def test_file_sha256_is_that_of_the_standard_library_and_names_a_missing_file(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    assert file_sha256(tmp_path / "a") == hashlib.sha256(b"abc").hexdigest()
    with pytest.raises(InputError, match="absent: No such file"):
        file_sha256(tmp_path / "absent")


def test_write_folder_has_every_file_on_disk_before_the_rename(tmp_path, monkeypatch):
    events = []
    fsync, rename = os.fsync, Path.rename
    monkeypatch.setattr(os, "fsync", lambda descriptor: (events.append(os.fstat(descriptor).st_ino), fsync(descriptor)))
    monkeypatch.setattr(Path, "rename", lambda path, to: (events.append("rename"), rename(path, to))[1])

    def fill(folder):
        (folder / "inner").mkdir()
        for name in ("a", "inner/b"):
            (folder / name).write_text(name)

    write_folder(tmp_path / "new", fill)
    files = {path.stat().st_ino for path in (tmp_path / "new").rglob("*")}
    assert files <= set(events[: events.index("rename")])
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_write_folder_keeps_the_old_one_when_filling_fails(tmp_path):
    write_folder(tmp_path / "folder", lambda folder: (folder / "a").write_text("old"))

    def fail(folder):
        (folder / "a").write_text("new")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_folder(tmp_path / "folder", fail)
    assert (tmp_path / "folder" / "a").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
