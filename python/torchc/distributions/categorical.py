"""Categorical, where PyTorch's programs import it from."""

from torchc.distributions.discrete import Categorical

__all__ = ["Categorical"]
