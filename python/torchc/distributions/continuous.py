"""Normal, Uniform, Exponential, Laplace."""

from __future__ import annotations

import math

from torchc import _C
from torchc.distributions import constraints
from torchc.distributions.distribution import LOG_ROOT_2PI, Distribution
from torchc.distributions.exp_family import ExponentialFamily
from torchc.distributions.utils import broadcast_all
from torchc.utils._draws import exponential, laplace

__all__ = ["Exponential", "Laplace", "Normal", "Uniform"]


def _normal(shape, like):
    """Standard normal numbers."""
    return _C.randn(shape, dtype=like.dtype)


def _uniform(shape, like):
    """Uniform numbers of [0, 1)."""
    return _C.rand(shape, dtype=like.dtype)


class _LocationScale(Distribution):
    """A distribution with the parameters loc and scale, broadcast to one shape."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)


class Normal(_LocationScale, ExponentialFamily):
    """The normal distribution with mean loc and standard deviation scale."""

    _mean_carrier_measure = 0

    @property
    def _natural_params(self):
        square = self.scale * self.scale
        return self.loc / square, -0.5 / square

    def _log_normalizer(self, x, y):
        return -0.25 * x * x / y + 0.5 * (-math.pi / y).log()

    @property
    def mean(self):
        """loc."""
        return self.loc

    @property
    def mode(self):
        """loc."""
        return self.loc

    @property
    def stddev(self):
        """scale."""
        return self.scale

    @property
    def variance(self):
        """scale squared."""
        return self.scale * self.scale

    def rsample(self, sample_shape=()):
        """loc + scale * standard normal numbers."""
        shape = self._extended_shape(sample_shape)
        return self.loc + _normal(shape, self.loc) * self.scale

    def icdf(self, value):
        """See Distribution."""
        return self.loc + self.scale * _C.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self):
        """See Distribution."""
        return 0.5 + LOG_ROOT_2PI + self.scale.log()

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        z = (value - self.loc) / self.scale
        return -0.5 * z * z - self.scale.log() - LOG_ROOT_2PI

    def cdf(self, value):
        """See Distribution."""
        self._validate_sample(value)
        return 0.5 * (1 + _C.erf((value - self.loc) / (self.scale * math.sqrt(2))))


class Laplace(_LocationScale):
    """Two exponential distributions back to back."""

    @property
    def mean(self):
        """loc."""
        return self.loc

    @property
    def mode(self):
        """loc."""
        return self.loc

    @property
    def variance(self):
        """2 scale^2."""
        return 2 * self.scale * self.scale

    def rsample(self, sample_shape=()):
        """By the inverse of cdf."""
        return self.loc + self.scale * laplace(self._extended_shape(sample_shape), self.loc)

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value):
        """See Distribution."""
        self._validate_sample(value)
        z = value - self.loc
        return 0.5 - 0.5 * z.sign() * (-z.abs() / self.scale).expm1()

    def icdf(self, value):
        """See Distribution."""
        side = value - 0.5
        return self.loc - self.scale * side.sign() * (-2 * side.abs()).log1p()

    def entropy(self):
        """See Distribution."""
        return 1 + (2 * self.scale).log()


class Uniform(Distribution):
    """Uniform on [low, high). Raises ValueError unless low < high."""

    arg_constraints = {"low": constraints.dependent, "high": constraints.dependent}
    has_rsample = True
    _batched = {"low": 0, "high": 0}

    def __init__(self, low, high, validate_args=None):
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.shape, validate_args=validate_args)
        if self._validate_args and not bool((self.low < self.high).all()):
            raise ValueError("Uniform is not defined when low>= high")

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        """[low, high]."""
        return constraints.interval(self.low, self.high)

    @property
    def mean(self):
        """The middle."""
        return (self.low + self.high) / 2

    @property
    def mode(self):
        """NaN: no value is more likely than others."""
        return _C.full_like(self.high, math.nan)

    @property
    def variance(self):
        """A twelfth of the width squared."""
        width = self.high - self.low
        return width * width / 12

    def rsample(self, sample_shape=()):
        """low + (high - low) * uniform numbers."""
        u = _uniform(self._extended_shape(sample_shape), self.low)
        return self.low + u * (self.high - self.low)

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        inside = (self.low <= value).logical_and(value < self.high)
        return inside.to(self.low.dtype).log() - (self.high - self.low).log()

    def cdf(self, value):
        """See Distribution."""
        self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value):
        """See Distribution."""
        return value * (self.high - self.low) + self.low

    def entropy(self):
        """See Distribution."""
        return (self.high - self.low).log()


class Exponential(ExponentialFamily):
    """Waiting times of events that come at `rate`."""

    _mean_carrier_measure = 0

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, rate, validate_args=None):
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self):
        """1 / rate."""
        return 1 / self.rate

    @property
    def mode(self):
        """0."""
        return _C.zeros_like(self.rate)

    @property
    def variance(self):
        """1 / rate^2."""
        return 1 / (self.rate * self.rate)

    def rsample(self, sample_shape=()):
        """Standard exponential numbers / rate."""
        return exponential(self._extended_shape(sample_shape), self.rate) / self.rate

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value):
        """See Distribution."""
        self._validate_sample(value)
        return 1 - (-self.rate * value).exp()

    def icdf(self, value):
        """See Distribution."""
        return -(1 - value).log() / self.rate

    def entropy(self):
        """See Distribution."""
        return 1 - self.rate.log()

    @property
    def _natural_params(self):
        return (-self.rate,)

    def _log_normalizer(self, x):
        return -(-x).log()
