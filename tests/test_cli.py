"""The command line as a newcomer uses it, and what it says to bad input."""

import io
import json
import sys

import pytest
import torch
from helpers import number_pairs, write_tsv

from transformer_lib.run.checkpoints import checkpoints
from transformer_lib.run.cli import main

TINY = ["--max-updates", "4", "--max-tokens", "300", "--vocab-size", "300", "--warmup-steps", "1", "--quiet"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> str:
    """The folder of a model that the command line has trained for four updates."""
    folder = tmp_path_factory.mktemp("cli")
    assert main(["train", "--data", str(write_tsv(folder / "my.tsv")), "--output", str(folder / "run"), *TINY]) == 0
    return str(folder / "run" / "model")


def feed(monkeypatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_help_lists_the_commands(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    shown = capsys.readouterr().out
    assert all(command in shown for command in ("lab", "train", "average", "translate", "evaluate", "inspect"))


def test_train_on_aligned_files_writes_a_model_and_scores(tmp_path, capsys):
    pairs = number_pairs(60)
    for index, name in enumerate(("t.en", "t.de")):
        (tmp_path / name).write_text("".join(pair[index] + "\n" for pair in pairs), encoding="utf-8")
    files = ["--source", str(tmp_path / "t.en"), "--target", str(tmp_path / "t.de")]
    assert main(["train", *files, "--output", str(tmp_path / "run"), *TINY]) == 0
    results = json.loads((tmp_path / "run" / "results.json").read_text())
    assert results["test"]["sentences"] >= 1
    assert "13a" in results["test"]["signature"]
    assert str(tmp_path / "run" / "model") in capsys.readouterr().out


def test_dropped_pairs_are_counted_and_reported(tmp_path, capsys):
    tsv = write_tsv(tmp_path / "my.tsv")
    with tsv.open("a", encoding="utf-8") as file:
        file.write(f"one\t\n\teins\n{'two ' * 200}\tzwei\n")
    assert main(["train", "--data", str(tsv), "--output", str(tmp_path / "run"), *TINY]) == 0
    assert "dropped 2 pairs with an empty side and 1 of more than 128 tokens" in capsys.readouterr().err


def test_translate_reads_standard_input(trained, monkeypatch, capsys):
    feed(monkeypatch, b"one two\n\nthree\n")
    assert main(["translate", "--model", trained]) == 0
    lines = capsys.readouterr().out.split("\n")
    assert len(lines) == 4
    assert lines[1] == ""


def test_translate_reads_a_file(trained, tmp_path, capsys):
    (tmp_path / "in.txt").write_text("one\r\ntwo", encoding="utf-8")
    assert main(["translate", "--model", trained, "--input", str(tmp_path / "in.txt")]) == 0
    assert capsys.readouterr().out.count("\n") == 2


def test_translate_names_an_over_long_line(trained, monkeypatch, capsys):
    content = b"one\n" + b"one " * 300 + b"\n"
    feed(monkeypatch, content)
    assert main(["translate", "--model", trained]) == 0
    captured = capsys.readouterr()
    assert "warning: line 2 has" in captured.err
    assert captured.out.count("\n") == 2
    feed(monkeypatch, content)
    assert main(["translate", "--model", trained, "--strict"]) == 2
    captured = capsys.readouterr()
    assert "line 2 has" in captured.err
    assert captured.out == ""


def test_translate_refuses_invalid_utf_8_before_printing(trained, monkeypatch, capsys):
    feed(monkeypatch, b"one\ntwo \xff three\n")
    assert main(["translate", "--model", trained]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "standard input, line 2, byte 5" in captured.err


def test_inspect_measures_every_head_and_says_on_what(trained, tmp_path, capsys):
    tsv = write_tsv(tmp_path / "my.tsv")
    output = tmp_path / "heads.json"
    arguments = ["inspect", "--model", trained, "--data", str(tsv), "--sentences", "1", "--output", str(output)]
    assert main(arguments) == 0
    measures = json.loads(output.read_text())
    assert json.loads(capsys.readouterr().out) == measures
    assert measures["sentences"] == 1
    assert {len(layers) for layers in measures["bleu_without"].values()} == {len(measures["entropy"]["encoder"])}
    assert measures["environment"]["torch"] == torch.__version__


def test_inspect_refuses_no_sentences(trained, tmp_path, capsys):
    tsv = write_tsv(tmp_path / "my.tsv")
    assert main(["inspect", "--model", trained, "--data", str(tsv), "--sentences", "0"]) == 2
    assert "--sentences must be at least 1, not 0" in capsys.readouterr().err


def test_evaluate_prints_and_writes_scores(trained, tmp_path, capsys):
    tsv = write_tsv(tmp_path / "my.tsv")
    output = tmp_path / "scores.json"
    assert main(["evaluate", "--model", trained, "--data", str(tsv), "--output", str(output)]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(output.read_text())


def test_average_writes_a_model(trained, tmp_path):
    assert main(["average", trained, trained, "--output", str(tmp_path / "mean")]) == 0
    assert (tmp_path / "mean" / "model.safetensors").exists()


def test_lab_writes_the_corpus(tmp_path):
    assert main(["lab", "--variant", "lab-micro", "--output", str(tmp_path / "lab")]) == 0
    lines = (tmp_path / "lab" / "test.tsv").read_text(encoding="utf-8").splitlines()
    assert all(line.count("\t") == 1 for line in lines)
    assert len(lines) >= 500


def test_train_goes_on_by_another_recipe_and_writes_for_tensorboard(tmp_path, monkeypatch, capsys):
    """The options of machines that come and go: the same command begins and continues."""
    monkeypatch.chdir(tmp_path)
    tsv = str(write_tsv(tmp_path / "my.tsv"))
    command = ["train", "--data", tsv, "--recipe", "lab-micro", "--vocab-size", "300", "--max-tokens", "128"]
    command += ["--auto-resume", "--tensorboard", "--checkpoint-minutes", "0", "--device", "cpu", "--quiet"]
    assert main([*command, "--max-updates", "2"]) == 0
    assert main([*command, "--max-updates", "4"]) == 0
    run = tmp_path / "runs" / "my"
    recipe = json.loads((run / "recipe.json").read_text())
    assert recipe["model"] == {"d_model": 64, "num_layers": 2}
    assert [path.name for path in checkpoints(run / "checkpoints")][-2:] == ["0000003", "0000004"]
    assert list((run / "tensorboard").iterdir())
    assert json.loads((run / "results.json").read_text())["test"]["sentences"] >= 1


def unequal(folder):
    (folder / "a").write_text("one\ntwo\n")
    (folder / "b").write_text("eins\n")
    return ["train", "--source", str(folder / "a"), "--target", str(folder / "b")], ["2", "1", "lines"]


def invalid_utf_8(folder):
    (folder / "a.tsv").write_bytes(b"one\teins\ntwo\tzw\xe9i\n")
    return ["train", "--data", str(folder / "a.tsv")], ["a.tsv", "line 2", "byte 7"]


def missing_file(folder):
    return ["train", "--source", str(folder / "nowhere.en"), "--target", str(folder / "b")], ["nowhere.en"]


def unknown_corpus(folder):
    return ["train", "--data", "wmt99"], ["wmt99", "multi30k-en-de"]


def unknown_model(folder):
    return ["translate", "--model", "gpt"], ["gpt", "lab-en-de"]


def unwritable_folder(folder):
    (folder / "file").write_text("")
    tsv = write_tsv(folder / "my.tsv")
    return ["train", "--data", str(tsv), "--output", str(folder / "file" / "run")], ["file"]


def nothing_left(folder):
    tsv = folder / "long.tsv"
    tsv.write_text("".join(f"{'one ' * 200}{i}\t{'eins ' * 200}{i}\n" for i in range(30)))
    return ["train", "--data", str(tsv), "--vocab-size", "300"], ["no sentence pair is left", "128"]


def no_updates(folder):
    return ["train", "--data", str(write_tsv(folder / "my.tsv")), "--max-updates", "0"], ["max_updates", "0"]


def too_much_dropout(folder):
    return ["train", "--data", str(write_tsv(folder / "my.tsv")), "--dropout", "1.5"], ["dropout", "1.5"]


def nothing_to_resume(folder):
    tsv = write_tsv(folder / "my.tsv")
    return ["train", "--data", str(tsv), "--output", str(folder / "run"), "--resume"], ["run", "no training to resume"]


def unknown_recipe(folder):
    tsv = write_tsv(folder / "my.tsv")
    return ["train", "--data", str(tsv), "--recipe", "wmt99"], ["wmt99", "wmt14-en-de-base", "tatoeba-en-de"]


def no_gpu(folder):
    return ["train", "--data", str(write_tsv(folder / "my.tsv")), "--device", "cuda"], ["'cuda'", "no CUDA GPU"]


@pytest.mark.parametrize(
    "prepare",
    [
        unequal,
        invalid_utf_8,
        missing_file,
        unknown_corpus,
        unknown_model,
        unwritable_folder,
        nothing_left,
        no_updates,
        too_much_dropout,
        nothing_to_resume,
        unknown_recipe,
        no_gpu,
    ],
)
def test_bad_input_exits_with_2_before_anything_is_written(tmp_path, monkeypatch, capsys, prepare):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    feed(monkeypatch, b"one\n")
    arguments, expected = prepare(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("transformer-lib: ")
    assert captured.err.count("\n") == 1
    for words in expected:
        assert words in captured.err
    assert sorted(tmp_path.rglob("*")) == before
