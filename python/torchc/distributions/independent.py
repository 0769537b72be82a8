"""Independent, where PyTorch's programs import it from."""

from torchc.distributions.discrete import Independent

__all__ = ["Independent"]
