"""Bessel functions of orders 0 and 1, and Airy's function.

Near 0 the Chebyshev series of what is left without the logarithm and the pole; far from it those of the amplitudes of
the asymptotic expansions. Derivatives: NIST Digital Library of Mathematical Functions 10.6, 10.29.
"""

import math

from torchc import _C
from torchc.special import _coefficients as c
from torchc.special._real import on, unary

_INF, _NAN = math.inf, math.nan
_TWO_OVER_PI = 2 / math.pi


def _inside(x, low, high):
    """x limited, so that a series isn't asked outside of its interval; NaN as `low`."""
    return _C.where(x == x, x, low).clamp(low, high)


def _wave(x, P, Q, order, second):
    """J or (second) Y of this order, for x >= 8."""
    y = _inside(x, 8.0, _INF)
    finite = y < _INF
    y = _C.where(finite, y, 8.0)
    u = (8.0 / y) * (8.0 / y)
    p, q = on(P, u, 0.0, 1.0), on(Q, u, 0.0, 1.0) / y
    s, k = y.sin(), y.cos()
    # Sine and cosine of y - pi/4 (order 0) or y - 3 pi/4, times the root of 2.
    cosine, sine = (s + k, s - k) if order == 0 else (s - k, -(s + k))
    value = p * sine + q * cosine if second else p * cosine - q * sine
    return _C.where(finite, value / (math.pi * y).sqrt(), 0.0)


def _j0(x):
    y = x.abs()
    near = on(c.J0, _inside(y, 0.0, 8.0) ** 2, 0.0, 64.0)
    return _kept(_C.where(y <= 8.0, near, _wave(y, c.P0, c.Q0, 0, False)), x)


def _j1(x):
    y = x.abs()
    small = _inside(y, 0.0, 8.0)
    near = small * on(c.J1, small**2, 0.0, 64.0)
    value = _C.where(y <= 8.0, near, _wave(y, c.P1, c.Q1, 1, False))
    return _kept(_C.where(x < 0, -value, value), x)


def _kept(value, x):
    """NaN where x is."""
    return _C.where(x == x, value, x)


def _y(x, near, far):
    """Y for x > 0; -inf at 0, NaN below."""
    value = _C.where(x <= 8.0, near, far)
    return _kept(_C.where(x > 0, value, _C.where(x == 0, -_INF, _NAN)), x)


def _y0(x):
    y = _inside(x, 1e-300, 8.0)
    near = on(c.Y0, y * y, 0.0, 64.0) + _TWO_OVER_PI * y.log() * _j0(y)
    return _y(x, near, _wave(x, c.P0, c.Q0, 0, True))


def _y1(x):
    y = _inside(x, 1e-300, 8.0)
    near = y * on(c.Y1, y * y, 0.0, 64.0) + _TWO_OVER_PI * (y.log() * _j1(y) - 1.0 / y)
    return _y(x, near, _wave(x, c.P1, c.Q1, 1, True))


def _i0e(x):
    y = x.abs()
    near = on(c.I0_NEAR, _inside(y, 0.0, 8.0), 0.0, 8.0)
    far = _inside(y, 8.0, _INF)
    return _kept(_C.where(y <= 8.0, near, on(c.I0_FAR, 1.0 / far, 0.0, 0.125) / far.sqrt()), x)


def _i1e(x):
    y = x.abs()
    small = _inside(y, 0.0, 8.0)
    near = small * on(c.I1_NEAR, small, 0.0, 8.0)
    far = _inside(y, 8.0, _INF)
    value = _C.where(y <= 8.0, near, on(c.I1_FAR, 1.0 / far, 0.0, 0.125) / far.sqrt())
    return _kept(_C.where(x < 0, -value, value), x)


def _grown(scaled, x):
    """scaled * exp(|x|) where exp alone would overflow, too."""
    half = (0.5 * x.abs()).exp()
    return scaled * half * half


def _i0(x):
    return _C.where(x.abs() == _INF, _INF, _grown(_i0e(x), x))


def _i1(x):
    return _C.where(x.abs() == _INF, x, _grown(_i1e(x), x))


