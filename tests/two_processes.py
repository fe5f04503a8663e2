"""Train in the processes that `torchrun` starts, in float64 without dropout, and write the weights: FILE ACCUMULATE."""

import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent))
from helpers import number_batches

from transformer_lib.model import Transformer, TransformerConfig
from transformer_lib.run.engine import Engine
from transformer_lib.run.hardware import Hardware
from transformer_lib.run.loading import SharedBatches
from transformer_lib.run.store import save_tensors
from transformer_lib.training import TrainingConfig, train

UPDATES = 20


def train_shared(accumulate: int) -> tuple[Hardware, dict[str, torch.Tensor], list[float]]:
    """Twenty updates on this process's share; returns the weights and the losses."""
    hardware = Hardware("cpu")
    data = number_batches(43)
    torch.manual_seed(hardware.rank)  # unequal weights, which sharing must make equal
    sizes = {"d_model": 16, "d_ff": 23, "num_heads": 2, "num_layers": 2, "dropout": 0.0}
    model = Transformer(TransformerConfig.tiny(300, **sizes)).double()
    engine = Engine(model, 0.1, hardware)
    config = TrainingConfig(UPDATES, max_tokens=43, accumulate=accumulate, warmup_steps=7)
    shared = SharedBatches(data, hardware.rank, hardware.world)
    losses = train(model, shared, config, step=engine.step)
    return hardware, {name: weight.detach().clone() for name, weight in model.named_parameters()}, losses


if __name__ == "__main__":
    hardware, weights, losses = train_shared(int(sys.argv[2]))
    if hardware.is_main:
        save_tensors({**weights, "losses": torch.tensor(losses, dtype=torch.float64)}, Path(sys.argv[1]))
