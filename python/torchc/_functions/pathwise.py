"""How a gamma or beta number moves with its parameter while its quantile stays: -(dF / da) / f.

With f the density, dF / da at x is the integral of f(t) (d log f / da)(t) over t < x, or its negative over t > x. The
second factor changes its sign once, at log t = psi(a) for gamma numbers: on the side of x that hasn't this point all
terms have one sign, and the integral is exact to rounding. In t = x exp(-s), x exp(s), or by logits, the integrand is
exp(-phi(s)) times a factor, phi convex; Gauss and Legendre's rule sums it, on nodes that are dense at a knee and sparse
in exponential tails.
"""

from __future__ import annotations

from functools import cache
from math import cos, pi

from torchc import _C
from torchc.autograd.function import Function

_NAN = float("nan")
_CHUNK = 1 << 13  # elements of which all nodes are in memory at once


@cache
def _rule(n: int, device):
    """Nodes and weights of [0, 1], float64: roots of the Legendre polynomial by Newton's method."""
    nodes, weights = [], []
    for i in range(n):
        x = cos(pi * (i + 0.75) / (n + 0.5))
        for _ in range(8):
            before, value = 1.0, x
            for k in range(2, n + 1):
                before, value = value, ((2 * k - 1) * x * value - (k - 1) * before) / k
            slope = n * (x * value - before) / (x * x - 1)
            x -= value / slope
        nodes.append(0.5 * (1 + x))
        weights.append(1 / ((1 - x * x) * slope * slope))
    return (
        _C.tensor(nodes, dtype=_C.float64, device=device),
        _C.tensor(weights, dtype=_C.float64, device=device),
    )


def _integral(integrand, knee, end, n):
    """The integral of `integrand(s)` over [0, end], s in log distances from `knee` of [0, end]; columns (m, 1)."""
    w, weights = _rule(n, knee.device)
    total = 0.0
    for sign, length in ((-1.0, knee), (1.0, end - knee)):
        scale = length.log1p()
        r = (w * scale).expm1()
        values = integrand((knee + sign * r).clamp(min=0.0)) * (1.0 + r)
        total = total + (values * weights).sum(-1, True) * scale
    return total


def _end(phi, slope, start, most):
    """Where the convex phi has about reached `most`, from a bound `start` on it: Newton's method stays beyond."""
    s = start
    for _ in range(4):
        s = s - ((phi(s) - most) / slope(s)).clamp(min=0.0)
    return s


def _root_bound(linear, square, most):
    """The positive root of linear s + square s^2 = most, linear maybe a little below 0."""
    return 2.0 * most / (linear + (linear * linear + 4.0 * square * most).sqrt())


def _columns(function, x, *parameters):
    """`function` over columns (m, 1) of flat float64 tensors, some elements at a time."""
    shape = x.shape
    flat = [v.reshape(-1, 1) for v in (x, *parameters)]
    parts = [
        function(*(v[i : i + _CHUNK] for v in flat)) for i in range(0, max(x.numel(), 1), _CHUNK)
    ]
    return _C.cat(parts).reshape(shape)


# ---- gamma


def _gamma_series(a, x):
    """Of a < 1 and x < 2, by the power series of the distribution function; its logarithm of x may be any."""
    term = total = _C.ones_like(a)
    harmonic = weighted = _C.zeros_like(a)
    for k in range(1, 36):
        term = term * x / (a + k)
        harmonic = harmonic + 1.0 / (a + k)
        total = total + term
        weighted = weighted + term * harmonic
    return (x / a) * (weighted - (x.log() - (a + 1.0).digamma()) * total)


def _gamma_below(a, x, gap, n, most):
    """t = x exp(-s): phi = a s - x (1 - exp(-s)), factor s + psi(a) - log x."""

    def phi(s):
        return a * s + x * (-s).expm1()

    rest = a - x
    near = _root_bound(rest, x / 3.0, most)  # 1 - exp(-s) <= s - s^2 / 3 up to 1
    start = _C.where(near <= 1.0, near, (most + x) / a)
    end = _end(phi, lambda s: a - x * (-s).exp(), start, most)
    return _integral(lambda s: (-phi(s)).exp() * (s + gap), _C.zeros_like(end), end, n)


def _gamma_above(a, x, gap, n, most):
    """t = x exp(s): phi = x (exp(s) - 1) - a s, factor s + log x - psi(a)."""

    def phi(s):
        return x * s.expm1() - a * s

    start = _root_bound(x - a, x / 2.0, most)
    for _ in range(2):  # phi(s) = most is s = log(1 + (most + a s) / x), which falls from any bound
        start = start.minimum(((most + a * start) / x).log1p())
    end = _end(phi, lambda s: x * s.exp() - a, start, most)
    return _integral(lambda s: (-phi(s)).exp() * (s - gap), _C.zeros_like(end), end, n)


