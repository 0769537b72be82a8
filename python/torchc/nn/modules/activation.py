"""Modules that apply a function to each element, and softmax with its relatives."""

from __future__ import annotations

import warnings

from torchc import _C
from torchc.nn import functional as F
from torchc.nn.modules.attention import MultiheadAttention
from torchc.nn.modules.module import Module, factory_options
from torchc.nn.parameter import Parameter

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "MultiheadAttention",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SELU",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]


class _InPlace(Module):
    """An activation whose only option is to work in place."""

    def __init__(self, inplace: bool = False):
        super().__init__()
        self.inplace = inplace

    def extra_repr(self):
        """`inplace=True` when set."""
        return "inplace=True" if self.inplace else ""


def _with_inplace(text: str, inplace: bool) -> str:
    return text + (", inplace=True" if inplace else "")


class ReLU(_InPlace):
    """max(0, x) of each element; with `inplace`, in the input itself."""

    def forward(self, input):
        """See `functional.relu`."""
        return F.relu(input, inplace=self.inplace)


class SELU(_InPlace):
    """See `functional.selu`."""

    def forward(self, input):
        """See `functional.selu`."""
        return F.selu(input, self.inplace)


class SiLU(_InPlace):
    """See `functional.silu`."""

    def forward(self, input):
        """See `functional.silu`."""
        return F.silu(input, self.inplace)


class Mish(_InPlace):
    """See `functional.mish`."""

    def forward(self, input):
        """See `functional.mish`."""
        return F.mish(input, self.inplace)


class Hardsigmoid(_InPlace):
    """See `functional.hardsigmoid`."""

    def forward(self, input):
        """See `functional.hardsigmoid`."""
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self):
        """Nothing, as in PyTorch."""
        return ""


class Hardswish(_InPlace):
    """See `functional.hardswish`."""

    def forward(self, input):
        """See `functional.hardswish`."""
        return F.hardswish(input, self.inplace)

    def extra_repr(self):
        """Nothing, as in PyTorch."""
        return ""


class Hardtanh(Module):
    """x limited to [min_val, max_val]. Raises AssertionError unless min_val < max_val."""

    def __init__(
        self, min_val=-1.0, max_val=1.0, inplace: bool = False, min_value=None, max_value=None
    ):
        super().__init__()
        if min_value is not None:
            warnings.warn(
                "keyword argument `min_value` is deprecated and rename to `min_val`",
                FutureWarning,
                stacklevel=2,
            )
            min_val = min_value
        if max_value is not None:
            warnings.warn(
                "keyword argument `max_value` is deprecated and rename to `max_val`",
                FutureWarning,
                stacklevel=2,
            )
            max_val = max_value
        if not max_val > min_val:
            raise AssertionError("max_val must be larger than min_val")
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace

    def forward(self, input):
        """See `functional.hardtanh`."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self):
        """The limits."""
        return _with_inplace(f"min_val={self.min_val}, max_val={self.max_val}", self.inplace)


class ReLU6(Hardtanh):
    """x limited to [0, 6]."""

    def __init__(self, inplace: bool = False):
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self):
        """`inplace=True` when set."""
        return "inplace=True" if self.inplace else ""


class Threshold(Module):
    """x where x > threshold, else value."""

    def __init__(self, threshold: float, value: float, inplace: bool = False):
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input):
        """See `functional.threshold`."""
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self):
        """Threshold and value."""
        return _with_inplace(f"threshold={self.threshold}, value={self.value}", self.inplace)


class RReLU(Module):
    """x where positive, else a * x, a random when training."""

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False):
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input):
        """See `functional.rrelu`."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self):
        """The limits."""
        return _with_inplace(f"lower={self.lower}, upper={self.upper}", self.inplace)


class ELU(Module):
    """x where positive, else alpha * (exp(x) - 1)."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False):
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input):
        """See `functional.elu`."""
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self):
        """`alpha`."""
        return _with_inplace(f"alpha={self.alpha}", self.inplace)


class CELU(ELU):
    """x where positive, else alpha * (exp(x / alpha) - 1)."""

    def forward(self, input):
        """See `functional.celu`."""
        return F.celu(input, self.alpha, self.inplace)


class LeakyReLU(Module):
    """x where positive, else negative_slope * x."""

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False):
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input):
        """See `functional.leaky_relu`."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self):
        """The slope."""
        return _with_inplace(f"negative_slope={self.negative_slope}", self.inplace)


