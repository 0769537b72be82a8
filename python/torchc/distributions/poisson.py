"""Poisson."""

from __future__ import annotations

from torchc import _C
from torchc._functions.sampling import poisson
from torchc.autograd.grad_mode import no_grad
from torchc.distributions import constraints
from torchc.distributions.exp_family import ExponentialFamily
from torchc.distributions.utils import broadcast_all

__all__ = ["Poisson"]


class Poisson(ExponentialFamily):
    """Counts of independent events, `rate` on average."""

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate, validate_args=None):
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self):
        """rate."""
        return self.rate

    @property
    def mode(self):
        """rate, rounded down."""
        return self.rate.floor()

    @property
    def variance(self):
        """rate."""
        return self.rate

    def sample(self, sample_shape=()):
        """See torch.poisson."""
        with no_grad():
            return poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        return _C.xlogy(value, self.rate) - self.rate - (value + 1).lgamma()

    @property
    def _natural_params(self):
        return (self.rate.log(),)

    def _log_normalizer(self, x):
        return x.exp()
