"""Stochastic gradient descent."""

from __future__ import annotations

from torchc.autograd.grad_mode import no_grad
from torchc.errors import Unsupported
from torchc.optim.optimizer import Optimizer

__all__ = ["SGD"]


class SGD(Optimizer):
    """Gradient descent with momentum, weight decay and Nesterov's form, computed as in torch.optim.SGD.

    With gradient g: g += weight_decay * p; buf = momentum * buf + (1 - dampening) * g (the first time g itself);
    p -= lr * buf (Nesterov: g + momentum * buf). `foreach` and `fused` choose among PyTorch's implementations of the
    same values: torchc has one, so they change nothing.

    Raises ValueError for a negative lr, momentum or weight_decay, and for Nesterov without momentum.
    """

    def __init__(
        self,
        params,
        lr: float = 1e-3,
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
        for name, value in (
            ("learning rate", lr),
            ("momentum value", momentum),
            ("weight_decay value", weight_decay),
        ):
            if value < 0.0:
                raise ValueError(f"Invalid {name}: {value}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        if differentiable:
            raise Unsupported(
                "SGD(differentiable=True): a step that is itself differentiated; use autograd.grad"
            )
        defaults = dict(
            lr=lr,
            momentum=momentum,
            dampening=dampening,
            weight_decay=weight_decay,
            nesterov=nesterov,
            maximize=maximize,
            foreach=foreach,
            differentiable=differentiable,
            fused=fused,
        )
        super().__init__(params, defaults)

    @no_grad()
    def step(self, closure=None):
        """Changes each parameter that has a gradient; returns the loss of `closure`, which may compute it again."""
        loss = self._evaluate(closure)
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is not None:
                    self._update(param, param.grad, group)
        return loss

    def _update(self, param, grad, group):
        if group["maximize"]:
            grad = -grad
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        momentum = group["momentum"]
        if momentum != 0:
            state = self.state[param]
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = grad.detach().clone()
            else:
                buffer.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
        param.add_(grad, alpha=-group["lr"])
