"""Distributions of functions of random values."""

from __future__ import annotations

import math

from torchc import _C
from torchc.autograd.grad_mode import no_grad
from torchc.distributions import constraints
from torchc.distributions._elementary import (
    AbsTransform,
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    Transform,
)
from torchc.distributions.continuous import Normal, Uniform, _LocationScale
from torchc.distributions.discrete import Independent
from torchc.distributions.distribution import Distribution
from torchc.distributions.utils import _sum_rightmost, broadcast_all

_PI, _LOG_PI, _LOG_2 = math.pi, math.log(math.pi), math.log(2)

__all__ = ["Cauchy", "Gumbel", "HalfCauchy", "HalfNormal", "LogNormal", "TransformedDistribution"]


def _sign_of(transform):
    if transform.sign is None:
        raise NotImplementedError(f"{type(transform).__name__} is not monotonic")
    return transform.sign


class TransformedDistribution(Distribution):
    """The distribution of transforms(x), x from a base distribution."""

    # A subclass's parameters: what its __init__ takes, without dimensions of a value.
    _names: tuple = ()

    def __init__(self, base_distribution, transforms, validate_args=None):
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        if not all(isinstance(t, Transform) for t in self.transforms):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        shape = (*base_distribution.batch_shape, *base_distribution.event_shape)
        whole = ComposeTransform(self.transforms)
        need = whole.domain.event_dim
        if len(shape) < need:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {need}, but got {shape}."
            )
        events = len(base_distribution.event_shape)
        out = whole.forward_shape(shape)
        # Where the transforms broadcast, each element has a number of its own.
        full = tuple(whole.inverse_shape(out))
        if full != shape:
            base_distribution = base_distribution.expand(full[: len(full) - events])
        if need > events:
            base_distribution = Independent(base_distribution, need - events)
        self.base_dist = base_distribution
        size = whole.codomain.event_dim + max(events - whole.domain.event_dim, 0)
        cut = len(out) - size
        super().__init__(out[:cut], out[cut:], validate_args=validate_args)

    @property
    def has_rsample(self):  # type: ignore[override]
        """As the base."""
        return self.base_dist.has_rsample

    @constraints.dependent_property
    def support(self):
        """The last transform's codomain."""
        if not self.transforms:
            return self.base_dist.support
        found = self.transforms[-1].codomain
        missing = len(self.event_shape) - found.event_dim
        return constraints.independent(found, missing) if missing > 0 else found

    def expand(self, batch_shape, _instance=None):
        """The same distribution for a larger batch."""
        if self._names:
            self._get_checked_instance(next(c for c in type(self).__mro__ if "_names" in vars(c)))
            parameters = {n: getattr(self, n).expand(tuple(batch_shape)) for n in self._names}
            new = type(self)(**parameters, validate_args=False)
        else:
            new = self._get_checked_instance(TransformedDistribution, _instance)
            shape = (*batch_shape, *self.event_shape)
            for t in reversed(self.transforms):
                shape = t.inverse_shape(shape)
            base = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
            TransformedDistribution.__init__(new, base, self.transforms, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def sample(self, sample_shape=()):
        """See Distribution."""
        with no_grad():
            return self._through(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape=()):
        """See Distribution."""
        return self._through(self.base_dist.rsample(sample_shape))

    def _through(self, x):
        for t in self.transforms:
            x = t(x)
        return x

    def log_prob(self, value):
        """The base's at the inverse, less the logarithm of the volume's change."""
        self._validate_sample(value)
        total, y, events = 0.0, value, len(self.event_shape)
        for t in reversed(self.transforms):
            x = t._inv_call(y)
            events += t.domain.event_dim - t.codomain.event_dim
            total = total - _sum_rightmost(
                t.log_abs_det_jacobian(x, y), events - t.domain.event_dim
            )
            y = x
        return total + _sum_rightmost(
            self.base_dist.log_prob(y), events - len(self.base_dist.event_shape)
        )

    def cdf(self, value):
        """See Distribution."""
        sign = 1
        for t in reversed(self.transforms):
            value = t._inv_call(value)
            sign = sign * _sign_of(t)
        return self._turned(self.base_dist.cdf(value), sign)

    def icdf(self, value):
        """See Distribution."""
        sign = 1
        for t in self.transforms:
            sign = sign * _sign_of(t)
        return self._through(self.base_dist.icdf(self._turned(value, sign)))

    @staticmethod
    def _turned(probability, sign):
        """p, or 1 - p for a decreasing function."""
        return sign * (probability - 0.5) + 0.5


class Cauchy(_LocationScale):
    """The Cauchy distribution with median loc and half width scale; it has no mean."""

    @property
    def mean(self):
        """NaN: there is none."""
        return _C.full_like(self.loc, float("nan"))

    @property
    def mode(self):
        """loc."""
        return self.loc

    @property
    def variance(self):
        """inf."""
        return _C.full_like(self.loc, float("inf"))

    def rsample(self, sample_shape=()):
        """loc + scale * tan(pi (u - 1/2))."""
        u = _C.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype)
        return self.icdf(u)

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        z = (value - self.loc) / self.scale
        return -_LOG_PI - self.scale.log() - (z * z).log1p()

    def cdf(self, value):
        """See Distribution."""
        return ((value - self.loc) / self.scale).atan() / _PI + 0.5

    def icdf(self, value):
        """See Distribution."""
        return self.loc + self.scale * (_PI * (value - 0.5)).tan()

    def entropy(self):
        """See Distribution."""
        return _LOG_PI + 2 * _LOG_2 + self.scale.log()


