"""Layers that multiply by a weight."""

import math

from torchc import _C
from torchc.nn import functional as F
from torchc.nn import init
from torchc.nn.modules.module import Module
from torchc.nn.parameter import Parameter

__all__ = ["Linear"]


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
        options = {k: v for k, v in (("device", device), ("dtype", dtype)) if v is not None}
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
