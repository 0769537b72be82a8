"""ExpRelaxedCategorical and RelaxedOneHotCategorical."""

from __future__ import annotations

import math

from torchc import _C
from torchc.distributions import constraints
from torchc.distributions._elementary import ExpTransform
from torchc.distributions.discrete import Categorical
from torchc.distributions.distribution import Distribution
from torchc.distributions.transformed_distribution import TransformedDistribution
from torchc.distributions.utils import clamp_probs

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(Distribution):
    """log_softmax of (logits + Gumbel noise) / temperature (Maddison, Mnih and Teh 2017, "The concrete ...")."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    # Logarithms of the simplex; only that they are real is checked.
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

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
    def logits(self):
        """The logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def probs(self):
        """The probabilities."""
        return self._categorical.probs

    def rsample(self, sample_shape=()):
        """Differentiable in the parameter and the temperature."""
        shape = self._extended_shape(sample_shape)
        logits = self.logits
        u = clamp_probs(_C.rand(shape, dtype=logits.dtype, device=logits.device))
        return _C.log_softmax((logits - (-u.log()).log()) / self.temperature, -1)

    def log_prob(self, value):
        """See Distribution."""
        k = self._categorical._num_events
        self._validate_sample(value)
        logits, value = _C.broadcast_tensors(self.logits, value)
        t = _C.as_tensor(self.temperature, dtype=logits.dtype, device=logits.device)
        scores = _C.log_softmax(logits - value * t, -1).sum(-1)
        return scores + math.lgamma(k) + (k - 1) * t.log()


class RelaxedOneHotCategorical(TransformedDistribution):
    """exp of ExpRelaxedCategorical: points of the simplex close to the corners for low temperatures."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """The same distribution for a larger batch."""
        new = self._get_checked_instance(RelaxedOneHotCategorical, _instance)
        return super().expand(batch_shape, _instance=new)

    @property
    def temperature(self):
        """The temperature."""
        return self.base_dist.temperature

    @property
    def logits(self):
        """The logarithms of the probabilities."""
        return self.base_dist.logits

    @property
    def probs(self):
        """The probabilities of the corners."""
        return self.base_dist.probs
