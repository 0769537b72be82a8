"""Beta."""

from __future__ import annotations

from torchc import _C
from torchc._functions.sampling import _sample_dirichlet
from torchc.distributions import constraints
from torchc.distributions.exp_family import ExponentialFamily
from torchc.distributions.utils import broadcast_all

__all__ = ["Beta"]


class Beta(ExponentialFamily):
    """Density proportional to x^(concentration1 - 1) (1 - x)^(concentration0 - 1) on (0, 1)."""

    arg_constraints = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        super().__init__(self.concentration1.shape, validate_args=validate_args)

    @property
    def _total(self):
        return self.concentration1 + self.concentration0

    @property
    def mean(self):
        """a / (a + b)."""
        return self.concentration1 / self._total

    @property
    def mode(self):
        """(a - 1) / (a + b - 2); of two parameters below 1 the end of the larger one."""
        a, b = self.concentration1, self.concentration0
        up, down = (a - 1).clamp(min=0.0), (b - 1).clamp(min=0.0)
        corner = (a >= b).to(a.dtype)
        return _C.where((a < 1).logical_and(b < 1), corner, up / (up + down))

    @property
    def variance(self):
        """a b / ((a + b)^2 (a + b + 1))."""
        total = self._total
        return self.concentration1 * self.concentration0 / (total * total * (total + 1))

    def rsample(self, sample_shape=()):
        """The first part of a Dirichlet point; see torch._sample_dirichlet."""
        both = _C.stack([self.concentration1, self.concentration0], -1)
        return _sample_dirichlet(both.expand((*self._extended_shape(sample_shape), 2))).select(
            -1, 0
        )

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        a, b = self.concentration1, self.concentration0
        density = _C.xlogy(a - 1.0, value) + _C.xlogy(b - 1.0, 1.0 - value)
        return density + (a + b).lgamma() - a.lgamma() - b.lgamma()

    def entropy(self):
        """See Distribution."""
        a, b, total = self.concentration1, self.concentration0, self._total
        return (
            self._log_normalizer(a, b)
            - (2.0 - total) * total.digamma()
            - (a - 1.0) * a.digamma()
            - (b - 1.0) * b.digamma()
        )

    @property
    def _natural_params(self):
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x, y):
        return x.lgamma() + y.lgamma() - (x + y).lgamma()
