"""GeneralizedPareto."""

from __future__ import annotations

import math

from torchc import _C
from torchc.distributions import constraints
from torchc.distributions.distribution import Distribution
from torchc.distributions.utils import broadcast_all

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """Numbers that exceed loc + scale z with probability (1 + k z)^(-1 / k), k the concentration; exp(-z) for k = 0."""

    arg_constraints = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    def __init__(self, loc, scale, concentration, validate_args=None):
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        """[loc, inf), up to loc - scale / concentration for negative ones."""
        short, k = self._bent(self.concentration < 0, -1.0)
        return constraints.interval(self.loc, _C.where(short, self.loc - self.scale / k, math.inf))

    def _bent(self, where, otherwise):
        return where, _C.where(where, self.concentration, otherwise)

    def rsample(self, sample_shape=()):
        """By the inverse of cdf."""
        shape = self._extended_shape(sample_shape)
        return self.icdf(_C.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def _exponent(self, value):
        """log(1 + k z) / k, z for k = 0, and log(1 + k z)."""
        z = (value - self.loc) / self.scale
        bent, k = self._bent(self.concentration != 0, 1.0)
        logarithm = (_C.where(bent, k * z, 0.0)).log1p()
        return _C.where(bent, logarithm / k, z), logarithm

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        exponent, logarithm = self._exponent(value)
        return -self.scale.log() - exponent - logarithm

    def log_survival_function(self, value):
        """log of the probability of values above `value`."""
        self._validate_sample(value)
        return -self._exponent(value)[0]

    def log_cdf(self, value):
        """log of cdf."""
        self._validate_sample(value)
        return (-(-self._exponent(value)[0]).expm1()).log()

    def cdf(self, value):
        """See Distribution."""
        self._validate_sample(value)
        return -(-self._exponent(value)[0]).expm1()

    def icdf(self, value):
        """See Distribution."""
        exponent = -(-value).log1p()
        bent, k = self._bent(self.concentration != 0, 1.0)
        return self.loc + self.scale * _C.where(bent, (k * exponent).expm1() / k, exponent)

    @property
    def mean(self):
        """loc + scale / (1 - k); inf from k = 1 on."""
        good, k = self._bent(self.concentration < 1, 0.0)
        return _C.where(good, self.loc + self.scale / (1 - k), math.inf)

    @property
    def mode(self):
        """loc."""
        return self.loc

    @property
    def variance(self):
        """scale^2 / ((1 - k)^2 (1 - 2 k)); inf from k = 1/2 on."""
        good, k = self._bent(self.concentration < 0.5, 0.0)
        value = (self.scale / (1 - k)) ** 2 / (1 - 2 * k)
        return _C.where(good, value, math.inf)

    def entropy(self):
        """See Distribution."""
        return self.scale.log() + self.concentration + 1
