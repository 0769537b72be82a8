"""Normal, LogNormal, Uniform, Exponential, Laplace."""

from __future__ import annotations

import math

from torchc import _C
from torchc.distributions import constraints
from torchc.distributions.distribution import LOG_ROOT_2PI, Distribution
from torchc.distributions.utils import broadcast_all
from torchc.utils._draws import exponential, laplace

__all__ = ["Exponential", "Laplace", "LogNormal", "Normal", "Uniform"]


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

    def expand(self, batch_shape, _instance=None):
        """The same distribution for a larger batch."""
        shape = tuple(batch_shape)
        return type(self)(self.loc.expand(shape), self.scale.expand(shape), validate_args=False)


class _Gaussian(_LocationScale):
    """What Normal and LogNormal have in common; neither is one of the other's kind."""

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


class Normal(_Gaussian):
    """The normal distribution with mean loc and standard deviation scale."""

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

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        z = (value - self.loc) / self.scale
        return -0.5 * z * z - self.scale.log() - LOG_ROOT_2PI

    def cdf(self, value):
        """See Distribution."""
        self._validate_sample(value)
        return 0.5 * (1 + _C.erf((value - self.loc) / (self.scale * math.sqrt(2))))


class LogNormal(_Gaussian):
    """exp of a normal distribution."""

    support = constraints.positive

    @property
    def mean(self):
        """exp(loc + scale^2 / 2)."""
        return (self.loc + self.scale * self.scale / 2).exp()

    @property
    def mode(self):
        """exp(loc - scale^2)."""
        return (self.loc - self.scale * self.scale).exp()

    @property
    def variance(self):
        """See Distribution."""
        square = self.scale * self.scale
        return (square.exp() - 1) * (2 * self.loc + square).exp()

    @property
    def stddev(self):
        """The root of the variance."""
        return self.variance.sqrt()

    def rsample(self, sample_shape=()):
        """exp of normal numbers."""
        return super().rsample(sample_shape).exp()

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        z = (value.log() - self.loc) / self.scale
        return -0.5 * z * z - self.scale.log() - LOG_ROOT_2PI - value.log()

    def cdf(self, value):
        """See Distribution."""
        self._validate_sample(value)
        return 0.5 * (1 + _C.erf((value.log() - self.loc) / (self.scale * math.sqrt(2))))

    def icdf(self, value):
        """See Distribution."""
        return super().icdf(value).exp()

    def entropy(self):
        """See Distribution."""
        return super().entropy() + self.loc


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
        return 0.5 - 0.5 * z.sign() * ((-z.abs() / self.scale).exp() - 1)

    def entropy(self):
        """See Distribution."""
        return 1 + (2 * self.scale).log()


class Uniform(Distribution):
    """Uniform on [low, high). Raises ValueError unless low < high."""

    arg_constraints = {"low": constraints.dependent, "high": constraints.dependent}
    has_rsample = True

    def __init__(self, low, high, validate_args=None):
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.shape, validate_args=validate_args)
        if self._validate_args and not bool((self.low < self.high).all()):
            raise ValueError("Uniform is not defined when low>= high")

    @property
    def support(self):  # type: ignore[override]
        """[low, high]."""
        return constraints.interval(self.low, self.high)

    def expand(self, batch_shape, _instance=None):
        """The same distribution for a larger batch."""
        shape = tuple(batch_shape)
        return Uniform(self.low.expand(shape), self.high.expand(shape), validate_args=False)

    @property
    def mean(self):
        """The middle."""
        return (self.low + self.high) / 2

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


class Exponential(Distribution):
    """Waiting times of events that come at `rate`."""

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, rate, validate_args=None):
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """The same distribution for a larger batch."""
        return Exponential(self.rate.expand(tuple(batch_shape)), validate_args=False)

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
