"""Time of an update in one process and in two that share it, and what the exchange of the gradients adds.

    OMP_NUM_THREADS=1 python benchmarks/scaling.py [--models lab base] [--rounds 3] [--output FILE]

Processes on the CPU, a thread each, joined by gloo as `torchrun` joins them; the same batches in an update
however many there are. One and two take turns. Writes JSON, by default the record that the chapter on scaling draws.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import distributed

from transformer_lib.batching import Batch, EncodedPairs, TokenBatches
from transformer_lib.corpus.files import write_atomically
from transformer_lib.model import Transformer, TransformerConfig, count_parameters
from transformer_lib.run.engine import Engine
from transformer_lib.run.hardware import Hardware
from transformer_lib.run.loading import SharedBatches
from transformer_lib.run.operations import training_operations
from transformer_lib.run.records import environment
from transformer_lib.training import add_gradients

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "data" / "benchmarks" / "scaling-cpu.json"
CONFIGS = {"lab": TransformerConfig.tiny(1200), "base": TransformerConfig.base(37_000)}
LENGTH = 32  # tokens a sentence, eos included
RATE = 1e-4


def updates_for(config: TransformerConfig, sentences: int, hardware: Hardware) -> SharedBatches:
    """Random sentences of one length; an update is two batches of `sentences` each, in all processes together."""
    torch.manual_seed(0)
    rows = torch.randint(4, config.vocab_size, (2, 2 * sentences, LENGTH - 1)).tolist()
    data = TokenBatches(EncodedPairs(*rows), sentences * LENGTH)
    return SharedBatches(data, hardware.rank, hardware.world)


def seconds(work: Callable[[], Any], hardware: Hardware, repetitions: int) -> list[float]:
    """Of each repetition, from when every process is ready until this one has finished; the first one warms up."""
    times = []
    for _ in range(repetitions + 1):
        hardware.wait()
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return times[1:]


def update_apart(engine: Engine, batches: list[Batch], share: float) -> None:
    """What a process does in an update, without the others."""
    engine.optimizer.zero_grad()
    with engine.hardware.accelerator.no_sync(engine.objective):
        add_gradients(engine.objective, batches, share, engine.backward)
    engine.apply_gradients(RATE)


def loopback_bytes() -> int | None:
    """Bytes that this machine has sent to itself; None where the system does not say."""
    devices = Path("/proc/net/dev")
    found = re.search(r"\blo:\s*(.+)", devices.read_text()) if devices.exists() else None
    return int(found[1].split()[8]) if found else None


def exchange(parameters: int, hardware: Hardware, repetitions: int) -> dict[str, Any]:
    """The sum of gradients of this many parameters over all processes, alone: its time, and the bytes each sends."""
    gradients, sent = torch.zeros(parameters), []

    def work() -> None:
        before = loopback_bytes()
        distributed.all_reduce(gradients)
        distributed.barrier()
        if before is not None:
            sent.append((loopback_bytes() - before) / hardware.world)

    times = seconds(work, hardware, repetitions)
    return {"all_reduce_seconds": times, "bytes_sent_by_each": sent[1:] and min(sent[1:])}


def measure(name: str, sentences: int, repetitions: int) -> dict[str, Any]:
    """What one of the processes finds; all must call this."""
    hardware, config = Hardware("cpu"), CONFIGS[name]
    torch.manual_seed(0)
    engine = Engine(Transformer(config), 0.1, hardware)
    batches, tokens = next(updates_for(config, sentences, hardware).updates(accumulate=2))
    found = {"update_seconds": seconds(lambda: engine.step(batches, tokens, RATE), hardware, repetitions)}
    if hardware.world > 1:
        share = tokens / hardware.world
        found["apart_seconds"] = seconds(lambda: update_apart(engine, batches, share), hardware, repetitions)
        found |= exchange(sum(p.numel() for p in engine.objective.parameters()), hardware, repetitions)
    return found if hardware.is_main else {}


def run(processes: int, name: str, sentences: int, repetitions: int) -> dict[str, Any]:
    """`measure` in processes of their own."""
    several = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    command = [sys.executable, *(several if processes > 1 else []), __file__]
    command += ["--measure", name, "--sentences", str(sentences), "--repetitions", str(repetitions)]
    environ = os.environ | {"OMP_NUM_THREADS": "1"}
    answer = subprocess.run(command, env=environ, stdout=subprocess.PIPE, text=True, check=True)
    return next(json.loads(line) for line in answer.stdout.splitlines() if line.startswith("{"))


def case(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """One model: rounds of one and two processes in turn."""
    config, sentences = CONFIGS[name], options.sentences
    rounds = [{n: run(n, name, sentences, options.repetitions) for n in (1, 2)} for _ in range(options.rounds)]
    lengths = [LENGTH] * 2 * sentences
    volumes = [found[2].pop("bytes_sent_by_each") for found in rounds]
    return {
        "model": name,
        "parameters": count_parameters(Transformer(config)),
        "tokens_a_side": sum(lengths),
        "operations_an_update": training_operations(config, lengths, lengths),
        "bytes_sent_by_each": min(volumes) if all(volumes) else None,
        "processes": {
            str(n): {what: spread([t for found in rounds for t in found[n][what]]) for what in rounds[0][n]}
            for n in (1, 2)
        },
    }


def spread(values: list[float]) -> dict[str, float]:
    return {"median": median(values), "min": min(values), "max": max(values), "measured": len(values)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=CONFIGS, default=list(CONFIGS))
    parser.add_argument("--sentences", type=int, default=16, help="in each of the two batches of an update")
    parser.add_argument("--repetitions", type=int, default=4, help="timed in a round, after one that warms up")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path, default=RECORD)
    parser.add_argument("--measure", choices=CONFIGS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.measure:
        found = measure(options.measure, options.sentences, options.repetitions)
        if found:
            print(json.dumps(found))
        return
    record = {"environment": environment(), "cores": os.cpu_count(), "load_before": os.getloadavg()[0]}
    record["cases"] = [case(name, options) for name in options.models]
    write_atomically(options.output, json.dumps(record | {"load_after": os.getloadavg()[0]}, indent=2) + "\n")


if __name__ == "__main__":
    main()
