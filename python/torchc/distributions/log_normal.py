"""LogNormal, where PyTorch's programs import it from."""

from torchc.distributions.transformed_distribution import LogNormal

__all__ = ["LogNormal"]
