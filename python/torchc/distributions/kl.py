"""Kullback-Leibler divergences of pairs of distributions."""

from __future__ import annotations

from torchc import _C
from torchc.distributions.continuous import Exponential, Laplace, LogNormal, Normal, Uniform
from torchc.distributions.discrete import Bernoulli, Categorical, Independent, OneHotCategorical
from torchc.distributions.transformed_distribution import HalfNormal

__all__ = ["kl_divergence", "register_kl"]

_RULES: dict = {}


def register_kl(type_p, type_q):
    """A decorator: the function computes the divergence of a type_p from a type_q."""

    def register(function):
        _RULES[type_p, type_q] = function
        return function

    return register


def kl_divergence(p, q):
    """The divergence KL(p || q), of shape batch_shape. Raises NotImplementedError for a pair without a rule."""
    for type_p in type(p).__mro__:
        for type_q in type(q).__mro__:
            if (type_p, type_q) in _RULES:
                return _RULES[type_p, type_q](p, q)
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
    )


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p, q):
    return _normal(p.base_dist, q.base_dist)


@register_kl(LogNormal, LogNormal)
@register_kl(Normal, Normal)
def _normal(p, q):
    ratio = p.scale / q.scale
    distance = (p.loc - q.loc) / q.scale
    square = ratio * ratio
    return 0.5 * (square + distance * distance - 1 - square.log())


@register_kl(Categorical, Categorical)
def _categorical(p, q):
    terms = p.probs * (p.logits - q.logits)
    terms = _C.where(q.probs.expand(terms.shape) == 0, _C.full_like(terms, float("inf")), terms)
    terms = _C.where(p.probs.expand(terms.shape) == 0, _C.zeros_like(terms), terms)
    return terms.sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p, q):
    return _categorical(p._categorical, q._categorical)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p, q):
    def part(a, b):
        term = a * (a / b).log()
        term = _C.where(b.expand(term.shape) == 0, _C.full_like(term, float("inf")), term)
        return _C.where(a.expand(term.shape) == 0, _C.zeros_like(term), term)

    return part(p.probs, q.probs) + part(1 - p.probs, 1 - q.probs)


@register_kl(Uniform, Uniform)
def _uniform(p, q):
    result = ((q.high - q.low) / (p.high - p.low)).log()
    outside = (q.low > p.low).logical_or(q.high < p.high)
    return _C.where(outside, _C.full_like(result, float("inf")), result)


@register_kl(Exponential, Exponential)
def _exponential(p, q):
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(Laplace, Laplace)
def _laplace(p, q):
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * (-distance / p.scale).exp() - 1


@register_kl(Independent, Independent)
def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return p._summed(kl_divergence(p.base_dist, q.base_dist))
