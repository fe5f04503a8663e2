"""Speed and memory of training updates: this model beside torch.nn.Transformer and Hugging Face's Marian.

    OMP_NUM_THREADS=2 python benchmarks/training.py [--model small] [--output FOLDER]
    python benchmarks/training.py --model base big --sentences 768 --length 32       on a GPU

All contenders take turns in one process, on the same batches, with the same loss and optimizer. Prints a
table in Markdown and writes training-<device>.json and .md to the output folder.
"""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

import torch
from peers import CONTENDERS

from transformer_lib.batching import Batch, EncodedPairs, TokenBatches
from transformer_lib.model import TransformerConfig
from transformer_lib.run.engine import MixedPrecision
from transformer_lib.run.operations import matrix_product_rate, training_operations
from transformer_lib.run.records import environment
from transformer_lib.schedule import paper_adam
from transformer_lib.training import train_step

SIZES: dict[str, Callable[..., TransformerConfig]] = {
    "small": lambda vocab: TransformerConfig(vocab, d_model=256, d_ff=1024, num_heads=4, num_layers=3),
    "base": TransformerConfig.base,
    "big": TransformerConfig.big,
    "miniature": lambda vocab: TransformerConfig(vocab, d_model=32, d_ff=64, num_heads=2, num_layers=1),
}
RATE = 1e-4


class Contender:
    """A model with its optimizer, ready to be timed; compiled where that works."""

    def __init__(self, name: str, config: TransformerConfig, batch: Batch, bf16: bool, compiled: bool) -> None:
        self.name, self.batch, self.compiled = name, batch, "no"
        self.build(config, bf16)
        if compiled:
            self.objective.compile()
            try:
                self.update()
                self.compiled = "yes"
            except Exception as error:  # whatever the compiler raises, the contender still runs without it
                torch._dynamo.reset()
                self.compiled = f"failed: {type(error).__name__}"
                self.build(config, bf16)

    def build(self, config: TransformerConfig, bf16: bool) -> None:
        device = self.batch.source.device
        torch.manual_seed(0)
        objective = CONTENDERS[self.name](config, device).to(device).train()
        self.objective = MixedPrecision(objective, torch.bfloat16) if bf16 else objective
        self.optimizer = paper_adam(objective.parameters())

    def update(self) -> torch.Tensor:
        return train_step(self.objective, self.optimizer, [self.batch], self.batch.tokens, RATE)

    def seconds(self, updates: int) -> float:
        """Of one update, on average over several."""
        synchronize(self.batch)
        begun = time.perf_counter()
        for _ in range(updates):
            self.update()
        synchronize(self.batch)
        return (time.perf_counter() - begun) / updates


def synchronize(batch: Batch) -> None:
    if batch.source.is_cuda:
        torch.cuda.synchronize()


def make_batch(config: TransformerConfig, sentences: int, length: int, padding: float, seed: int = 0) -> Batch:
    """Random tokens; row lengths are even between those that leave `padding` of the rectangle empty and full ones."""
    torch.manual_seed(seed)
    shortest = max(1, round(length * (1 - 2 * padding)))
    rows = [
        [torch.randint(4, config.vocab_size, (n - 1,)).tolist() for n in [length, *lengths.tolist()]]
        for lengths in torch.randint(shortest, length + 1, (2, sentences - 1))
    ]
    return TokenBatches(EncodedPairs(*rows), sentences * length, seed=seed).collate(range(sentences))


def lengths(ids: torch.Tensor, pad_id: int) -> list[int]:
    return (ids != pad_id).sum(1).tolist()


def gpu_memory(build: Callable[[], Contender]) -> tuple[Contender, float]:
    """A contender and the MiB by which its weights, optimizer and updates raise the peak."""
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    contender = build()
    torch.cuda.reset_peak_memory_stats()
    contender.seconds(2)
    return contender, (torch.cuda.max_memory_allocated() - before) / 2**20


def resident(field: str) -> float:
    """MiB of this process, from the system: VmRSS for now, VmHWM for its highest."""
    status = Path("/proc/self/status")
    found = re.search(rf"{field}:\s+(\d+) kB", status.read_text()) if status.exists() else None
    return int(found[1]) / 1024 if found else float("nan")


