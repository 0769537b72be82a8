"""Bernoulli, Categorical, OneHotCategorical, and Independent, which counts batch dimensions as part of the value."""

from __future__ import annotations

import math

from torchc import _C
from torchc.autograd.grad_mode import no_grad
from torchc.distributions import constraints
from torchc.distributions.distribution import Distribution
from torchc.distributions.exp_family import ExponentialFamily
from torchc.distributions.utils import (
    broadcast_all,
    lazy_property,
    logits_to_probs,
    one_of,
    probs_to_logits,
)

__all__ = [
    "Bernoulli",
    "Categorical",
    "Independent",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
]


class Bernoulli(ExponentialFamily):
    """1 with probability `probs` (or sigmoid of `logits`), else 0."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(self, probs=None, logits=None, validate_args=None):
        one_of(probs, logits)
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
        else:
            (self.logits,) = broadcast_all(logits)
        super().__init__(
            (self.probs if probs is not None else self.logits).shape, validate_args=validate_args
        )

    @lazy_property
    def logits(self):
        """log(p / (1 - p))."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        """The probability of 1."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self):
        """The parameter's shape."""
        return self.probs.shape

    @property
    def mean(self):
        """The probability of 1."""
        return self.probs

    @property
    def mode(self):
        """What is more likely; NaN where both are alike."""
        return _C.where(self.probs == 0.5, math.nan, (self.probs > 0.5).to(self.probs.dtype))

    @property
    def variance(self):
        """p (1 - p)."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        """0 and 1 in the parameter's dtype."""
        with no_grad():
            u = _C.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype)
            return (u < self.probs).to(self.probs.dtype)

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        logits, value = _C.broadcast_tensors(self.logits, value)
        return -_C.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self):
        """See Distribution."""
        return _C.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    @property
    def _natural_params(self):
        return (self.logits,)

    def _log_normalizer(self, x):
        from torchc.nn.functional import softplus

        return softplus(x)

    def enumerate_support(self, expand: bool = True):
        """0 and 1."""
        values = _C.arange(2).to(self.probs.dtype).reshape(2, *[1] * len(self._batch_shape))
        return values.expand(2, *self._batch_shape) if expand else values


