"""Normal, where PyTorch's programs import it from."""

from torchc.distributions.continuous import Normal

__all__ = ["Normal"]
