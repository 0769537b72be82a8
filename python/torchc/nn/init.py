"""Fills tensors with starting values; every function works in place, records nothing, and returns the tensor."""

import math

from torchc.autograd.grad_mode import no_grad

__all__ = [
    "calculate_gain",
    "constant_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]

_GAINS = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
_LINEAR = {"linear", "sigmoid"} | {f"conv{t}{d}d" for t in ("", "_transpose") for d in (1, 2, 3)}


def calculate_gain(nonlinearity: str, param=None) -> float:
    """The factor by which a nonlinearity's inputs must spread so that its outputs keep their spread.

    `param` is leaky_relu's negative slope (default 0.01). Raises ValueError for an unknown name or slope.
    """
    if nonlinearity in _LINEAR:
        return 1.0
    if nonlinearity == "leaky_relu":
        if param is None:
            slope = 0.01
        elif isinstance(param, (int, float)) and not isinstance(param, bool):
            slope = param
        else:
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return _GAINS[nonlinearity]


def _fans(tensor) -> tuple[int, int]:
    """Inputs and outputs of one unit of a weight (out, in, *kernel)."""
    if tensor.dim() < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


# Libraries reach for PyTorch's private name of the same function.
_calculate_fan_in_and_fan_out = _fans


def _fan(tensor, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _fans(tensor)[mode == "fan_out"]


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Fills with draws from [a, b)."""
    with no_grad():
        return (
            tensor.uniform_(a, b)
            if generator is None
            else tensor.uniform_(a, b, generator=generator)
        )


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Fills with draws from the normal distribution."""
    with no_grad():
        return (
            tensor.normal_(mean, std)
            if generator is None
            else tensor.normal_(mean, std, generator=generator)
        )


def constant_(tensor, val):
    """Fills with `val`."""
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor):
    """Fills with 1."""
    return constant_(tensor, 1.0)


def zeros_(tensor):
    """Fills with 0."""
    return constant_(tensor, 0.0)


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Uniform, bound gain * sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio, 2010)."""
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / sum(_fans(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Normal, standard deviation gain * sqrt(2 / (fan_in + fan_out)) (Glorot and Bengio, 2010)."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(_fans(tensor))), generator)


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Uniform, bound gain * sqrt(3 / fan) (He et al., 2015); `a` is leaky_relu's slope. Empty tensors stay."""
    if 0 in tensor.shape:
        return tensor
    bound = math.sqrt(3.0) * (calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode)))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Normal, standard deviation gain / sqrt(fan) (He et al., 2015); `a` is leaky_relu's slope."""
    if 0 in tensor.shape:
        return tensor
    return normal_(
        tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode)), generator
    )
