"""Multinomial."""

from __future__ import annotations

from torchc import _C
from torchc._functions.sampling import binomial
from torchc.autograd.grad_mode import no_grad
from torchc.distributions import constraints
from torchc.distributions.binomial import Binomial
from torchc.distributions.discrete import Categorical
from torchc.distributions.distribution import Distribution

__all__ = ["Multinomial"]


def _by_draws(p, total):
    """Counts of `total` places in the sums of p."""
    ends = p.cumsum(-1)
    u = _C.rand((*p.shape[:-1], total), dtype=p.dtype, device=p.device) * ends[..., -1:]
    # A product that was rounded up to the end would lie behind the last class that has a probability.
    places = _C.searchsorted(ends, u.minimum(ends[..., -1:] * (1 - 2.0**-53)), right=True)
    return _C.zeros_like(p).scatter_add(-1, places, _C.ones_like(u))


def _by_classes(p, total):
    """Binomial numbers of what the classes before have left."""
    # What remains for a class and those after it, without a difference from 1.
    rest = p.flip(-1).cumsum(-1).flip(-1)
    left = _C.full(p.shape[:-1], float(total), dtype=p.dtype, device=p.device)
    counts = []
    for k in range(p.shape[-1] - 1):
        share = _C.where(rest[..., k] > 0, p[..., k] / rest[..., k], 0.0)
        counts.append(binomial(left, share))
        left = left - counts[-1]
    return _C.stack([*counts, left], -1)


class Multinomial(Distribution):
    """How often each class was drawn in `total_count` draws with the probabilities `probs` or softmax of `logits`.

    NotImplementedError for a total count that is no int.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs, logits, validate_args)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=False)
        self._validate_args = self._categorical._validate_args

    def expand(self, batch_shape, _instance=None):
        """The same distribution for a larger batch."""
        new = super().expand(batch_shape, _instance)
        new._categorical = self._categorical.expand(batch_shape)
        return new

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self):
        """Counts, total_count together."""
        return constraints.multinomial(self.total_count)

    @property
    def probs(self):
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self):
        """The logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def param_shape(self):
        """The parameter's shape."""
        return self._categorical.param_shape

    @property
    def mean(self):
        """n p."""
        return self.probs * self.total_count

    @property
    def variance(self):
        """n p (1 - p)."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        """Draw by draw, or class by class where these are fewer."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            p = self.probs.double().expand(shape)
            count = _by_draws if self.total_count < shape[-1] else _by_classes
            return count(p, self.total_count).to(self.probs.dtype)

    def entropy(self):
        """See Distribution."""
        n = self.total_count
        single = Binomial(n, probs=self.probs, validate_args=False)
        count = single.enumerate_support(False)[1:]
        ways = (single.log_prob(count).exp() * (count + 1).lgamma()).sum((0, -1))
        n = _C.tensor(float(n), dtype=self.probs.dtype, device=self.probs.device)
        return n * self._categorical.entropy() - (n + 1).lgamma() + ways

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        logits, value = _C.broadcast_tensors(self.logits, value)
        # A class of probability 0 that wasn't drawn takes no part.
        known = _C.where((value == 0).logical_and(logits == -float("inf")), 0.0, logits)
        ways = (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1)
        return ways + (known * value).sum(-1)
