"""HalfCauchy, where PyTorch's programs import it from."""

from torchc.distributions.transformed_distribution import HalfCauchy

__all__ = ["HalfCauchy"]
