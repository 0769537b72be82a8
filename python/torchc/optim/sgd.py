"""Stochastic gradient descent."""

from __future__ import annotations

from torchc.optim._arithmetic import move, with_decay
from torchc.optim.optimizer import PerParameter, not_negative, options

__all__ = ["SGD"]


class SGD(PerParameter):
    """Gradient descent with momentum, weight decay and Nesterov's form, computed as in torch.optim.SGD.

    With gradient g: g += weight_decay * p; buf = momentum * buf + (1 - dampening) * g (the first time g itself);
    p -= lr * buf (Nesterov: g + momentum * buf). `foreach` and `fused` choose among PyTorch's implementations of the
    same values: torchc has one, so they change nothing.

    Raises ValueError for a negative lr, momentum or weight_decay, and for Nesterov without momentum.
    """

    def __init__(
        self,
        params,
        lr=1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ):
        not_negative(momentum=momentum)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, options(locals()))

    def _update(self, param, grad, group, state):
        grad = with_decay(grad, param, group)
        momentum = group["momentum"]
        if momentum != 0:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = grad.detach().clone()
            else:
                buffer.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
        move(param, grad, group["lr"])
