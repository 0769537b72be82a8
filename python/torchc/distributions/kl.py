"""Kullback-Leibler divergences of pairs of distributions: the rules of one family, and where they are looked up."""

from __future__ import annotations

import math

from torchc import _C, linalg
from torchc.distributions.beta import Beta
from torchc.distributions.binomial import Binomial
from torchc.distributions.continuous import Exponential, Laplace, Normal, Uniform
from torchc.distributions.continuous_bernoulli import ContinuousBernoulli
from torchc.distributions.dirichlet import Dirichlet
from torchc.distributions.discrete import Bernoulli, Categorical, Independent, OneHotCategorical
from torchc.distributions.distribution import EULER
from torchc.distributions.exp_family import ExponentialFamily
from torchc.distributions.gamma import Gamma
from torchc.distributions.geometric import Geometric
from torchc.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal, _distance
from torchc.distributions.multivariate_normal import MultivariateNormal
from torchc.distributions.pareto import Pareto
from torchc.distributions.poisson import Poisson
from torchc.distributions.transformed_distribution import (
    Cauchy,
    Gumbel,
    HalfNormal,
    TransformedDistribution,
)

__all__ = ["kl_divergence", "register_kl"]

_KL_REGISTRY: dict = {}


def register_kl(type_p, type_q):
    """A decorator: the function computes the divergence of a type_p from a type_q. TypeError for what is no class."""
    for name, kind in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(kind, type):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {kind}")

    def register(function):
        _KL_REGISTRY[type_p, type_q] = function
        return function

    return register


def kl_divergence(p, q):
    """The divergence KL(p || q), of shape batch_shape. Raises NotImplementedError for a pair without a rule.

    The rule of the closest classes is taken, p's first; RuntimeWarning where q's first would be another.
    """
    pairs = [(a, b) for a in type(p).__mro__ for b in type(q).__mro__ if (a, b) in _KL_REGISTRY]
    if not pairs:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
        )
    order = type(q).__mro__
    other = min(pairs, key=lambda pair: order.index(pair[1]))
    if _KL_REGISTRY[other] is not _KL_REGISTRY[pairs[0]]:
        import warnings

        names = ["({}, {})".format(*(c.__name__ for c in pair)) for pair in (pairs[0], other)]
        warnings.warn(
            f"Ambiguous kl_divergence({type(p).__name__}, {type(q).__name__}). Please register_kl one of {names}",
            RuntimeWarning,
            stacklevel=2,
        )
    return _KL_REGISTRY[pairs[0]](p, q)


def _infinite_where(condition, value):
    return _C.where(condition, math.inf, value)


# ---- continuous


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p, q):
    return _normal(p.base_dist, q.base_dist)


@register_kl(Normal, Normal)
def _normal(p, q):
    ratio = p.scale / q.scale
    distance = (p.loc - q.loc) / q.scale
    square = ratio * ratio
    return 0.5 * (square + distance * distance - 1 - square.log())


@register_kl(Uniform, Uniform)
def _uniform(p, q):
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return _infinite_where((q.low > p.low).logical_or(q.high < p.high), result)


@register_kl(Exponential, Exponential)
def _exponential(p, q):
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(Laplace, Laplace)
def _laplace(p, q):
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * (-distance / p.scale).exp() - 1


@register_kl(Cauchy, Cauchy)
def _cauchy(p, q):
    """Chyzak and Nielsen 2019."""
    total, distance = p.scale + q.scale, p.loc - q.loc
    return (total * total + distance * distance).log() - (4 * p.scale * q.scale).log()


@register_kl(Gumbel, Gumbel)
def _gumbel(p, q):
    ratio, shift = p.scale / q.scale, (q.loc - p.loc) / q.scale
    return -ratio.log() - shift + ratio * EULER + (shift + (1 + ratio).lgamma()).exp() - (1 + EULER)


@register_kl(Pareto, Pareto)
def _pareto(p, q):
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return _infinite_where(p.scale < q.scale, result)


@register_kl(Gamma, Gamma)
def _gamma(p, q):
    a, b = p.concentration, q.concentration
    return (
        b * (p.rate / q.rate).log()
        + b.lgamma()
        - a.lgamma()
        + (a - b) * a.digamma()
        + (q.rate - p.rate) * (a / p.rate)
    )


