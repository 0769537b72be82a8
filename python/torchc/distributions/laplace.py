"""Laplace, where PyTorch's programs import it from."""

from torchc.distributions.continuous import Laplace

__all__ = ["Laplace"]
