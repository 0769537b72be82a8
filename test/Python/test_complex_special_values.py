"""Complex functions at zeros, infinities and NaN (C99's Annex G), and of numbers at the ends of their type."""

import cmath
import math

import numpy as np
import pytest

import torchc as torch

TYPES = (torch.complex64, torch.complex128)
inf, nan, half = math.inf, math.nan, math.pi / 2
# What Annex G leaves open: the sign.
any0, anyinf, anyhalf = "0", "inf", str(half)

# function: (re, im): (re, im)
VALUES = {
    "exp": {
        (-0.0, 0.0): (1.0, 0.0),
        (2.0, inf): (nan, nan),
        (-1000.0, inf): (nan, nan),
        (2.0, nan): (nan, nan),
        (inf, 0.0): (inf, 0.0),
        (-inf, inf): (any0, any0),
        (inf, inf): (anyinf, nan),
        (-inf, nan): (any0, any0),
        (inf, nan): (anyinf, nan),
        (nan, 0.0): (nan, 0.0),
        (nan, 2.0): (nan, nan),
    },
    "sinh": {
        (-0.0, 0.0): (-0.0, 0.0),
        (0.0, inf): (any0, nan),
        (-0.0, nan): (any0, nan),
        (2.0, inf): (nan, nan),
        (inf, 0.0): (inf, 0.0),
        (inf, inf): (anyinf, nan),
        (-inf, nan): (anyinf, nan),
        (nan, -0.0): (nan, -0.0),
        (nan, nan): (nan, nan),
    },
    "cosh": {
        (0.0, -0.0): (1.0, -0.0),
        (0.0, inf): (nan, any0),
        (0.0, nan): (nan, any0),
        (2.0, inf): (nan, nan),
        (inf, 0.0): (inf, 0.0),
        (inf, inf): (anyinf, nan),
        (-inf, nan): (inf, nan),
        (nan, 0.0): (nan, any0),
    },
    "tanh": {
        (0.0, inf): (0.0, nan),
        (2.0, inf): (nan, nan),
        (30.0, nan): (nan, nan),
        (400.0, inf): (nan, nan),
        (inf, 0.5): (1.0, 0.0),
        (-inf, inf): (-1.0, any0),
        (inf, nan): (1.0, any0),
        (-0.0, nan): (-0.0, nan),
        (nan, -0.0): (nan, -0.0),
        (nan, 1.0): (nan, nan),
    },
    "acos": {
        (0.0, 0.0): (half, -0.0),
        (-0.0, nan): (half, nan),
        (2.0, inf): (half, -inf),
        (2.0, nan): (nan, nan),
        (-inf, 2.0): (math.pi, -inf),
        (inf, 2.0): (0.0, -inf),
        (-inf, inf): (3 * math.pi / 4, -inf),
        (inf, nan): (nan, anyinf),
        (nan, inf): (nan, -inf),
        (nan, nan): (nan, nan),
    },
    "acosh": {
        (-0.0, 0.0): (0.0, half),
        (0.0, nan): (nan, anyhalf),
        (2.0, inf): (inf, half),
        (-inf, 2.0): (inf, math.pi),
        (inf, inf): (inf, math.pi / 4),
        (-inf, nan): (inf, nan),
        (nan, inf): (inf, nan),
        (nan, nan): (nan, nan),
    },
    "asinh": {
        (0.0, 0.0): (0.0, 0.0),
        (2.0, inf): (inf, half),
        (inf, 2.0): (inf, 0.0),
        (inf, nan): (inf, nan),
        (nan, 0.0): (nan, 0.0),
        (nan, inf): (anyinf, nan),
    },
    "atanh": {
        (-0.0, nan): (-0.0, nan),
        (1.0, 0.0): (inf, 0.0),
        (2.0, inf): (0.0, half),
        (inf, inf): (0.0, half),
        (inf, nan): (0.0, nan),
        (nan, inf): (any0, half),
        (nan, 2.0): (nan, nan),
    },
    "log": {
        (-0.0, 0.0): (-inf, math.pi),
        (2.0, inf): (inf, half),
        (-inf, inf): (inf, 3 * math.pi / 4),
        (inf, nan): (inf, nan),
        (nan, inf): (inf, nan),
        (2.0, nan): (nan, nan),
    },
    "sqrt": {
        (-0.0, 0.0): (0.0, 0.0),
        (nan, inf): (inf, inf),
        (-inf, 2.0): (0.0, inf),
        (inf, -2.0): (inf, -0.0),
        (-inf, nan): (nan, anyinf),
        (inf, nan): (inf, nan),
    },
}


