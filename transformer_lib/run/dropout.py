"""Dropout for training on a CPU: a quarter of the random numbers, drawn 64 bits at a time."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

LEVELS = 1 << 16  # what one 16-bit number tells apart


def dropped_levels(p: float) -> int:
    """How many of the 65,536 levels mean "drop": the probability in use is this over 65,536, within 8e-6 of `p`."""
    return min(round(p * LEVELS), LEVELS - 1)


def dropout_factors(shape: torch.Size, p: float, dtype: torch.dtype = torch.float32) -> Float[Tensor, "..."]:
    """Independent factors of the given shape: 0 with probability about `p`, else 1 over the probability of keeping.

    Their expectation is 1: the scale is that of the probability in use, not of `p`. Each takes 16 bits,
    four of them from one 64-bit draw of PyTorch's CPU generator, which `torch.manual_seed` sets.
    """
    count, dropped = shape.numel(), dropped_levels(p)
    # From -2**63 without an end: the only call that fills all 64 bits; plain `random_()` leaves the sign bit 0.
    draws = torch.empty(-(-count // 4), dtype=torch.int64).random_(-(2**63), None)
    levels = draws.view(torch.int16)[:count].view(shape)
    # float32 holds every 16-bit number exactly; comparing in place gives 0.0 or 1.0 without a pass over booleans.
    kept = levels.float().ge_(dropped - LEVELS // 2)
    return kept.to(dtype).mul_(LEVELS / (LEVELS - dropped))


class FastDropout(nn.Dropout):
    """`nn.Dropout` for tensors on a CPU: the same distribution, other random numbers, a fraction of the time."""

    def forward(self, x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """`x` times `dropout_factors` in training, `x` itself in evaluation; `nn.Dropout` where that cannot gain."""
        if not self.training or self.p in (0, 1) or self.inplace or x.device.type != "cpu":
            return super().forward(x)
        return x * dropout_factors(x.shape, self.p, x.dtype)


def with_fast_dropout(model: nn.Module) -> nn.Module:
    """The same model, each `nn.Dropout` in it replaced by `FastDropout`; names, weights and modes stay."""
    for module in list(model.modules()):
        for name, child in module.named_children():
            if type(child) is nn.Dropout:
                fast = FastDropout(child.p, child.inplace)
                module.add_module(name, fast.train(child.training))
    return model
