"""What ships: the model's size, its card, its scores; and the records that the book draws."""

import json
import os

import pytest
from safetensors import safe_open

from transformer_lib.corpus.files import shipped
from transformer_lib.corpus.sources import load_corpus
from transformer_lib.model import count_parameters
from transformer_lib.run.evaluation import evaluate, evaluate_lab
from transformer_lib.run.recipes import recipe_for
from transformer_lib.run.records import load_record
from transformer_lib.run.translator import Translator


@pytest.fixture(scope="module")
def scores() -> dict:
    return evaluate_lab(Translator.load("lab-en-de").translate)


@pytest.mark.parametrize(
    ("name", "most_bytes", "most_parameters"), [("lab-en-de", 4e6, 1.5e6), ("tatoeba-en-de", 8e6, 4e6)]
)
def test_shipped_models_are_small_and_in_half_precision(name, most_bytes, most_parameters):
    folder = shipped(f"checkpoints/{name}")
    assert sum(path.stat().st_size for path in folder.iterdir()) <= most_bytes
    assert count_parameters(Translator.load(name).model) <= most_parameters
    with safe_open(folder / "model.safetensors", "pt") as weights:
        assert {weights.get_slice(name).get_dtype() for name in weights.keys()} == {"F16"}  # noqa: SIM118


def test_shipped_model_has_a_card_with_its_scores(scores):
    card = (shipped("checkpoints/lab-en-de") / "README.md").read_text(encoding="utf-8")
    for word in ("Data", "Licence", "CC0", "Score"):
        assert word in card
    assert f"BLEU {scores['bleu']}" in card


def test_shipped_model_translates_the_test_set(scores):
    assert scores["sentences"] == 1000
    assert scores["exact_match"] >= 95
    assert scores["bleu"] >= 97


@pytest.mark.parametrize("phenomenon", ["antecedent", "case", "verb-position", "separable", "negation", "agreement"])
def test_shipped_model_is_right_in_every_phenomenon(scores, phenomenon):
    assert scores["phenomena"][phenomenon]["cases"] >= 150
    assert scores["phenomena"][phenomenon]["right"] >= 97


def test_record_of_the_shipped_model_is_of_its_recipe_and_its_scores(scores):
    record = load_record("lab-en-de")
    today = {"data": "lab", **json.loads(json.dumps(recipe_for("lab").to_dict()))}
    assert record["recipe"].items() <= today.items()  # what a later version added changes no weight
    assert record["results"]["test"].items() <= scores.items()
    assert record["log"][-1]["seconds"] <= 600


def test_the_tatoeba_model_has_a_card_with_attribution_and_the_scores_of_its_record():
    card = (shipped("checkpoints/tatoeba-en-de") / "README.md").read_text(encoding="utf-8")
    for words in ("CC BY 2.0 FR", "tatoeba.org", "manythings.org/anki", "Score"):
        assert words in card
    assert f"BLEU {load_record('tatoeba-en-de')['results']['test']['bleu']}" in card


def test_the_tatoeba_model_translates_everyday_sentences():
    outputs = Translator.load("tatoeba-en-de").translate(
        ["Where is the station?", "I love you.", "Can you help me?", ""]
    )
    assert outputs == ["Wo ist der Bahnhof?", "Ich liebe dich.", "Kannst du mir helfen?", ""]


@pytest.mark.skipif("TRANSFORMER_DATA" not in os.environ, reason="needs TRANSFORMER_DATA: a folder with real corpora")
def test_the_tatoeba_model_scores_what_its_record_says():
    """The record is of weights in 32 bits; half of the bits may change a few sentences in a thousand."""
    scores = evaluate(Translator.load("tatoeba-en-de").translate, load_corpus("tatoeba-en-de").test)
    recorded = load_record("tatoeba-en-de")["results"]["test"]
    assert scores["signature"] == recorded["signature"]
    assert scores["bleu"] == pytest.approx(recorded["bleu"], abs=0.5)


@pytest.mark.parametrize("name", sorted(path.name for path in shipped("runs").iterdir()))
def test_every_record_is_whole_and_holds_no_text_of_a_corpus(name):
    record = load_record(name)
    assert record["environment"]["command"].startswith("transformer-lib train ")
    assert record["log"][-1]["update"] <= record["recipe"]["training"]["max_updates"]
    assert "signature" in record["results"]["test"]
    updates = [entry["update"] for entry in record["log"] if "loss" in entry]
    assert updates == sorted(set(updates))
    assert all(isinstance(value, int | float) for entry in record["log"] for value in entry.values())
