"""Random zeros while training."""

from __future__ import annotations

from torchc.nn import functional as F
from torchc.nn.modules.module import Module

__all__ = [
    "AlphaDropout",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "FeatureAlphaDropout",
]


class _DropoutNd(Module):
    """The probability of a zero. Raises ValueError for one outside of [0, 1]."""

    _function = ""

    def __init__(self, p: float = 0.5, inplace: bool = False):
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input):
        """See `functional.dropout`; the input itself unless training."""
        return getattr(F, self._function)(input, self.p, self.training, self.inplace)

    def extra_repr(self):
        """The probability."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """Single elements become 0 with probability p."""

    _function = "dropout"


class Dropout1d(_DropoutNd):
    """Whole channels of (N, C, L) become 0 with probability p."""

    _function = "dropout1d"


class Dropout2d(_DropoutNd):
    """Whole channels of (N, C, H, W) become 0 with probability p."""

    _function = "dropout2d"


class Dropout3d(_DropoutNd):
    """Whole channels of (N, C, D, H, W) become 0 with probability p."""

    _function = "dropout3d"


class AlphaDropout(_DropoutNd):
    """Dropout for selu: mean and variance stay."""

    _function = "alpha_dropout"


class FeatureAlphaDropout(_DropoutNd):
    """AlphaDropout of whole channels."""

    _function = "feature_alpha_dropout"
