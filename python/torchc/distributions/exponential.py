"""Exponential, where PyTorch's programs import it from."""

from torchc.distributions.continuous import Exponential

__all__ = ["Exponential"]
