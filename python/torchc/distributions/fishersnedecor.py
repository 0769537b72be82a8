"""FisherSnedecor."""

from __future__ import annotations

import math

from torchc import _C
from torchc.distributions import constraints
from torchc.distributions.distribution import Distribution
from torchc.distributions.gamma import Gamma
from torchc.distributions.utils import broadcast_all

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """The quotient of two chi-squared numbers, each by its degrees of freedom df1 and df2."""

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1, df2, validate_args=None):
        self.df1, self.df2 = broadcast_all(df1, df2)
        super().__init__(self.df1.shape, validate_args=validate_args)

    @property
    def mean(self):
        """df2 / (df2 - 2); NaN up to df2 = 2."""
        good = self.df2 > 2
        return _C.where(good, self.df2 / _C.where(good, self.df2 - 2, 1.0), math.nan)

    @property
    def mode(self):
        """(df1 - 2) / df1 * df2 / (df2 + 2); NaN up to df1 = 2."""
        value = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return _C.where(self.df1 > 2, value, math.nan)

    @property
    def variance(self):
        """2 df2^2 (df1 + df2 - 2) / (df1 (df2 - 2)^2 (df2 - 4)); NaN up to df2 = 4."""
        good = self.df2 > 4
        df2 = _C.where(good, self.df2, 5.0)
        below = df2 - 2
        value = 2 * df2 * df2 * (self.df1 + below) / (self.df1 * below * below * (df2 - 4))
        return _C.where(good, value, math.nan)

    def rsample(self, sample_shape=()):
        """Differentiable in both parameters."""
        from torchc._type_info import finfo

        upper = Gamma(self.df1 * 0.5, self.df1 * 0.5, validate_args=False).rsample(sample_shape)
        lower = Gamma(self.df2 * 0.5, self.df2 * 0.5, validate_args=False).rsample(sample_shape)
        return (upper / lower).clamp(min=finfo(upper.dtype).tiny)

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        a, b = self.df1 * 0.5, self.df2 * 0.5
        ratio = self.df1 / self.df2
        constant = (a + b).lgamma() - a.lgamma() - b.lgamma()
        return (
            constant + a * ratio.log() + (a - 1) * value.log() - (a + b) * (ratio * value).log1p()
        )
