"""The engine does what `train_step` does: in one process, in two, in mixed precision, compiled."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from accelerate import PartialState
from helpers import number_batches, number_model, write_tsv
from two_processes import UPDATES, train_shared

from transformer_lib.batching import TokenBatches
from transformer_lib.corpus.files import InputError
from transformer_lib.run.checkpoints import checkpoints
from transformer_lib.run.engine import Engine, MixedPrecision
from transformer_lib.run.hardware import Hardware, fast_precision
from transformer_lib.run.loading import SharedBatches, in_background
from transformer_lib.run.store import read_tensors
from transformer_lib.schedule import paper_adam
from transformer_lib.training import SummedLoss, train_step

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def data() -> TokenBatches:
    return number_batches(59)


def in_a_process(*arguments, **variables) -> str:
    """Run Python where no shapes are checked; returns what it printed."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), **variables}
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_engine_does_what_train_step_does(data):
    ours, plain = number_model().double(), number_model().double()
    engine, optimizer = Engine(ours, 0.1, Hardware("cpu")), paper_adam(plain.parameters())
    updates = data.updates(0, 3)
    for number in range(1, 8):
        batches, tokens = next(updates)
        loss = train_step(SummedLoss(plain), optimizer, batches, tokens, 0.01 / number)
        torch.testing.assert_close(engine.step(batches, tokens, 0.01 / number), loss)
    for one, other in zip(ours.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


@pytest.mark.parametrize("accumulate", [1, 2])
def test_two_processes_give_the_weights_of_one(tmp_path, accumulate):
    """With one batch an update its rows are shared, with two each process takes one."""
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    in_a_process(*launcher, "tests/two_processes.py", tmp_path / "shared", str(accumulate))
    _, alone, losses = train_shared(accumulate)
    shared = read_tensors(tmp_path / "shared")
    torch.testing.assert_close(shared.pop("losses"), torch.tensor(losses, dtype=torch.float64), rtol=0, atol=1e-9)
    assert len(losses) == UPDATES
    assert shared.keys() == alone.keys()
    for name, weight in alone.items():
        torch.testing.assert_close(shared[name], weight, rtol=0, atol=1e-9)


def test_two_processes_stop_and_resume_exactly(tmp_path):
    """The whole command, with dropout, whose noise is each process's own."""
    tsv = write_tsv(tmp_path / "my.tsv")
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m", "transformer_lib.run.cli"]
    options = ["--data", tsv, "--recipe", "lab-micro", "--vocab-size", "300", "--max-tokens", "128", "--device", "cpu"]

    def train_to(folder: str, updates: int) -> dict[str, torch.Tensor]:
        arguments = ["--output", tmp_path / folder, "--max-updates", str(updates), "--auto-resume", "--quiet"]
        in_a_process(*launcher, "train", *options, *arguments)
        newest = checkpoints(tmp_path / folder / "checkpoints")[-1]
        return read_tensors(newest / "training.safetensors")

    whole = train_to("whole", 6)
    train_to("parts", 3)
    parts = train_to("parts", 6)
    assert len(whole["rng"]) == 2
    assert not torch.equal(*whole["rng"])
    assert whole.keys() == parts.keys()
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


@pytest.mark.parametrize(("accumulate", "world"), [(1, 2), (3, 2), (4, 2), (6, 3), (1, 7)])
def test_processes_share_every_pair_of_an_update(data, accumulate, world):
    whole = data.updates(0, accumulate)
    parts = [SharedBatches(data, rank, world).updates(0, accumulate) for rank in range(world)]
    for _ in range(5):
        batches, tokens = next(whole)
        shares = [next(part) for part in parts]
        assert {count for _, count in shares} == {tokens}
        assert sum(batch.tokens for mine, _ in shares for batch in mine) == tokens
        rows = [row for batch in batches for row in sentences(batch)]
        assert sorted(row for mine, _ in shares for batch in mine for row in sentences(batch)) == sorted(rows)
        assert len({len(mine) for mine, _ in shares}) == 1


def sentences(batch) -> list[tuple]:
    """Source and target of the rows from which something is learned, without padding."""
    pairs = zip(batch.source.tolist(), batch.target_out.tolist(), strict=True)
    return [tuple(tuple(i for i in side if i) for side in pair) for pair in pairs if any(pair[1])]


def test_a_process_without_rows_adds_nothing(data):
    lonely = SharedBatches(data, 1, 2).collate(data.epoch(0)[0][:0])
    model = number_model()
    loss = SummedLoss(model)(lonely.source, lonely.target_in, lonely.target_out, lonely.real)
    loss.backward()
    assert loss == 0
    assert all(weight.grad is None or not weight.grad.any() for weight in model.parameters())


def test_what_is_prepared_in_the_background_comes_in_order_and_errors_come_too():
    assert list(in_background(iter(range(23)), 3)) == list(range(23))

    def fails():
        yield 7
        raise ValueError("no more")

    items = in_background(fails(), 3)
    assert next(items) == 7
    with pytest.raises(ValueError, match="no more"):
        next(items)


def test_mixed_precision_keeps_weights_and_loss_in_32_bits(data):
    model, batch = number_model(d_model=48, d_ff=96), data.collate(data.epoch(0)[0])
    arguments = (batch.source, batch.target_in, batch.target_out, batch.real)
    loss = MixedPrecision(SummedLoss(model), torch.bfloat16)(*arguments)
    loss.backward()
    assert loss.dtype == torch.float32
    assert {weight.grad.dtype for weight in model.parameters()} == {torch.float32}
    exact = SummedLoss(model)(*arguments)
    assert loss.item() != exact.item()
    torch.testing.assert_close(loss, exact, rtol=0.01, atol=0)


def test_a_scaler_changes_no_update(data):
    ours, plain = number_model(), number_model()
    engine, optimizer = Engine(ours, 0.1, Hardware("cpu")), paper_adam(plain.parameters())
    engine.scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
    batches, tokens = next(data.updates(0, 2))
    loss = engine.step(batches, tokens, 0.01)
    torch.testing.assert_close(loss, train_step(SummedLoss(plain), optimizer, batches, tokens, 0.01))
    for one, other in zip(ours.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_one_compilation_serves_all_shapes():
    """On a GPU the objective is compiled; here with a backend that only records how often."""
    code = """
import torch
from torch._dynamo.testing import CompileCounter
from transformer_lib.model import Transformer, TransformerConfig
from transformer_lib.training import SummedLoss
counter = CompileCounter()
sizes = dict(d_model=16, d_ff=32, num_heads=2, num_layers=2)
objective = SummedLoss(Transformer(TransformerConfig(300, **sizes)))
objective.compile(dynamic=True, backend=counter)
for rows, n_src, n_tgt in ((8, 16, 24), (16, 8, 8), (24, 40, 16), (4, 56, 64), (40, 8, 16)):
    source, target = torch.randint(4, 300, (rows, n_src)), torch.randint(4, 300, (rows, n_tgt))
    objective(source, target, target, torch.arange(target.numel())).backward()
print(counter.frame_count)
"""
    assert int(in_a_process("-c", code).split()[-1]) == 1


def test_hardware_that_is_not_there_is_an_error(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match="no CUDA GPU"):
        Hardware("cuda")


def test_hardware_is_what_was_asked_for_and_not_what_was_used_before(monkeypatch):
    Hardware("cpu")
    monkeypatch.setitem(PartialState._shared_state, "device", torch.device("cuda"))
    assert Hardware("cpu").device == torch.device("cpu")


@pytest.mark.parametrize(
    ("has_bf16", "capability", "expected"),
    [
        (True, (9, 0), torch.bfloat16),  # H100
        (False, (7, 5), torch.float16),  # T4, where bfloat16 is emulated
        (False, (6, 0), None),  # P100, the paper's
    ],
)
def test_precision_is_what_the_chip_is_fast_in(monkeypatch, has_bf16, capability, expected):
    def supported(including_emulation=True):
        return has_bf16 or including_emulation

    monkeypatch.setattr(torch.cuda, "is_bf16_supported", supported)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    assert fast_precision(torch.device("cuda")) == expected
    assert fast_precision(torch.device("cpu")) is None