class _Half(TransformedDistribution):
    """|x| of a symmetric distribution about 0."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _names = ("scale",)

    def __init__(self, scale, validate_args=None):
        self.scale = broadcast_all(scale)[0]
        base = type(self)._kind(_C.zeros_like(self.scale), self.scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    _kind: type = Distribution

    @property
    def mode(self):
        """0."""
        return _C.zeros_like(self.scale)

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        inside = self.base_dist.log_prob(value) + _LOG_2
        return _C.where(value >= 0, inside, float("-inf"))

    def cdf(self, value):
        """See Distribution."""
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value):
        """See Distribution."""
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self):
        """See Distribution."""
        return self.base_dist.entropy() - _LOG_2


class HalfNormal(_Half):
    """|x| of normal numbers of mean 0 and standard deviation scale."""

    _kind = Normal

    @property
    def mean(self):
        """scale * sqrt(2 / pi)."""
        return self.scale * (2 / _PI) ** 0.5

    @property
    def variance(self):
        """scale^2 (1 - 2 / pi)."""
        return self.scale * self.scale * (1 - 2 / _PI)


class HalfCauchy(_Half):
    """|x| of Cauchy numbers of median 0; it has no mean."""

    _kind = Cauchy

    @property
    def mean(self):
        """inf."""
        return _C.full_like(self.scale, float("inf"))

    @property
    def variance(self):
        """inf."""
        return _C.full_like(self.scale, float("inf"))


class LogNormal(TransformedDistribution):
    """exp of normal numbers of mean loc and standard deviation scale."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _names = ("loc", "scale")

    def __init__(self, loc, scale, validate_args=None):
        base = Normal(loc, scale, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    @property
    def loc(self):
        """The logarithms' mean."""
        return self.base_dist.loc

    @property
    def scale(self):
        """The logarithms' standard deviation."""
        return self.base_dist.scale

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
        """(exp(scale^2) - 1) exp(2 loc + scale^2)."""
        square = self.scale * self.scale
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self):
        """See Distribution."""
        return self.base_dist.entropy() + self.loc


class Gumbel(TransformedDistribution):
    """The distribution of largest values, loc - scale * log(-log(u))."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    _names = ("loc", "scale")

    def __init__(self, loc, scale, validate_args=None):
        from torchc._type_info import finfo

        self.loc, self.scale = broadcast_all(loc, scale)
        info = finfo(self.loc.dtype)
        base = Uniform(
            _C.full_like(self.loc, info.tiny),
            _C.full_like(self.loc, 1 - info.eps),
            validate_args=False,
        )
        one = _C.ones_like(self.scale)
        parts = [
            ExpTransform().inv,
            AffineTransform(0.0, -one),
            ExpTransform().inv,
            AffineTransform(self.loc, -self.scale),
        ]
        super().__init__(base, parts, validate_args=validate_args)

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        z = (self.loc - value) / self.scale
        return z - z.exp() - self.scale.log()

    @property
    def mean(self):
        """loc + scale * Euler's constant."""
        return self.loc + self.scale * 0.5772156649015329

    @property
    def mode(self):
        """loc."""
        return self.loc

    @property
    def variance(self):
        """(pi scale)^2 / 6."""
        return (_PI * self.scale) ** 2 / 6

    def entropy(self):
        """See Distribution."""
        return self.scale.log() + 1.5772156649015329
