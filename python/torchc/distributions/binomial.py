"""Binomial."""

from __future__ import annotations

from torchc import _C
from torchc._functions.sampling import binomial
from torchc.autograd.grad_mode import no_grad
from torchc.distributions import constraints
from torchc.distributions._counts import _Trials

__all__ = ["Binomial"]


def _log_factorial(n):
    return (n + 1).lgamma()


class Binomial(_Trials):
    """The successes among `total_count` trials of probability `probs` (or sigmoid of `logits`)."""

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        (count,) = self._take(probs, logits, total_count)
        self.total_count = count.to(self._param.dtype)
        super().__init__(self._param.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        """0 ... total_count."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self):
        """n p."""
        return self.total_count * self.probs

    @property
    def mode(self):
        """(n + 1) p, rounded down, at most n."""
        return ((self.total_count + 1) * self.probs).floor().minimum(self.total_count)

    @property
    def variance(self):
        """n p (1 - p)."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        """See torch.binomial."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        from torchc.nn.functional import softplus

        n = self.total_count
        ways = _log_factorial(n) - _log_factorial(value) - _log_factorial(n - value)
        # log(1 + exp(logits)) without overflow.
        return (
            ways
            + value * self.logits
            - n * (self.logits.clamp(min=0) + softplus(-self.logits.abs()))
        )

    def _one_count(self, what):
        n = int(self.total_count.max())
        if not bool((self.total_count == n).all()):
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{what}`.")
        return n

    def entropy(self):
        """See Distribution. NotImplementedError for total counts that differ."""
        self._one_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True):
        """0 ... total_count. NotImplementedError for total counts that differ."""
        n = self._one_count("enumerate_support")
        values = _C.arange(n + 1, dtype=self._param.dtype, device=self._param.device)
        values = values.reshape(-1, *[1] * len(self._batch_shape))
        return values.expand(n + 1, *self._batch_shape) if expand else values
