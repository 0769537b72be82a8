"""Modules that apply a function to each element."""

from torchc.nn import functional as F
from torchc.nn.modules.module import Module

__all__ = ["ReLU", "Tanh"]


class ReLU(Module):
    """max(0, x) of each element; with `inplace`, in the input itself."""

    def __init__(self, inplace: bool = False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input):
        """See `functional.relu`."""
        return F.relu(input, inplace=self.inplace)

    def extra_repr(self):
        """`inplace=True` when set."""
        return "inplace=True" if self.inplace else ""


class Tanh(Module):
    """Hyperbolic tangent of each element."""

    def forward(self, input):
        """See `functional.tanh`."""
        return F.tanh(input)
