"""Where a training runs: one device or several processes that act as one, started and joined by Accelerate."""

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState, PartialState
from accelerate.utils import DistributedDataParallelKwargs

from transformer_lib.corpus.files import InputError


class Hardware:
    """The device of this process, its place among the others, and the precision that the chip is fast in.

    Under `torchrun` or `accelerate launch` there is one process a device; otherwise there is one in all.
    Accelerate places the model and wraps it for sharing gradients. Everything else that it offers is left
    alone: its defaults would pickle the state, repeat samples and divide by the wrong number of tokens.
    """

    def __init__(self, device: str = "auto") -> None:
        if device.startswith("cuda") and not torch.cuda.is_available():
            raise InputError(f"device {device!r}: this machine, or its build of PyTorch, has no CUDA GPU")
        on_cpu = device == "cpu" or (device == "auto" and not torch.cuda.is_available())
        self.accelerator = start_accelerator(on_cpu)
        self.device = self.accelerator.device
        self.rank, self.world = self.accelerator.process_index, self.accelerator.num_processes
        self.precision = fast_precision(self.device)
        if self.device.type == "cuda":
            torch.set_float32_matmul_precision("high")  # TF32, for what stays in 32 bits

    @property
    def is_main(self) -> bool:
        """True in the one process that writes files and speaks."""
        return self.rank == 0

    def wait(self) -> None:
        """Wait until every process is here."""
        self.accelerator.wait_for_everyone()

    def mean(self, value: torch.Tensor) -> torch.Tensor:
        """The mean of a number over all processes, in each of them."""
        return value if self.world == 1 else self.accelerator.reduce(value, reduction="mean")

    def any(self, flag: bool) -> bool:
        """True in every process when it is true in one."""
        if self.world == 1:
            return flag
        return self.mean(torch.tensor(float(flag), device=self.device)).item() > 0

    def random_states(self) -> dict[str, torch.Tensor]:
        """The random generators of all processes, a row each; every process must call this."""
        states = {"rng": torch.get_rng_state()}
        if self.device.type == "cuda":
            states["rng.cuda"] = torch.cuda.get_rng_state(self.device)
        return {name: self.accelerator.gather(state[None].to(self.device)).cpu() for name, state in states.items()}

    def restore_random_states(self, states: dict[str, torch.Tensor]) -> None:
        """Put this process's generators back; a process that the states do not know goes on with fresh noise."""
        if self.rank >= len(states["rng"]):
            self.part_noise(int(states["rng"][0].sum()))
            return
        torch.set_rng_state(states["rng"][self.rank].clone())  # of a row of a matrix, PyTorch would read the first
        if self.device.type == "cuda" and "rng.cuda" in states:
            torch.cuda.set_rng_state(states["rng.cuda"][self.rank].clone(), self.device)

    def part_noise(self, seed: int) -> None:
        """Give every process but the main one noise of its own: dropout must differ between them."""
        if not self.is_main:
            torch.manual_seed(seed + self.rank)


def start_accelerator(on_cpu: bool) -> Accelerator:
    """Accelerate on a CPU or not; it remembers the first device of a Python process, which may be another."""
    used_before = PartialState._shared_state.get("device")
    if used_before is not None and (used_before.type == "cpu") != on_cpu:
        AcceleratorState._reset_state(reset_partial_state=True)
    sharing = DistributedDataParallelKwargs(gradient_as_bucket_view=True)
    return Accelerator(cpu=on_cpu, mixed_precision="no", kwargs_handlers=[sharing])


def fast_precision(device: torch.device) -> torch.dtype | None:
    """The type for matrix products on a device: bfloat16 or float16 where the chip has them, None for float32.

    PyTorch also says yes to bfloat16 where it is emulated, on a T4 for example, and slower than float32.
    """
    if device.type != "cuda":
        return None
    if torch.cuda.is_bf16_supported(including_emulation=False):
        return torch.bfloat16
    return torch.float16 if torch.cuda.get_device_capability(device) >= (7, 0) else None