def same(got: float, want, tolerance: float) -> bool:
    if isinstance(want, str):
        return abs(got) == pytest.approx(float(want))
    if math.isnan(want) or math.isinf(want) or want == 0:
        return (math.isnan(got) and math.isnan(want)) or (
            got == want and math.copysign(1, got) == math.copysign(1, want)
        )
    return abs(got - want) <= tolerance * abs(want)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", VALUES)
def test_special_values_and_those_of_the_conjugates(name, dtype):
    for (x, y), (u, v) in VALUES[name].items():
        for sign in (1, -1):
            z = torch.tensor(complex(x, sign * y), dtype=dtype)
            got = getattr(torch, name)(z).item()
            want = (u, v if isinstance(v, str) else sign * v)
            assert same(got.real, want[0], 1e-6) and same(got.imag, want[1], 1e-6), (z, got, want)


@pytest.mark.parametrize("name", ["sin", "cos", "tan", "asin", "atan"])
def test_circular_functions_are_the_hyperbolic_ones_turned(name):
    """f(z) = -i fh(iz), cos(z) = cosh(iz), at special values as well."""
    for x in (0.0, -0.0, 2.0, inf, nan):
        for y in (0.0, -0.0, 3.0, -inf, nan):
            got = getattr(torch, name)(torch.tensor(complex(x, y), dtype=torch.complex128)).item()
            h = "a" * name.startswith("a") + name.removeprefix("a") + "h"
            w = getattr(torch, h)(torch.tensor(complex(-y, x), dtype=torch.complex128)).item()
            want = (w.real, w.imag) if name == "cos" else (w.imag, -w.real)
            assert same(got.real, want[0], 1e-15) and same(got.imag, want[1], 1e-15), (
                x,
                y,
                got,
                want,
            )


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["sqrt", "log", "log2", "log10", "asin", "acos", "acosh", "asinh"])
def test_numbers_at_the_ends_of_the_type(name, dtype):
    """Within 4 eps of the long double's value, although |z| is no number of the type or a subnormal one."""
    limits = np.finfo(np.float32 if dtype is torch.complex64 else np.float64)
    top, least = float(limits.max), float(limits.smallest_subnormal)
    z = [complex(top, top), complex(-top, top / 2), complex(top / 3, -top), complex(-top, -1)]
    if not name.startswith("a") or name in ("acos", "acosh"):
        z += [complex(7 * least, 3 * least), complex(-least, 5 * least)]
    t = torch.tensor(z, dtype=dtype)
    wide = t.numpy().astype(np.clongdouble)
    f = {"asin": "arcsin", "acos": "arccos", "acosh": "arccosh", "asinh": "arcsinh"}.get(name, name)
    want = getattr(np, f)(wide)
    error = np.abs(getattr(torch, name)(t).numpy().astype(np.clongdouble) - want) / np.abs(want)
    assert error.max() < 4 * limits.eps


def test_exp_of_ordinary_numbers_is_unchanged():
    z = [complex(a, b) for a in (-2.0, 0.0, 0.5, 30.0) for b in (-3.0, 0.0, 1.5)]
    got = torch.exp(torch.tensor(z, dtype=torch.complex128)).tolist()
    assert all(cmath.isclose(g, cmath.exp(w), rel_tol=1e-14) for g, w in zip(got, z, strict=True))
