"""Adafactor and Muon: optimizers for matrices."""

from __future__ import annotations

import math

from torchc import _C
from torchc.optim._arithmetic import counter, move, next_step, power, towards
from torchc.optim.optimizer import PerParameter

__all__ = ["Adafactor", "Muon"]


def _length(x):
    """The 2-norm of all elements, 0-d."""
    return (x * x).sum().sqrt()


class Adafactor(PerParameter):
    """Shazeer and Stern (2018): the squared gradient's mean is kept as row and column means alone.

    Args:
        beta2_decay: exponent of the step's number in the averages' weight.
        eps: (for the squares, None means the dtype's; for the parameter's size).
        d: an update longer than this (root mean square) is cut.

    State per parameter: step, and row_var and col_var, or variance for vectors.
    """

    def __init__(
        self,
        params,
        lr=1e-2,
        beta2_decay: float = -0.8,
        eps=(None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ):
        if not beta2_decay <= 0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not 0.0 <= eps[0]:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not 0.0 <= eps[1]:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not 1.0 <= d:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        defaults = dict(
            lr=lr,
            beta2_decay=beta2_decay,
            eps=eps,
            d=d,
            weight_decay=weight_decay,
            foreach=foreach,
            maximize=maximize,
        )
        super().__init__(params, defaults)

    def _update(self, param, grad, group, state):
        from torchc._type_info import finfo

        if not state:
            state["step"] = counter()
            if grad.dim() > 1:
                state["row_var"] = _C.zeros_like(grad.sum(-1, keepdim=True))
                state["col_var"] = _C.zeros_like(grad.sum(-2, keepdim=True))
            else:
                state["variance"] = _C.zeros_like(grad)
        step = next_step(state)
        lr = group["lr"]
        tiny = finfo(param.dtype).eps if group["eps"][0] is None else group["eps"][0]
        weight = power(step, group["beta2_decay"])
        root = math.sqrt(param.numel())
        ceiling = _C.ones_like(step) * lr
        rate = (_length(param) / root).clamp(min=group["eps"][1]) * _C.minimum(
            ceiling, 1 / step.sqrt()
        )
        if group["weight_decay"] != 0:
            param.mul_(1 - lr * group["weight_decay"])
        estimate = self._estimate(grad, state, weight, tiny)
        update = grad / estimate.clamp(min=tiny * tiny).sqrt()
        cut = (_length(update) / (root * group["d"])).clamp(min=1.0)
        param.sub_(update * (rate / cut))

    @staticmethod
    def _estimate(grad, state, weight, tiny):
        square = grad * grad
        if grad.dim() <= 1:
            return towards(state["variance"], square, weight)
        rows = towards(state["row_var"], square.sum(-1, keepdim=True) / grad.size(-1), weight)
        columns = towards(state["col_var"], square.sum(-2, keepdim=True) / grad.size(-2), weight)
        return rows @ columns / rows.mean(-2, keepdim=True).clamp(min=tiny)


_RATES = {
    None: lambda rows, columns: math.sqrt(max(1, rows / columns)),
    "original": lambda rows, columns: math.sqrt(max(1, rows / columns)),
    "match_rms_adamw": lambda rows, columns: 0.2 * math.sqrt(max(rows, columns)),
    "spectral_unclamped": lambda rows, columns: math.sqrt(rows / columns),
}


class Muon(PerParameter):
    """Momentum, orthogonalised by Newton-Schulz steps in bfloat16 (Jordan, 2024); for matrices alone.

    Args:
        ns_coefficients, ns_steps: polynomial and number of the orthogonalisation's steps.
        adjust_lr_fn: how the rate depends on the sizes: "original" (None), "match_rms_adamw", "spectral_unclamped".

    State per parameter: momentum_buffer. Raises ValueError for a parameter that is no matrix.
    """

    def __init__(
        self,
        params,
        lr=1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients=(3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ):
        if not 0.0 <= momentum:
            raise ValueError(f"momentum should be >= 0 but is: {momentum}")
        if adjust_lr_fn not in _RATES:
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        if ns_steps >= 100:
            raise ValueError("Number of steps must be less than 100 for computational efficiency")
        if len(ns_coefficients) != 3:
            raise ValueError("Coefficients must be a tuple of exactly 3 values")
        defaults = dict(
            lr=lr,
            weight_decay=weight_decay,
            momentum=momentum,
            nesterov=nesterov,
            ns_coefficients=ns_coefficients,
            eps=eps,
            ns_steps=ns_steps,
            adjust_lr_fn=adjust_lr_fn,
        )
        super().__init__(params, defaults)
        for group in self.param_groups:
            for param in group["params"]:
                if param.dim() != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {param.size()}"
                    )

    def _update(self, param, grad, group, state):
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = _C.zeros_like(grad)
        momentum = group["momentum"]
        buffer = towards(state["momentum_buffer"], grad, 1 - momentum)
        update = grad + (buffer - grad) * momentum if group["nesterov"] else buffer
        update = self._orthogonal(update, group).to(param.dtype)
        lr = group["lr"]
        param.mul_(1 - lr * group["weight_decay"])
        move(param, update, lr * _RATES[group["adjust_lr_fn"]](param.size(0), param.size(1)))

    @staticmethod
    def _orthogonal(update, group):
        """An orthogonal matrix near `update`, in bfloat16."""
        a, b, c = group["ns_coefficients"]
        x = update.bfloat16()
        tall = x.size(0) > x.size(1)
        if tall:
            x = x.t()
        x = x / _length(x.float()).bfloat16().clamp(min=group["eps"])
        for _ in range(group["ns_steps"]):
            gram = x @ x.t()
            x = _C.addmm(x, _C.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
        return x.t() if tall else x
