"""When a loss is no longer a number: run the updates since the last checkpoint again and keep the batch that did it."""

import math
from pathlib import Path

from transformer_lib.batching import Batch
from transformer_lib.corpus.files import InputError
from transformer_lib.corpus.tokenizer import Tokenizer
from transformer_lib.run.engine import Engine
from transformer_lib.run.loading import SharedBatches
from transformer_lib.run.store import save_tensors, write_folder, write_json
from transformer_lib.schedule import learning_rate
from transformer_lib.training import TrainingConfig, add_gradients


class TrainingStopped(InputError):
    """A training cannot go on as it is; the message says why and where it stands."""


def find_bad_batch(
    engine: Engine, data: SharedBatches, config: TrainingConfig, d_model: int, start: int, end: int
) -> tuple[int, Batch] | None:
    """Run updates `start` + 1 to `end` again, each batch by itself, and stop at the first whose loss is not finite.

    Returns its update and the batch, which in all processes but one is the one that they had at the time;
    None when the failure does not repeat.
    """
    updates = data.updates(start, config.accumulate)
    for number in range(start + 1, end + 1):
        batches, tokens = next(updates)
        engine.optimizer.zero_grad()
        for batch in batches:
            loss = add_gradients(engine.objective, [batch], tokens / engine.hardware.world, engine.backward)
            if engine.hardware.any(not math.isfinite(loss.item())):
                return number, batch
        engine.apply_gradients(learning_rate(number, d_model, config.warmup_steps, config.rate_scale))
    return None


def save_batch(folder: Path, batch: Batch, tokenizer: Tokenizer, update: int) -> None:
    """Write a batch for a person to look at: the ids, and the sentences as text."""
    batch = batch.to("cpu")

    def fill(beside: Path) -> None:
        tensors = {"source": batch.source, "target_in": batch.target_in, "target_out": batch.target_out}
        save_tensors(tensors, beside / "batch.safetensors")
        pairs = zip(batch.source.tolist(), batch.target_out.tolist(), strict=True)
        sentences = [[tokenizer.decode(source), tokenizer.decode(target)] for source, target in pairs]
        write_json(beside / "batch.json", {"update": update, "sentences": sentences})

    write_folder(folder, fill)
