"""The scaled error function and the logarithm of the normal distribution's."""

import math

from torchc import _C
from torchc.special import _coefficients as c
from torchc.special._real import series, unary


def _erfcx(x):
    """exp(x^2) erfc(x), for x >= 0 by a series in (x - k) / (x + k), k = 3.75.

    M. M. Shepherd, J. G. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc x" (1981).
    """
    y = x.abs()
    far = y > 1e8
    near = _C.where(far, 1.0, y)
    value = series(c.ERFCX, (near - 3.75) / (near + 3.75)) / (1.0 + 2.0 * near)
    value = _C.where(far, 1.0 / (math.sqrt(math.pi) * _C.where(far, y, 1.0)), value)
    return _C.where(x < 0, 2.0 * (x * x).exp() - value, value)


def _d_erfcx(x):
    from torchc.special._real import _Unary

    return 2.0 * x * _Unary.apply(x, _erfcx, _d_erfcx) - 2.0 / math.sqrt(math.pi)


def _log_ndtr(x):
    low = x < -1.0
    tail = _C.where(low, x, -1.0) * -math.sqrt(0.5)
    body = _C.where(low, -1.0, x) * math.sqrt(0.5)
    return _C.where(low, (0.5 * _erfcx(tail)).log() - tail * tail, (-0.5 * body.erfc()).log1p())


def _d_log_ndtr(x):
    from torchc.special._real import _Unary

    return math.sqrt(2.0 / math.pi) / _Unary.apply(x * -math.sqrt(0.5), _erfcx, _d_erfcx)


def erfcx(input, *, out=None):
    """exp(x^2) * erfc(x)."""
    return unary("special_erfcx", input, _erfcx, _d_erfcx, False, out)


def log_ndtr(input, *, out=None):
    """The logarithm of the distribution function of the standard normal distribution."""
    return unary("special_log_ndtr", input, _log_ndtr, _d_log_ndtr, False, out)
