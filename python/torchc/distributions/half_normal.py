"""HalfNormal, where PyTorch's programs import it from."""

from torchc.distributions.transformed_distribution import HalfNormal

__all__ = ["HalfNormal"]
