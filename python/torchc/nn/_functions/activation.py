"""Functions of each element, and softmax with its relatives."""

from __future__ import annotations

from torchc import _C
from torchc.utils._draws import exponential

__all__ = [
    "celu",
    "celu_",
    "elu",
    "elu_",
    "gelu",
    "glu",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "leaky_relu",
    "leaky_relu_",
    "log_softmax",
    "logsigmoid",
    "mish",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rrelu",
    "rrelu_",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
]


def _run(function, input, inplace: bool):
    """function(input); with `inplace` written into `input`, whose old values the derivative keeps."""
    return input.copy_(function(input.clone())) if inplace else function(input)


def _into(value, out):
    """`value`, or `out` overwritten with it."""
    return value if out is None else out.copy_(value)


def relu(input, inplace=False):
    """max(0, x) of each element, NaN stays NaN; with `inplace`, in `input` itself. Any shape and real dtype."""
    return input.relu_() if inplace else _C.relu(input)


def relu_(input):
    """`relu` in place."""
    return input.relu_()


def relu6(input, inplace=False):
    """x limited to [0, 6]."""
    return hardtanh(input, 0.0, 6.0, inplace)


def elu(input, alpha=1.0, inplace=False):
    """x where positive, else alpha * (exp(x) - 1)."""
    return _run(lambda x: _C.elu(x, alpha), input, inplace)


def elu_(input, alpha=1.0):
    """`elu` in place."""
    return elu(input, alpha, True)


def celu(input, alpha=1.0, inplace=False):
    """x where positive, else alpha * (exp(x / alpha) - 1). Raises RuntimeError for alpha 0."""
    return _run(lambda x: _C.celu(x, alpha), input, inplace)


def celu_(input, alpha=1.0):
    """`celu` in place."""
    return celu(input, alpha, True)


def selu(input, inplace=False):
    """`elu` with the constants that keep mean 0 and variance 1 (Klambauer et al., 2017)."""
    return _run(_C.selu, input, inplace)


def selu_(input):
    """`selu` in place."""
    return selu(input, True)


def gelu(input, approximate="none", *, out=None):
    """x times the normal distribution's function of x; approximate="tanh": by its formula with tanh."""
    return _into(_C.gelu(input, approximate=approximate), out)


def glu(input, dim=-1):
    """The first half along `dim` times the sigmoid of the second."""
    return _C.glu(input, dim)


def silu(input, inplace=False):
    """x * sigmoid(x)."""
    return _run(_C.silu, input, inplace)


def mish(input, inplace=False):
    """x * tanh(softplus(x))."""
    return _run(_C.mish, input, inplace)


def sigmoid(input):
    """1 / (1 + exp(-x)) of each element."""
    return _C.sigmoid(input)


def logsigmoid(input, *, out=None):
    """log(sigmoid(x)) of each element."""
    return _into(_C.logsigmoid(input), out)


def tanh(input):
    """Hyperbolic tangent of each element."""
    return _C.tanh(input)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """x limited to [min_val, max_val]; the gradient is 0 at both ends. Raises ValueError when min_val > max_val."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _run(lambda x: _C.hardtanh(x, min_val, max_val), input, inplace)


def hardtanh_(input, min_val=-1.0, max_val=1.0):
    """`hardtanh` in place."""
    return hardtanh(input, min_val, max_val, True)


def hardsigmoid(input, inplace=False):
    """(x + 3) / 6 limited to [0, 1]."""
    return _run(_C.hardsigmoid, input, inplace)


def hardswish(input, inplace=False):
    """x * hardsigmoid(x)."""
    return _run(_C.hardswish, input, inplace)


def hardshrink(input, lambd=0.5, *, out=None):
    """0 within [-lambd, lambd], else x."""
    return _into(_C.hardshrink(input, lambd), out)


def softshrink(input, lambd=0.5, *, out=None):
    """x moved by lambd towards 0, 0 within [-lambd, lambd]."""
    return _into(_C.softshrink(input, lambd), out)


def tanhshrink(input):
    """x - tanh(x)."""
    return input - input.tanh()


def softsign(input):
    """x / (1 + |x|)."""
    return input / (input.abs() + 1)


def softplus(input, beta=1, threshold=20, *, out=None):
    """log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold."""
    return _into(_C.softplus(input, beta, threshold), out)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """x where positive, else negative_slope * x."""
    return _run(lambda x: _C.leaky_relu(x, negative_slope), input, inplace)


def leaky_relu_(input, negative_slope=0.01):
    """`leaky_relu` in place."""
    return leaky_relu(input, negative_slope, True)


def prelu(input, weight):
    """x where positive, else weight * x; weight has one element or one per channel (dimension 1)."""
    return _C.prelu(input, weight)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """x where positive, else a * x: a drawn from [lower, upper) when training, their mean otherwise."""
    if lower > upper:
        raise RuntimeError(
            f"Lower bound should be less than or equal to the upper bound: {lower} > {upper}"
        )
    if not training:
        return leaky_relu(input, (lower + upper) / 2, inplace)

    def drawn(x):
        slope = _C.rand_like(x.detach()) * (upper - lower) + lower
        return _C.where(x <= 0, x * slope, x)

    return _run(drawn, input, inplace)


def rrelu_(input, lower=1.0 / 8, upper=1.0 / 3, training=False):
    """`rrelu` in place."""
    return rrelu(input, lower, upper, training, True)


def threshold(input, threshold, value, inplace=False):
    """x where x > threshold, else value."""
    return _run(lambda x: _C.threshold(x, threshold, value), input, inplace)


def threshold_(input, threshold, value):
    """`threshold` in place."""
    return _threshold(input, threshold, value, True)


_threshold = threshold  # an argument of threshold_ has the function's name


def _old_dim(input) -> int:
    """The dimension of softmax and log_softmax where none is given, by PyTorch's old rule."""
    return 0 if input.dim() in (0, 1, 3) else 1


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """exp(input) normalised to sum 1 along `dim`; `dtype` casts the input first. Without `dim` see log_softmax."""
    return _C.softmax(input, _old_dim(input) if dim is None else dim, dtype=dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """softmax(-input)."""
    return softmax(-input, dim, dtype=dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """log(softmax(input)) along `dim`; `dtype` casts the input first.

    Without `dim` PyTorch's old rule holds: dimension 0 of 0-, 1- and 3-d inputs, else 1.
    """
    return _C.log_softmax(input, _old_dim(input) if dim is None else dim, dtype=dtype)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """Samples of the Gumbel-softmax distribution; `hard`: one-hot forward, the soft sample's gradient backward."""
    gumbels = -exponential(logits.shape, logits).log()
    soft = softmax((logits + gumbels) / tau, dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    ones = _C.zeros_like(logits).scatter(dim, index, 1.0)
    return ones - soft.detach() + soft
