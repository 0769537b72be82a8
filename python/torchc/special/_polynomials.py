"""Orthogonal polynomials of a degree per element, by their three-term recurrences (DLMF 18.9)."""

from torchc import _C
from torchc._results import given
from torchc.special._chebyshev import LONG, by_angle
from torchc.special._real import pair


def _recurrence(op, x, n, first, following, out, limit=None, long=None):
    """P[n] from P[0] = 1, P[1] = first(x), P[k + 1] = following(k, x, P[k], P[k - 1]); 0 for n < 0.

    The degree is n without its fraction, negative where n isn't finite; beyond `limit` the result is NaN,
    beyond LONG it is long(x, degree) where there is such a function.
    """
    x, n, dtype = pair(op, x, n)
    degree = _C.where(n.detach().isfinite(), n.detach().trunc(), -1.0)
    negative = degree < 0
    result = _C.where(negative, 0.0, _C.where(negative, x, 1.0))  # of x's graph, whatever x is
    before, last = x * 0.0 + 1.0, first(x)
    most = degree.amax().item() if degree.numel() else -1
    longest = most
    most = min(most, limit) if limit else min(most, LONG) if long else most
    k = 1
    while k <= most:
        result = _C.where(degree == k, last, result)
        before, last = last, following(k, x, last, before)
        k += 1
    if long and longest > LONG:
        beyond = degree > LONG
        result = _C.where(beyond, long(x, _C.where(beyond, degree, LONG + 1.0)), result)
    if limit:
        result = _C.where(degree > limit, float("nan"), result)
    return given(result.to(dtype), out)


def _by_angle(kind):
    return lambda x, degree: by_angle(kind, x, degree)


def _doubled(k, x, p, q):
    return 2.0 * x * p - q


def chebyshev_polynomial_t(input, n, *, out=None):
    """The Chebyshev polynomial of the first kind of degree n; 0 for n < 0. One argument may be a number."""
    return _recurrence(
        "chebyshev_polynomial_t", input, n, lambda x: x, _doubled, out, long=_by_angle("t")
    )


def chebyshev_polynomial_u(input, n, *, out=None):
    """The Chebyshev polynomial of the second kind of degree n; 0 for n < 0. One argument may be a number."""
    return _recurrence(
        "chebyshev_polynomial_u", input, n, lambda x: 2.0 * x, _doubled, out, long=_by_angle("u")
    )


def chebyshev_polynomial_v(input, n, *, out=None):
    """The Chebyshev polynomial of the third kind of degree n; 0 for n < 0. One argument may be a number."""
    return _recurrence(
        "chebyshev_polynomial_v",
        input,
        n,
        lambda x: 2.0 * x - 1.0,
        _doubled,
        out,
        long=_by_angle("v"),
    )


def chebyshev_polynomial_w(input, n, *, out=None):
    """The Chebyshev polynomial of the fourth kind of degree n; 0 for n < 0. One argument may be a number."""
    return _recurrence(
        "chebyshev_polynomial_w",
        input,
        n,
        lambda x: 2.0 * x + 1.0,
        _doubled,
        out,
        long=_by_angle("w"),
    )


def _shifted(op, input, n, first, out, kind):
    def following(k, x, p, q):
        return 2.0 * (2.0 * x - 1.0) * p - q

    def long(x, degree):
        return by_angle(kind, 2.0 * x - 1.0, degree)

    return _recurrence(op, input, n, lambda x: first(2.0 * x - 1.0), following, out, long=long)


def shifted_chebyshev_polynomial_t(input, n, *, out=None):
    """chebyshev_polynomial_t(2 x - 1, n)."""
    return _shifted("shifted_chebyshev_polynomial_t", input, n, lambda x: x, out, "t")


def shifted_chebyshev_polynomial_u(input, n, *, out=None):
    """chebyshev_polynomial_u(2 x - 1, n)."""
    return _shifted("shifted_chebyshev_polynomial_u", input, n, lambda x: 2.0 * x, out, "u")


def shifted_chebyshev_polynomial_v(input, n, *, out=None):
    """chebyshev_polynomial_v(2 x - 1, n)."""
    return _shifted("shifted_chebyshev_polynomial_v", input, n, lambda x: 2.0 * x - 1.0, out, "v")


def shifted_chebyshev_polynomial_w(input, n, *, out=None):
    """chebyshev_polynomial_w(2 x - 1, n)."""
    return _shifted("shifted_chebyshev_polynomial_w", input, n, lambda x: 2.0 * x + 1.0, out, "w")


# Beyond this degree float64 overflows nearly everywhere; PyTorch gives NaN.
_HERMITE_LIMIT = 512


def hermite_polynomial_h(input, n, *, out=None):
    """The physicists' Hermite polynomial of degree n; 0 for n < 0, NaN for n > 512. One argument may be a number."""
    return _recurrence(
        "hermite_polynomial_h", input, n, lambda x: 2.0 * x,
        lambda k, x, p, q: 2.0 * (x * p - k * q), out, _HERMITE_LIMIT,
    )  # fmt: skip


def hermite_polynomial_he(input, n, *, out=None):
    """The probabilists' Hermite polynomial of degree n; 0 for n < 0, NaN for n > 512. One argument may be a number."""
    return _recurrence(
        "hermite_polynomial_he",
        input,
        n,
        lambda x: x,
        lambda k, x, p, q: x * p - k * q,
        out,
        _HERMITE_LIMIT,
    )


def laguerre_polynomial_l(input, n, *, out=None):
    """The Laguerre polynomial of degree n; 0 for n < 0. One argument may be a number."""
    return _recurrence(
        "laguerre_polynomial_l", input, n, lambda x: 1.0 - x,
        lambda k, x, p, q: ((2 * k + 1 - x) * p - k * q) / (k + 1), out,
    )  # fmt: skip


def legendre_polynomial_p(input, n, *, out=None):
    """The Legendre polynomial of degree n; 0 for n < 0. One argument may be a number."""
    return _recurrence(
        "legendre_polynomial_p", input, n, lambda x: x,
        lambda k, x, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1), out,
    )  # fmt: skip
