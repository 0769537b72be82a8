"""Fills tensors with starting values; every function works in place, records nothing, and returns the tensor."""

import functools
import math
import warnings

from torchc import _C
from torchc.autograd.grad_mode import no_grad
from torchc.special import ndtri

__all__ = [
    "calculate_gain",
    "constant",
    "constant_",
    "dirac",
    "dirac_",
    "eye",
    "eye_",
    "kaiming_normal",
    "kaiming_normal_",
    "kaiming_uniform",
    "kaiming_uniform_",
    "normal",
    "normal_",
    "ones_",
    "orthogonal",
    "orthogonal_",
    "sparse",
    "sparse_",
    "trunc_normal_",
    "uniform",
    "uniform_",
    "xavier_normal",
    "xavier_normal_",
    "xavier_uniform",
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
        return 1
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


def eye_(tensor):
    """The identity, as far as a matrix of this shape can be one. Raises ValueError for other ranks."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        return tensor.copy_(_C.eye(*tensor.shape))


def dirac_(tensor, groups=1):
    """Kernels that pass each channel of a convolution (3 to 5 dimensions) on. Raises ValueError for other ranks."""
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.size(0) % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    rows = tensor.size(0) // groups
    middle = tuple(n // 2 for n in tensor.shape[2:])
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for d in range(min(rows, tensor.size(1))):
                tensor[(group * rows + d, d, *middle)] = 1
    return tensor


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Normal draws within [a, b]: draws outside are repeated, and after 20 rounds made by the inverse of ndtr.

    Raises RuntimeError unless a <= b.
    """
    if not a <= b:
        raise RuntimeError(f"trunc_normal_(): expected a <= b, got a={a} and b={b}")
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be "
            "incorrect.",
            stacklevel=2,
        )
    with no_grad():
        values = normal_(_C.empty_like(tensor), mean, std, generator)
        for round in range(21):
            outside = (values < a).logical_or(values > b)
            if not bool(outside.any()):
                break
            if round < 20:
                again = normal_(_C.empty_like(values), mean, std, generator)
                values = _C.where(outside, again, values)
            else:
                values[outside] = _tail(int(outside.sum()), mean, std, a, b, generator).to(
                    values.dtype
                )
        return tensor.copy_(values.clamp(a, b))


def _tail(count: int, mean, std, a, b, generator):
    """`count` normal draws within [a, b], by the inverse distribution function of the side on which [a, b] lies."""
    if std == 0:
        return _C.full((count,), float(mean), dtype=_C.float64)
    side = 1.0 if a < mean else -1.0  # the distribution function has more digits below the mean
    near, far = (
        ((b - mean) / std, (a - mean) / std) if a < mean else ((mean - a) / std, (mean - b) / std)
    )
    high, low = (0.5 * math.erfc(-z * math.sqrt(0.5)) for z in (near, far))
    if high == 0.0:  # 38 deviations away nothing but the nearer end is left
        return _C.full((count,), mean + side * std * near, dtype=_C.float64)
    u = uniform_(_C.empty(count, dtype=_C.float64), 0.0, 1.0, generator)
    return mean + side * std * ndtri(low + (high - low) * u)


def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Normal draws of which a share `sparsity` of each column is 0. Raises ValueError unless a matrix."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        normal_(tensor, 0, std, generator)
        keys = uniform_(_C.empty(columns, rows), 0.0, 1.0, generator).tolist()
        for column, row in enumerate(keys):
            for place in sorted(range(rows), key=row.__getitem__)[:zeros]:
                tensor[place, column] = 0
    return tensor


def orthogonal_(tensor, gain=1, generator=None):
    """Orthonormal rows or columns, times `gain` (Saxe et al., 2013); dimensions after the first count as one.

    Raises ValueError below 2 dimensions.
    """
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    columns = tensor.numel() // rows
    flat = normal_(
        _C.empty(max(rows, columns), min(rows, columns), dtype=tensor.dtype), generator=generator
    )
    basis = _orthonormal_columns(flat.double()).to(tensor.dtype)
    if rows < columns:
        basis = basis.t()
    with no_grad():
        return tensor.copy_(basis.reshape(tensor.shape)).mul_(gain)


def _orthonormal_columns(matrix):
    """Gram-Schmidt, each column twice, so that rounding doesn't add up; the factor R has a positive diagonal."""
    done = None
    for i in range(matrix.size(1)):
        column = matrix[:, i]
        for _ in range(2):
            if done is not None:
                column = column - done @ (done.t() @ column)
        column = (column / (column * column).sum().sqrt()).unsqueeze(1)
        done = column if done is None else _C.cat([done, column], 1)
    return done


def _old(function):
    """The name without the underscore, which PyTorch keeps for old programs."""
    old, new = function.__name__[:-1], function.__name__

    @functools.wraps(function)
    def call(*args, **kwargs):
        warnings.warn(
            f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new}`.",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    call.__name__ = old
    return call


uniform, normal, constant, eye, dirac = map(_old, (uniform_, normal_, constant_, eye_, dirac_))
xavier_uniform, xavier_normal = _old(xavier_uniform_), _old(xavier_normal_)
kaiming_uniform, kaiming_normal = _old(kaiming_uniform_), _old(kaiming_normal_)
orthogonal, sparse = _old(orthogonal_), _old(sparse_)
