"""ContinuousBernoulli."""

from __future__ import annotations

import math

from torchc import _C
from torchc.distributions import constraints
from torchc.distributions._counts import _Trials
from torchc.distributions.exp_family import ExponentialFamily
from torchc.distributions.utils import clamp_probs

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(_Trials, ExponentialFamily):
    """Numbers of [0, 1], density proportional to p^x (1 - p)^(1 - x) (Loaiza-Ganem and Cunningham 2019).

    Within `lims`, where the formulas are 0 / 0, their Taylor series about p = 1/2 are used.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args=None):
        self._take(probs, logits)
        self._lims = lims
        super().__init__(self._param.shape, validate_args=validate_args)
        if probs is not None:
            self.probs = clamp_probs(self.probs)

    def _parts(self):
        """Where p is outside of lims, p there (lims[0] elsewhere), and p - 1/2."""
        p = clamp_probs(self.probs)
        far = (p <= self._lims[0]).logical_or(p > self._lims[1])
        return far, _C.where(far, p, self._lims[0]), p - 0.5

    def _cont_bern_log_norm(self):
        """log of 2 artanh(1 - 2 p) / (1 - 2 p)."""
        far, p, x = self._parts()
        gap = 1.0 - 2.0 * p
        # artanh(1 - 2 p) = (log(1 - p) - log p) / 2
        exact = (((-p).log1p() - p.log()) / gap).log()
        square = x * x
        near = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * square) * square
        return _C.where(far, exact, near)

    @property
    def mean(self):
        """p / (2 p - 1) + 1 / (2 artanh(1 - 2 p))."""
        far, p, x = self._parts()
        exact = p / (2.0 * p - 1.0) + 1.0 / ((-p).log1p() - p.log())
        near = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x * x) * x
        return _C.where(far, exact, near)

    @property
    def variance(self):
        """p (p - 1) / (1 - 2 p)^2 + 1 / (2 artanh(1 - 2 p))^2."""
        far, p, x = self._parts()
        gap, slope = 1.0 - 2.0 * p, (-p).log1p() - p.log()
        exact = p * (p - 1.0) / (gap * gap) + 1.0 / (slope * slope)
        square = x * x
        near = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * square) * square
        return _C.where(far, exact, near)

    def rsample(self, sample_shape=()):
        """By the inverse of cdf."""
        shape = self._extended_shape(sample_shape)
        return self.icdf(_C.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def sample(self, sample_shape=()):
        """See Distribution."""
        from torchc.autograd.grad_mode import no_grad

        with no_grad():
            return self.rsample(sample_shape)

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        logits, value = _C.broadcast_tensors(self.logits, value)
        cross = _C.binary_cross_entropy_with_logits(logits, value, reduction="none")
        return self._cont_bern_log_norm() - cross

    def cdf(self, value):
        """See Distribution."""
        self._validate_sample(value)
        far, p, x = self._parts()
        slope = p.log() - (-p).log1p()
        exact = (value * slope).expm1() / slope.expm1()
        # Bernoulli's polynomials.
        slope, v = 2.0 * (2.0 * x).atanh(), value * (value - 1.0)
        cubic = v * (2.0 * value - 1.0) / 12.0 + v * v / 24.0 * slope
        inside = _C.where(far, exact, value + (v / 2.0 + cubic * slope) * slope)
        return _C.where(value <= 0.0, 0.0, _C.where(value >= 1.0, 1.0, inside))

    def icdf(self, value):
        """See Distribution."""
        far, p, x = self._parts()
        slope = p.log() - (-p).log1p()
        exact = (value * slope.expm1()).log1p() / slope
        slope = 2.0 * (2.0 * x).atanh()
        z = value * slope.expm1()
        rise = 1.0 + (0.5 + (1.0 / 6.0 + (1.0 / 24.0 + slope / 120.0) * slope) * slope) * slope
        near = value * rise * (1.0 + (-0.5 + (1.0 / 3.0 + (-0.25 + 0.2 * z) * z) * z) * z)
        return _C.where(far, exact, near)

    def entropy(self):
        """See Distribution."""
        p = clamp_probs(self.probs)
        rest = (-p).log1p()
        return self.mean * (rest - p.log()) - self._cont_bern_log_norm() - rest

    @property
    def _natural_params(self):
        return (self.logits,)

    def _log_normalizer(self, x):
        """log((exp(x) - 1) / x)."""
        far = x.abs() > 2.0 * (self._lims[1] - self._lims[0])
        y = _C.where(far, x, 1.0)
        # Of |x|: log((1 - exp(-y)) / y) + max(x, 0).
        exact = (-(-y.abs()).expm1() / y.abs()).log() + y.clamp(min=0)
        return _C.where(far, exact, 0.5 * x + x * x / 24.0 - x * x * x * x / 2880.0)
