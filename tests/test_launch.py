"""One cell that trains, and goes on when it is run again."""

from dataclasses import replace

from helpers import small_recipe, write_tsv

from transformer_lib.run.checkpoints import checkpoints
from transformer_lib.run.launch import train_on_all
from transformer_lib.run.translator import Translator


def test_the_same_call_begins_and_goes_on(tmp_path, capfd):
    data, recipe = str(write_tsv(tmp_path / "pairs.tsv")), replace(small_recipe(), bleu_sentences=0)
    train_on_all(tmp_path / "run", data, recipe=recipe.with_training(max_updates=4))
    folder = train_on_all(tmp_path / "run", data, recipe=recipe)
    assert checkpoints(tmp_path / "run" / "checkpoints")[-1].name == "0000008"
    assert len(Translator.load(folder).translate(["one two"])) == 1
