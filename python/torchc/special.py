"""Special functions under the names of torch.special. Real tensors; integers are computed in the default dtype."""

import math

from torchc import _C

__all__ = [
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammaln",
    "log1p",
    "log_softmax",
    "logit",
    "logsumexp",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "sinc",
    "softmax",
    "xlog1py",
    "xlogy",
]

erf, erfc, erfinv, exp2, expm1, log1p = _C.erf, _C.erfc, _C.erfinv, _C.exp2, _C.expm1, _C.log1p
expit, digamma, psi, gammaln = _C.sigmoid, _C.digamma, _C.digamma, _C.lgamma
logit, logsumexp, sinc, xlogy, round = _C.logit, _C.logsumexp, _C.sinc, _C.xlogy, _C.round
polygamma, multigammaln = _C.polygamma, _C.mvlgamma


def softmax(input, dim, *, dtype=None):
    """exp(input) normalised to sum 1 along `dim`; `dtype` casts the input first."""
    return _C.softmax(input, dim, dtype=dtype)


def log_softmax(input, dim, *, dtype=None):
    """log(softmax(input)) along `dim`; `dtype` casts the input first."""
    return _C.log_softmax(input, dim, dtype=dtype)


def _real(input):
    """`input`, integers as the default float type."""
    return input if input.is_floating_point() else input.to(_C.get_default_dtype())


def entr(input):
    """-x * log(x): 0 at 0, -inf below it."""
    x = _real(input)
    positive = x > 0
    terms = -x * _C.where(positive, x, 1.0).log()
    outside = _C.where(x == 0, 0.0, _C.where(x < 0, -math.inf, x))
    return _C.where(positive, terms, outside)


def ndtr(input):
    """Distribution function of the standard normal distribution."""
    return 0.5 * _C.erfc(_real(input) * -math.sqrt(0.5))


def ndtri(input):
    """Inverse of `ndtr`."""
    return math.sqrt(2.0) * _C.erfinv(2 * _real(input) - 1)


def xlog1py(input, other):
    """input * log1p(other), 0 where input is 0 unless other is NaN."""
    zero = (input == 0) & (other == other)
    tail = _C.log1p(_C.where(zero, 0.0, other))
    return input * tail
