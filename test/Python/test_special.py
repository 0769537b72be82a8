"""Special functions against mpmath, their derivatives against differences."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
mp = pytest.importorskip("mpmath")
from torchc.autograd.gradcheck import gradcheck, gradgradcheck  # noqa: E402

S = torch.special
RNG = np.random.default_rng(5)
INF, NAN = float("inf"), float("nan")


def near(low: float, high: float, *extra: float) -> list[float]:
    return [*RNG.uniform(low, high, 60).tolist(), *extra]


def error(
    f: Callable[[Any], Any], exact: Callable[[Any], Any], xs: list[float], floor: float = 0.0
) -> float:
    """The largest error relative to |exact| + floor."""
    values = f(torch.tensor(xs, dtype=torch.float64)).tolist()
    with mp.workdps(60):
        expected = [exact(mp.mpf(x)) for x in xs]
        return float(
            max(abs(v - e) / (abs(e) + floor) for v, e in zip(values, expected, strict=True))
        )


WAVES = [*near(1e-3, 8.0, 8.0), *near(8.0, 60.0, 1000.5)]
UNARY: dict[str, tuple[Callable[[Any], Any], list[float], float]] = {
    "i0": (lambda x: mp.besseli(0, x), near(-60, 60, 0.0, 8.0), 0),
    "i0e": (lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), near(-60, 60, 1e4), 0),
    "i1": (lambda x: mp.besseli(1, x), near(-60, 60, 1e-5), 0),
    "i1e": (lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), near(-60, 60, 1e4), 0),
    "bessel_j0": (lambda x: mp.besselj(0, x), WAVES, 1e-2),
    "bessel_j1": (lambda x: mp.besselj(1, x), WAVES, 1e-2),
    "bessel_y0": (lambda x: mp.bessely(0, x), WAVES, 1e-2),
    "bessel_y1": (lambda x: mp.bessely(1, x), WAVES, 1e-2),
    "modified_bessel_i0": (lambda x: mp.besseli(0, x), near(0, 20), 0),
    "modified_bessel_i1": (lambda x: mp.besseli(1, x), near(0, 20), 0),
    "modified_bessel_k0": (lambda x: mp.besselk(0, x), near(1e-3, 30, 2.0, 1e-9), 0),
    "modified_bessel_k1": (lambda x: mp.besselk(1, x), near(1e-3, 30, 2.0, 1e-9), 0),
    "scaled_modified_bessel_k0": (lambda x: mp.besselk(0, x) * mp.exp(x), near(1e-3, 30, 900.0), 0),
    "scaled_modified_bessel_k1": (lambda x: mp.besselk(1, x) * mp.exp(x), near(1e-3, 30, 900.0), 0),
    "spherical_bessel_j0": (lambda x: mp.sin(x) / x, near(-20, 20, 1e-8, 0.4999, 0.5), 1e-2),
    "airy_ai": (mp.airyai, [*near(-20, -5), *near(-5, 2, -5.0, 2.0)], 1e-2),
    "erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), [*near(-5, 50), 1e6, 1e9], 0),
    "log_ndtr": (lambda x: mp.log(mp.ncdf(x)), near(-40, 3, -1.0), 0),
}


@pytest.mark.parametrize("name", UNARY)
def test_values(name: str) -> None:
    exact, xs, floor = UNARY[name]
    assert error(getattr(S, name), exact, xs, floor) < 5e-14
    x = torch.tensor(xs, dtype=torch.float64)
    assert torch.equal(getattr(S, name)(x.float()), getattr(S, name)(x.float().double()).float())


def test_airy_to_the_right_decays() -> None:
    assert error(S.airy_ai, mp.airyai, near(2, 30)) < 1e-12


EDGES = {
    "i0": (1.0, INF, INF), "i0e": (1.0, 0.0, 0.0), "i1": (0.0, INF, -INF), "i1e": (0.0, 0.0, -0.0),
    "bessel_j0": (1.0, 0.0, 0.0), "bessel_j1": (0.0, 0.0, -0.0), "bessel_y0": (-INF, 0.0, NAN),
    "bessel_y1": (-INF, 0.0, NAN), "modified_bessel_k0": (INF, 0.0, NAN), "modified_bessel_k1": (INF, 0.0, NAN),
    "spherical_bessel_j0": (1.0, 0.0, 0.0), "erfcx": (1.0, 0.0, INF), "log_ndtr": (np.log(0.5), 0.0, -INF),
}  # fmt: skip


@pytest.mark.parametrize("name", EDGES)
def test_edges(name: str) -> None:
    got = getattr(S, name)(torch.tensor([0.0, INF, -INF, NAN], dtype=torch.float64)).numpy()
    np.testing.assert_allclose(got, [*EDGES[name], NAN], rtol=1e-15)


DIFFERENTIABLE = sorted(set(UNARY) - {"airy_ai"})


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_derivatives(name: str) -> None:
    x = torch.tensor([0.3, 1.7, 3.9, 9.5], dtype=torch.float64, requires_grad=True)
    assert gradcheck(getattr(S, name), (x,))
    assert gradgradcheck(getattr(S, name), (x,))


def test_derivatives_at_zero() -> None:
    for name, slope in (
        ("i0", 0.0),
        ("i1", 0.5),
        ("i1e", 0.5),
        ("bessel_j0", 0.0),
        ("bessel_j1", 0.5),
    ):
        x = torch.zeros(1, dtype=torch.float64, requires_grad=True)
        slopes = torch.autograd.grad(getattr(S, name)(x).sum(), x)[0]
        assert slopes.item() == pytest.approx(slope, abs=1e-15), name


# ---- zeta and gamma


@pytest.mark.parametrize("s", [1.01, 2.0, 3.5, 20.0])
def test_zeta(s: float) -> None:
    assert error(lambda q: S.zeta(s, q), lambda q: mp.zeta(mp.mpf(s), q), near(0.01, 50)) < 1e-14


def test_zeta_of_negative_numbers() -> None:
    assert error(lambda q: S.zeta(3.0, q), lambda q: mp.zeta(3, q), near(-4.9, 0, -2.5)) < 1e-12
    got = S.zeta(
        torch.tensor([1.0, 2.0, 2.5, 0.5, 0.5]), torch.tensor([3.0, -2.0, -0.5, 1.0, -2.0])
    )
    np.testing.assert_equal(got.numpy(), [INF, INF, NAN, NAN, NAN])


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7])
def test_polygamma(n: int) -> None:
    xs = [*near(0.1, 20), *near(-3.9, -3.1)]
    assert error(lambda x: torch.polygamma(n, x), lambda x: mp.polygamma(n, x), xs) < 1e-11
    x = torch.tensor([0.7, 2.5], dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda x: torch.polygamma(n, x), (x,))
    assert gradgradcheck(lambda x: x.polygamma(n), (x,))
    y = torch.tensor([1.5, 2.5])
    assert torch.equal(y.clone().polygamma_(n), torch.polygamma(n, y))
    with pytest.raises(RuntimeError, match="polygamma_.*cast"):
        torch.ones(2, dtype=torch.int64).polygamma_(n)


def test_polygamma_refuses_negative_orders() -> None:
    with pytest.raises(RuntimeError, match="negative n"):
        torch.polygamma(-1, torch.ones(1))


@pytest.mark.parametrize("a", [0.5, 3.0, 30.0, 150.0])
def test_incomplete_gamma(a: float) -> None:
    xs = [a * f for f in near(0.5, 1.5)]

    def lower(x: Any) -> Any:
        return torch.igamma(torch.full_like(x, a), x)

    def upper(x: Any) -> Any:
        return torch.igammac(torch.full_like(x, a), x)

    assert error(lower, lambda x: mp.gammainc(a, 0, x, regularized=True), xs) < 1e-12
    assert error(upper, lambda x: mp.gammainc(a, x, mp.inf, regularized=True), xs) < 1e-12
    x = torch.tensor(xs[:4], dtype=torch.float64, requires_grad=True)
    constant = torch.full_like(x, a).detach()
    assert gradcheck(lambda x: S.gammainc(constant, x), (x,))
    assert gradgradcheck(lambda x: S.gammaincc(constant, x), (x,))


def test_incomplete_gamma_edges() -> None:
    a = torch.tensor([0.0, 0.0, 2.0, 2.0, INF, INF, -1.0, 2.0])
    x = torch.tensor([0.0, 2.0, 0.0, INF, 2.0, INF, 2.0, -1.0])
    np.testing.assert_equal(torch.igamma(a, x).numpy(), [NAN, 1, 0, 1, 0, NAN, NAN, NAN])
    np.testing.assert_equal(torch.igammac(a, x).numpy(), [NAN, 0, 1, 0, 1, NAN, NAN, NAN])
    with pytest.raises(NotImplementedError, match="igamma: input"):
        torch.igamma(torch.ones(1, requires_grad=True), torch.ones(1)).sum().backward()
    with pytest.raises(TypeError, match="other"):
        torch.igamma(torch.ones(1), 2)


# ---- polynomials

POLYNOMIALS: dict[str, Callable[[int, Any], Any]] = {
    "chebyshev_polynomial_t": lambda n, x: mp.chebyt(n, x),
    "chebyshev_polynomial_u": lambda n, x: mp.chebyu(n, x),
    "chebyshev_polynomial_v": lambda n, x: (
        mp.cos((n + mp.mpf(1) / 2) * mp.acos(x)) / mp.cos(mp.acos(x) / 2)
    ),
    "chebyshev_polynomial_w": lambda n, x: (
        mp.sin((n + mp.mpf(1) / 2) * mp.acos(x)) / mp.sin(mp.acos(x) / 2)
    ),
    "hermite_polynomial_h": lambda n, x: mp.hermite(n, x),
    "hermite_polynomial_he": lambda n, x: (
        mp.mpf(2) ** (-mp.mpf(n) / 2) * mp.hermite(n, x / mp.sqrt(2))
    ),
    "laguerre_polynomial_l": lambda n, x: mp.laguerre(n, 0, x),
    "legendre_polynomial_p": lambda n, x: mp.legendre(n, x),
}


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials(name: str) -> None:
    f, exact = getattr(S, name), POLYNOMIALS[name]
    for n in (0, 1, 2, 5, 11):
        ours, true = functools.partial(f, n=n), functools.partial(exact, n)
        assert error(ours, lambda x, g=true: g(x).real, near(-0.95, 0.95), 1.0) < 1e-13
    x = torch.linspace(-0.9, 0.9, 7, dtype=torch.float64)
    n = torch.arange(-1, 6)
    together = f(x, n)
    assert together[0] == 0
    for i in range(1, 7):
        assert together[i] == f(x[i], n[i])
    shifted = getattr(S, "shifted_" + name, None)
    if shifted:
        assert torch.equal(shifted(x, n), f(2 * x - 1, n))
    assert gradcheck(lambda x: f(x, 4), (x.clone().requires_grad_(),))
    with pytest.raises(TypeError, match="two numbers"):
        f(2, 3)
    assert f(torch.ones(2, dtype=torch.int32), 2).dtype is torch.float32


def test_types() -> None:
    assert S.i0(torch.ones(2, dtype=torch.int64)).dtype is torch.float32
    assert S.i0(torch.ones(2).bfloat16()).dtype is torch.bfloat16
    with pytest.raises(NotImplementedError, match="bessel_j0"):
        S.bessel_j0(torch.ones(2).half())
    with pytest.raises(RuntimeError, match="can't be cast"):
        torch.ones(2).long().i0_()
    out = torch.empty(0)
    assert S.erfcx(torch.ones(2), out=out) is out and out.shape == (2,)
    for name in ("entr", "ndtr", "ndtri"):
        f = getattr(S, name)
        assert torch.equal(f(torch.full((2,), 0.3), out=out), f(torch.full((2,), 0.3)))


def _lower_gamma(a: float, z: float) -> float:
    """P(a, x) at x = a (1 + z / sqrt(a)) by quadrature of t^(a - 1) exp(-t), in long double."""
    nodes, weights = np.polynomial.legendre.leggauss(120)

    def integral(low: float, high: float) -> np.longdouble:
        u = np.longdouble(a) ** -0.5 * ((high - low) * nodes + high + low) / 2
        values = np.exp(-np.longdouble(a) * (u - np.log1p(u))) / (1 + u)
        return (values * weights).sum() * (high - low)

    low, high = integral(-14.0, z), integral(z, 14.0)
    return float(low / (low + high))


@pytest.mark.parametrize("a", [2e5, 1e6, 1e7, 1e8, 1e10, 1e12])
def test_incomplete_gamma_of_large_arguments(a: float) -> None:
    for z in (-6.0, -3.0, -1.0, -0.1, 0.0, 0.5, 2.0, 5.0):
        x = a * (1 + z / math.sqrt(a))
        z = (x - a) / math.sqrt(a)  # as x is in float64
        want = _lower_gamma(a, z)
        t = [torch.tensor(v, dtype=torch.float64) for v in (a, x)]
        tolerance = 1e-11 if a < 1e11 else 1e-9
        assert S.gammainc(*t).item() == pytest.approx(want, rel=tolerance)
        assert S.gammaincc(*t).item() == pytest.approx(1 - want, rel=tolerance, abs=1e-13)
        t[1].requires_grad_()
        (g,) = torch.autograd.grad(torch.igamma(*t), t[1])
        m = np.longdouble(x - a) / np.longdouble(a)
        density = np.exp(-np.longdouble(a) * (m - np.log1p(m))) / np.sqrt(2 * np.pi * a) / (1 + m)
        assert g.item() == pytest.approx(float(density), rel=2 / a + 1e-11)
    # Where the expansion begins and ends it meets series and fraction.
    edge = torch.tensor([a * 0.99, a * 1.01], dtype=torch.float64)
    inside, outside = (
        edge * torch.tensor([1 + 1e-12, 1 - 1e-12]),
        edge * torch.tensor([1 - 1e-12, 1 + 1e-12]),
    )
    wide = torch.full((2,), a, dtype=torch.float64)
    for f in (S.gammainc, S.gammaincc):
        torch.testing.assert_close(f(wide, inside), f(wide, outside), rtol=1e-8, atol=1e-14)


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_of_degrees_below_zero_and_beyond_numbers(name: str) -> None:
    f = getattr(torch.special, name)
    x = torch.tensor([0.5, float("inf"), float("nan")])
    for n in (-1, float("inf"), -float("inf"), float("nan")):
        assert f(x, n).tolist() == [0, 0, 0]


@pytest.mark.parametrize("n", [21, 170, 171, 250])
def test_polygamma_beyond_the_largest_factorial(n):
    """psi_n(x) - psi_n(x + 1) = (-1)^(n + 1) n! / x^(n + 1)."""
    x = torch.tensor([60.0, 75.5], dtype=torch.float64)
    step = torch.special.polygamma(n, x) - torch.special.polygamma(n, x + 1)
    for got, at in zip(step.tolist(), x.tolist()):
        want = (1 if n % 2 else -1) * math.exp(math.lgamma(n + 1) - (n + 1) * math.log(at))
        assert got == pytest.approx(want, rel=1e-9)
    far = torch.tensor(
        [4e3, 1e9], dtype=torch.float64
    )  # (-1)^(n + 1) (n - 1)! / x^n (1 + n / (2 x) + ...)
    want = [math.exp(math.lgamma(n) - n * math.log(v)) * (1 + n / (2 * v)) for v in far.tolist()]
    got = (torch.special.polygamma(n, far) * (1 if n % 2 else -1)).tolist()
    assert got == pytest.approx(want, rel=n * n / 4e3**2 / 6)
    assert torch.special.polygamma(10**6 + 1, x).tolist() == [math.inf] * 2
    assert torch.special.polygamma(2**62, x).tolist() == [-math.inf] * 2
