"""LogisticNormal."""

from __future__ import annotations

from torchc.distributions import constraints
from torchc.distributions._structured import StickBreakingTransform
from torchc.distributions.continuous import Normal
from torchc.distributions.transformed_distribution import TransformedDistribution

__all__ = ["LogisticNormal"]


class LogisticNormal(TransformedDistribution):
    """Points of the simplex: normal numbers (..., k) through StickBreakingTransform, to k + 1 parts."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """The same distribution for a larger batch."""
        new = self._get_checked_instance(LogisticNormal, _instance)
        return super().expand(batch_shape, _instance=new)

    @property
    def loc(self):
        """The normal numbers' mean."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self):
        """The normal numbers' standard deviation."""
        return self.base_dist.base_dist.scale
