"""A run in a folder: what it leaves, and that stopping and resuming loses nothing."""

import json
import math
import os
import resource
import shutil
import signal
from dataclasses import replace

import pytest
import torch
from helpers import number_corpus, small_recipe
from kills import SERVER

from transformer_lib.corpus.files import InputError
from transformer_lib.corpus.sources import CORPORA
from transformer_lib.run.checkpoints import checkpoints
from transformer_lib.run.recipes import RECIPES, corpus_of, recipe_for
from transformer_lib.run.records import read_log
from transformer_lib.run.recovery import TrainingStopped
from transformer_lib.run.store import CheckpointError, load_model, read_tensors
from transformer_lib.run.trainer import Run
from transformer_lib.run.translator import Translator


def start_run(folder, **training) -> Run:
    return Run(folder, number_corpus(), small_recipe(**training), quiet=True)


def final_weights(folder) -> dict[str, torch.Tensor]:
    return read_tensors(checkpoints(folder / "checkpoints")[-1] / "model.safetensors")


def test_a_run_leaves_a_model_a_log_and_its_circumstances(tmp_path):
    model_folder = start_run(tmp_path / "run").train()
    assert [path.name for path in checkpoints(tmp_path / "run" / "checkpoints")] == ["0000003", "0000006", "0000008"]
    log = read_log(tmp_path / "run" / "log.jsonl")
    assert [entry["update"] for entry in log if "dev_loss" in entry] == [4, 8]
    assert json.loads((tmp_path / "run" / "recipe.json").read_text())["data"] == "numbers"
    assert {"torch", "device", "date", "commit"} <= json.loads(
        (tmp_path / "run" / "environment.json").read_text()
    ).keys()
    assert len(Translator.load(model_folder).translate(["one two", ""])) == 2


def test_the_model_is_the_average_of_the_last_regular_checkpoints(tmp_path):
    folder = start_run(tmp_path / "run").train()
    regular = [tmp_path / "run" / "checkpoints" / name for name in ("0000003", "0000006")]
    states = [read_tensors(path / "model.safetensors") for path in regular]
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
    interrupted.checkpoint = lambda update, checkpoint=interrupted.checkpoint: (
        checkpoint(update),
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
    log = read_log(tmp_path / "run" / "log.jsonl")
    assert [entry["update"] for entry in log if "loss" in entry] == [3, 4, 5, 6, 8]
    assert [entry["update"] for entry in log if "dev_loss" in entry] == [4, 8]


def test_a_time_limit_stops_with_a_checkpoint(tmp_path):
    run = start_run(tmp_path / "run", max_updates=10_000)
    run.max_minutes = 1e-9
    run.train()
    assert [path.name for path in checkpoints(tmp_path / "run" / "checkpoints")] == ["0000000", "0000001"]


def test_a_run_is_not_overwritten(tmp_path):
    start_run(tmp_path / "run").train()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match="already holds a training"):
        start_run(tmp_path / "run").train()
    with pytest.raises(InputError, match="warmup_steps"):
        start_run(tmp_path / "run", warmup_steps=6).train(resume=True)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_nothing_to_resume_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no training to resume"):
        start_run(tmp_path / "run").train(resume=True)
    assert list(tmp_path.iterdir()) == []


def test_a_training_that_may_continue_does_so_only_where_there_is_one(tmp_path):
    start_run(tmp_path / "whole").train()
    start_run(tmp_path / "parts", max_updates=5).train(resume=None)
    start_run(tmp_path / "parts").train(resume=None)
    whole, parts = final_weights(tmp_path / "whole"), final_weights(tmp_path / "parts")
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


def test_a_run_killed_before_its_first_checkpoint_begins_again(tmp_path):
    start_run(tmp_path / "run").train()
    shutil.rmtree(tmp_path / "run" / "checkpoints")
    start_run(tmp_path / "run").train(resume=True)
    assert final_weights(tmp_path / "run")


def test_a_damaged_newest_checkpoint_falls_back_to_the_one_before(tmp_path, capsys):
    start_run(tmp_path / "whole").train()
    start_run(tmp_path / "parts", max_updates=7).train()
    newest = checkpoints(tmp_path / "parts" / "checkpoints")[-1]
    (newest / "model.safetensors").write_bytes(b"not what was written")
    start_run(tmp_path / "parts").train(resume=True)
    assert "0000007/model.safetensors is damaged" in capsys.readouterr().err
    whole, parts = final_weights(tmp_path / "whole"), final_weights(tmp_path / "parts")
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


