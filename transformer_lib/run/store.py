"""Models on disk: safetensors and JSON, written so that what was there is never lost."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from transformer_lib.corpus.files import InputError, write_folder
from transformer_lib.corpus.tokenizer import Tokenizer
from transformer_lib.model import Transformer, TransformerConfig

FORMAT = 1  # of the files below; a larger number is refused


class CheckpointError(InputError):
    """A checkpoint cannot be used; the message says which and why."""


def write_json(path: Path, value: Any) -> None:
    """JSON that a person can read and a diff can show."""
    Path(path).write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_json(path: Path) -> Any:
    """The JSON file at `path`; CheckpointError when it is missing or no JSON."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CheckpointError(f"{path} is missing") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise CheckpointError(f"{path} is damaged: {error}") from None


def save_model(folder: Path, model: Transformer, tokenizer: Tokenizer, dtype: torch.dtype = torch.float32) -> None:
    """Write weights, config and vocabulary to `folder`: all that `load_model` needs."""
    write_folder(folder, lambda beside: fill_model(beside, model, tokenizer, dtype))


def fill_model(folder: Path, model: Transformer, tokenizer: Tokenizer, dtype: torch.dtype) -> None:
    """Write the files of a model into an existing folder. A tied matrix is stored once."""
    weights = {name: weight.detach().to("cpu", dtype) for name, weight in model.named_parameters()}
    save_tensors(weights, folder / "model.safetensors")
    write_json(folder / "config.json", {"format": FORMAT, "model": model.config.to_dict()})
    tokenizer.save(folder / "tokenizer.model")


def load_model(
    folder: Path, *, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32
) -> tuple[Transformer, Tokenizer]:
    """The model and the vocabulary that `save_model` wrote; CheckpointError says what is wrong with them."""
    config = read_config(folder)
    tokenizer = Tokenizer.load(Path(folder) / "tokenizer.model")
    if tokenizer.vocab_size != config.vocab_size:
        raise CheckpointError(
            f"{folder}: the vocabulary has {tokenizer.vocab_size} pieces, the model expects {config.vocab_size}"
        )
    model = Transformer(config)
    load_weights(model, Path(folder) / "model.safetensors")
    return model.to(device, dtype).eval(), tokenizer


def read_config(folder: Path) -> TransformerConfig:
    """The config of the model in `folder`."""
    stored = read_json(Path(folder) / "config.json")
    check_format(folder, stored)
    try:
        return TransformerConfig.from_dict(stored["model"])
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{folder}: config.json describes no model: {error}") from None


def check_format(folder: Path, stored: Any) -> None:
    """Refuse files that a newer version of the library wrote."""
    version = stored.get("format") if isinstance(stored, dict) else None
    if not isinstance(version, int) or version < 1:
        raise CheckpointError(
            f"{folder} is not a checkpoint of this library: expected a format number, found {version!r}"
        )
    if version > FORMAT:
        raise CheckpointError(f"{folder}: written in format {version}, this version reads up to {FORMAT}: upgrade")


def save_tensors(tensors: dict[str, torch.Tensor], path: Path) -> None:
    """Write a safetensors file; OSError when the disk does not take it."""
    try:
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)
        Path(path).chmod(0o644)  # safetensors leaves the file readable to its owner alone
    except SafetensorError as error:  # the library's own error also stands for a full disk
        raise OSError(f"cannot write {path}: {error}") from error


def read_tensors(path: Path) -> dict[str, torch.Tensor]:
    """Tensors of a safetensors file; CheckpointError when it is missing or truncated."""
    try:
        return load_file(path)
    except FileNotFoundError:
        raise CheckpointError(f"{path} is missing") from None
    except SafetensorError as error:
        raise CheckpointError(f"{path} is truncated or damaged: {error}") from None


def load_weights(model: Transformer, path: Path) -> None:
    """Fill `model` with the weights at `path`; CheckpointError when they belong to another config."""
    stored = read_tensors(path)
    wanted = dict(model.named_parameters())
    if stored.keys() != wanted.keys():
        names = ", ".join(sorted(stored.keys() ^ wanted.keys())[:3])
        raise CheckpointError(f"{path} belongs to another config: {names} … are in only one of the two")
    for name, weight in wanted.items():
        if stored[name].shape != weight.shape:
            shapes = f"{tuple(stored[name].shape)}, the config asks for {tuple(weight.shape)}"
            raise CheckpointError(f"{path} belongs to another config: {name} has shape {shapes}")
        weight.data.copy_(stored[name])
