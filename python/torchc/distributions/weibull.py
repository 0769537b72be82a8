"""Weibull."""

from __future__ import annotations

from torchc import _C
from torchc.distributions import constraints
from torchc.distributions._elementary import AffineTransform, PowerTransform
from torchc.distributions.continuous import Exponential
from torchc.distributions.distribution import EULER
from torchc.distributions.transformed_distribution import TransformedDistribution
from torchc.distributions.utils import broadcast_all

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """scale * x^(1 / concentration), x standard exponential."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive
    _names = ("scale", "concentration")

    def __init__(self, scale, concentration, validate_args=None):
        self.scale, self.concentration = broadcast_all(scale, concentration)
        base = Exponential(_C.ones_like(self.scale), validate_args=False)
        parts = [PowerTransform(1 / self.concentration), AffineTransform(0, self.scale)]
        super().__init__(base, parts, validate_args=validate_args)

    @property
    def mean(self):
        """scale * gamma(1 + 1 / concentration)."""
        return self.scale * (1 + 1 / self.concentration).lgamma().exp()

    @property
    def mode(self):
        """scale ((k - 1) / k)^(1 / k) with k the concentration; 0 up to 1."""
        k = self.concentration
        return self.scale * ((k - 1).clamp(min=0) / k) ** (1 / k)

    @property
    def variance(self):
        """scale^2 (gamma(1 + 2 / k) - gamma(1 + 1 / k)^2), k the concentration."""
        k = self.concentration
        square = (1 + 2 / k).lgamma().exp() - (2 * (1 + 1 / k).lgamma()).exp()
        return self.scale * self.scale * square

    def entropy(self):
        """See Distribution."""
        k = self.concentration
        return EULER * (1 - 1 / k) + (self.scale / k).log() + 1
