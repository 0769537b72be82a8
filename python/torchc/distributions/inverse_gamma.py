"""InverseGamma."""

from __future__ import annotations

import math

from torchc import _C
from torchc.distributions import constraints
from torchc.distributions.gamma import Gamma
from torchc.distributions.transformed_distribution import TransformedDistribution
from torchc.distributions.transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """1 / x of gamma numbers of shape `concentration` and rate `rate`."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _names = ("concentration", "rate")

    def __init__(self, concentration, rate, validate_args=None):
        base = Gamma(concentration, rate, validate_args=validate_args)
        down = PowerTransform(-_C.ones_like(base.rate))
        super().__init__(base, down, validate_args=validate_args)

    @property
    def concentration(self):
        """The gamma distribution's shape."""
        return self.base_dist.concentration

    @property
    def rate(self):
        """The gamma distribution's rate."""
        return self.base_dist.rate

    @property
    def mean(self):
        """rate / (concentration - 1); inf up to concentration 1."""
        good = self.concentration > 1
        below = _C.where(good, self.concentration - 1, 1.0)
        return _C.where(good, self.rate / below, math.inf)

    @property
    def mode(self):
        """rate / (concentration + 1)."""
        return self.rate / (self.concentration + 1)

    @property
    def variance(self):
        """rate^2 / ((concentration - 1)^2 (concentration - 2)); inf up to concentration 2."""
        good = self.concentration > 2
        a = _C.where(good, self.concentration, 3.0)
        square = (self.rate / (a - 1)) ** 2
        return _C.where(good, square / (a - 2), math.inf)

    def entropy(self):
        """See Distribution."""
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()
