"""Runs the updates of chapter 14 on the hardware at hand: shared, compiled, in mixed precision."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from transformer_lib.batching import Batch
from transformer_lib.model import Transformer
from transformer_lib.run.dropout import with_fast_dropout
from transformer_lib.run.fused_loss import FusedLoss
from transformer_lib.run.hardware import Hardware
from transformer_lib.schedule import paper_adam, set_learning_rate
from transformer_lib.training import SummedLoss, add_gradients


class MixedPrecision(nn.Module):
    """An objective whose matrix products are computed in `dtype`; weights, sums and losses stay in 32 bits."""

    def __init__(self, objective: nn.Module, dtype: torch.dtype) -> None:
        super().__init__()
        self.objective, self.dtype = objective, dtype

    def forward(self, *batch: Tensor) -> Tensor:
        """The objective's loss; `batch` is what the objective takes."""
        with torch.autocast(batch[0].device.type, self.dtype):
            return self.objective(*batch)


def objective_for(model: Transformer, smoothing: float, device: torch.device) -> nn.Module:
    """`SummedLoss`, on a CPU with the dropout and the loss that are made for it."""
    on_gpu = device.type == "cuda"
    return SummedLoss(model, smoothing) if on_gpu else FusedLoss(with_fast_dropout(model), smoothing)


class Engine:
    """A model, its optimizer and `step`, which does what `train_step` does, as fast as the hardware allows.

    The objective is compiled once for all shapes on a GPU (on a CPU compiling does not pay), and wrapped
    for sharing where there are several processes. `scaler` keeps small gradients from vanishing in
    float16 and does nothing otherwise.
    """

    def __init__(
        self, model: Transformer, smoothing: float, hardware: Hardware, *, compiled: bool | None = None
    ) -> None:
        self.hardware, on_gpu = hardware, hardware.device.type == "cuda"
        objective = objective_for(model, smoothing, hardware.device)
        if hardware.precision is not None:
            objective = MixedPrecision(objective, hardware.precision)
        if on_gpu if compiled is None else compiled:
            objective.compile(dynamic=True)
        self.objective = hardware.accelerator.prepare_model(objective)
        self.optimizer = paper_adam(model.parameters())
        self.scaler = torch.amp.GradScaler(hardware.device.type, enabled=hardware.precision is torch.float16)

    def step(self, batches: Sequence[Batch], tokens: int, rate: float) -> Tensor:
        """One update from this process's batches; returns the loss of all in nats a token, on the device.

        `tokens` counts the real target tokens of all processes. Sharing averages gradients over processes,
        so each divides its own by its even share of the tokens. Gradients travel once, with the last batch.
        """
        share = tokens / self.hardware.world
        self.optimizer.zero_grad()
        with self.hardware.accelerator.no_sync(self.objective):
            loss = add_gradients(self.objective, batches[:-1], share, self.backward)
        loss = loss.to(self.hardware.device) + add_gradients(self.objective, batches[-1:], share, self.backward)
        self.apply_gradients(rate)
        return self.hardware.mean(loss)

    def apply_gradients(self, rate: float) -> None:
        """Let the optimizer move the weights."""
        set_learning_rate(self.optimizer, rate)
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def backward(self, loss: Tensor) -> None:
        """Gradients of a loss, scaled where float16 needs it."""
        self.scaler.scale(loss).backward()
