"""Unary functions of float16 and bfloat16 at all 65,536 inputs against double precision.

They are computed in float32 and rounded once, so that nothing is off by more than half a unit in the last place and the
rounding of float32, unless float32's own value is less exact where it is near zero.
"""

import math

import numpy as np
import pytest

import torchc as torch

ROUNDED = 0.501  # units: once from float32
# (significand bits, smallest normal exponent, largest number)
FORMATS = {
    torch.float16: (11, -14, 65504.0),
    torch.bfloat16: (8, -126, float.fromhex("0x1.fep127")),
}


def each(f):
    """f of every element; NaN where it has no value."""

    def apply(x):
        out = np.empty_like(x)
        for i, v in enumerate(x.tolist()):
            try:
                out[i] = f(v)
            except (ValueError, OverflowError):
                out[i] = math.nan
        return out

    return apply


def sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e / (1 + e), 1 / (1 + e))


def gelu(x):
    return 0.5 * x * each(lambda v: math.erfc(-v / math.sqrt(2)))(x)


def gelu_tanh(x):
    # (1 + tanh(u)) / 2 = sigmoid(2u)
    return x * sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))


def lgamma(v):
    return math.inf if math.isinf(v) or (v <= 0 and v == math.floor(v)) else math.lgamma(v)


def digamma(v):
    if v == 0:
        return math.copysign(math.inf, -v)
    if v < 0:
        if v == math.floor(v):
            return math.nan
        turn = math.pi * (v - round(v))
        return digamma(1 - v) - math.pi * math.cos(turn) / math.sin(turn)
    lift = 0.0
    while v < 30:
        lift, v = lift - 1 / v, v + 1
    series = sum(
        b * (1 / v) ** k
        for k, b in ((2, 1 / 12), (4, -1 / 120), (6, 1 / 252), (8, -1 / 240), (10, 1 / 132))
    )
    return lift + math.log(v) - 0.5 / v - series


def erfinv(v):
    if abs(v) >= 1:
        return math.copysign(math.inf, v) if abs(v) == 1 else math.nan
    low, high = 0.0, 7.0
    for _ in range(80):  # erf and erfc ascend
        mid = (low + high) / 2
        above = math.erfc(mid) < 1 - abs(v) if abs(v) > 0.5 else math.erf(mid) > abs(v)
        low, high = (low, mid) if above else (mid, high)
    return math.copysign(
        low if abs(v) > 1e-3 else abs(v) * math.sqrt(math.pi) / 2 * (1 + math.pi * v * v / 12), v
    )


F = torch.nn.functional
# What float32's formula loses besides, in its units of the argument: N6's cancels for negative x, as reflections do.
LOST = {"gelu": 1.5, "gelu_tanh": 1.75, "digamma": 4.0}
# name: torch's function, the exact one, bound in units
CASES = {
    **{
        name: (getattr(torch, name), getattr(np, numpy_name), ROUNDED)
        for name, numpy_name in [
            *(
                (n, n)
                for n in "exp exp2 expm1 log log1p log2 log10 sin cos tan sinh cosh tanh sqrt".split()
            ),
            *((n, n.replace("a", "arc", 1)) for n in "asin acos atan asinh acosh atanh".split()),
        ]
    },
    "reciprocal": (torch.reciprocal, lambda x: 1 / x, ROUNDED),
    "rsqrt": (torch.rsqrt, lambda x: 1 / np.sqrt(x), ROUNDED),
    "sigmoid": (torch.sigmoid, sigmoid, ROUNDED),
    "silu": (F.silu, lambda x: x * sigmoid(x), ROUNDED),
    "softplus": (F.softplus, lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))), ROUNDED),
    "erf": (torch.erf, each(math.erf), ROUNDED),
    "erfc": (torch.erfc, each(math.erfc), ROUNDED),
    "erfinv": (torch.erfinv, each(erfinv), ROUNDED),
    "gelu": (F.gelu, gelu, ROUNDED),
    "gelu_tanh": (lambda x: F.gelu(x, approximate="tanh"), gelu_tanh, ROUNDED),
    "lgamma": (torch.lgamma, each(lgamma), ROUNDED),
    "digamma": (torch.digamma, each(digamma), ROUNDED),
}


def errors(got, want, lost, bits, least, top):
    """Units in the last place of `want` between both beyond what is lost; 0 for equal infinities and NaNs, inf for
    unequal ones."""
    exponent = np.maximum(np.frexp(want)[1] - 1, least)
    unit = np.ldexp(1.0, exponent - bits + 1)
    limit = top + np.ldexp(
        1.0, int(math.log2(top)) - bits
    )  # from here on the rounded number is infinite
    kept = np.isfinite(want) & (np.abs(want) < limit)
    same = (
        (got == want)
        | (np.isnan(got) & np.isnan(want))
        | (~kept & np.isinf(got) & (np.sign(got) == np.sign(want)))
    )
    with np.errstate(invalid="ignore"):
        off = (np.abs(got - want) - lost) / unit
    return np.where(same, 0, np.where(kept & np.isfinite(got), off, np.inf))


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("name", CASES)
def test_all_inputs(name, dtype):
    function, exact, bound = CASES[name]
    x = torch.arange(-(2**15), 2**15, dtype=torch.int16).view(dtype)
    with np.errstate(all="ignore"):
        want = exact(x.double().numpy())
    lost = LOST.get(name, 0) * 2.0**-24 * np.abs(x.double().numpy()).clip(max=1e30)
    off = errors(function(x).double().numpy(), want, lost, *FORMATS[dtype])
    worst = int(np.argmax(off))
    assert off[worst] <= bound, (
        name,
        x[worst].item(),
        function(x)[worst].item(),
        want[worst],
        off[worst],
    )
