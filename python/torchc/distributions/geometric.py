"""Geometric."""

from __future__ import annotations

from torchc import _C, special
from torchc.autograd.grad_mode import no_grad
from torchc.distributions import constraints
from torchc.distributions._counts import _Trials

__all__ = ["Geometric"]


class Geometric(_Trials):
    """The failures before the first success of probability `probs` (or sigmoid of `logits`). ValueError for 0."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._take(probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)
        if self._validate_args and probs is not None and not bool((self.probs > 0).all()):
            raise ValueError(
                f"Expected parameter probs of distribution {self!r} to be positive but found invalid values:\n"
                f"{self.probs}"
            )

    @property
    def mean(self):
        """1 / p - 1."""
        return 1.0 / self.probs - 1.0

    @property
    def mode(self):
        """0."""
        return _C.zeros_like(self.probs)

    @property
    def variance(self):
        """(1 / p - 1) / p."""
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape=()):
        """By the inverse of the distribution function."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            p = self.probs.expand(shape).double()
            u = 1.0 - _C.rand(shape, dtype=_C.float64, device=p.device)
            return (u.log() / (-p).log1p()).floor().abs().to(self.probs.dtype)

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        return special.xlog1py(value, -self.probs) + self.probs.log()

    def entropy(self):
        """See Distribution."""
        p = self.probs
        return -(p.log() + special.xlog1py(1 - p, -p) / p)
