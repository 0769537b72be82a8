"""Bernoulli, where PyTorch's programs import it from."""

from torchc.distributions.discrete import Bernoulli

__all__ = ["Bernoulli"]