class Categorical(Distribution):
    """Class numbers with the probabilities `probs` (normalised, last dimension) or softmax of `logits`.

    Raises ValueError for parameters without dimension.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        one_of(probs, logits)
        given = probs if probs is not None else logits
        if given.dim() < 1:
            name = "probs" if probs is not None else "logits"
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = _C.log_softmax(logits, -1)
        self._num_events = given.size(-1)
        super().__init__(given.shape[:-1], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        """The class numbers."""
        return constraints.integer_interval(0, self._num_events - 1)

    @lazy_property
    def logits(self):
        """The logarithms of the probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self):
        """The probabilities."""
        return logits_to_probs(self.logits)

    @property
    def param_shape(self):
        """The parameter's shape."""
        return self.probs.shape

    @property
    def mean(self):
        """NaN: class numbers have no mean."""
        return _C.full(tuple(self._batch_shape), float("nan"), dtype=self.probs.dtype)

    variance = mean

    @property
    def mode(self):
        """The most likely class."""
        return self.probs.argmax(-1)

    def sample(self, sample_shape=()):
        """int64 class numbers."""
        with no_grad():
            shape = self._extended_shape(sample_shape)
            ends = self.probs.cumsum(-1)
            u = _C.rand((*shape, 1), dtype=self.probs.dtype) * ends[..., -1:]
            # A class whose probability is 0 ends where the one before it does: no draw lies in it.
            return (u >= ends).to(_C.int64).sum(-1).clamp(max=self._num_events - 1)

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        index = value.to(_C.int64).unsqueeze(-1)
        shape = _C.broadcast_tensors(index[..., :1], self.logits[..., :1])[0].shape[:-1]
        logits = self.logits.expand(*shape, self._num_events)
        return logits.gather(-1, index.expand(*shape, 1)).squeeze(-1)

    def entropy(self):
        """See Distribution."""
        from torchc._type_info import finfo

        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True):
        """All class numbers."""
        values = _C.arange(self._num_events).reshape(-1, *[1] * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values


class OneHotCategorical(Distribution):
    """`Categorical` whose values are rows of 0 and 1."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits, validate_args)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=False)
        self._validate_args = self._categorical._validate_args

    def expand(self, batch_shape, _instance=None):
        """The same distribution for a larger batch."""
        new = super().expand(batch_shape, _instance)
        new._categorical = self._categorical.expand(batch_shape)
        return new

    @property
    def param_shape(self):
        """The parameter's shape."""
        return self._categorical.param_shape

    @property
    def mode(self):
        """The row of the most likely class."""
        mode = _C.one_hot(self.probs.argmax(-1), self._categorical._num_events)
        return mode.to(self.probs.dtype)

    @property
    def probs(self):
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self):
        """The logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def mean(self):
        """The probabilities."""
        return self.probs

    @property
    def variance(self):
        """p (1 - p)."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        """Rows of 0 and 1 in the parameter's dtype."""
        index = self._categorical.sample(sample_shape)
        return _C.one_hot(index, self._categorical._num_events).to(self.probs.dtype)

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self):
        """See Distribution."""
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True):
        """The rows of the unit matrix."""
        n = self._categorical._num_events
        values = _C.eye(n, dtype=self.probs.dtype, device=self.probs.device)
        values = values.reshape(n, *[1] * len(self._batch_shape), n)
        return values.expand(n, *self._batch_shape, n) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """OneHotCategorical whose samples have the probabilities' gradient (Bengio, Léonard and Courville 2013)."""

    has_rsample = True

    def rsample(self, sample_shape=()):
        """Rows of 0 and 1 plus p - p, which has a gradient only."""
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class Independent(Distribution):
    """A distribution whose last batch dimensions count as one value: log_prob is summed over them."""

    def __init__(self, base_distribution, reinterpreted_batch_ndims: int, validate_args=None):
        batch = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch):
            raise ValueError(
                f"Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{reinterpreted_batch_ndims} vs {len(batch)}"
            )
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        cut = len(batch) - reinterpreted_batch_ndims
        shape = (*batch, *base_distribution.event_shape)
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """The same distribution for a larger batch."""
        events = tuple(self.event_shape)[: self.reinterpreted_batch_ndims]
        new = self._get_checked_instance(Independent, _instance)
        base = self.base_dist.expand((*batch_shape, *events))
        Independent.__init__(new, base, self.reinterpreted_batch_ndims, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def has_rsample(self):  # type: ignore[override]
        """As the base."""
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self):  # type: ignore[override]
        """As the base, where no dimension was added."""
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self):
        """The base's, in the dimensions added, too."""
        found = self.base_dist.support
        count = self.reinterpreted_batch_ndims
        return constraints.independent(found, count) if count else found

    def enumerate_support(self, expand: bool = True):
        """As the base. NotImplementedError where dimensions were added."""
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError(
                "Enumeration over cartesian product is not implemented for Independent"
            )
        return self.base_dist.enumerate_support(expand=expand)

    @property
    def mean(self):
        """As the base."""
        return self.base_dist.mean

    @property
    def mode(self):
        """As the base."""
        return self.base_dist.mode

    @property
    def variance(self):
        """As the base."""
        return self.base_dist.variance

    def sample(self, sample_shape=()):
        """As the base."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape=()):
        """As the base."""
        return self.base_dist.rsample(sample_shape)

    def _summed(self, value):
        for _ in range(self.reinterpreted_batch_ndims):
            value = value.sum(-1)
        return value

    def log_prob(self, value):
        """The base's, summed."""
        return self._summed(self.base_dist.log_prob(value))

    def entropy(self):
        """The base's, summed."""
        return self._summed(self.base_dist.entropy())

    def __repr__(self):
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"
