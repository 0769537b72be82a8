"""Gumbel, where PyTorch's programs import it from."""

from torchc.distributions.transformed_distribution import Gumbel

__all__ = ["Gumbel"]
