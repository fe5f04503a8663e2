"""How fast text becomes batches, and how much of a batch is padding.

    python benchmarks/data.py [--pairs N] [--file PAIRS.tsv] [--output FOLDER]   measure
    python benchmarks/data.py --write N FILE                                     only write N generated pairs

Without a file, the pairs are the lab corpus's, generated with one seed after another. Multi30k is measured where
``TRANSFORMER_DATA`` holds it. Prints a table in Markdown and the same figures as JSON.
"""

import argparse
import json
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import count, islice
from pathlib import Path
from typing import Any

from transformer_lib.batching import TokenBatches, encode_pairs, real_token_share
from transformer_lib.corpus.encoding import usable_cores
from transformer_lib.corpus.pairs import sample_text, split_pairs, tab_separated
from transformer_lib.corpus.sources import load_corpus
from transformer_lib.corpus.token_store import open_store, write_store
from transformer_lib.corpus.tokenizer import Tokenizer

CHUNK = 20_000  # pairs of one seed
BUDGETS = (1024, 2048, 4096, 25_000)
MULTIPLES = (1, 8)


def write_lab_pairs(number: int, path: Path, processes: int | None = None) -> None:
    """Write `number` generated pairs to a tab-separated file; the same ones whatever the number of processes."""
    sizes = [min(CHUNK, number - start) for start in range(0, number, CHUNK)]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes or usable_cores(), context) as pool, open(path, "w", encoding="utf-8") as file:
        file.writelines(pool.map(lab_lines, sizes, count()))


def lab_lines(number: int, seed: int) -> str:
    from transformer_lib.corpus import lab

    return "".join(f"{example.source}\t{example.target}\n" for example in lab.generate("train", number, seed=seed))


def measure_store(path: Path, vocab_size: int, processes: int) -> dict[str, Any]:
    """From a file of pairs to batches: seconds of each part, and rates."""
    pairs = tab_separated(path)
    split_seconds, (train, _, _) = timed(lambda: split_pairs(pairs, str(path)))
    sample = islice(sample_text(train), 200_000)
    tokenizer_seconds, tokenizer = timed(lambda: Tokenizer.train(sample, vocab_size))
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        seconds, _ = timed(lambda: write_store(store, train, tokenizer, processes=processes))
        open_seconds, stored = timed(lambda: open_store(store))
        found = {
            "pairs": len(stored),
            "processes": processes,
            "split_seconds": split_seconds,
            "tokenizer_seconds": tokenizer_seconds,
            "store_seconds": seconds,
            "open_seconds": open_seconds,
            "tokens": len(stored.sources.ids) + len(stored.targets.ids),
            "store_pairs_a_minute": 60 * len(stored) / seconds,
            "file_to_store_pairs_a_minute": 60 * len(stored) / (seconds + split_seconds),
        }
        return found | measure_loader(TokenBatches(stored, 4096))


def measure_loader(data: TokenBatches, most_batches: int = 2000) -> dict[str, Any]:
    """Pairs a second on one core: sorting a whole epoch, and collating its batches, at most `most_batches` of them."""
    sort_seconds, batches = timed(lambda: data.epoch(1))
    chosen = batches[:most_batches]
    collate_seconds, delivered = timed(lambda: sum(len(data.collate(indices).source) for indices in chosen))
    seconds = sort_seconds * len(chosen) / len(batches) + collate_seconds
    return {"sort_seconds": sort_seconds, "loader_pairs_a_second": delivered / seconds}


def measure_padding(data: TokenBatches) -> dict[str, Any]:
    """Share of real tokens, number of batches and of different shapes in an epoch."""
    batches = [data.collate(indices) for indices in data.epoch(0)]
    return {
        "max_tokens": data.max_tokens,
        "multiple_of": data.multiple_of,
        "real_tokens": real_token_share(batches),
        "batches": len(batches),
        "shapes": len({(batch.source.shape, batch.target_in.shape) for batch in batches}),
        "loader_pairs_a_second": measure_loader(data)["loader_pairs_a_second"],
    }


def multi30k_padding() -> Iterator[dict[str, Any]]:
    train = load_corpus("multi30k-en-de").train
    tokenizer = Tokenizer.train(sample_text(train), 8000)
    encoded = encode_pairs(train, tokenizer.encode_all)
    for max_tokens in BUDGETS:
        for multiple_of in MULTIPLES:
            yield measure_padding(TokenBatches(encoded, max_tokens, multiple_of=multiple_of))


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def table(found: dict[str, Any]) -> str:
    store = found["store"]
    lines = [
        "| from file to batches | |",
        "|---|---|",
        f"| pairs, tokens | {store['pairs']:,}, {store['tokens']:,} |",
        f"| from file to store, with the split | {store['file_to_store_pairs_a_minute']:,.0f} pairs a minute |",
        f"| encoding alone, {store['processes']} processes | {store['store_pairs_a_minute']:,.0f} pairs a minute |",
        f"| loader, one core | {store['loader_pairs_a_second']:,.0f} pairs a second |",
    ]
    if found["multi30k"]:
        lines += [
            "",
            "| Multi30k: positions a side | widths a multiple of | real tokens | batches | shapes | pairs a second |",
            "|---|---|---|---|---|---|",
        ]
    for row in found["multi30k"]:
        lines.append(
            f"| {row['max_tokens']:,} | {row['multiple_of']} | {row['real_tokens']:.1%} | {row['batches']} "
            f"| {row['shapes']} | {row['loader_pairs_a_second']:,.0f} |"
        )
    return "\n".join(lines) + "\n"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=200_000, help="how many pairs to generate (%(default)s)")
    parser.add_argument("--file", type=Path, help="a tab-separated file to measure with instead")
    parser.add_argument("--vocab-size", type=int, default=8000)
    parser.add_argument("--processes", type=int, default=usable_cores())
    parser.add_argument("--output", type=Path, help="folder for data.json and data.md")
    parser.add_argument("--write", nargs=2, metavar=("N", "FILE"), help="write N generated pairs to FILE, and stop")
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    if arguments.write:
        write_lab_pairs(int(arguments.write[0]), Path(arguments.write[1]), arguments.processes)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = arguments.file or Path(folder) / "pairs.tsv"
        if not arguments.file:
            write_lab_pairs(arguments.pairs, path, arguments.processes)
        store = measure_store(path, arguments.vocab_size, arguments.processes)
    found = {"store": store, "multi30k": list(multi30k_padding()) if os.environ.get("TRANSFORMER_DATA") else []}
    print(table(found), json.dumps(found, indent=2), sep="\n")
    if arguments.output:
        arguments.output.mkdir(parents=True, exist_ok=True)
        (arguments.output / "data.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
        (arguments.output / "data.md").write_text(table(found), encoding="utf-8")


if __name__ == "__main__":
    main()
