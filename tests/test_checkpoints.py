"""Checkpoints: training goes on exactly, damage is noticed, and enough of them stay."""

import json

import pytest
import torch
from helpers import number_pairs

from transformer_lib.batching import TokenBatches, encode_pairs
from transformer_lib.corpus.tokenizer import Tokenizer
from transformer_lib.model import Transformer, TransformerConfig
from transformer_lib.run.checkpoints import TrainingState, check_sound, checkpoints, keep_newest, sound_checkpoints
from transformer_lib.run.store import FORMAT, CheckpointError
from transformer_lib.schedule import paper_adam
from transformer_lib.training import TrainingConfig, train


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train((text for pair in number_pairs(50) for text in pair), 300)


def small_model(tokenizer: Tokenizer) -> Transformer:
    sizes = {"d_model": 12, "d_ff": 19, "num_heads": 2, "num_layers": 2}
    return Transformer(TransformerConfig(tokenizer.vocab_size, **sizes))  # dropout 0.1: the generator matters


def save(folder, tokenizer, update=0):
    model = small_model(tokenizer)
    state = TrainingState(update, paper_adam(model.parameters()), {"rng": torch.get_rng_state()[None]})
    state.save(folder / f"{update:07d}", model, tokenizer)
    return folder / f"{update:07d}"


@pytest.mark.parametrize("updates", [0, 5])
def test_resumed_training_equals_uninterrupted_training_bitwise(tokenizer, tmp_path, updates):
    data = TokenBatches(encode_pairs(number_pairs(97), tokenizer.encode_all), 67)
    torch.manual_seed(1)
    model = small_model(tokenizer)
    optimizer = paper_adam(model.parameters())
    train(
        model,
        data,
        TrainingConfig(max_updates=max(updates, 1), max_tokens=67),
        optimizer=optimizer,
        start=1 - min(updates, 1),
    )
    TrainingState(updates, optimizer, {"rng": torch.get_rng_state()}).save(tmp_path / "c", model, tokenizer)
    train(model, data, TrainingConfig(max_updates=11, max_tokens=67), optimizer=optimizer, start=updates)

    torch.manual_seed(99)
    resumed = small_model(tokenizer)
    fresh = paper_adam(resumed.parameters())
    state = TrainingState.restore(tmp_path / "c", resumed, fresh)
    torch.set_rng_state(state.random["rng"])
    train(resumed, data, TrainingConfig(max_updates=11, max_tokens=67), optimizer=fresh, start=state.update)
    assert state.update == updates
    for name, weight in resumed.named_parameters():
        assert torch.equal(weight, dict(model.named_parameters())[name]), name


@pytest.mark.parametrize("name", ["model.safetensors", "training.safetensors", "config.json", "tokenizer.model"])
def test_a_single_changed_byte_is_noticed(tokenizer, tmp_path, name):
    path = save(tmp_path, tokenizer) / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=f"{name} is damaged"):
        check_sound(path.parent)
    path.unlink()
    with pytest.raises(CheckpointError, match=f"{name} is missing"):
        check_sound(path.parent)


def test_damaged_checkpoints_are_passed_over_aloud(tokenizer, tmp_path, capsys):
    good, cut, empty = (save(tmp_path, tokenizer, update) for update in (3, 7, 11))
    (cut / "training.safetensors").write_bytes((cut / "training.safetensors").read_bytes()[:100])
    (empty / "training.json").unlink()
    assert list(sound_checkpoints(tmp_path)) == [good]
    said = capsys.readouterr().err
    assert "0000011/training.json is missing" in said
    assert "0000007/training.safetensors is damaged" in said


def test_older_checkpoints_keep_only_what_an_average_needs(tokenizer, tmp_path):
    paths = [save(tmp_path, tokenizer, update) for update in (3, 7, 11, 13)]
    keep_newest(tmp_path, 4)
    assert list(sound_checkpoints(tmp_path, weights_only=True)) == paths[::-1]
    assert [(path / "training.safetensors").exists() for path in paths] == [False, False, True, True]
    with pytest.raises(CheckpointError, match=r"training\.safetensors is missing"):
        check_sound(paths[0])


def test_a_newer_format_is_refused(tokenizer, tmp_path):
    folder = save(tmp_path, tokenizer)
    stored = json.loads((folder / "training.json").read_text())
    (folder / "training.json").write_text(json.dumps({**stored, "format": FORMAT + 1}))
    with pytest.raises(CheckpointError, match="upgrade"):
        check_sound(folder)


def test_keep_newest_keeps_the_regular_ones_and_the_newest_two(tmp_path):
    for update in (0, 10, 20, 27, 30, 33, 35):
        (tmp_path / f"{update:07d}").mkdir()
    keep_newest(tmp_path, 2, every=10)
    assert [int(path.name) for path in checkpoints(tmp_path)] == [20, 30, 33, 35]
    keep_newest(tmp_path, 3)
    assert [int(path.name) for path in checkpoints(tmp_path)] == [30, 33, 35]
    keep_newest(tmp_path, 1)
    assert [int(path.name) for path in checkpoints(tmp_path)] == [33, 35]