class PReLU(Module):
    """x where positive, else weight * x, with one weight or one per channel."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device=None, dtype=None):
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(_C.empty(num_parameters, **factory_options(device, dtype)))
        self.reset_parameters()

    def reset_parameters(self):
        """Sets the weights to `init`."""
        from torchc.nn import init

        init.constant_(self.weight, self.init)

    def forward(self, input):
        """See `functional.prelu`."""
        return F.prelu(input, self.weight)

    def extra_repr(self):
        """The number of weights."""
        return f"num_parameters={self.num_parameters}"


class GELU(Module):
    """See `functional.gelu`."""

    def __init__(self, approximate: str = "none"):
        super().__init__()
        self.approximate = approximate

    def forward(self, input):
        """See `functional.gelu`."""
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self):
        """`approximate`."""
        return f"approximate={self.approximate!r}"


class GLU(Module):
    """The first half along `dim` times the sigmoid of the second."""

    def __init__(self, dim: int = -1):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        """See `functional.glu`."""
        return F.glu(input, self.dim)

    def extra_repr(self):
        """`dim`."""
        return f"dim={self.dim}"


class _Shrink(Module):
    """An activation with the width `lambd`."""

    def __init__(self, lambd: float = 0.5):
        super().__init__()
        self.lambd = lambd

    def extra_repr(self):
        """`lambd`."""
        return str(self.lambd)


class Hardshrink(_Shrink):
    """0 within [-lambd, lambd], else x."""

    def forward(self, input):
        """See `functional.hardshrink`."""
        return F.hardshrink(input, self.lambd)


class Softshrink(_Shrink):
    """x moved by lambd towards 0, 0 within [-lambd, lambd]."""

    def forward(self, input):
        """See `functional.softshrink`."""
        return F.softshrink(input, self.lambd)


class Softplus(Module):
    """log(1 + exp(beta * x)) / beta."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0):
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input):
        """See `functional.softplus`."""
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self):
        """`beta` and `threshold`."""
        return f"beta={self.beta}, threshold={self.threshold}"


class _Plain(Module):
    """An activation without options; whatever is passed when it is made is ignored."""

    def __init__(self, *args, **kwargs):
        super().__init__()


class Sigmoid(_Plain):
    """1 / (1 + exp(-x)) of each element."""

    def forward(self, input):
        """See `functional.sigmoid`."""
        return F.sigmoid(input)


class LogSigmoid(_Plain):
    """log(sigmoid(x)) of each element."""

    def forward(self, input):
        """See `functional.logsigmoid`."""
        return F.logsigmoid(input)


class Tanh(_Plain):
    """Hyperbolic tangent of each element."""

    def forward(self, input):
        """See `functional.tanh`."""
        return F.tanh(input)


class Tanhshrink(_Plain):
    """x - tanh(x) of each element."""

    def forward(self, input):
        """See `functional.tanhshrink`."""
        return F.tanhshrink(input)


class Softsign(_Plain):
    """x / (1 + |x|) of each element."""

    def forward(self, input):
        """See `functional.softsign`."""
        return F.softsign(input)


class Softmax(Module):
    """exp(input) normalised to sum 1 along `dim`."""

    def __init__(self, dim: int | None = None):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        """See `functional.softmax`."""
        return F.softmax(input, self.dim)

    def extra_repr(self):
        """`dim`."""
        return f"dim={self.dim}"


class Softmin(Softmax):
    """Softmax of -x."""

    def forward(self, input):
        """See `functional.softmin`."""
        return F.softmin(input, self.dim)


class LogSoftmax(Softmax):
    """The logarithm of softmax along `dim`."""

    def forward(self, input):
        """See `functional.log_softmax`."""
        return F.log_softmax(input, self.dim)


class Softmax2d(_Plain):
    """Softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input):
        """Raises ValueError for other ranks."""
        if input.dim() not in (3, 4):
            raise ValueError(
                f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead"
            )
        return F.softmax(input, -3)
