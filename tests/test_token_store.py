"""Token stores: what goes in comes out, in any number of processes, and nothing damaged or stale is used."""

import json
import os
import random
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from transformer_lib.batching import EncodedPairs, TokenBatches, encode_pairs
from transformer_lib.corpus import encoding, token_store
from transformer_lib.corpus.encoding import encode_block
from transformer_lib.corpus.files import InputError
from transformer_lib.corpus.pairs import aligned, fingerprint, sample_text, split_pairs, tab_separated
from transformer_lib.corpus.token_store import TokenRows, open_store, write_store
from transformer_lib.corpus.tokenizer import Tokenizer

WORDS = ["the", "dog", "sleeps", "under", "a", "tree", "der", "Hund", "schläft", "unter", "dem", "Baum", "▁", "🦓"]


def make_pairs(number: int, seed: int = 0) -> list[tuple[str, str]]:
    rng = random.Random(seed)
    sides = ([" ".join(rng.choices(WORDS, k=rng.randint(1, 11))) for _ in range(number)] for _ in "st")
    return list(zip(*sides, strict=True))


def write_tsv(path, pairs):
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), "utf-8")
    return tab_separated(path)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train([sentence for pair in make_pairs(211) for sentence in pair], 320)


def as_lists(rows) -> list[list[int]]:
    return [row.tolist() for row in rows]


def test_rows_are_those_that_went_in():
    rows = [[5, 6], [], [7, 8, 9], [4]]
    flat = TokenRows.from_rows(rows)
    assert as_lists(flat) == rows
    assert (len(flat), flat.lengths.tolist(), flat[-1].tolist()) == (4, [2, 0, 3, 1], [4])
    assert TokenRows.from_rows(flat) is flat
    with pytest.raises(IndexError):
        flat[4]


@pytest.mark.parametrize("block", [7, 8_192])
def test_a_store_holds_what_encode_pairs_gives(tmp_path, tokenizer, monkeypatch, block):
    monkeypatch.setattr(encoding, "BLOCK", block)
    pairs = [("", "leer"), *make_pairs(101), ("empty", ""), ("dog " * 50, "Hund"), *make_pairs(53, seed=1)]
    write_store(tmp_path / "store", pairs, tokenizer, max_length=40)
    stored, expected = open_store(tmp_path / "store"), encode_pairs(pairs, tokenizer.encode_all, 40)
    assert as_lists(stored.sources) == expected.sources
    assert as_lists(stored.targets) == expected.targets
    assert (stored.dropped_empty, stored.dropped_long) == (expected.dropped_empty, expected.dropped_long)
    assert expected.dropped_long >= 1
    assert isinstance(stored.sources.ids, np.memmap)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store"]


def test_two_processes_write_the_same_store_as_one(tmp_path, tokenizer, monkeypatch):
    monkeypatch.setattr(encoding, "BLOCK", 31)
    monkeypatch.setattr(encoding, "WORTH_PROCESSES", 1)
    pairs = write_tsv(tmp_path / "pairs.tsv", make_pairs(997))
    for processes in (1, 2):
        write_store(tmp_path / str(processes), pairs, tokenizer, max_length=40, processes=processes)
    one, two = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in "12")
    assert one == two
    assert len(one) == 5


def test_ids_take_two_bytes_while_the_vocabulary_allows_it(tokenizer):
    class Large(Tokenizer):
        vocab_size = 65_537

    pairs = make_pairs(3)
    small, large = (encode_block(model, 256, pairs) for model in (tokenizer, Large(tokenizer.to_bytes())))
    assert (small.sources.ids.dtype, large.sources.ids.dtype) == (np.uint16, np.int32)
    assert small.sources.ids.tolist() == large.sources.ids.tolist()


def test_batches_of_a_store_are_those_of_lists(tmp_path, tokenizer):
    pairs = make_pairs(211)
    write_store(tmp_path / "store", pairs, tokenizer)
    encoded = encode_pairs(pairs, tokenizer.encode_all)
    stored = open_store(tmp_path / "store")
    from_store, from_lists = TokenBatches(stored, 127), TokenBatches(encoded, 127)
    assert isinstance(encoded, EncodedPairs)
    for indices in from_lists.epoch(3):
        found, expected = from_store.collate(indices), from_lists.collate(indices)
        assert all(a.equal(b) for a, b in zip(vars(found).values(), vars(expected).values(), strict=True))


def test_an_older_store_stays_when_a_new_one_fails(tmp_path, tokenizer):
    write_store(tmp_path / "store", make_pairs(31), tokenizer)
    (tmp_path / "bad.tsv").write_text("one\teins\ntwo zwei\n")
    with pytest.raises(InputError, match="line 2"):
        write_store(tmp_path / "store", tab_separated(tmp_path / "bad.tsv"), tokenizer)
    assert len(open_store(tmp_path / "store")) == 31
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.tsv", "store"]


def test_a_store_of_nothing_is_refused_and_leaves_nothing(tmp_path, tokenizer):
    with pytest.raises(InputError, match="no sentence pair is left of 2: 1 had an empty side, 1 more than 3 tokens"):
        write_store(tmp_path / "store", [("", "leer"), ("dog " * 9, "Hund")], tokenizer, max_length=3)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", token_store.ARRAYS)
