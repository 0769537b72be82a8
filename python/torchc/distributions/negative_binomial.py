"""NegativeBinomial."""

from __future__ import annotations

from torchc import _C
from torchc._functions.sampling import poisson
from torchc.autograd.grad_mode import no_grad
from torchc.distributions import constraints
from torchc.distributions._counts import _Trials
from torchc.distributions.gamma import Gamma

__all__ = ["NegativeBinomial"]


class NegativeBinomial(_Trials):
    """The successes of probability `probs` (or sigmoid of `logits`) before `total_count` failures."""

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        (count,) = self._take(probs, logits, total_count)
        self.total_count = count.to(self._param.dtype)
        super().__init__(self._param.shape, validate_args=validate_args)

    @property
    def mean(self):
        """n p / (1 - p)."""
        return self.total_count * self.logits.exp()

    @property
    def mode(self):
        """(n - 1) p / (1 - p), rounded down, at least 0."""
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self):
        """n p / (1 - p)^2."""
        return self.mean / (-self.logits).sigmoid()

    def sample(self, sample_shape=()):
        """Poisson numbers of rates that are gamma numbers."""
        with no_grad():
            rates = Gamma(self.total_count, (-self.logits).exp(), validate_args=False)
            return poisson(rates.sample(sample_shape))

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        from torchc.nn.functional import logsigmoid

        n = self.total_count
        trials = n * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        # n = value = 0 is certain.
        both = n + value == 0
        some = _C.where(both, 1.0, n + value)
        ways = some.lgamma() - (1.0 + value).lgamma() - _C.where(both, 1.0, n).lgamma()
        return trials + ways
