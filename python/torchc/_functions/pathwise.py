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

_INF, _NAN = float("inf"), float("nan")
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
    return tuple(
        _C.tensor(v, dtype=_C.float64, device=device).unsqueeze(-1) for v in (nodes, weights)
    )


def _piece(integrand, knee, length, n):
    """The integral of `integrand(s)` from `knee` over `length`, which may be negative, in log distances from `knee`."""
    w, weights = _rule(n, knee.device)
    scale = length.abs().log1p()
    r = (w * scale).expm1()
    values = integrand((knee + r.copysign(length)).clamp(min=0.0)) * (1.0 + r)
    return (values * weights).sum(0) * scale


def _end(phi, slope, start, most):
    """Where the convex phi has about reached `most`, from a bound `start` on it: Newton's method stays beyond."""
    s = start
    for _ in range(4):
        s = s - ((phi(s) - most) / slope(s)).clamp(min=0.0)
    return s


def _root_bound(linear, square, most):
    """The positive root of linear s + square s^2 = most, linear maybe a little below 0."""
    return 2.0 * most / (linear + (linear * linear + 4.0 * square * most).sqrt())


def _chunks(function, *parameters):
    """`function` of flat float64 tensors, some elements at a time."""
    count = parameters[0].numel()
    parts = [function(*(v[i : i + _CHUNK] for v in parameters)) for i in range(0, count, _CHUNK)]
    return _C.cat(parts)


def _by_cases(cases, *parameters):
    """Flat results: of each case (mask, function) the function of the parameters there; NaN where no mask holds."""
    result = _C.full_like(parameters[0], _NAN)
    if result.device.type == "meta":
        return result
    for mask, function in cases:
        places = mask.nonzero().squeeze(-1)
        if places.numel():
            values = _chunks(function, *(p[places] for p in parameters))
            result = result.index_copy(0, places, values)
    return result


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


def _gamma_below(a, x, n, most):
    """t = x exp(-s): phi = a s - x (1 - exp(-s)), factor s + psi(a) - log x."""
    gap = a.digamma() - x.log()

    def phi(s):
        return a * s + x * (-s).expm1()

    near = _root_bound(a - x, x / 3.0, most)  # 1 - exp(-s) <= s - s^2 / 3 up to 1
    start = _C.where(near <= 1.0, near, (most + x) / a)
    end = _end(phi, lambda s: a - x * (-s).exp(), start, most)
    return x * _piece(lambda s: (-phi(s)).exp() * (s + gap), _C.zeros_like(end), end, n)


def _gamma_above(a, x, n, most):
    """t = x exp(s): phi = x (exp(s) - 1) - a s, factor s + log x - psi(a)."""
    gap = a.digamma() - x.log()

    def phi(s):
        return x * s.expm1() - a * s

    start = _root_bound(x - a, x / 2.0, most)
    for _ in range(2):  # phi(s) = most is s = log(1 + (most + a s) / x), which falls from any bound
        start = start.minimum(((most + a * start) / x).log1p())
    end = _end(phi, lambda s: x * s.exp() - a, start, most)
    return x * _piece(lambda s: (-phi(s)).exp() * (s - gap), _C.zeros_like(end), end, n)


def _gamma(a, x, n, most):
    good = (a > 0).logical_and(x > 0).logical_and(a < _INF).logical_and(x < _INF)
    series = good.logical_and(a < 1.0).logical_and(x < 2.0)
    rest = good.logical_and(series.logical_not())
    below = rest.logical_and(x.log() < a.digamma())
    cases = [
        (series, _gamma_series),
        (below, lambda a, x: _gamma_below(a, x, n, most)),
        (rest.logical_and(below.logical_not()), lambda a, x: _gamma_above(a, x, n, most)),
    ]
    return _by_cases(cases, a, x)


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
        return _gamma(a.reshape(-1), x.reshape(-1), n, most).to(shape.dtype).reshape(a.shape)

    return _Once.apply("_standard_gamma_grad", compute, self, output)


# ---- beta


def _beta_side(x, a, b, below, bent, n, most):
    """-(dF / da) / (f x (1 - x)) of beta numbers x of parameters a and b, by the integral below x or above it.

    In logits a part v = 1 - w of x and 1 - x falls as v exp(-s) / D, D = w + v exp(-s), and the density is that part's
    power p times the other's power q: phi = p s + (p + q) log D. `bent`: v is more than 1/2, at all elements.
    """
    y = 1.0 - x
    gap = a.digamma() - (a + b).digamma() - x.log()
    p, q, v, w = (a, b, x, y) if below else (b, a, y, x)
    both = p + q

    def log_sum(s):
        less = v * (-s).expm1()
        if not bent:
            return less.log1p()
        far = less < -0.5
        return _C.where(far, (w + v * (-s).exp()).log(), _C.where(far, 0.0, less).log1p())

    def slope(s):
        fallen = v * (-s).exp()
        return p - both * (fallen / (w + fallen))

    def integrand(s):
        logarithm = log_sum(s)
        factor = gap + s + logarithm if below else -(gap + logarithm)
        return (-(p * s + both * logarithm)).exp() * factor

    # phi(s) >= p s + (p + q) log w, and up to 1/2 at least the parabola.
    start = (most - both * w.log()) / p
    near = _root_bound(p - both * v, both * v * w / 4.0, most)
    start = _C.where(near < 0.5, near.minimum(start), start)
    end = _end(lambda s: p * s + both * log_sum(s), slope, start, most)
    if not bent:
        return _piece(integrand, _C.zeros_like(end), end, n)
    # The density bends where the parts are equal.
    knee = (v.log() - w.log()).clamp(min=0.0).minimum(end)
    return _piece(integrand, knee, end - knee, n) + _piece(integrand, knee, -knee, n)


def _beta(x, a, total, n, most):
    """d x / d a / (1 - x) of flat beta numbers."""
    b = total - a
    good = (x > 0).logical_and(x < 1).logical_and(a > 0).logical_and(b > 0)
    below = x.log() < a.digamma() - total.digamma()
    large = (x > 0.5) == below
    cases = [
        (
            good.logical_and(below == side).logical_and(large == bent),
            lambda x, a, b, side=side, bent=bent: x * _beta_side(x, a, b, side, bent, n, most),
        )
        for side in (True, False)
        for bent in (True, False)
    ]
    return _by_cases(cases, x, a, b)


def _dirichlet_grad(x, alpha, total):
    """d x / d alpha / (1 - x) of beta numbers x of parameters alpha and total - alpha, at x's quantile; elementwise.

    It is what a Dirichlet component's derivative is made of. NaN outside of the domains. It has no derivative itself.
    """

    def compute(x, alpha, total):
        n, most = _precision(x.dtype)
        parts = _C.broadcast_tensors(x.double(), alpha.double(), total.double())
        x, a, t = (v.reshape(-1) for v in parts)
        return _beta(x, a, t, n, most).to(x.dtype).reshape(parts[0].shape)

    return _Once.apply("_dirichlet_grad", compute, x, alpha, total)
