"""Layers that multiply by a weight."""

from __future__ import annotations

import math

from torchc import _C
from torchc.nn import functional as F
from torchc.nn import init
from torchc.nn.modules.lazy import LazyModuleMixin
from torchc.nn.modules.module import Module, factory_options
from torchc.nn.parameter import Parameter, UninitializedParameter

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear", "NonDynamicallyQuantizableLinear"]


class Identity(Module):
    """Gives its input; whatever is passed when it is made is ignored."""

    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        """The input itself."""
        return input


class Linear(Module):
    """x times the transposed weight, plus a bias.

    Shapes: input (*, in_features), result (*, out_features); weight (out_features, in_features), bias (out_features).
    Starting values are uniform within 1 / sqrt(in_features).
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device=None, dtype=None
    ):
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        options = factory_options(device, dtype)
        self.weight = Parameter(_C.empty(out_features, in_features, **options))
        if bias:
            self.bias = Parameter(_C.empty(out_features, **options))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draws the starting values again."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input):
        """See `functional.linear`."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self):
        """The sizes, and whether there is a bias."""
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class NonDynamicallyQuantizableLinear(Linear):
    """Linear under the name that attention's output projection has in PyTorch."""


class Bilinear(Module):
    """x1 · weight[o] · x2 + bias[o]; see `functional.bilinear`."""

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        self.in1_features, self.in2_features = in1_features, in2_features
        self.out_features = out_features
        options = factory_options(device, dtype)
        self.weight = Parameter(_C.empty(out_features, in1_features, in2_features, **options))
        if bias:
            self.bias = Parameter(_C.empty(out_features, **options))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draws the starting values again."""
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1, input2):
        """See `functional.bilinear`."""
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self):
        """The sizes, and whether there is a bias."""
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class LazyLinear(LazyModuleMixin, Linear):
    """A Linear that learns `in_features` from its first input."""

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device=None, dtype=None):
        options = factory_options(device, dtype)
        super().__init__(0, 0, False, **options)
        self.weight = UninitializedParameter(**options)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(**options)

    def reset_parameters(self):
        """Draws starting values when the sizes are known."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input):
        """Takes the size from the input and draws starting values."""
        if self.has_uninitialized_params():
            self.in_features = input.shape[-1]
            self.weight.materialize((self.out_features, self.in_features))
            if self.bias is not None:
                self.bias.materialize((self.out_features,))
            self.reset_parameters()