@register_kl(Beta, Beta)
def _beta(p, q):
    a, b, c, d = p.concentration1, p.concentration0, q.concentration1, q.concentration0
    return (
        q._log_normalizer(c, d)
        - p._log_normalizer(a, b)
        + (a - c) * a.digamma()
        + (b - d) * b.digamma()
        + (c + d - a - b) * (a + b).digamma()
    )


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p, q):
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    slopes = a.digamma() - total.digamma().unsqueeze(-1)
    return q._log_normalizer(b) - p._log_normalizer(a) + ((a - b) * slopes).sum(-1)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p, q):
    own = p.mean * p.logits + (-p.probs).log1p() + p._cont_bern_log_norm()
    return own - (p.mean * q.logits + (-q.probs).log1p() + q._cont_bern_log_norm())


# ---- discrete


@register_kl(Categorical, Categorical)
def _categorical(p, q):
    terms = p.probs * (p.logits - q.logits)
    terms = _infinite_where(q.probs.expand(terms.shape) == 0, terms)
    return _C.where(p.probs.expand(terms.shape) == 0, 0.0, terms).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p, q):
    return _categorical(p._categorical, q._categorical)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p, q):
    def part(a, b):
        term = a * (a / b).log()
        term = _infinite_where(b.expand(term.shape) == 0, term)
        return _C.where(a.expand(term.shape) == 0, 0.0, term)

    return part(p.probs, q.probs) + part(1 - p.probs, 1 - q.probs)


@register_kl(Binomial, Binomial)
def _binomial(p, q):
    if bool((p.total_count < q.total_count).any()):
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    result = p.total_count * _bernoulli(p, q)
    return _infinite_where(p.total_count > q.total_count, result)


@register_kl(Geometric, Geometric)
def _geometric(p, q):
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _poisson(p, q):
    return _C.xlogy(p.rate, p.rate) - _C.xlogy(p.rate, q.rate) - (p.rate - q.rate)


# ---- vectors


def _check_events(p, q):
    if p.event_shape != q.event_shape:
        raise ValueError(
            f"KL-divergence between two {'Low Rank ' if isinstance(p, LowRankMultivariateNormal) else ''}Multivariate "
            "Normals with different event shapes cannot be computed"
        )
    return p.event_shape[0]


@register_kl(MultivariateNormal, MultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _to_normal_vector(p, q):
    n = _check_events(p, q)
    low = isinstance(p, LowRankMultivariateNormal)
    # p's covariance is F F', F = (W, sqrt(d)) or the Cholesky factor.
    root = p._root if not low else _C.cat([p.cov_factor, p.cov_diag.sqrt().diag_embed()], -1)
    shift = (q.loc - p.loc).unsqueeze(-1)
    spread = linalg.solve_triangular(q._root, root, upper=False)
    shift = linalg.solve_triangular(q._root, shift, upper=False)
    squares = (spread * spread).sum((-2, -1)) + (shift * shift).sum((-2, -1))
    return q._half_log_det() - p._half_log_det() + 0.5 * (squares - n)


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _to_low_rank(p, q):
    n = _check_events(p, q)
    low = isinstance(p, LowRankMultivariateNormal)
    root = p._root if not low else _C.cat([p.cov_factor, p.cov_diag.sqrt().diag_embed()], -1)
    # The trace of q's precision with F F' is the sum of its distances of F's columns.
    wide = q._small_root.unsqueeze(-3), q.cov_factor.unsqueeze(-3), q.cov_diag.unsqueeze(-2)
    trace = _distance(root.mT, *wide).sum(-1)
    squares = trace + q._distance(q.loc - p.loc)
    return q._half_log_det() - p._half_log_det() + 0.5 * (squares - n)


# ---- of other distributions


@register_kl(Independent, Independent)
def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return p._summed(kl_divergence(p.base_dist, q.base_dist))


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p, q):
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(ExponentialFamily, ExponentialFamily)
def _family(p, q):
    """The Bregman divergence of the log normalizer (Nielsen and Nock 2010)."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The KL-divergence between different exponential families cannot be computed using Bregman divergences"
        )
    theta, normalizer, slopes = p._slopes()
    result = q._log_normalizer(*q._natural_params) - normalizer
    for a, b, slope in zip(theta, q._natural_params, slopes):
        term = (b - a) * slope
        events = term.dim() - len(q.batch_shape)
        result = result - (term.flatten(-events).sum(-1) if events > 0 else term)
    return result


from torchc.distributions import _cross_kl  # noqa: E402, F401
