"""Hurwitz' zeta function, polygamma, and the incomplete gamma functions."""

import math

from torchc import _C
from torchc._results import given, in_place, real_type
from torchc.autograd.function import Function
from torchc.special._real import checked, pair

_INF, _NAN = math.inf, math.nan

# ---- zeta

# B(2j) / (2j)! of the Euler-Maclaurin formula.
_BERNOULLI = (
    1 / 6,
    -1 / 30,
    1 / 42,
    -1 / 30,
    5 / 66,
    -691 / 2730,
    7 / 6,
    -3617 / 510,
    43867 / 798,
    -174611 / 330,
)
_CORRECTIONS = tuple(b / math.factorial(2 * j) for j, b in enumerate(_BERNOULLI, 1))
_DIRECT = 10


def _zeta(s, q):
    """The sum of (q + k)^-s over k >= 0, for s > 1: directly until q + k > 10 + s, the rest by Euler and Maclaurin."""
    whole = q == q.floor()
    pole = (s == 1.0) | ((s > 1.0) & (q <= 0) & whole)
    outside = (s < 1.0) | ((q < 0) & ~whole & (s != s.floor()))
    safe = ~(pole | outside | (s != s) | (q != q))
    s, a = _C.where(safe, s, 2.0), _C.where(safe, q, 1.0)
    total = _C.zeros_like(s)
    signed = bool((a <= 0).any())
    while True:
        term = _power(a, s) if signed else a**-s
        add = (a <= 0) | ((a <= _DIRECT + s) & (term > total * 1e-17))
        if not bool(add.any()):
            break
        total = total + _C.where(add, term, 0.0)
        a = _C.where(add, a + 1.0, a)
    term = a**-s
    total = total + a * term / (s - 1.0) + 0.5 * term
    factor = s * term / a
    for j, correction in enumerate(_CORRECTIONS):
        total = total + correction * factor
        factor = factor * (s + (2 * j + 1)) * (s + (2 * j + 2)) / (a * a)
    return _C.where(pole, _INF, _C.where(safe, total, _NAN))


def _power(a, s):
    """a^-s, with a sign for a negative a (s is an integer there)."""
    size = a.abs()
    size = _C.where(size == 0, 1.0, size) ** -s
    return _C.where((a < 0) & (s % 2 == 1), -size, size)


class _Zeta(Function):
    """d zeta(s, q) / dq = -s zeta(s + 1, q)."""

    @staticmethod
    def forward(ctx, s, q):
        ctx.save_for_backward(s, q)
        return _zeta(s, q)

    @staticmethod
    def backward(ctx, g):
        s, q = ctx.saved_tensors
        if ctx.needs_input_grad[0]:
            raise NotImplementedError("the derivative for 'special_zeta: self' is not implemented")
        return None, g * -s * _Zeta.apply(s + 1.0, q)


def zeta(input, other, *, out=None):
    """Hurwitz' zeta function, the sum of (other + k)^-input over k >= 0; one argument may be a number.

    inf at input = 1 and at other = 0, -1, ...; NaN for input < 1. Its gradient is that of `other`.
    """
    s, q, dtype = pair("special_zeta", input, other)
    return given(_Zeta.apply(s, q).to(dtype), out)


class _Trigamma(Function):
    """polygamma(1, x) with derivatives."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return _C.polygamma(1, x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * polygamma(2, x)


class _Digamma(Function):
    """polygamma(0, x) with derivatives of any order."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return _C.digamma(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * polygamma(1, x)


# B_2j / (2j)!, B: Bernoulli's numbers.
_EULER_MACLAURIN = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160)


def _polygamma_long(n, x):
    """n! zeta(n + 1, x) by logarithms; x^s zeta(s, x), s = n + 1, by 48 terms and the Euler-Maclaurin formula."""
    s, terms = n + 1.0, 48
    total = 1.0
    for k in range(1, terms):
        total = total + (-s * (k / x).log1p()).exp()
    a = x + terms
    rest, factor = a / (s - 1.0) + 0.5, s / a
    for j, b in enumerate(_EULER_MACLAURIN):
        rest = rest + b * factor
        factor = factor * ((s + 2 * j + 1) / a) * ((s + 2 * j + 2) / a)
    weight = (-s * (terms / x).log1p()).exp()
    total = total + _C.where(weight > 0, weight * rest, 0.0)
    value = (total.log() - s * x.log() + math.lgamma(s)).exp()
    return _C.where(x > 0, value, math.inf)


