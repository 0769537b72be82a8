"""MixtureSameFamily."""

from __future__ import annotations

from torchc import _C
from torchc.autograd.grad_mode import no_grad
from torchc.distributions import constraints
from torchc.distributions.discrete import Categorical
from torchc.distributions.distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A component, chosen by a Categorical, of the last batch dimension of a distribution.

    ValueError for a mixture that is no Categorical, or batch shapes that don't fit.
    """

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an instance of torch.distributions.Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                "The Component distribution need to be an instance of torch.distributions.Distribution"
            )
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        mixture = tuple(mixture_distribution.batch_shape)
        batch = tuple(component_distribution.batch_shape)[:-1]
        for a, b in zip(reversed(mixture), reversed(batch)):
            if a != 1 and b != 1 and a != b:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({mixture}) is not compatible with "
                    f"`component_distribution.batch_shape` ({(*batch, '*')})"
                )
        classes = mixture_distribution.param_shape[-1]
        count = component_distribution.batch_shape[-1]
        if classes != count:
            raise ValueError(
                f"`mixture_distribution component` ({classes}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({count})"
            )
        self._num_component = count
        events = component_distribution.event_shape
        self._event_ndims = len(events)
        super().__init__(batch, events, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """The same distribution for a larger batch."""
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        new.__dict__.update(self.__dict__)
        shape = tuple(batch_shape)
        new._component_distribution = self._component_distribution.expand(
            (*shape, self._num_component)
        )
        new._mixture_distribution = self._mixture_distribution.expand(shape)
        new._batch_shape = _C.Size(shape)
        return new

    @constraints.dependent_property
    def support(self):
        """What all components have."""
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self):
        """What chooses the component."""
        return self._mixture_distribution

    @property
    def component_distribution(self):
        """The components, along the last batch dimension."""
        return self._component_distribution

    @property
    def _weights(self):
        probs = self._mixture_distribution.probs
        return probs.reshape(*probs.shape, *[1] * self._event_ndims)

    def _averaged(self, values):
        return (self._weights * values).sum(-1 - self._event_ndims)

    @property
    def mean(self):
        """The mean of the components' means."""
        return self._averaged(self._component_distribution.mean)

    @property
    def variance(self):
        """The mean of the variances and the variance of the means."""
        means = self._component_distribution.mean
        gap = means - self._averaged(means).unsqueeze(-1 - self._event_ndims)
        return self._averaged(self._component_distribution.variance + gap * gap)

    def cdf(self, x):
        """See Distribution."""
        x = x.unsqueeze(-1 - self._event_ndims)
        return (self._component_distribution.cdf(x) * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, x):
        """See Distribution."""
        if self._validate_args:
            self._validate_sample(x)
        density = self._component_distribution.log_prob(x.unsqueeze(-1 - self._event_ndims))
        weights = _C.log_softmax(self._mixture_distribution.logits, -1)
        return _C.logsumexp(density + weights, -1)

    def sample(self, sample_shape=()):
        """A sample of every component, of which one is kept."""
        with no_grad():
            dim = len(sample_shape) + len(self._batch_shape)
            choice = self._mixture_distribution.expand(self._batch_shape).sample(sample_shape)
            values = self._component_distribution.sample(sample_shape)
            events = tuple(self._event_shape)
            index = choice.reshape(*choice.shape, 1, *[1] * len(events))
            index = index.expand(*choice.shape, 1, *events)
            return values.gather(dim, index).squeeze(dim)

    def __repr__(self):
        return f"MixtureSameFamily(\n  {self._mixture_distribution},\n  {self._component_distribution})"