@pytest.mark.parametrize("damage", ["cut", "flipped", "missing"])
def test_a_damaged_store_is_refused_and_the_file_named(tmp_path, tokenizer, name, damage):
    write_store(tmp_path / "store", make_pairs(31), tokenizer)
    path = tmp_path / "store" / f"{name}.npy"
    content = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(content[:-2] if damage == "cut" else content[:-2] + bytes([content[-2] ^ 1]) + content[-1:])
    with pytest.raises(InputError, match=rf"{name}\.npy"):
        open_store(tmp_path / "store")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": token_store.FORMAT + 1}, "upgrade"),
        ({"format": "1"}, "expected a format number"),
        ({"sha256": {}}, "checksum is missing"),
        ({"fingerprint": None}, "fingerprint is missing"),
    ],
)
def test_a_store_of_another_format_is_refused(tmp_path, tokenizer, change, message):
    write_store(tmp_path / "store", make_pairs(31), tokenizer)
    path = tmp_path / "store" / "store.json"
    description = json.loads(path.read_text()) | change
    path.write_text(json.dumps({key: value for key, value in description.items() if value is not None}))
    with pytest.raises(InputError, match=message):
        open_store(tmp_path / "store")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe"])
def test_a_store_with_a_damaged_description_is_refused(tmp_path, tokenizer, content):
    write_store(tmp_path / "store", make_pairs(31), tokenizer)
    (tmp_path / "store" / "store.json").write_bytes(content)
    with pytest.raises(InputError, match=r"store\.json"):
        open_store(tmp_path / "store")


def test_open_store_says_that_there_is_none(tmp_path):
    with pytest.raises(InputError, match="absent is no token store"):
        open_store(tmp_path / "absent")


def test_a_store_is_written_anew_only_where_it_is_stale(tmp_path, tokenizer, monkeypatch):
    written = []
    encode = token_store.encoded_blocks
    monkeypatch.setattr(token_store, "encoded_blocks", lambda *args: (written.append(1), encode(*args))[1])
    path = tmp_path / "pairs.tsv"
    other = Tokenizer.train(["der Hund schläft ▁ 🦓"], 300)

    def number_written(pairs, model, max_length):
        write_store(tmp_path / "store", pairs, model, max_length)
        return len(written)

    pairs = write_tsv(path, make_pairs(31))
    assert [number_written(pairs, tokenizer, 40) for _ in range(2)] == [1, 1]
    assert number_written(pairs.without([3]), tokenizer, 40) == 2
    assert number_written(write_tsv(path, make_pairs(31, seed=2)), tokenizer, 40) == 3
    assert number_written(tab_separated(path), other, 40) == 4
    assert number_written(tab_separated(path), other, 41) == 5
    assert number_written(tab_separated(path), other, 41) == 5


def test_fingerprint_tells_pairs_their_order_and_their_borders_apart():
    texts = [[("a", "b"), ("c", "d")], [("c", "d"), ("a", "b")], [("ab", ""), ("c", "d")], [("a", "b")], []]
    assert len({fingerprint(pairs) for pairs in texts}) == len(texts)
    assert fingerprint(texts[0]) == fingerprint(list(texts[0]))


@pytest.mark.parametrize("limit", [1, 3, 100, 211, 10**6])
def test_sample_is_evenly_spaced_and_at_most_the_limit(limit):
    pairs = [(f"s{i}", f"t{i}") for i in range(211)]
    text = list(sample_text(pairs, limit))
    chosen = [int(sentence[1:]) for sentence in text[::2]]
    assert text == [sentence for i in chosen for sentence in pairs[i]]
    assert len(chosen) == min(limit, 211)
    gaps = np.diff(chosen)
    assert len(gaps) == 0 or gaps.max() - gaps.min() <= 1


def test_files_are_split_and_stored_in_little_memory(tmp_path, tokenizer, monkeypatch):
    monkeypatch.setattr(encoding, "BLOCK", 509)
    pairs = write_tsv(tmp_path / "pairs.tsv", ((f"Sentence {i} of many.", f"Satz {i}.") for i in range(20_021)))
    tracemalloc.start()
    train, dev, test = split_pairs(pairs, "pairs.tsv")
    write_store(tmp_path / "store", train, tokenizer, processes=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(train), len(dev), len(test)) == (18_021, 1_000, 1_000)
    assert len(open_store(tmp_path / "store")) == 18_021
    assert peak < 3 << 20  # as lists, text and ids take 25 MB


def test_a_split_of_files_is_that_of_lists(tmp_path):
    pairs = [*make_pairs(1_009), ("", "x")] * 2
    from_lists = split_pairs(pairs, "x")
    (tmp_path / "a.en").write_text("".join(f"{source}\n" for source, _ in pairs), "utf-8")
    (tmp_path / "a.de").write_text("".join(f"{target}\n" for _, target in pairs), "utf-8")
    for files in (write_tsv(tmp_path / "a.tsv", pairs), aligned(tmp_path / "a.en", tmp_path / "a.de")):
        train, dev, test = split_pairs(files, "x")
        assert (list(train), dev, test) == from_lists
        assert list(train) == from_lists[0]
        assert len(train) == len(from_lists[0])


def test_the_benchmark_prints_a_table_and_leaves_json(tmp_path):
    command = [sys.executable, "benchmarks/data.py", "--pairs", "307", "--vocab-size", "600", "--processes", "1"]
    result = subprocess.run(
        [*command, "--output", tmp_path],
        cwd=Path(__file__).parents[1],
        env={**os.environ, "TRANSFORMER_DATA": "", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads((tmp_path / "data.json").read_text())
    assert found["store"]["pairs"] == 307 - 2 * 15
    assert (tmp_path / "data.md").read_text() in result.stdout
