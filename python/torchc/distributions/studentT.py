"""StudentT."""

from __future__ import annotations

import math

from torchc import _C
from torchc.distributions import constraints
from torchc.distributions.chi2 import Chi2
from torchc.distributions.distribution import Distribution
from torchc.distributions.utils import broadcast_all

__all__ = ["StudentT"]


class StudentT(Distribution):
    """loc + scale * x / sqrt(z / df), x standard normal, z chi-squared with df degrees of freedom."""

    arg_constraints = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        super().__init__(self.df.shape, validate_args=validate_args)

    @property
    def mean(self):
        """loc; NaN up to one degree of freedom."""
        return _C.where(self.df > 1, self.loc, math.nan)

    @property
    def mode(self):
        """loc."""
        return self.loc

    @property
    def variance(self):
        """scale^2 df / (df - 2); inf up to 2 degrees of freedom, NaN up to 1."""
        df = self.df
        wide = df > 2
        value = self.scale * self.scale * df / _C.where(wide, df - 2, 1.0)
        other = _C.full_like(df, math.nan).masked_fill(df > 1, math.inf)
        return _C.where(wide, value, other)

    def rsample(self, sample_shape=()):
        """Differentiable in all parameters."""
        shape = self._extended_shape(sample_shape)
        x = _C.randn(shape, dtype=self.df.dtype, device=self.df.device)
        z = Chi2(self.df, validate_args=False).rsample(sample_shape)
        return self.loc + self.scale * (x * (z / self.df).rsqrt())

    def _log_normalizer(self):
        half = 0.5 * self.df
        return (
            self.scale.log()
            + 0.5 * self.df.log()
            + 0.5 * math.log(math.pi)
            + half.lgamma()
            - (half + 0.5).lgamma()
        )

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        z = (value - self.loc) / self.scale
        return -0.5 * (self.df + 1.0) * (z * z / self.df).log1p() - self._log_normalizer()

    def entropy(self):
        """See Distribution."""
        half = 0.5 * self.df
        slope = (half + 0.5).digamma() - half.digamma()
        return self._log_normalizer() + 0.5 * (self.df + 1.0) * slope
