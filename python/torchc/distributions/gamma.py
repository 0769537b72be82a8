"""Gamma."""

from __future__ import annotations

from torchc import _C
from torchc._functions.sampling import _standard_gamma
from torchc.distributions import constraints
from torchc.distributions.exp_family import ExponentialFamily
from torchc.distributions.utils import broadcast_all
from torchc.special._gamma import igamma

__all__ = ["Gamma"]


class Gamma(ExponentialFamily):
    """The gamma distribution with shape `concentration` and scale 1 / rate."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    _batched = {"concentration": 0, "rate": 0}

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    @property
    def mean(self):
        """concentration / rate."""
        return self.concentration / self.rate

    @property
    def mode(self):
        """(concentration - 1) / rate, at least 0."""
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self):
        """concentration / rate^2."""
        return self.concentration / (self.rate * self.rate)

    def rsample(self, sample_shape=()):
        """Gamma numbers, kept above 0; see torch._standard_gamma for their derivative."""
        from torchc._type_info import finfo

        shape = self._extended_shape(sample_shape)
        value = _standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        tiny = finfo(value.dtype).tiny
        return _C.where(value < tiny, tiny, value)

    def log_prob(self, value):
        """See Distribution."""
        value = _C.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        self._validate_sample(value)
        return (
            _C.xlogy(self.concentration, self.rate)
            + _C.xlogy(self.concentration - 1, value)
            - self.rate * value
            - self.concentration.lgamma()
        )

    def cdf(self, value):
        """See Distribution."""
        self._validate_sample(value)
        return igamma(self.concentration, self.rate * value)

    def entropy(self):
        """See Distribution."""
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1.0 - a) * a.digamma()

    @property
    def _natural_params(self):
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x, y):
        return (x + 1).lgamma() - (x + 1) * (-y).log()
