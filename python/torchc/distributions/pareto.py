"""Pareto."""

from __future__ import annotations

import math

from torchc import _C
from torchc.distributions import constraints
from torchc.distributions._elementary import AffineTransform, ExpTransform
from torchc.distributions.continuous import Exponential
from torchc.distributions.transformed_distribution import TransformedDistribution
from torchc.distributions.utils import broadcast_all

__all__ = ["Pareto"]


class Pareto(TransformedDistribution):
    """Numbers from `scale` on that exceed x with probability (scale / x)^alpha."""

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}
    _names = ("scale", "alpha")

    def __init__(self, scale, alpha, validate_args=None):
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        parts = [ExpTransform(), AffineTransform(0, self.scale)]
        super().__init__(base, parts, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        """[scale, inf)."""
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self):
        """alpha scale / (alpha - 1); inf up to alpha 1."""
        good = self.alpha > 1
        a = _C.where(good, self.alpha, 2.0)
        return _C.where(good, a * self.scale / (a - 1), math.inf)

    @property
    def mode(self):
        """scale."""
        return self.scale

    @property
    def variance(self):
        """scale^2 alpha / ((alpha - 1)^2 (alpha - 2)); inf up to alpha 2."""
        good = self.alpha > 2
        a = _C.where(good, self.alpha, 3.0)
        value = self.scale * self.scale * a / ((a - 1) * (a - 1) * (a - 2))
        return _C.where(good, value, math.inf)

    def entropy(self):
        """See Distribution."""
        return (self.scale / self.alpha).log() + 1 + 1 / self.alpha
