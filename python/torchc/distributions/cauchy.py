"""Cauchy, where PyTorch's programs import it from."""

from torchc.distributions.transformed_distribution import Cauchy

__all__ = ["Cauchy"]
