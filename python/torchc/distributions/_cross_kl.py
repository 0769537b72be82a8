"""Divergences between different families: the cross entropy by p's moments, less p's entropy."""

from __future__ import annotations

import math

from torchc import _C
from torchc.distributions.beta import Beta
from torchc.distributions.binomial import Binomial
from torchc.distributions.continuous import Exponential, Laplace, Normal, Uniform
from torchc.distributions.continuous_bernoulli import ContinuousBernoulli
from torchc.distributions.discrete import Bernoulli
from torchc.distributions.distribution import EULER, LOG_ROOT_2PI
from torchc.distributions.gamma import Gamma
from torchc.distributions.kl import register_kl
from torchc.distributions.pareto import Pareto
from torchc.distributions.poisson import Poisson
from torchc.distributions.transformed_distribution import Gumbel
from torchc.functional import broadcast_shapes

# ---- expectations under p


def _mean_log(p):
    """E log x."""
    if isinstance(p, Beta):
        return p.concentration1.digamma() - p._total.digamma()
    if isinstance(p, Exponential):
        return -EULER - p.rate.log()
    if isinstance(p, Gamma):
        return p.concentration.digamma() - p.rate.log()
    if isinstance(p, Pareto):
        return p.scale.log() + 1 / p.alpha
    return _mean_log_between(p.low, p.high)


def _mean_log_between(low, high):
    """E log x of a uniform x; NaN below 0."""
    return (_C.xlogy(high, high) - _C.xlogy(low, low)) / (high - low) - 1


def _mean_decay(p, q):
    """E exp((q.loc - x) / q.scale)."""
    rate = 1 / q.scale
    shift = q.loc * rate
    if isinstance(p, Exponential):
        return shift.exp() * p.rate / (p.rate + rate)
    if isinstance(p, Gamma):
        return (shift - p.concentration * (rate / p.rate).log1p()).exp()
    if isinstance(p, Normal):
        half = 0.5 * (p.scale * rate) ** 2
        return (shift - p.loc * rate + half).exp()
    width = (p.high - p.low) * rate
    return (shift - p.low * rate).exp() * -(-width).expm1() / width


# ---- cross entropies -E log q(x)


def _to_exponential(p, q):
    return q.rate * p.mean - q.rate.log()


def _to_gamma(p, q):
    a = q.concentration
    return a.lgamma() - a * q.rate.log() - (a - 1) * _mean_log(p) + q.rate * p.mean


def _to_normal(p, q):
    gap = (p.mean - q.loc) / q.scale
    return LOG_ROOT_2PI + q.scale.log() + 0.5 * (p.variance / (q.scale * q.scale) + gap * gap)


def _to_gumbel(p, q):
    return q.scale.log() + (p.mean - q.loc) / q.scale + _mean_decay(p, q)


def _to_uniform(p, q):
    return (q.high - q.low).log()


def _to_continuous_bernoulli(p, q):
    return -p.mean * q.logits - (-q.probs).log1p() - q._cont_bern_log_norm()


def _to_beta(p, q):
    """Of a uniform p."""
    a, b = q.concentration1, q.concentration0
    logarithms = (a - 1) * _mean_log(p) + (b - 1) * _mean_log_between(1 - p.high, 1 - p.low)
    return q._log_normalizer(a, b) - logarithms


def _to_pareto(p, q):
    """Of a uniform p."""
    return (q.alpha + 1) * _mean_log(p) - q.alpha.log() - q.alpha * q.scale.log()


def _to_laplace(p, q):
    """Of a normal p: E |x - loc|."""
    gap = p.loc - q.loc
    z = gap / p.scale
    near = p.scale * math.sqrt(2 / math.pi) * (-0.5 * z * z).exp()
    return (2 * q.scale).log() + (near + gap * _C.erf(z / math.sqrt(2))) / q.scale


# ---- where p's values, or its moments, are too many for q


def _never(p, q):
    return False


def _below(least):
    """Uniform numbers below `least(q)`."""
    return lambda p, q: p.low < least(q)


def _outside(low, high):
    """Uniform numbers outside [low, high]."""
    return lambda p, q: (p.low < low).logical_or(p.high > high)


def _too_small(p, q):
    return (q.low > 0).logical_or(q.high < 1)


def _heavy(power):
    """Pareto numbers without that moment."""
    return lambda p, q: p.alpha <= power


_RULES = [
    (Beta, ContinuousBernoulli, _to_continuous_bernoulli, _never),
    (Beta, Exponential, _to_exponential, _never),
    (Beta, Gamma, _to_gamma, _never),
    (Beta, Normal, _to_normal, _never),
    (Beta, Uniform, _to_uniform, _too_small),
    (ContinuousBernoulli, Exponential, _to_exponential, _never),
    (ContinuousBernoulli, Normal, _to_normal, _never),
    (ContinuousBernoulli, Uniform, _to_uniform, _too_small),
    (Exponential, Gamma, _to_gamma, _never),
    (Exponential, Gumbel, _to_gumbel, _never),
    (Exponential, Normal, _to_normal, _never),
    (Gamma, Exponential, _to_exponential, _never),
    (Gamma, Gumbel, _to_gumbel, _never),
    (Gamma, Normal, _to_normal, _never),
    (Gumbel, Normal, _to_normal, _never),
    (Laplace, Normal, _to_normal, _never),
    (Normal, Gumbel, _to_gumbel, _never),
    (Normal, Laplace, _to_laplace, _never),
    (Pareto, Exponential, _to_exponential, _heavy(1)),
    (Pareto, Gamma, _to_gamma, _heavy(1)),
    (Pareto, Normal, _to_normal, _heavy(2)),
    (Uniform, Beta, _to_beta, _outside(0, 1)),
    (Uniform, ContinuousBernoulli, _to_continuous_bernoulli, _outside(0, 1)),
    (Uniform, Exponential, _to_exponential, _below(lambda q: 0)),
    (Uniform, Gamma, _to_gamma, _below(lambda q: 0)),
    (Uniform, Gumbel, _to_gumbel, _never),
    (Uniform, Normal, _to_normal, _never),
    (Uniform, Pareto, _to_pareto, _below(lambda q: q.scale)),
]


def _rule(cross, endless):
    def divergence(p, q):
        result = cross(p, q) - p.entropy()
        impossible = endless(p, q)
        return result if impossible is False else _C.where(impossible, math.inf, result)

    return divergence


for _p, _q, _cross, _endless in _RULES:
    register_kl(_p, _q)(_rule(_cross, _endless))


def _infinite(p, q):
    """p has values where q has none."""
    like = next(v for v in vars(p).values() if isinstance(v, _C.Tensor))
    shape = broadcast_shapes(tuple(p.batch_shape), tuple(q.batch_shape))
    return _C.full(shape, math.inf, dtype=like.dtype, device=like.device)


_WHOLE_LINE = (Gumbel, Laplace, Normal)
_HALF_LINE = (Exponential, Gamma)
_PAIRS = [
    *((p, Pareto) for p in (Beta, ContinuousBernoulli, *_HALF_LINE, *_WHOLE_LINE)),
    *(
        (p, q)
        for p in (*_HALF_LINE, *_WHOLE_LINE, Pareto)
        for q in (Beta, ContinuousBernoulli, Uniform)
    ),
    *((p, q) for p in _WHOLE_LINE for q in _HALF_LINE),
    (Poisson, Bernoulli),
    (Poisson, Binomial),
]
for _p, _q in _PAIRS:
    register_kl(_p, _q)(_infinite)


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p, q):
    return q.rate - _C.xlogy(p.probs, q.rate) - p.entropy()
