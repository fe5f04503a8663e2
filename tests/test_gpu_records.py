"""Every stage of the GPU records, on a trial of five updates on a CPU."""

import json
import os
import tarfile

import pytest

from tools import record
from tools.gpu_records import RECIPES, Stage
from transformer_lib.run.records import read_log
from transformer_lib.run.translator import Translator

needs_data = pytest.mark.skipif(
    "TRANSFORMER_DATA" not in os.environ, reason="needs TRANSFORMER_DATA: a folder with real corpora"
)


@needs_data
@pytest.mark.parametrize("number", RECIPES)
def test_recipe_stages_write_a_record_and_what_ships(tmp_path, monkeypatch, number):
    name = RECIPES[number]
    files = Stage(number, tmp_path / "out", updates=5).run()
    assert len(files) <= 2
    assert all(file.stat().st_size < 16 * 2**20 for file in files)
    monkeypatch.setattr(record, "RUNS", tmp_path / "runs")
    folder = record.unpack(files[0])
    assert folder.name == name
    assert read_log(folder / "log.jsonl")[-1]["update"] == 5
    results = json.loads((folder / "results.json").read_text())
    assert "signature" in results["test"]
    assert len(results["test"]["outputs_sha256"]) == 64
    if name.startswith("tatoeba"):
        assert files[1].stat().st_size < 8e6
        with tarfile.open(files[1]) as archive:
            archive.extractall(tmp_path / "model", filter="data")
        assert len(Translator.load(tmp_path / "model").translate(["Good morning."], max_extra_tokens=2)) == 1


def test_the_benchmark_stage_writes_a_record_and_a_table(tmp_path):
    files = Stage(1, tmp_path / "out", updates=5).run()
    assert sorted(file.suffix for file in files) == [".json", ".md"]


def test_what_is_no_record_is_refused(tmp_path):
    (tmp_path / "x.json").write_text('{"log.jsonl": ""}')
    with pytest.raises(ValueError, match="is no record"):
        record.unpack(tmp_path / "x.json")
