"""Uniform, where PyTorch's programs import it from."""

from torchc.distributions.continuous import Uniform

__all__ = ["Uniform"]