def polygamma(n, input, *, out=None):
    """The n-th derivative of digamma, n >= 0; for n > 1 it is (-1)^(n + 1) n! zeta(n + 1, x).

    Raises RuntimeError for n < 0.
    """
    if n < 0:
        raise RuntimeError(f"polygamma(n, x) does not support negative n, got {n}")
    if n < 2:
        kind = _Trigamma if n else _Digamma
        if input.requires_grad and _C.is_grad_enabled():
            return given(kind.apply(input), out)
        return given(_C.polygamma(n, input), out)
    dtype = checked("polygamma", real_type(input), True)
    x = input.double()
    sign = 1.0 if n % 2 else -1.0
    if n <= 170:
        zeta = _Zeta.apply(_C.full_like(x, n + 1.0, dtype=_C.float64).detach(), x)
        value = float(math.factorial(n)) * zeta
    else:  # n! alone is beyond float64
        value = _polygamma_long(n, x)
    return given((sign * value).to(dtype), out)


def polygamma_method(self, n):
    """`polygamma(n, tensor)`."""
    return polygamma(n, self)


polygamma_ = in_place(polygamma_method, "polygamma_")


# ---- incomplete gamma functions


def _series(a, x, prefix):
    """P(a, x) by the series of x^k / (a + 1)_k."""
    term = total = _C.ones_like(x)
    n = a
    for _ in range(10000):
        n = n + 1.0
        term = term * (x / n)
        total = total + term
        if not bool((term > total * 1e-17).any()):
            break
    return total * prefix / a


def _fraction(a, x, prefix):
    """Q(a, x) by its continued fraction (DLMF 8.9.2), evaluated forwards as by W. J. Lentz (1976)."""
    tiny = 1e-300
    b = x + 1.0 - a
    c = _C.full_like(b, 1.0 / tiny)
    d = 1.0 / b
    value = d
    for i in range(1, 10000):
        factor = -i * (i - a)
        b = b + 2.0
        d = factor * d + b
        d = 1.0 / _C.where(d.abs() < tiny, tiny, d)
        c = b + factor / c
        c = _C.where(c.abs() < tiny, tiny, c)
        step = c * d
        value = value * step
        if not bool(((step - 1.0).abs() > 3e-16).any()):
            break
    return value * prefix


def _log_prefix(a, x):
    """log(x^a exp(-x) / gamma(a)); for a large a by Stirling's series, without the difference of large logarithms."""
    large = a > 20.0
    n = _C.where(large, a, 20.0)
    m = (x - n) / n
    near = m.abs() < 0.5
    close = m.abs() < _NEAR
    series = _C.where(close, m, 0.0)
    curve = _C.where(near, _C.where(near, m, 0.0).log1p() - m, (x / n).log() - m)
    curve = _C.where(close, -0.5 * series * series * _powers(_HALF, series), curve)
    rest = (
        1 / n * (1 / 12 - 1 / (n * n) * (1 / 360 - 1 / (n * n) * (1 / 1260 - 1 / (n * n) / 1680)))
    )
    stirling = n * curve + 0.5 * (n / (2.0 * math.pi)).log() - rest
    small = _C.where(large, 1.0, a)
    return _C.where(large, stirling, small * x.log() - x - small.lgamma())


# Where series and fraction would take about sqrt(a) steps.
_LARGE, _NEAR = 1e5, 0.01
# N. M. Temme's uniform expansion (DLMF 8.12): c0 = 1 / m - 1 / eta, m = x / a - 1, and c1, in powers of eta.
_C0 = (-1 / 3, 1 / 12, -2 / 135, 1 / 864, 1 / 2835, -139 / 777600)
_C1 = (-1 / 540, -1 / 288, 1 / 378)
# (eta / m)^2 in powers of m, where eta^2 / 2 = m - log(1 + m).
_HALF = tuple(2 / k * (-1) ** k for k in range(2, 12))