def _k(x, near, far, scaled):
    """K for x > 0 from both parts, of which far is K * exp(x); inf at 0, NaN below."""
    y = _inside(x, 1e-300, _INF)
    decay = (-y).exp()
    value = (
        _C.where(x <= 2.0, near / decay, far) if scaled else _C.where(x <= 2.0, near, far * decay)
    )
    return _kept(_C.where(x > 0, value, _C.where(x == 0, _INF, _NAN)), x)


def _k0(x, scaled=False):
    y, z = _inside(x, 1e-300, 2.0), _inside(x, 2.0, _INF)
    near = on(c.K0_NEAR, y * y, 0.0, 4.0) - (0.5 * y).log() * _i0(y)
    return _k(x, near, on(c.K0_FAR, 1.0 / z, 0.0, 0.5) / z.sqrt(), scaled)


def _k1(x, scaled=False):
    y, z = _inside(x, 1e-300, 2.0), _inside(x, 2.0, _INF)
    near = on(c.K1_NEAR, y * y, 0.0, 4.0) / y + (0.5 * y).log() * _i1(y)
    return _k(x, near, on(c.K1_FAR, 1.0 / z, 0.0, 0.5) / z.sqrt(), scaled)


def _airy(x):
    """Ai by its values on [-5, 2] and by amplitudes over zeta = 2/3 |x|^(3/2) outside (DLMF 9.7)."""
    near = on(c.AIRY_NEAR, _inside(x, -5.0, 2.0), -5.0, 2.0)
    right = _inside(x, 2.0, _INF)
    zeta = right * right.sqrt() * (2.0 / 3.0)
    low = 2.0 * math.sqrt(2.0) * 2.0 / 3.0
    decayed = on(c.AIRY_RIGHT, 1.0 / zeta, 0.0, 1.0 / low) * (-zeta).exp()
    decayed = decayed / (2.0 * math.sqrt(math.pi) * right.sqrt().sqrt())
    left = _inside(-x, 5.0, 1e200)
    zeta = left * left.sqrt() * (2.0 / 3.0)
    low = 5.0 * math.sqrt(5.0) * 2.0 / 3.0
    u = 1.0 / (zeta * zeta)
    f, g = on(c.AIRY_F, u, 0.0, 1.0 / low**2), on(c.AIRY_G, u, 0.0, 1.0 / low**2) / zeta
    s, k = zeta.sin(), zeta.cos()
    waves = (f * (s + k) - g * (k - s)) / (math.sqrt(2.0 * math.pi) * left.sqrt().sqrt())
    value = _C.where(x > 2.0, _C.where(x == _INF, 0.0, decayed), _C.where(x < -5.0, waves, near))
    return _kept(_C.where(x == -_INF, _NAN, value), x)


# ---- as functions of each other, for derivatives of any order


def _f(value, derivative):
    from torchc.special._real import _Unary

    return lambda x: _Unary.apply(x, value, derivative)


def _over(f, x, at_zero):
    """f(x) / x, `at_zero` at 0."""
    zero = x == 0
    return _C.where(zero, at_zero, f(x) / _C.where(zero, 1.0, x))


def _d_j0(x):
    return -_f(_j1, _d_j1)(x)


def _d_j1(x):
    return _f(_j0, _d_j0)(x) - _over(_f(_j1, _d_j1), x, 0.5)


def _d_y0(x):
    return -_f(_y1, _d_y1)(x)


def _d_y1(x):
    return _f(_y0, _d_y0)(x) - _f(_y1, _d_y1)(x) / x


def _d_i0(x):
    return _f(_i1, _d_i1)(x)


def _d_i1(x):
    return _f(_i0, _d_i0)(x) - _over(_f(_i1, _d_i1), x, 0.5)


def _d_i0e(x):
    return _f(_i1e, _d_i1e)(x) - x.sign() * _f(_i0e, _d_i0e)(x)


def _d_i1e(x):
    i1e = _f(_i1e, _d_i1e)
    return _f(_i0e, _d_i0e)(x) - x.sign() * i1e(x) - _over(i1e, x, 0.5)


def _k0e(x):
    return _k0(x, True)


def _k1e(x):
    return _k1(x, True)


def _d_k0(x):
    return -_f(_k1, _d_k1)(x)


