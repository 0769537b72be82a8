"""Functions of functions."""

from torchc.nn.utils.stateless import functional_call

__all__ = ["functional_call"]
