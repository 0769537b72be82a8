"""Exponential families: distributions whose entropy and divergence follow from one function."""

from __future__ import annotations

from torchc.autograd import grad
from torchc.autograd.grad_mode import enable_grad
from torchc.distributions.distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """Densities exp(<t(x), theta> - F(theta) + k(x)), theta the natural parameters, F the log normalizer.

    Subclasses define `_natural_params`, `_log_normalizer(*theta)` and `_mean_carrier_measure`, the mean of k(x).
    """

    @property
    def _natural_params(self):
        raise NotImplementedError(f"{type(self).__name__}._natural_params")

    def _log_normalizer(self, *natural_params):
        raise NotImplementedError(f"{type(self).__name__}._log_normalizer")

    @property
    def _mean_carrier_measure(self):
        raise NotImplementedError(f"{type(self).__name__}._mean_carrier_measure")

    def _slopes(self):
        """theta, F(theta), and the gradient of F at theta, which is the mean of t(x)."""
        with enable_grad():
            theta = [
                p if p.requires_grad else p.detach().requires_grad_() for p in self._natural_params
            ]
            normalizer = self._log_normalizer(*theta)
            slopes = grad(normalizer.sum(), theta, create_graph=True)
        return theta, normalizer, slopes

    def entropy(self):
        """F(theta) - <theta, grad F(theta)> less the mean of k (Nielsen and Nock 2010)."""
        theta, normalizer, slopes = self._slopes()
        result = normalizer - self._mean_carrier_measure
        for p, slope in zip(theta, slopes):
            product = p * slope
            events = product.dim() - len(self._batch_shape)
            result = result - (product.flatten(-events).sum(-1) if events else product)
        return result
