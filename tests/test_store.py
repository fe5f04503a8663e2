"""Checkpoints: what is written comes back, what is damaged is named, what was there is never lost."""

import json

import pytest
import torch
from helpers import number_pairs

from transformer_lib.corpus.tokenizer import Tokenizer
from transformer_lib.model import Transformer, TransformerConfig
from transformer_lib.run.store import (
    FORMAT,
    CheckpointError,
    load_model,
    save_model,
    write_folder,
)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train((text for pair in number_pairs(50) for text in pair), 300)


def small_model(tokenizer: Tokenizer, **changes) -> Transformer:
    sizes = {"d_model": 12, "d_ff": 19, "num_heads": 2, "num_layers": 2, **changes}
    return Transformer(TransformerConfig(tokenizer.vocab_size, **sizes))


@pytest.mark.parametrize("changes", [{}, {"tie_embeddings": False, "norm": "pre", "positions": "learned"}])
def test_a_saved_model_comes_back_the_same(tokenizer, tmp_path, changes):
    model = small_model(tokenizer, **changes).eval()
    save_model(tmp_path / "m", model, tokenizer)
    loaded, again = load_model(tmp_path / "m")
    source, target = torch.tensor([[5, 6, 3]]), torch.tensor([[2, 7]])
    assert torch.equal(loaded(source, target), model(source, target))
    assert loaded.config == model.config
    assert not loaded.training
    assert again.to_bytes() == tokenizer.to_bytes()


def test_half_precision_halves_the_file_and_loads_as_float32(tokenizer, tmp_path):
    model = small_model(tokenizer, d_model=64).eval()
    save_model(tmp_path / "full", model, tokenizer)
    save_model(tmp_path / "half", model, tokenizer, torch.float16)
    sizes = [(tmp_path / name / "model.safetensors").stat().st_size for name in ("full", "half")]
    assert sizes[1] < 0.6 * sizes[0]
    loaded, _ = load_model(tmp_path / "half")
    weight = loaded.source_embedding.weight
    assert weight.dtype == torch.float32
    torch.testing.assert_close(weight, model.source_embedding.weight, atol=1e-3, rtol=1e-3)


def test_a_tied_matrix_is_stored_once(tokenizer, tmp_path):
    save_model(tmp_path / "m", small_model(tokenizer), tokenizer)
    loaded, _ = load_model(tmp_path / "m")
    assert loaded.output.weight is loaded.source_embedding.weight is loaded.target_embedding.weight


def damage_truncate(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    return "truncated or damaged"


def damage_remove(folder):
    (folder / "model.safetensors").unlink()
    return "model.safetensors is missing"


def damage_newer(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"format": FORMAT + 1}))
    return f"written in format {FORMAT + 1}, this version reads up to {FORMAT}"


def damage_other_sizes(folder):
    config = json.loads((folder / "config.json").read_text())
    config["model"]["d_ff"] = 20
    (folder / "config.json").write_text(json.dumps(config))
    return r"belongs to another config: .* has shape \(19, 12\), the config asks for \(20, 12\)"


def damage_other_layers(folder):
    config = json.loads((folder / "config.json").read_text())
    config["model"]["num_layers"] = 3
    (folder / "config.json").write_text(json.dumps(config))
    return "belongs to another config: .*layers.2"


def damage_vocabulary(folder):
    config = json.loads((folder / "config.json").read_text())
    config["model"]["vocab_size"] += 1
    (folder / "config.json").write_text(json.dumps(config))
    return "pieces, the model expects"


def damage_unknown_field(folder):
    config = json.loads((folder / "config.json").read_text())
    config["model"]["rotary"] = True
    (folder / "config.json").write_text(json.dumps(config))
    return "unknown fields in a model's config: rotary"


def damage_json(folder):
    (folder / "config.json").write_text("{")
    return "config.json is damaged"


def damage_not_ours(folder):
    (folder / "config.json").write_text('{"model_type": "marian"}')
    return "is not a checkpoint of this library"


@pytest.mark.parametrize(
    "damage",
    [
        damage_truncate,
        damage_remove,
        damage_newer,
        damage_other_sizes,
        damage_other_layers,
        damage_vocabulary,
        damage_unknown_field,
        damage_json,
        damage_not_ours,
    ],
)
def test_a_damaged_checkpoint_is_named(tokenizer, tmp_path, damage):
    save_model(tmp_path / "m", small_model(tokenizer), tokenizer)
    message = damage(tmp_path / "m")
    with pytest.raises(CheckpointError, match=message) as caught:
        load_model(tmp_path / "m")
    assert str(tmp_path / "m") in str(caught.value)


def test_a_failed_write_leaves_the_old_folder(tmp_path):
    write_folder(tmp_path / "m", lambda folder: (folder / "a").write_text("old"))

    def fail(folder):
        (folder / "a").write_text("new")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_folder(tmp_path / "m", fail)
    assert (tmp_path / "m" / "a").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_a_second_write_replaces_the_folder(tmp_path):
    for text in ("old", "new"):
        write_folder(tmp_path / "m", lambda folder, text=text: (folder / text).write_text(text))
    assert [path.name for path in (tmp_path / "m").iterdir()] == ["new"]
