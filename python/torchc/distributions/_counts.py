"""What distributions of counts have in common: a success probability, as such or as its logit."""

from __future__ import annotations

from torchc.distributions.distribution import Distribution
from torchc.distributions.utils import (
    broadcast_all,
    lazy_property,
    logits_to_probs,
    one_of,
    probs_to_logits,
)

__all__ = []


class _Trials(Distribution):
    """Attributes `probs` and `logits`, one of them given, the other computed when it is first asked for."""

    def _take(self, probs, logits, *others):
        """Broadcasts the one that is given with `others` and returns these. ValueError unless one is given."""
        one_of(probs, logits)
        name, given = ("probs", probs) if probs is not None else ("logits", logits)
        *counts, self.__dict__[name] = broadcast_all(*others, given)
        return counts

    @property
    def _param(self):
        return self.__dict__["probs" if "probs" in self.__dict__ else "logits"]

    @lazy_property
    def logits(self):
        """log(p / (1 - p))."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        """The probability of a success."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self):
        """The parameter's shape."""
        return self._param.shape
