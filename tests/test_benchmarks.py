"""A quick run of the training benchmark, in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TINY = ["--device", "cpu", "--model", "miniature", "--sentences", "5", "--length", "7", "--vocabulary", "101"]
NOT_ON_A_GPU_MACHINE = ("altair", "ipywidgets", "tyro", "sacremoses")


def run(*arguments: str) -> str:
    # A module that is None cannot be imported.
    blocked = (
        f"import runpy, sys; sys.modules.update(dict.fromkeys({NOT_ON_A_GPU_MACHINE})); sys.argv[0] = 'training.py'"
    )
    script = (
        f"{blocked}; sys.path.insert(0, 'benchmarks'); runpy.run_path('benchmarks/training.py', run_name='__main__')"
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    answer = subprocess.run(
        [sys.executable, "-c", script, *TINY, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def test_training_benchmark_measures_every_contender_or_says_why_not(tmp_path):
    printed = run("--padding", "0.2", "--rounds", "2", "--no-memory", "--output", str(tmp_path))
    record = json.loads((tmp_path / "training-cpu.json").read_text())
    [case] = record["cases"]
    assert len(case["contenders"]) + len(case["not_measured"]) == 5
    assert case["contenders"].keys() >= {"this model", "torch.nn.Transformer"}
    assert 0 < case["padding"] < 0.4
    assert case["tokens_an_update"] == round((1 - case["padding"]) * 2 * 5 * 7)
    sizes = [row["parameters"] for row in case["contenders"].values()]
    assert max(sizes) < 1.1 * min(sizes)
    for row in case["contenders"].values():
        seconds = row["seconds_an_update"]
        assert 0 < seconds["min"] <= seconds["median"] <= seconds["max"]
        assert row["tokens_a_second"] == pytest.approx(case["tokens_an_update"] / seconds["median"])
    assert case["contenders"]["this model"]["times_slower_than_this_model"] == 1
    assert (tmp_path / "training-cpu.md").read_text().strip() == printed.strip()
    assert printed.count("| this model |") == 1


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system does not tell a process's memory")
def test_memory_of_a_contender_counts_at_least_its_weights_and_optimizer():
    growth = float(run("--vocabulary", "50021", "--padding", "0", "--memory-of", "this model"))
    assert growth > 4 * 50021 * 32 * 4 / 2**20
