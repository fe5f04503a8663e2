"""Quick runs of the benchmarks, each in a process of its own."""

import inspect
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import altair as alt
import pytest

from transformer_lib import charts

ROOT = Path(__file__).parents[1]
TINY = ["--device", "cpu", "--model", "miniature", "--sentences", "5", "--length", "7", "--vocabulary", "101"]
NOT_ON_A_GPU_MACHINE = ("altair", "ipywidgets", "tyro", "sacremoses")
CHARTS = runpy.run_path(str(ROOT / "benchmarks" / "charts.py"))


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


def test_chart_benchmark_measures_figures_and_writes_its_table(tmp_path):
    chosen = ["attention explorer", "beam tree"]
    readme = tmp_path / "README.md"
    readme.write_text("Above.\n\n| figure | x |\n|---|---|\n| old | 1 |\n\nBelow.\n")
    (tmp_path / "results").mkdir()
    command = [sys.executable, "benchmarks/charts.py", "--tokens", "3", "--pages", "1", "--only", *chosen]
    subprocess.run([*command, "--output", str(tmp_path / "results")], cwd=ROOT, check=True, capture_output=True)
    record = json.loads((tmp_path / "results" / "charts.json").read_text())
    assert {"date", "machine", "commit", "chromium", "altair", "vega", "load_before"} <= record["environment"].keys()
    assert [row["figure"] for row in record["figures"]] == chosen
    for row in record["figures"]:
        assert row["size_kib"] > row["gzip_kib"] > 0
        assert row["embed_ms"] > row["switch_ms"] > 0
    assert readme.read_text() == f"Above.\n\n{CHARTS['table'](record)}\nBelow.\n"


@pytest.mark.parametrize("figure", CHARTS["FIGURES"], ids=lambda figure: figure.name)
def test_figure_that_is_measured_has_the_control_that_is_moved(figure):
    spec = figure.build(3).to_dict(validate=False)
    patch = spec["usermeta"]["embedOptions"]["patch"]
    signals = {change["value"]["name"] for change in patch if change["path"] == "/signals/-"}
    assert figure.control[0] in signals | {parameter["name"] for parameter in spec["params"]}


def test_every_interactive_figure_of_the_library_is_measured():
    functions = [getattr(charts, name) for name in charts.__all__ if inspect.isfunction(getattr(charts, name))]
    interactive = {made.__name__ for made in functions if inspect.signature(made).return_annotation is alt.ConcatChart}
    assert {figure.build.__name__ for figure in CHARTS["FIGURES"]} == interactive


def test_the_recorded_table_of_charts_is_the_one_shown():
    record = json.loads((ROOT / "benchmarks" / "results" / "charts.json").read_text())
    assert [row["figure"] for row in record["figures"]] == [figure.name for figure in CHARTS["FIGURES"]]
    assert CHARTS["table"](record) in (ROOT / "benchmarks" / "README.md").read_text()
