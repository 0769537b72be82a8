"""Dirichlet."""

from __future__ import annotations

from torchc import _C
from torchc._functions.sampling import _sample_dirichlet
from torchc.distributions import constraints
from torchc.distributions.exp_family import ExponentialFamily

__all__ = ["Dirichlet"]


class Dirichlet(ExponentialFamily):
    """Points of the simplex, density proportional to prod x_i^(c_i - 1), c (..., k) the concentration.

    ValueError for one without dimension.
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args)

    @property
    def mean(self):
        """c / sum c."""
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self):
        """(c - 1) / sum (c - 1) without the negative ones; the largest's corner where none is positive."""
        above = (self.concentration - 1).clamp(min=0.0)
        total = above.sum(-1, True)
        corner = _C.one_hot(self.concentration.argmax(-1), self.concentration.shape[-1])
        within = (self.concentration < 1).all(-1, True)
        return _C.where(within, corner.to(above.dtype), above / total)

    @property
    def variance(self):
        """m (1 - m) / (1 + sum c), m the mean."""
        total = self.concentration.sum(-1, True)
        mean = self.concentration / total
        return mean * (1 - mean) / (total + 1)

    def rsample(self, sample_shape=()):
        """See torch._sample_dirichlet."""
        return _sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        c = self.concentration
        return _C.xlogy(c - 1.0, value).sum(-1) + c.sum(-1).lgamma() - c.lgamma().sum(-1)

    def entropy(self):
        """See Distribution."""
        c = self.concentration
        k, total = c.shape[-1], c.sum(-1)
        return (
            c.lgamma().sum(-1)
            - total.lgamma()
            - (k - total) * total.digamma()
            - ((c - 1.0) * c.digamma()).sum(-1)
        )

    @property
    def _natural_params(self):
        return (self.concentration,)

    def _log_normalizer(self, x):
        return x.lgamma().sum(-1) - x.sum(-1).lgamma()