def _powers(coefficients, x):
    value = _C.full_like(x, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        value = value * x + c
    return value


def _uniform(a, x, upper):
    """Q(a, x) or P(a, x) for a large a and an x near it: erfc, and what is left by the uniform expansion.

    eta is taken from a series: m is small, and a times the error of m - log(1 + m) is what counts.
    """
    m = (x - a) / a
    half = _powers(_HALF, m)
    eta = m * half.sqrt()
    rest = (-0.5 * a * eta * eta).exp() / (2.0 * math.pi * a).sqrt()
    rest = rest * (_powers(_C0, eta) + _powers(_C1, eta) / a)
    side = 1.0 if upper else -1.0
    return 0.5 * (side * eta * (0.5 * a).sqrt()).erfc() + side * rest


def _regularised(a, x, upper):
    """P(a, x) or Q(a, x) in float64."""
    bad = (
        (a < 0)
        | (x < 0)
        | (a != a)
        | (x != x)
        | ((a == 0) & (x == 0))
        | ((a == _INF) & (x == _INF))
    )
    zero = ~bad & ((x == 0) | (a == _INF))
    one = ~bad & ~zero & ((a == 0) | (x == _INF))
    inside = ~(bad | zero | one)
    a, x = _C.where(inside, a, 1.0), _C.where(inside, x, 1.0)
    near = (a > _LARGE) & ((x - a).abs() < _NEAR * a)
    uniform = _uniform(_C.where(near, a, 1.0), _C.where(near, x, 1.0), upper)
    a, x = _C.where(near, 1.0, a), _C.where(near, 1.0, x)
    prefix = _log_prefix(a, x).exp()
    by_series = (x <= 1.0) | (x <= a)
    lower = _series(
        _C.where(by_series, a, 1.0), _C.where(by_series, x, 0.5), _C.where(by_series, prefix, 0.0)
    )
    rest = _fraction(
        _C.where(by_series, 1.0, a), _C.where(by_series, 2.0, x), _C.where(by_series, 0.0, prefix)
    )
    if upper:
        value = _C.where(near, uniform, _C.where(by_series, 1.0 - lower, rest))
        value = _C.where(zero, 1.0, _C.where(one, 0.0, value))
    else:
        value = _C.where(near, uniform, _C.where(by_series, lower, 1.0 - rest))
        value = _C.where(zero, 0.0, _C.where(one, 1.0, value))
    return _C.where(bad, _NAN, value)


class _Igamma(Function):
    """dP(a, x) / dx = x^(a - 1) exp(-x) / gamma(a)."""

    @staticmethod
    def forward(ctx, a, x, upper):
        ctx.upper = upper
        ctx.save_for_backward(a, x)
        return _regularised(a, x, upper)

    @staticmethod
    def backward(ctx, g):
        a, x = ctx.saved_tensors
        name = "igammac" if ctx.upper else "igamma"
        if ctx.needs_input_grad[0]:
            raise NotImplementedError(f"the derivative for '{name}: input' is not implemented")
        # Of a large a without the difference of large logarithms.
        large = (a > 20.0) & (x > 0)
        known = _C.where(large, x, 1.0)
        density = _C.where(
            large,
            (_log_prefix(_C.where(large, a, 21.0), known) - known.log()).exp(),
            ((a - 1.0) * x.log() - x - a.lgamma()).exp(),
        )
        return None, -g * density if ctx.upper else g * density, None


def _incomplete(op, input, other, upper, out):
    for name, v in (("input", input), ("other", other)):
        if not isinstance(v, _C.Tensor):
            raise TypeError(f"{op}(): argument '{name}' must be Tensor, not {type(v).__name__}")
    a, x, dtype = pair(op, input, other, True)
    return given(_Igamma.apply(a, x, upper).to(dtype), out)


def igamma(input, other, *, out=None):
    """The regularized lower incomplete gamma function P(input, other); NaN where one of them is negative.

    Its gradient is that of `other`.
    """
    return _incomplete("igamma", input, other, False, out)


def igammac(input, other, *, out=None):
    """The regularized upper incomplete gamma function, 1 - igamma."""
    return _incomplete("igammac", input, other, True, out)


gammainc, gammaincc = igamma, igammac
