"""LogitRelaxedBernoulli and RelaxedBernoulli."""

from __future__ import annotations

from torchc import _C
from torchc.distributions import constraints
from torchc.distributions._counts import _Trials
from torchc.distributions._elementary import SigmoidTransform
from torchc.distributions.transformed_distribution import TransformedDistribution
from torchc.distributions.utils import clamp_probs

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(_Trials):
    """(logits + logistic noise) / temperature (Maddison, Mnih and Teh 2017, "The concrete distribution")."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = temperature
        self._take(probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)

    def rsample(self, sample_shape=()):
        """Differentiable in the parameter and the temperature."""
        shape = self._extended_shape(sample_shape)
        p = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(_C.rand(shape, dtype=p.dtype, device=p.device))
        return (u.log() - (-u).log1p() + p.log() - (-p).log1p()) / self.temperature

    def log_prob(self, value):
        """See Distribution."""
        from torchc.nn.functional import softplus

        self._validate_sample(value)
        gap = self.logits - value * self.temperature
        t = _C.as_tensor(self.temperature, dtype=gap.dtype, device=gap.device)
        return t.log() + gap - 2 * softplus(gap)


class RelaxedBernoulli(TransformedDistribution):
    """The sigmoid of LogitRelaxedBernoulli: numbers of (0, 1) close to the ends for low temperatures."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """The same distribution for a larger batch."""
        new = self._get_checked_instance(RelaxedBernoulli, _instance)
        return super().expand(batch_shape, _instance=new)

    @property
    def temperature(self):
        """The temperature."""
        return self.base_dist.temperature

    @property
    def logits(self):
        """log(p / (1 - p))."""
        return self.base_dist.logits

    @property
    def probs(self):
        """The probability of 1 at temperature 0."""
        return self.base_dist.probs
