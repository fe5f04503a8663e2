"""The output matrix and the smoothed loss in one, a few rows at a time: on a CPU, the logits never exist as a whole."""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from transformer_lib.embedding import TokenEmbedding
from transformer_lib.training import SummedLoss

CHUNK = 1 << 21  # logits at a time, 8 MB in float32: about what stays in the last cache


class ProjectedLoss(torch.autograd.Function):
    """`label_smoothing_loss(states @ weight.T, target)` without padding; gradients come with the forward pass.

    With q the smoothed target, the loss of a row is logsumexp(z) - q · z and its gradient softmax(z) - q.
    PyTorch's cross-entropy keeps four arrays of (tokens × vocabulary) for it; on a CPU the time goes into
    asking the system for that memory again in every update.
    """

    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx,
        states: Float[Tensor, "n d_model"],
        weight: Float[Tensor, "vocab d_model"],
        target: Int[Tensor, " n"],
        smoothing: float,
    ) -> Float[Tensor, ""]:
        """The loss in nats, summed over the rows."""
        loss, grad_states, grad_weight = states.new_zeros(()), torch.empty_like(states), torch.zeros_like(weight)
        total = weight.sum(0)  # the sum of a row's logits is its product with this
        rows = max(64, CHUNK // len(weight))
        for start in range(0, len(states), rows):
            x, wanted = states[start : start + rows], target[start : start + rows, None]
            logits = x @ weight.t()
            smoothed = (1 - smoothing) * logits.gather(1, wanted).sum() + smoothing / len(weight) * (x @ total).sum()
            gradient, log_norm = softmax_in_place(logits)
            loss += log_norm.sum() - smoothed
            gradient -= smoothing / len(weight)
            gradient.scatter_add_(1, wanted, gradient.new_full(wanted.shape, smoothing - 1))
            torch.mm(gradient, weight, out=grad_states[start : start + rows])
            grad_weight.addmm_(gradient.t(), x)
        ctx.save_for_backward(grad_states, grad_weight)
        return loss

    @staticmethod
    @once_differentiable
    def backward(
        ctx: torch.autograd.function.FunctionCtx, grad: Float[Tensor, ""]
    ) -> tuple[Tensor, Tensor, None, None]:
        """The stored gradients, times that of the loss."""
        grad_states, grad_weight = ctx.saved_tensors
        return grad_states * grad, grad_weight * grad, None, None


def softmax_in_place(z: Float[Tensor, "n vocab"]) -> tuple[Float[Tensor, "n vocab"], Float[Tensor, " n"]]:
    """Rows of `z` become their softmax; also returns the logarithm of each row's sum of exponentials."""
    highest = z.amax(1, keepdim=True)
    norm = z.sub_(highest).exp_().sum(1, keepdim=True)
    return z.div_(norm), (highest + norm.log()).squeeze(1)


class FusedLoss(SummedLoss):
    """`SummedLoss` for training on a CPU: the same loss and gradients, in less time and memory."""

    def loss(self, states: Float[Tensor, "*batch d_model"], target: Int[Tensor, "*batch"]) -> Float[Tensor, ""]:
        """Nats, summed over the rows."""
        output = self.model.output
        if states.is_cuda or type(output) is not TokenEmbedding or not torch.is_grad_enabled():
            return super().loss(states, target)
        return ProjectedLoss.apply(states, output.weight, target, self.smoothing)