def cpu_memory(name: str, size: str, padding: float, options: argparse.Namespace) -> float | None:
    """MiB by which a process grows that does nothing but a few updates; None where the system does not say."""
    shape = ["--model", size, "--padding", str(padding), "--sentences", str(options.sentences)]
    shape += ["--length", str(options.length), "--vocabulary", str(options.vocabulary)]
    command = [sys.executable, __file__, "--memory-of", name, *shape]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    growth = float(answer.stdout.splitlines()[-1])
    return growth if growth == growth else None


def print_growth(options: argparse.Namespace) -> None:
    """What `cpu_memory` asks another process."""
    config = SIZES[options.model[0]](options.vocabulary)
    batch = make_batch(config, options.sentences, options.length, options.padding[0])
    smallest = TransformerConfig(7, 4, 4, 1, 1)
    # A first update imports much of PyTorch, which does not count.
    Contender(options.memory_of, smallest, make_batch(smallest, 2, 3, 0.0), False, False).update()
    before = resident("VmRSS")
    Contender(options.memory_of, config, batch, False, False).seconds(3)
    print(resident("VmHWM") - before)


def measure(size: str, padding: float, options: argparse.Namespace) -> dict[str, Any]:
    """All contenders at one size, in alternating rounds."""
    device = torch.device(options.device)
    config = SIZES[size](options.vocabulary)
    batch = make_batch(config, options.sentences, options.length, padding).to(device)
    contenders, missing, memory = prepare(config, batch, size, padding, options)
    dtype = torch.bfloat16 if options.bf16 else torch.float32
    times, rates = {contender.name: [] for contender in contenders}, []
    for contender in contenders:
        contender.seconds(options.warm_up)
    for number in range(options.rounds):
        rates.append(matrix_product_rate(config, options.sentences * options.length, device, dtype, 0.02))
        for contender in contenders if number % 2 else reversed(contenders):
            times[contender.name].append(contender.seconds(options.updates))
    source, target = lengths(batch.source, config.pad_id), lengths(batch.target_in, config.pad_id)
    operations, tokens = training_operations(config, source, target), sum(source) + sum(target)
    ours = times["this model"]
    return {
        "model": size,
        "config": config.to_dict(),
        "rows": options.sentences,
        "length": options.length,
        "padding": 1 - tokens / (batch.source.numel() + batch.target_in.numel()),
        "tokens_an_update": tokens,
        "operations_an_update": operations,
        "matrix_product_rate": spread(rates),
        "contenders": {
            contender.name: {
                "parameters": sum(p.numel() for p in contender.objective.parameters() if p.requires_grad),
                "compiled": contender.compiled,
                "seconds_an_update": spread(times[contender.name]),
                "tokens_a_second": tokens / median(times[contender.name]),
                "peak_memory_mib": memory[contender.name],
                "of_matrix_product_rate": median(
                    operations / seconds / rate for seconds, rate in zip(times[contender.name], rates, strict=True)
                ),
                "times_slower_than_this_model": median(
                    theirs / own for theirs, own in zip(times[contender.name], ours, strict=True)
                ),
            }
            for contender in contenders
        },
        "not_measured": missing,
    }


def prepare(
    config: TransformerConfig, batch: Batch, size: str, padding: float, options: argparse.Namespace
) -> tuple[list[Contender], dict[str, str], dict[str, float | None]]:
    """The contenders that run here, why the others do not, and the memory of each in MiB."""
    contenders, missing, memory = [], {}, {}
    for name in options.contenders:

        def build(name: str = name) -> Contender:
            return Contender(name, config, batch, options.bf16, options.compile)

        try:
            if batch.source.is_cuda:
                contender, memory[name] = gpu_memory(build)
            else:
                contender = build()
                memory[name] = None if options.no_memory else cpu_memory(name, size, padding, options)
        except ImportError as error:
            missing[name] = f"not installed: {error}"
        except torch.OutOfMemoryError:
            missing[name] = "out of memory"
        else:
            contenders.append(contender)
    return contenders, missing, memory


def spread(values: list[float]) -> dict[str, float]:
    return {"median": median(values), "min": min(values), "max": max(values), "rounds": len(values)}