def _d_k1(x):
    return -_f(_k0, _d_k0)(x) - _f(_k1, _d_k1)(x) / x


def _d_k0e(x):
    return _f(_k0e, _d_k0e)(x) - _f(_k1e, _d_k1e)(x)


def _d_k1e(x):
    k1e = _f(_k1e, _d_k1e)
    return k1e(x) - _f(_k0e, _d_k0e)(x) - k1e(x) / x


def _no_derivative(x):
    raise NotImplementedError("the derivative for 'special_airy_ai' is not implemented")


# ---- public names


def i0(input, *, out=None):
    """The modified Bessel function of the first kind of order 0."""
    return unary("i0", input, _i0, _d_i0, True, out)


def i0e(input, *, out=None):
    """i0(x) * exp(-|x|)."""
    return unary("special_i0e", input, _i0e, _d_i0e, True, out)


def i1(input, *, out=None):
    """The modified Bessel function of the first kind of order 1."""
    return unary("special_i1", input, _i1, _d_i1, True, out)


def i1e(input, *, out=None):
    """i1(x) * exp(-|x|)."""
    return unary("special_i1e", input, _i1e, _d_i1e, True, out)


def bessel_j0(input, *, out=None):
    """The Bessel function of the first kind of order 0."""
    return unary("special_bessel_j0", input, _j0, _d_j0, False, out)


def bessel_j1(input, *, out=None):
    """The Bessel function of the first kind of order 1."""
    return unary("special_bessel_j1", input, _j1, _d_j1, False, out)


def bessel_y0(input, *, out=None):
    """The Bessel function of the second kind of order 0: -inf at 0, NaN below."""
    return unary("special_bessel_y0", input, _y0, _d_y0, False, out)


def bessel_y1(input, *, out=None):
    """The Bessel function of the second kind of order 1: -inf at 0, NaN below."""
    return unary("special_bessel_y1", input, _y1, _d_y1, False, out)


def modified_bessel_i0(input, *, out=None):
    """The modified Bessel function of the first kind of order 0."""
    return unary("special_modified_bessel_i0", input, _i0, _d_i0, False, out)


def modified_bessel_i1(input, *, out=None):
    """The modified Bessel function of the first kind of order 1."""
    return unary("special_modified_bessel_i1", input, _i1, _d_i1, False, out)


def modified_bessel_k0(input, *, out=None):
    """The modified Bessel function of the second kind of order 0: inf at 0, NaN below."""
    return unary("special_modified_bessel_k0", input, _k0, _d_k0, False, out)


def modified_bessel_k1(input, *, out=None):
    """The modified Bessel function of the second kind of order 1: inf at 0, NaN below."""
    return unary("special_modified_bessel_k1", input, _k1, _d_k1, False, out)


def scaled_modified_bessel_k0(input, *, out=None):
    """modified_bessel_k0(x) * exp(x)."""
    return unary("special_scaled_modified_bessel_k0", input, _k0e, _d_k0e, False, out)


def scaled_modified_bessel_k1(input, *, out=None):
    """modified_bessel_k1(x) * exp(x)."""
    return unary("special_scaled_modified_bessel_k1", input, _k1e, _d_k1e, False, out)


def _spherical(x):
    y = x.abs()
    small = _C.where(y < 0.5, x, 0.0) ** 2
    near = 1.0 + small * (
        -1 / 6 + small * (1 / 120 + small * (-1 / 5040 + small * (1 / 362880 - small / 39916800)))
    )
    far = _C.where(y < 0.5, 1.0, x)
    value = _C.where(y < 0.5, near, far.sin() / far)
    return _C.where(y == _INF, 0.0, value)


def _d_spherical(x):
    zero = x == 0
    y = _C.where(zero, 1.0, x)
    return _C.where(zero, 0.0, (y * y.cos() - y.sin()) / (y * y))


def spherical_bessel_j0(input, *, out=None):
    """The spherical Bessel function of the first kind of order 0, sin(x) / x."""
    return unary("special_spherical_bessel_j0", input, _spherical, _d_spherical, False, out)


def airy_ai(input, *, out=None):
    """Airy's function Ai. Has no gradient."""
    return unary("special_airy_ai", input, _airy, _no_derivative, False, out)
