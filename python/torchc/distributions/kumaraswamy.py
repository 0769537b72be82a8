"""Kumaraswamy."""

from __future__ import annotations

import math

from torchc import _C
from torchc.distributions import constraints
from torchc.distributions._elementary import AffineTransform, PowerTransform
from torchc.distributions.continuous import Uniform
from torchc.distributions.distribution import EULER
from torchc.distributions.transformed_distribution import TransformedDistribution
from torchc.distributions.utils import broadcast_all

__all__ = ["Kumaraswamy"]


class Kumaraswamy(TransformedDistribution):
    """Numbers of [0, 1] with the distribution function 1 - (1 - x^concentration1)^concentration0."""

    arg_constraints = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True
    _names = ("concentration1", "concentration0")

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        zero = _C.zeros_like(self.concentration0)
        base = Uniform(zero, zero + 1, validate_args=False)
        parts = [
            PowerTransform(1 / self.concentration0),
            AffineTransform(1.0, -1.0),
            PowerTransform(1 / self.concentration1),
        ]
        super().__init__(base, parts, validate_args=validate_args)

    def _moment(self, n):
        """b B(1 + n / a, b)."""
        a, b = self.concentration1, self.concentration0
        first = 1 + n / a
        return b * (first.lgamma() + b.lgamma() - (first + b).lgamma()).exp()

    @property
    def mean(self):
        """b B(1 + 1 / a, b)."""
        return self._moment(1)

    @property
    def mode(self):
        """((a - 1) / (a b - 1))^(1 / a) of a and b from 1 on, NaN elsewhere and where the density is constant."""
        a, b = self.concentration1, self.concentration0
        value = ((a - 1) / (a * b - 1)) ** (1 / a)
        return _C.where((a >= 1).logical_and(b >= 1), value, math.nan)

    @property
    def variance(self):
        """The second moment less the mean's square."""
        mean = self.mean
        return self._moment(2) - mean * mean

    def entropy(self):
        """See Distribution."""
        a, b = self.concentration1, self.concentration0
        harmonic = (b + 1).digamma() + EULER
        return (1 - 1 / b) + (1 - 1 / a) * harmonic - a.log() - b.log()
