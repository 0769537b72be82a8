"""Optimizers that scale each element by what its gradients were: Adadelta, Adagrad, RMSprop, Rprop, and ASGD."""

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

__all__ = ["ASGD", "Adadelta", "Adagrad", "RMSprop", "Rprop"]


class Adadelta(PerParameter):
    """Zeiler (2012): the step is the ratio of the running root mean squares of steps and gradients.

    State per parameter: step, square_avg, acc_delta.
    """

    def __init__(
        self,
        params,
        lr=1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ):
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        super().__init__(params, options(locals()))

    def _update(self, param, grad, group, state):
        if not state:
            begin(state, param, "square_avg", "acc_delta")
        next_step(state)
        rho, eps = group["rho"], group["eps"]
        grad = with_decay(grad, param, group)
        square, steps = state["square_avg"], state["acc_delta"]
        decayed(square, rho, grad * grad)
        delta = (steps + eps).sqrt() / (square + eps).sqrt() * grad
        decayed(steps, rho, delta * delta)
        move(param, delta, group["lr"])


class Adagrad(PerParameter):
    """Duchi et al. (2011): the step is divided by the root of the sum of all squared gradients.

    With t the step's number: s += g * g; p -= lr / (1 + (t - 1) * lr_decay) * g / (sqrt(s) + eps).
    State per parameter, from the start: step, sum.
    """

    def __init__(
        self,
        params,
        lr=1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ):
        not_negative(lr_decay=lr_decay, initial_accumulator_value=initial_accumulator_value)
        super().__init__(params, options(locals()))

    def add_param_group(self, param_group):
        """As `Optimizer.add_param_group`; the new parameters' sums start at once."""
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        for param in group["params"]:
            state = self.state[param]
            state["step"] = counter()
            state["sum"] = _C.full_like(param, group["initial_accumulator_value"]).detach()

    def share_memory(self):
        """Moves the state to memory that other processes share. Not implemented."""
        raise NotImplementedError("Adagrad.share_memory: tensors in shared memory")

    def _update(self, param, grad, group, state):
        step = next_step(state)
        grad = with_decay(grad, param, group)
        state["sum"].add_(grad * grad)
        direction = grad / state["sum"].sqrt().add_(group["eps"])
        rate = group["lr"]
        if group["lr_decay"] != 0:
            rate = rate / (1 + (step - 1) * group["lr_decay"])
        move(param, direction, rate)


class RMSprop(PerParameter):
    """Hinton's rule: the gradient over its running root mean square, optionally centered, with momentum.

    v = alpha * v + (1 - alpha) * g * g; p -= lr * g / (sqrt(v) + eps); centered: v minus the squared mean.
    State per parameter: step, square_avg, with momentum momentum_buffer, when centered grad_avg.
    """

    def __init__(
        self,
        params,
        lr=1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ):
        not_negative(momentum=momentum, alpha=alpha)
        super().__init__(params, options(locals()))

    def _update(self, param, grad, group, state):
        if not state:
            begin(state, param, "square_avg")
            if group["momentum"] > 0:
                state["momentum_buffer"] = like(param)
            if group["centered"]:
                state["grad_avg"] = like(param)
        next_step(state)
        grad = with_decay(grad, param, group)
        square = decayed(state["square_avg"], group["alpha"], grad * grad)
        if group["centered"]:
            mean = towards(state["grad_avg"], grad, 1 - group["alpha"])
            square = square - mean * mean
        direction = grad / square.sqrt().add_(group["eps"])
        if group["momentum"] > 0:
            direction = state["momentum_buffer"].mul_(group["momentum"]).add_(direction)
        move(param, direction, group["lr"])


class Rprop(PerParameter):
    """Resilient backpropagation (Riedmiller and Braun, 1993): only signs count, each element has its own step size.

    A gradient that keeps its sign grows the step by etas[1], one that changes it shrinks it by etas[0] and rests.
    State per parameter: step, prev, step_size.
    """

    def __init__(
        self,
        params,
        lr=1e-2,
        etas=(0.5, 1.2),
        step_sizes=(1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ):
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, options(locals()))

    def _update(self, param, grad, group, state):
        if not state:
            begin(state, param, "prev")
            state["step_size"] = like(param) + group["lr"]
        next_step(state)
        (shrink, grow), (smallest, largest) = group["etas"], group["step_sizes"]
        agreement = grad * state["prev"]
        turned = agreement < 0
        ones = _C.ones_like(grad)
        factor = _C.where(turned, ones * shrink, _C.where(agreement > 0, ones * grow, ones))
        size = state["step_size"]
        size.copy_((size * factor).clamp(smallest, largest))
        grad = _C.where(turned, _C.zeros_like(grad), grad)
        param.sub_(grad.sign() * size)
        state["prev"].copy_(grad)


class ASGD(PerParameter):
    """Averaged stochastic gradient descent (Polyak and Juditsky, 1992).

    p = (1 - lambd * eta) * p - eta * g with a falling eta; `ax` is the running average of p after t0 steps.
    State per parameter: step, eta, mu, ax.
    """

    def __init__(
        self,
        params,
        lr=1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ):
        super().__init__(params, options(locals()))

    def _update(self, param, grad, group, state):
        lr, lambd = group["lr"], group["lambd"]
        if not state:
            state["step"] = counter()
            start = lr.detach().clone() if isinstance(lr, _C.Tensor) else counter(lr)
            state["eta"] = start.to(state["step"].dtype)
            state["mu"] = counter(1.0)
            state["ax"] = like(param)
        step = next_step(state)
        grad = with_decay(grad, param, group)
        eta, mu, average = state["eta"].double(), state["mu"], state["ax"]
        param.mul_(1 - lambd * eta)
        param.sub_(grad * eta)
        average.copy_(_C.where(mu == 1, param, average + (param - average) * mu))
        state["eta"].copy_(lr / power(1 + lambd * lr * step, group["alpha"]))
        mu.copy_(1 / _C.maximum(_C.ones_like(step), step - group["t0"]))
