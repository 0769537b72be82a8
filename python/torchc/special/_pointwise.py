"""Special functions that are made of few others."""

import math

from torchc import _C
from torchc._results import given, real_type

erf, erfc, erfinv, exp2, expm1, log1p = _C.erf, _C.erfc, _C.erfinv, _C.exp2, _C.expm1, _C.log1p
expit, digamma, psi, gammaln = _C.sigmoid, _C.digamma, _C.digamma, _C.lgamma
logit, logsumexp, sinc, xlogy, round = _C.logit, _C.logsumexp, _C.sinc, _C.xlogy, _C.round
multigammaln = _C.mvlgamma


def softmax(input, dim, *, dtype=None):
    """exp(input) normalised to sum 1 along `dim`; `dtype` casts the input first."""
    return _C.softmax(input, dim, dtype=dtype)


def log_softmax(input, dim, *, dtype=None):
    """log(softmax(input)) along `dim`; `dtype` casts the input first."""
    return _C.log_softmax(input, dim, dtype=dtype)


def _real(op, input):
    """`input`, integers as the default float type. Raises NotImplementedError for complex numbers."""
    if input.is_complex():
        kind = str(input.dtype).rpartition(".")[2]
        raise NotImplementedError(f"\"special_{op}\" not implemented for '{kind}'")
    return input.to(real_type(input))


def entr(input, *, out=None):
    """-x * log(x): 0 at 0, -inf below it."""
    x = _real("entr", input)
    positive = x > 0
    terms = -x * _C.where(positive, x, 1.0).log()
    outside = _C.where(x == 0, 0.0, _C.where(x < 0, -math.inf, x))
    return given(_C.where(positive, terms, outside), out)


def ndtr(input, *, out=None):
    """Distribution function of the standard normal distribution."""
    return given(0.5 * _C.erfc(_real("ndtr", input) * -math.sqrt(0.5)), out)


def ndtri(input, *, out=None):
    """Inverse of `ndtr`: -inf at 0, inf at 1, NaN outside."""
    x = _real("ndtri", input)
    y = x.double()
    lower = y < 0.5
    tail = _C.where(lower, y, 1 - y)
    # 2x - 1 keeps no digits of a small x.
    far = (tail > 0) & (tail < 0.02)
    inner = math.sqrt(2.0) * _C.erfinv(2 * _C.where(far, 0.5, y) - 1)
    z = _lower_quantile(_C.where(far, tail, 0.01))
    return given(_C.where(far, _C.where(lower, z, -z), inner).to(x.dtype), out)


def _lower_quantile(p):
    """The x below -2 at which ndtr is p: Abramowitz and Stegun 26.2.23, then Newton's steps on its logarithm."""
    target = p.log()
    t = (-2 * target).sqrt()
    above = 2.515517 + t * (0.802853 + t * 0.010328)
    below = 1 + t * (1.432788 + t * (0.189269 + t * 0.001308))
    x = above / below - t
    for _ in range(3):
        area = 0.5 * _C.erfc(x * -math.sqrt(0.5))
        density = (x * x * -0.5).exp() * (1 / math.sqrt(2 * math.pi))
        x = x - (area.log() - target) * area / density
    return x


def xlog1py(input, other, *, out=None):
    """input * log1p(other), 0 where input is 0 unless other is NaN. One of them may be a number.

    Raises TypeError when both are numbers.
    """
    if not (isinstance(input, _C.Tensor) or isinstance(other, _C.Tensor)):
        raise TypeError("special_xlog1py(): expected a tensor, got two numbers")
    dtype = _C.result_type(input, other)
    if not dtype.is_floating_point:
        dtype = _C.get_default_dtype()
    input, other = (
        v.to(dtype) if isinstance(v, _C.Tensor) else _C.tensor(v, dtype=dtype, device="cpu")
        for v in (input, other)
    )
    zero = (input == 0) & (other == other)
    tail = _C.log1p(_C.where(zero, 0.0, other))
    product = input * tail
    return given(_C.where(input == 0, product + 0.0, product), out)
