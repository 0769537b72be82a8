"""Adam, AdamW and their relatives with the same running averages."""

from __future__ import annotations

from torchc import _C
from torchc.optim._arithmetic import (
    begin,
    counter,
    decayed,
    like,
    move,
    next_step,
    power,
    towards,
    with_decay,
)
from torchc.optim.optimizer import PerParameter, not_negative, options

__all__ = ["Adam", "AdamW", "Adamax", "NAdam", "RAdam"]


class Adam(PerParameter):
    """Kingma and Ba (2014): steps by the running mean of the gradient over the root of that of its square.

    With t the step's number: m += (1 - beta1) * (g - m); v = beta2 * v + (1 - beta2) * g * g;
    p -= lr / (1 - beta1 ** t) * m / (sqrt(v) / sqrt(1 - beta2 ** t) + eps). `amsgrad` uses the largest v so far;
    `weight_decay` is added to the gradient, or (decoupled) shrinks the parameter first.

    State per parameter: step, exp_avg, exp_avg_sq, with amsgrad max_exp_avg_sq.
    Raises ValueError for a negative lr, eps or weight_decay and for betas outside of [0, 1).
    """

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ):
        super().__init__(params, options(locals()))

    def _update(self, param, grad, group, state):
        if not state:
            begin(state, param, "exp_avg", "exp_avg_sq")
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = like(param)
        step = next_step(state)
        lr, (beta1, beta2) = group["lr"], group["betas"]
        grad = with_decay(grad, param, group)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        towards(mean, grad, 1 - beta1)
        decayed(square, beta2, grad * grad)
        if group["amsgrad"]:
            square = state["max_exp_avg_sq"].copy_(_C.maximum(state["max_exp_avg_sq"], square))
        size = lr / (1 - power(beta1, step))
        root = (1 - power(beta2, step)).sqrt()
        param.sub_(mean * size / (square.sqrt() / root).add_(group["eps"]))


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019): p *= 1 - lr * weight_decay before the step."""

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ):
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


class Adamax(PerParameter):
    """Adam with the largest gradient instead of the root mean square (Kingma and Ba, 2014).

    m += (1 - beta1) * (g - m); u = max(beta2 * u, |g| + eps); p -= lr / (1 - beta1 ** t) * m / u.
    State per parameter: step, exp_avg, exp_inf.
    """

    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ):
        super().__init__(params, options(locals()))

    def _update(self, param, grad, group, state):
        if not state:
            begin(state, param, "exp_avg", "exp_inf")
        step = next_step(state)
        beta1, beta2 = group["betas"]
        grad = with_decay(grad, param, group)
        towards(state["exp_avg"], grad, 1 - beta1)
        largest = state["exp_inf"]
        largest.copy_(_C.maximum(largest * beta2, grad.abs().add_(group["eps"])))
        size = group["lr"] / (1 - power(beta1, step))
        param.sub_(state["exp_avg"] * size / largest)


class NAdam(PerParameter):
    """Adam with Nesterov's momentum (Dozat, 2016), whose weight grows by `momentum_decay`.

    State per parameter: step, mu_product, exp_avg, exp_avg_sq.
    """

    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ):
        not_negative(momentum_decay=momentum_decay)
        super().__init__(params, options(locals()))

    def _update(self, param, grad, group, state):
        if not state:
            begin(state, param, "exp_avg", "exp_avg_sq")
            state["mu_product"] = counter(1.0)
        step = next_step(state)
        lr, (beta1, beta2), decay = group["lr"], group["betas"], group["momentum_decay"]
        grad = with_decay(grad, param, group)
        mu = beta1 * (1.0 - 0.5 * power(0.96, step * decay))
        mu_next = beta1 * (1.0 - 0.5 * power(0.96, (step + 1) * decay))
        product = state["mu_product"].mul_(mu).double()
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        towards(mean, grad, 1 - beta1)
        decayed(square, beta2, grad * grad)
        root = (square / (1 - power(beta2, step))).sqrt().add_(group["eps"])
        param.sub_(grad * (lr * (1.0 - mu) / (1.0 - product)) / root)
        param.sub_(mean * (lr * mu_next / (1.0 - product * mu_next)) / root)


class RAdam(PerParameter):
    """Adam that leaves the square's root out until its variance is tractable (Liu et al., 2019).

    State per parameter: step, exp_avg, exp_avg_sq.
    """

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ):
        super().__init__(params, options(locals()))

    def _update(self, param, grad, group, state):
        if not state:
            begin(state, param, "exp_avg", "exp_avg_sq")
        step = next_step(state)
        lr, (beta1, beta2) = group["lr"], group["betas"]
        grad = with_decay(grad, param, group)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        towards(mean, grad, 1 - beta1)
        decayed(square, beta2, grad * grad)
        correction2 = 1 - power(beta2, step)
        limit = 2 / (1 - beta2) - 1
        rho = limit - 2 * step * power(beta2, step) / correction2
        ready = rho > 5.0
        # Where rho is too small the root would be that of a negative number: any positive one does there.
        rho = _C.where(ready, rho, _C.full_like(rho, 6.0))
        rect = ((rho - 4) * (rho - 2) * limit / ((limit - 4) * (limit - 2) * rho)).sqrt()
        adapted = correction2.sqrt() * rect / square.sqrt().add_(group["eps"])
        adapted = _C.where(ready, adapted, _C.ones_like(adapted))
        move(param, mean / (1 - power(beta1, step)) * adapted, lr)