def _gamma(x, a, n, most):
    good = (a > 0).logical_and(x > 0).logical_and(a < float("inf")).logical_and(x < float("inf"))
    by_series = (a < 1.0).logical_and(x < 2.0)
    plain = good.logical_and(by_series.logical_not())
    b, y = _C.where(plain, a, 1.0), _C.where(plain, x, 1.0)
    gap = b.digamma() - y.log()
    below = gap > 0
    low = _gamma_below(
        _C.where(below, b, 2.0), _C.where(below, y, 1.0), _C.where(below, gap, 1.0), n, most
    )
    high = _gamma_above(
        _C.where(below, 1.0, b), _C.where(below, 1.0, y), _C.where(below, -1.0, gap), n, most
    )
    value = y * _C.where(below, low, high)
    small = good.logical_and(by_series)
    series = _gamma_series(_C.where(small, a, 0.5), _C.where(small, x, 1.0))
    return _C.where(small, series, _C.where(good, value, _NAN))


def _precision(dtype):
    """Nodes of each half, and the exponent after which nothing is left in `dtype`."""
    return (40, 42.0) if dtype is _C.float64 else (20, 22.0)


class _Once(Function):
    """A function without a derivative, by name: NotImplementedError where one is wanted."""

    @staticmethod
    def forward(ctx, name, function, *inputs):
        ctx.name = name
        return function(*inputs)

    @staticmethod
    def backward(ctx, g):
        raise NotImplementedError(f"the derivative for '{ctx.name}' is not implemented")


def _standard_gamma_grad(self, output):
    """d output / d self of standard gamma numbers `output` of shape `self`, at the quantile of `output`.

    NaN where one of them isn't positive. It has no derivative itself (NotImplementedError).
    """

    def compute(shape, value):
        n, most = _precision(shape.dtype)
        a, x = _C.broadcast_tensors(shape.double(), value.double())
        return _columns(lambda x, a: _gamma(x, a, n, most), x, a).to(shape.dtype)

    return _Once.apply("_standard_gamma_grad", compute, self, output)


# ---- beta


def _logit_side(a, b, x, y):
    """phi and its slope where a variable x = 1 - y falls as x exp(-s) / (y + x exp(-s)), density x^a y^b in logits."""
    both = a + b

    def log_sum(s):
        less = x * (-s).expm1()
        far = less < -0.5
        return _C.where(far, (y + x * (-s).exp()).log(), _C.where(far, 0.0, less).log1p())

    def slope(s):
        fallen = (-s).exp()
        return a - both * (x * fallen / (y + x * fallen))

    return log_sum, lambda s: a * s + both * log_sum(s), slope


def _beta(x, a, total, n, most):
    """-(dF / da) / (f x (1 - x)) of beta numbers x of parameters a and total - a."""
    b, y = total - a, 1.0 - x
    good = (x > 0).logical_and(y > 0).logical_and(a > 0).logical_and(b > 0)
    a, b = _C.where(good, a, 1.0), _C.where(good, b, 1.0)
    x, y = _C.where(good, x, 0.5), _C.where(good, y, 0.5)
    gap = a.digamma() - (a + b).digamma() - x.log()
    below = gap > 0
    # Towards 0 where the sign's change is above x, else towards 1: there x and y change places.
    p, q = _C.where(below, a, b), _C.where(below, b, a)
    v, w = _C.where(below, x, y), _C.where(below, y, x)
    log_sum, phi, slope = _logit_side(p, q, v, w)
    # phi(s) >= p s + (p + q) log w, and up to 1/2 at least the parabola.
    start = (most - (p + q) * w.log()) / p
    near = _root_bound(p - (p + q) * v, (p + q) * v * w / 4.0, most)
    start = _C.where(near < 0.5, near.minimum(start), start)
    end = _end(phi, slope, start, most)
    knee = (v.log() - w.log()).clamp(min=0.0).minimum(end)
    sign = _C.where(below, 1.0, -1.0)
    moving = _C.where(below, 1.0, 0.0)

    def integrand(s):
        # log t is log x - s - log_sum below, log x - log_sum above.
        return (-phi(s)).exp() * sign * (gap + moving * s + log_sum(s))

    return _C.where(good, _integral(integrand, knee, end, n), _NAN)


def _dirichlet_grad(x, alpha, total):
    """d x / d alpha / (1 - x) of beta numbers x of parameters alpha and total - alpha, at x's quantile; elementwise.

    It is what a Dirichlet component's derivative is made of. NaN outside of the domains. It has no derivative itself.
    """

    def compute(x, alpha, total):
        n, most = _precision(x.dtype)
        parts = _C.broadcast_tensors(x.double(), alpha.double(), total.double())
        value = _columns(lambda x, a, t: x * _beta(x, a, t, n, most), *parts)
        return value.to(x.dtype)

    return _Once.apply("_dirichlet_grad", compute, x, alpha, total)
