"""A filmed training: the film is of the training that `Run` makes, and nothing of it is lost on the way to disk."""

import json
from itertools import accumulate

import numpy as np
import pytest
import torch
from helpers import number_corpus, small_recipe

from transformer_lib.charts.examples import KINDS
from transformer_lib.corpus.files import InputError, shipped
from transformer_lib.corpus.sources import load_corpus
from transformer_lib.corpus.tokenizer import Tokenizer
from transformer_lib.model import Transformer
from transformer_lib.run.filming import film_training, mean_losses
from transformer_lib.run.recipes import recipe_for
from transformer_lib.run.records import load_film, read_log
from transformer_lib.run.trainer import Run
from transformer_lib.run.translator import Translator

PAIR = "one two seven", "sieben zwei eins"


def film_in(folder, *moments, **training):
    return film_training(folder, number_corpus(), small_recipe(**training), PAIR, moments, quiet=True)


def stored(folder, film):
    path = folder / "film.json"
    path.write_text(json.dumps(film), encoding="utf-8")
    return load_film(path)


def assert_same_attention(found, expected):
    assert (found.source, found.target) == (expected.source, expected.target)
    for kind in KINDS:
        np.testing.assert_allclose(getattr(found, kind), getattr(expected, kind), atol=0.04)


def test_the_film_is_of_the_training_that_a_run_makes(tmp_path):
    film = stored(tmp_path, film_in(tmp_path / "film", 0, 5, 8, warmup_steps=2, rate_scale=2.0))
    run = Run(tmp_path / "run", number_corpus(), small_recipe(warmup_steps=2, rate_scale=2.0), quiet=True)
    run.train()
    assert [update for update, _ in film["moments"]] == [0, 5, 8]
    trained = Translator.load(tmp_path / "run" / "checkpoints" / "0000008").attention(*PAIR)
    assert_same_attention(film["moments"][-1][1], trained)
    before = [example for _, example in film["moments"][:-1]]
    assert all(abs(example.cross - trained.cross).max() > 0.05 for example in before)
    logged = [entry for entry in read_log(tmp_path / "run" / "log.jsonl") if "loss" in entry]
    tokens = [entry["tokens"] for entry in logged]
    mean = sum(entry["loss"] * entry["tokens"] for entry in logged) / sum(tokens)
    assert film["losses"][-1] == [8, pytest.approx(mean, abs=0.05)]


def test_the_first_moment_is_the_model_before_its_first_update(tmp_path):
    film = stored(tmp_path, film_in(tmp_path / "film", 0))
    tokenizer = Tokenizer.load(tmp_path / "film" / "tokenizer.model")
    torch.manual_seed(small_recipe().training.seed)
    fresh = Transformer(small_recipe().transformer_config(tokenizer.vocab_size))
    assert_same_attention(film["moments"][0][1], Translator(fresh, tokenizer).attention(*PAIR))


def test_a_camera_does_not_change_the_training(tmp_path):
    often = film_in(tmp_path / "often", *range(9))
    once = film_in(tmp_path / "once", 8)
    assert often["losses"] == once["losses"]
    assert often["moments"][-1] == once["moments"][0]


def test_aligned_words_are_outlined_in_the_row_that_chooses_the_target_piece(tmp_path):
    film = stored(
        tmp_path,
        film_training(
            tmp_path / "film",
            number_corpus(),
            small_recipe(),
            PAIR,
            [0],
            alignment=[(0, 2), (1, 1), (2, 0)],
            quiet=True,
        ),
    )
    example = film["moments"][0][1]
    german = list(accumulate(piece.startswith("▁") for piece in example.target[1:]))  # the word of each piece, from 1
    for row, number in enumerate(german):
        keys = "".join(example.source[key] for outlined, key in example.gold if outlined == row)
        assert keys == ["▁seven", "▁two", "▁one"][number - 1]


def test_a_film_says_how_it_was_made(tmp_path):
    film = film_in(tmp_path / "film", 8)
    assert film["recipe"] == {"data": "numbers", **small_recipe().to_dict()}
    assert {"torch", "device", "date", "commit"} <= film["environment"].keys()


@pytest.mark.parametrize("moments", [(), (0, 9), (-1, 3)])
def test_moments_that_the_training_does_not_have_are_refused_before_it_begins(tmp_path, moments):
    with pytest.raises(InputError, match="expected updates from 0 to 8"):
        film_in(tmp_path / "film", *moments)
    assert not (tmp_path / "film").exists()


def test_losses_are_means_of_blocks_after_that_of_the_first_update():
    assert mean_losses([8.0, 4.0, 3.0, 2.0, 1.0], every=2) == [(1, 8.0), (2, 6.0), (4, 2.5), (5, 1.0)]


def test_the_shipped_film_is_of_the_lab_recipe_and_of_a_test_sentence():
    film = load_film("lab-en-de")
    today = {"data": "lab", **json.loads(json.dumps(recipe_for("lab").to_dict()))}
    assert film["recipe"].items() <= today.items()
    assert film["environment"]["commit"]
    updates = [update for update, _ in film["moments"]]
    assert (len(updates), updates[0], updates[-1]) == (10, 0, recipe_for("lab").training.max_updates)
    assert film["moments"][0][1].heads == (3, 4)
    assert shipped("films/lab-en-de.json").stat().st_size < 150 * 1024
    sentences = {source for source, _ in load_corpus("lab").test}
    assert film["moments"][0][1].title in sentences
