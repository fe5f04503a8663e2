"""A run in a folder: what it leaves, and that stopping and resuming loses nothing."""

import json
import os
import signal

import pytest
import torch
from helpers import number_corpus, small_recipe

from transformer_lib.corpus.files import InputError
from transformer_lib.run.recipes import RECIPES, recipe_for
from transformer_lib.run.records import read_log
from transformer_lib.run.store import checkpoints, load_model, read_tensors
from transformer_lib.run.trainer import Run
from transformer_lib.run.translator import Translator


def start_run(folder, **training) -> Run:
    return Run(folder, number_corpus(), small_recipe(**training), quiet=True)


def final_weights(folder) -> dict[str, torch.Tensor]:
    return read_tensors(checkpoints(folder / "checkpoints")[-1] / "model.safetensors")


def test_a_run_leaves_a_model_a_log_and_its_circumstances(tmp_path):
    model_folder = start_run(tmp_path / "run").train()
    assert [path.name for path in checkpoints(tmp_path / "run" / "checkpoints")] == ["0000006", "0000008"]
    log = read_log(tmp_path / "run" / "log.jsonl")
    assert [entry["update"] for entry in log if "dev_loss" in entry] == [4, 8]
    assert json.loads((tmp_path / "run" / "recipe.json").read_text())["data"] == "numbers"
    assert {"torch", "device", "date", "commit"} <= json.loads(
        (tmp_path / "run" / "environment.json").read_text()
    ).keys()
    assert len(Translator.load(model_folder).translate(["one two", ""])) == 2


def test_the_model_is_the_average_of_the_last_checkpoints(tmp_path):
    folder = start_run(tmp_path / "run").train()
    states = [read_tensors(path / "model.safetensors") for path in checkpoints(tmp_path / "run" / "checkpoints")]
    for name, weight in load_model(folder)[0].named_parameters():
        torch.testing.assert_close(weight, (states[0][name] + states[1][name]) / 2)


def test_stopping_and_resuming_equals_an_uninterrupted_run_bitwise(tmp_path):
    start_run(tmp_path / "whole").train()
    start_run(tmp_path / "parts", max_updates=5).train()
    resumed = start_run(tmp_path / "parts")
    torch.manual_seed(12345)
    resumed.train(resume=True)
    whole, parts = final_weights(tmp_path / "whole"), final_weights(tmp_path / "parts")
    for name in whole:
        assert torch.equal(whole[name], parts[name]), name


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_leaves_a_checkpoint_that_resumes_exactly(tmp_path, monkeypatch, number):
    start_run(tmp_path / "whole").train()
    interrupted = start_run(tmp_path / "parts")
    interrupted.checkpoint = lambda update, optimizer, checkpoint=interrupted.checkpoint: (
        checkpoint(update, optimizer),
        update == 3 and os.kill(os.getpid(), number),
    )
    interrupted.train()
    assert interrupted.was_interrupted
    newest = checkpoints(tmp_path / "parts" / "checkpoints")[-1]
    assert newest.name == "0000003"
    resumed = start_run(tmp_path / "parts")
    resumed.train(resume=True)
    assert not resumed.was_interrupted
    whole, parts = final_weights(tmp_path / "whole"), final_weights(tmp_path / "parts")
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


def test_a_log_holds_no_update_twice_after_a_resume(tmp_path):
    start_run(tmp_path / "run", max_updates=5).train()
    (tmp_path / "run" / "log.jsonl").open("a").write(
        '{"update": 7, "loss": 1.0}\n{"upda'
    )  # past the checkpoint, and cut
    start_run(tmp_path / "run").train(resume=True)
    assert [entry["update"] for entry in read_log(tmp_path / "run" / "log.jsonl")] == [4, 8]


def test_a_time_limit_stops_with_a_checkpoint(tmp_path):
    run = start_run(tmp_path / "run", max_updates=10_000)
    run.max_minutes = 1e-9
    run.train()
    assert [path.name for path in checkpoints(tmp_path / "run" / "checkpoints")] == ["0000001"]


def test_a_run_is_not_overwritten(tmp_path):
    start_run(tmp_path / "run").train()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match="already holds a training"):
        start_run(tmp_path / "run").train()
    with pytest.raises(InputError, match="warmup_steps"):
        start_run(tmp_path / "run", warmup_steps=6).train(resume=True)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_nothing_to_resume_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no checkpoint to resume"):
        start_run(tmp_path / "run").train(resume=True)
    assert list(tmp_path.iterdir()) == []


def test_every_recipe_makes_a_model_and_reaches_its_peak_rate():
    for name in (*RECIPES, "my.tsv"):
        recipe = recipe_for(name)
        assert recipe.transformer_config(recipe.vocab_size).vocab_size == recipe.vocab_size
        assert recipe.training.warmup_steps < recipe.training.max_updates / 2
        assert recipe.checkpoint_every * recipe.average_last <= recipe.training.max_updates / 2
