"""Chebyshev polynomials of long degrees by the angle of x, in one step rather than one per degree."""

from torchc import _C

# Beyond this degree.
LONG = 1000


# kind: (the value for an angle, of circular (cos, sin) or hyperbolic functions; the value and the slope at x = 1)
_KINDS = {
    "t": (lambda n, t, c, s: c(n * t), lambda n: (n * 0.0 + 1.0, n * n)),
    "u": (
        lambda n, t, c, s: s((n + 1.0) * t) / s(t),
        lambda n: (n + 1.0, n * (n + 1.0) * (n + 2.0) / 3.0),
    ),
    "v": (
        lambda n, t, c, s: c((n + 0.5) * t) / c(0.5 * t),
        lambda n: (n * 0.0 + 1.0, n * (n + 1.0)),
    ),
    "w": (
        lambda n, t, c, s: s((n + 0.5) * t) / s(0.5 * t),
        lambda n: (2.0 * n + 1.0, (2.0 * n + 1.0) * n * (n + 1.0) / 3.0),
    ),
}
_MIRRORED = {"t": "t", "u": "u", "v": "w", "w": "v"}  # P[n](-x) = (-1)^n of it at x


def _of_size(kind, size, n):
    """P[n] at size >= 0, with derivatives at 1 too, where the angle has none."""
    value, limit = _KINDS[kind]
    inside, outside = size < 1.0, size > 1.0
    circular = value(n, _C.where(inside, size, 0.5).acos(), _C.cos, _C.sin)
    hyperbolic = value(n, _C.where(outside, size, 2.0).acosh(), _C.cosh, _C.sinh)
    start, slope = limit(n)
    at_one = start + slope * (size - 1.0)
    return _C.where(inside, circular, _C.where(outside, hyperbolic, at_one))


def by_angle(kind, x, n):
    """The polynomial of the kind (t, u, v, w) of degree n > 0 at x; inf where it overflows."""
    odd = _C.where(n % 2.0 == 1.0, -1.0, 1.0)
    size = _C.where(x < 0.0, -x, x)
    mirrored = odd * _of_size(_MIRRORED[kind], size, n)
    return _C.where(x < 0.0, mirrored, _of_size(kind, size, n))