def table(case: dict[str, Any]) -> str:
    """One case in Markdown."""
    rate = case["matrix_product_rate"]["median"]
    lines = [
        f"**{case['model']}**: {case['rows']} × {case['length']} tokens a side, {case['padding']:.1%} padding; "
        f"{case['operations_an_update'] / 1e9:,.0f} GFLOP an update; "
        f"matrix products alone run at {rate / 1e9:,.0f} GFLOP/s",
        "",
        "| model | tokens/s | ms an update, median (min to max) | of the matrix-product rate | peak memory | "
        "this model is faster by | compiled |",
        "|---|--:|--:|--:|--:|--:|---|",
    ]
    for name, row in case["contenders"].items():
        ms = {key: value * 1000 for key, value in row["seconds_an_update"].items()}
        memory = "–" if row["peak_memory_mib"] is None else f"{row['peak_memory_mib']:,.0f} MiB"
        lines.append(
            f"| {name} | {row['tokens_a_second']:,.0f} | {ms['median']:.1f} ({ms['min']:.1f} to {ms['max']:.1f}) | "
            f"{row['of_matrix_product_rate']:.0%} | {memory} | {row['times_slower_than_this_model']:.2f} × | "
            f"{row['compiled']} |"
        )
    lines += [f"| {name} | {why} | | | | | |" for name, why in case["not_measured"].items()]
    return "\n".join(lines) + "\n"


def device_name(device: str) -> str:
    """The GPU's name, or the processor's where the system tells it."""
    if device.startswith("cuda"):
        return torch.cuda.get_device_name(device)
    info = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.+)", info.read_text()) if info.exists() else None
    return f"{found[1] if found else platform.machine()}, {torch.get_num_threads()} threads"


def circumstances(options: argparse.Namespace) -> dict[str, Any]:
    try:
        peer = version("transformers")
    except PackageNotFoundError:
        peer = None
    return {
        **environment(),
        "device": device_name(options.device),
        "threads": torch.get_num_threads(),
        "load_before": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "transformers": peer,
        "precision": "bfloat16 autocast" if options.bf16 else "float32",
        "optimizer": "fused Adam",
        "updates_a_round": options.updates,
    }


def write(folder: Path, record: dict[str, Any], text: str, device: str) -> None:
    name = re.sub(r"[^a-z0-9]+", "-", device_name(device).lower()) if device.startswith("cuda") else "cpu"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"training-{name}.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    (folder / f"training-{name}.md").write_text(text, encoding="utf-8")


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    on_gpu = torch.cuda.is_available()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if on_gpu else "cpu")
    parser.add_argument("--model", nargs="+", choices=SIZES, help="base and big on a GPU, small on a CPU")
    parser.add_argument("--padding", nargs="+", type=float, default=[0.0, 0.04], help="empty share of a batch")
    parser.add_argument("--vocabulary", type=int, help="37,000 on a GPU, 4,000 on a CPU")
    parser.add_argument("--sentences", type=int, help="rows of a batch: 768 on a GPU, 64 on a CPU")
    parser.add_argument("--length", type=int, help="tokens of the longest row: 32 on a GPU, 24 on a CPU")
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=list(CONTENDERS), metavar="NAME")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--updates", type=int, help="of each contender in a round: 5 on a GPU, 1 on a CPU")
    parser.add_argument("--warm-up", type=int, default=3, help="updates of each contender that are not timed")
    parser.add_argument("--no-memory", action="store_true", help="on a CPU: start no process a contender")
    parser.add_argument("--no-compile", dest="compile", action="store_false", help="on a GPU")
    parser.add_argument("--output", type=Path, help="folder for the record, such as benchmarks/results")
    parser.add_argument("--memory-of", choices=CONTENDERS, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if "this model" not in options.contenders:
        parser.error('"this model" must be among the contenders: the others are compared with it')
    on_gpu = options.device.startswith("cuda")
    defaults = {"model": ["base", "big"], "vocabulary": 37_000, "sentences": 768, "length": 32, "updates": 5}
    if not on_gpu:
        defaults = {"model": ["small"], "vocabulary": 4000, "sentences": 64, "length": 24, "updates": 1}
    for name, value in defaults.items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    options.bf16, options.compile = on_gpu, options.compile and on_gpu
    return options


def main() -> None:
    options = parse()
    if options.memory_of:
        print_growth(options)
        return
    record = {"environment": circumstances(options), "cases": []}
    text = "".join(f"- {name}: {value}\n" for name, value in record["environment"].items())
    for size in options.model:
        for padding in options.padding:
            record["cases"].append(measure(size, padding, options))
            text += "\n" + table(record["cases"][-1])
            if options.output:
                write(options.output, record, text, options.device)
    print(text)


if __name__ == "__main__":
    main()
