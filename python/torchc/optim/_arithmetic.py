"""The in-place forms that update rules are made of. None reads a tensor's value back into Python."""

from __future__ import annotations

import math

from torchc import _C
from torchc.optim.optimizer import scalar_dtype

__all__ = [
    "begin",
    "counter",
    "decayed",
    "like",
    "move",
    "next_step",
    "power",
    "towards",
    "with_decay",
]


def counter(value: float = 0.0):
    """A 0-d tensor that counts, as PyTorch stores it in state_dicts."""
    return _C.tensor(value, dtype=scalar_dtype())


def like(param):
    """Zeros for a running average of `param`."""
    return _C.zeros_like(param)


def begin(state, param, *averages):
    """The first state of a parameter: no step yet, and zeros for these running averages."""
    state["step"] = counter()
    for name in averages:
        state[name] = like(param)


def next_step(state) -> _C.Tensor:
    """Counts one step in `state` and gives the count as a float64 0-d tensor."""
    return state["step"].add_(1).double()


def power(base, exponent):
    """base ** exponent, where one is a number and the other a positive float64 0-d tensor; base not negative."""
    if isinstance(base, _C.Tensor):
        return (base.log() * exponent).exp()
    if base == 0.0:
        return _C.zeros_like(exponent)
    return (exponent * math.log(base)).exp()


def towards(average, value, weight):
    """average += weight * (value - average), in place; weight a number or a 0-d tensor."""
    difference = value - average
    if isinstance(weight, _C.Tensor):
        return average.add_(difference * weight)
    return average.add_(difference, alpha=weight)


def decayed(average, factor: float, square):
    """average = factor * average + (1 - factor) * square, in place."""
    return average.mul_(factor).add_(square, alpha=1 - factor)


def move(param, direction, lr):
    """param -= lr * direction, in place; lr a number or a 0-d tensor."""
    if isinstance(lr, _C.Tensor):
        return param.sub_(direction * lr)
    return param.add_(direction, alpha=-lr)


def with_decay(grad, param, group):
    """The gradient plus weight_decay times the parameter (L2 penalty). Decoupled, it stays and the parameter shrinks
    in place: param *= 1 - lr * weight_decay."""
    decay = group["weight_decay"]
    if group.get("decoupled_weight_decay"):
        if decay != 0:
            param.mul_(1 - group["lr"] * decay)
        return grad
    if isinstance(decay, _C.Tensor):
        return grad + param * decay
    return grad.add(param, alpha=decay) if decay != 0 else grad