def test_no_sound_checkpoint_is_an_error(tmp_path):
    start_run(tmp_path / "run", max_updates=5).train()
    for path in checkpoints(tmp_path / "run" / "checkpoints"):
        (path / "training.json").write_text("{")
    with pytest.raises(CheckpointError, match="no checkpoint is sound"):
        start_run(tmp_path / "run").train(resume=True)


def test_checkpoints_are_written_by_the_clock_too(tmp_path):
    recipe = replace(small_recipe(), checkpoint_every=None, checkpoint_minutes=0)
    Run(tmp_path / "run", number_corpus(), recipe, quiet=True).train()
    assert [path.name for path in checkpoints(tmp_path / "run" / "checkpoints")] == ["0000007", "0000008"]


def test_a_full_disk_loses_nothing_that_was_written(tmp_path, capsys):
    """The size of files is limited, as a full disk would: writes fail in the middle of a file."""
    start_run(tmp_path / "run", max_updates=5).train()
    process = SERVER.Process(target=resume_on_a_full_disk, args=(tmp_path / "run",))
    process.start()
    process.join()
    assert process.exitcode == 3
    assert [path.name for path in (tmp_path / "run" / "checkpoints").iterdir() if path.name.startswith(".")] == []
    start_run(tmp_path / "whole").train()
    start_run(tmp_path / "run").train(resume=True)
    whole, parts = final_weights(tmp_path / "whole"), final_weights(tmp_path / "run")
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


def resume_on_a_full_disk(folder):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    run = start_run(folder)
    run.checkpoint = lambda update, checkpoint=run.checkpoint: (
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)),
        checkpoint(update),
    )
    try:
        run.train(resume=True)
    except InputError as error:
        os._exit(3 if "update 8 could not be written" in str(error) and "is of update 5" in str(error) else 4)
    os._exit(5)


def test_a_loss_that_is_no_number_is_traced_to_its_batch(tmp_path):
    run = start_run(tmp_path / "run", max_updates=20, accumulate=2)
    prepare = run.prepare

    def prepare_with_a_poisoned_batch():
        prepare()
        (_, poisoned), _ = next(run.data.train.updates(start=7, accumulate=2))
        run.engine.objective.register_forward_hook(
            lambda module, args, loss: loss * (math.nan if torch.equal(args[0], poisoned.source) else 1)
        )

    run.prepare = prepare_with_a_poisoned_batch
    with pytest.raises(TrainingStopped, match="the first loss that is not finite is that of update 8") as caught:
        run.train()
    assert "From the checkpoint of update 6, replayed" in str(caught.value)
    found = json.loads((tmp_path / "run" / "bad_batch" / "batch.json").read_text())
    assert found["update"] == 8
    rows = next(run.data.train.indices(start=15))
    texts = [run.corpus.train[row][0] for row in rows]
    assert [source for source, _ in found["sentences"]] == texts
    for checkpoint in checkpoints(tmp_path / "run" / "checkpoints"):
        assert int(checkpoint.name) < 8
        assert all(weight.isfinite().all() for weight in read_tensors(checkpoint / "model.safetensors").values())


def test_development_scores_have_a_loss_and_bleu(tmp_path):
    start_run(tmp_path / "run").train()
    entries = [entry for entry in read_log(tmp_path / "run" / "log.jsonl") if "dev_loss" in entry]
    assert all(0 <= entry["dev_bleu"] <= 100 for entry in entries)
    assert entries


def test_watchers_see_every_entry_of_the_log(tmp_path):
    run, seen = start_run(tmp_path / "run"), []
    run.watchers = [seen.append]
    run.train()
    assert seen == read_log(tmp_path / "run" / "log.jsonl")


def test_every_recipe_has_a_corpus():
    assert {corpus_of(name) for name in RECIPES} <= set(CORPORA)


def test_every_recipe_makes_a_model_and_reaches_its_peak_rate():
    for name in (*RECIPES, "my.tsv"):
        recipe = recipe_for(name)
        assert recipe.transformer_config(recipe.vocab_size).vocab_size == recipe.vocab_size
        assert recipe.training.warmup_steps < recipe.training.max_updates / 2
        if recipe.checkpoint_every is not None:
            assert recipe.checkpoint_every * recipe.average_last <= recipe.training.max_updates / 2
