"""Samplers of the gamma family and of counts against exact distribution functions, derivatives against mpmath."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)

COUNT = 40000


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(20)


def full(*values: float, dtype: Any = None) -> Any:
    """COUNT copies of each value, as columns."""
    return torch.tensor(values, dtype=dtype or torch.float64).expand(COUNT, len(values))


def check_continuous(sample: Any, cdf: Any) -> None:
    """Kolmogorov's distance, which passes 2.2 / sqrt(n) once in 8000 samples."""
    x = np.sort(sample.double().numpy())
    f, n = cdf(x), len(x)
    distance = max(np.max(np.arange(1, n + 1) / n - f), np.max(f - np.arange(n) / n))
    assert distance * math.sqrt(n) < 2.2, distance


def check_counts(sample: Any, log_pmf: Any) -> None:
    """Pearson's statistic of classes with 10 expected numbers at least, below its quantile at 4.5 deviations."""
    x = sample.double().numpy()
    assert (x >= 0).all() and (x == np.floor(x)).all()
    low, high = max(0, int(x.min()) - 5), int(x.max()) + 5
    p = np.exp([log_pmf(k) for k in range(low, high + 1)])
    seen = np.bincount(x.astype(int) - low, minlength=len(p))
    # Neighbours are joined from the left; what is outside goes to the last class.
    parts, expected, observed = [], 0.0, 0
    for share, number in zip(p * len(x), seen):
        expected, observed = expected + share, observed + number
        if expected >= 10:
            parts.append((expected, observed))
            expected, observed = 0.0, 0
    rest = len(x) - sum(e for e, _ in parts)
    parts[-1] = (parts[-1][0] + rest, parts[-1][1] + observed)
    statistic = sum((o - e) ** 2 / e for e, o in parts)
    freedom = max(len(parts) - 1, 1)
    quantile = freedom * (1 - 2 / (9 * freedom) + 4.5 * math.sqrt(2 / (9 * freedom))) ** 3
    assert statistic < quantile, (statistic, freedom)


@pytest.mark.parametrize("shape", [0.02, 0.3, 1.0, 1.5, 30.0, 1e5])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_gamma_numbers(shape: float, dtype: Any) -> None:
    x = torch._standard_gamma(full(shape, dtype=dtype)[:, 0])
    assert x.dtype is dtype and (x > 0).all()
    # Single precision has only so many numbers below the smallest: 0.02 gives tiny ones.
    low = torch.finfo(dtype).tiny
    x = x[x > low]
    a = torch.full((), shape, dtype=torch.float64)
    start = torch.special.gammainc(a, torch.tensor(low, dtype=torch.float64)).item()

    def cdf(values: np.ndarray) -> np.ndarray:
        p = torch.special.gammainc(a, torch.tensor(values)).numpy()
        return (p - start) / (1 - start)

    check_continuous(x, cdf)


def test_gamma_numbers_of_extreme_shapes() -> None:
    x = torch._standard_gamma(torch.tensor([math.nan, -1.0, 0.0, math.inf, 1e-30, 3e38]))
    tiny = torch.finfo(torch.float32).tiny
    assert x[:2].isnan().all() and x[2] == tiny and x[3] == math.inf and x[4] == tiny
    assert abs(x[5].item() / 3e38 - 1) < 1e-5


@pytest.mark.parametrize(
    ("a", "b", "cdf"),
    [
        (0.5, 0.5, lambda x: 2 / math.pi * np.arcsin(np.sqrt(x))),
        (0.05, 1.0, lambda x: x**0.05),
        (3.0, 1.0, lambda x: x**3),
        (1.0, 20.0, lambda x: -np.expm1(20 * np.log1p(-x))),
        (2.0, 2.0, lambda x: x * x * (3 - 2 * x)),
    ],
)
def test_beta_numbers(a: float, b: float, cdf: Any) -> None:
    x = torch._sample_dirichlet(full(a, b))
    np.testing.assert_allclose(x.sum(-1).numpy(), 1, rtol=1e-12)
    check_continuous(x[:, 0], cdf)


def test_dirichlet_points() -> None:
    c = np.array([0.3, 1.0, 2.0, 5.0])
    x = torch._sample_dirichlet(full(*c, dtype=torch.float32)).double().numpy()
    mean, total = c / c.sum(), c.sum()
    np.testing.assert_allclose(x.mean(0), mean, atol=5 * 0.5 / math.sqrt(COUNT))
    covariance = (np.diag(mean) - np.outer(mean, mean)) / (total + 1)
    np.testing.assert_allclose(np.cov(x.T), covariance, atol=0.002)
    # Concentrations whose gamma numbers vanish in double: a corner each, all alike often.
    x = torch._sample_dirichlet(full(1e-5, 1e-5, 2e-5))
    assert x.isfinite().all()
    np.testing.assert_allclose(x.mean(0).numpy(), [0.25, 0.25, 0.5], atol=0.0125)


@pytest.mark.parametrize("rate", [0.01, 0.7, 4.0, 9.9, 10.0, 57.5, 3000.0])
def test_poisson_numbers(rate: float) -> None:
    x = torch.poisson(full(rate)[:, 0])
    check_counts(x, lambda k: k * math.log(rate) - rate - math.lgamma(k + 1))


def test_poisson_takes_types_and_refuses_rates() -> None:
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        assert torch.poisson(torch.ones(3, dtype=dtype)).dtype is dtype
    x = torch.poisson(torch.tensor([0.0, math.inf, 1e12], dtype=torch.float64))
    assert x[0] == 0 and x[1] == math.inf and abs(x[2].item() - 1e12) < 8e6
    assert torch.poisson(torch.empty(0, 3)).shape == (0, 3)
    for bad in (-1.0, math.nan):
        with pytest.raises(RuntimeError, match="Poisson rate"):
            torch.poisson(torch.tensor([1.0, bad]))
    with pytest.raises(NotImplementedError, match="poisson"):
        torch.poisson(torch.ones(3, dtype=torch.int64))
    rate = torch.ones(3, requires_grad=True)
    torch.poisson(rate).sum().backward()
    assert (rate.grad == 0).all()


def log_binomial(n: int, p: float) -> Any:
    def log_pmf(k: int) -> float:
        if k > n:
            return -math.inf
        ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        return ways + k * math.log(p) + (n - k) * math.log1p(-p)

    return log_pmf


@pytest.mark.parametrize(
    ("n", "p"),
    [(1, 0.3), (19, 0.5), (20, 0.5), (7, 0.95), (40, 0.3), (100, 0.9), (10**6, 1e-6), (10**5, 0.4)],
)
def test_binomial_numbers(n: int, p: float) -> None:
    x = torch.binomial(full(n)[:, 0], full(p)[:, 0])
    assert (x <= n).all()
    check_counts(x, log_binomial(n, p))


def test_binomial_at_the_ends() -> None:
    n = torch.tensor([5.0, 5.0, 5.0, 0.0, -1.0, 5.5, math.nan, 5.0])
    p = torch.tensor([0.0, -0.5, 1.5, 0.5, 0.5, 1.0, 0.5, math.nan])
    x = torch.binomial(n, p)
    assert x[:6].tolist() == [0, 0, 5, 0, 0, 5.5] and x[6:].isnan().all()
    assert torch.binomial(torch.ones(3, 1), torch.ones(4)).shape == (3, 4)
    with pytest.raises(ValueError, match="floating"):
        torch.binomial(torch.ones(2, dtype=torch.int64), torch.ones(2))
    with pytest.raises(RuntimeError, match="dtype"):
        torch.binomial(torch.ones(2), torch.ones(2, dtype=torch.float64))
    with pytest.raises(NotImplementedError, match="binomial"):
        torch.binomial(torch.ones(2).half(), torch.ones(2).half())


SAMPLERS = {
    "gamma": lambda g=None: torch._standard_gamma(torch.linspace(0.01, 20, 30000), generator=g),
    "dirichlet": lambda g=None: torch._sample_dirichlet(torch.full((9000, 3), 0.4), generator=g),
    "poisson": lambda g=None: torch.poisson(torch.linspace(0, 40, 30000), generator=g),
    "binomial": lambda g=None: torch.binomial(
        torch.full((30000,), 50.0), torch.linspace(0, 1, 30000), generator=g
    ),
    "von mises": lambda g=None: torch.distributions.VonMises(0.0, torch.ones(20000)).sample(),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_seed_gives_the_same_numbers(name: str) -> None:
    sample, threads = SAMPLERS[name], torch.get_num_threads()
    torch.manual_seed(3)
    first, second = sample(), sample()
    assert not torch.equal(first, second)
    try:
        for count in (1, 2, 5):
            torch.set_num_threads(count)
            torch.manual_seed(3)
            assert torch.equal(sample(), first) and torch.equal(sample(), second)
    finally:
        torch.set_num_threads(threads)
    if name != "von mises":
        before = torch.get_rng_state()
        assert torch.equal(sample(torch.Generator().manual_seed(3)), first)
        assert torch.equal(torch.get_rng_state(), before)


def test_compiled_functions_draw_the_same() -> None:
    def draw(a: Any) -> Any:
        return torch._standard_gamma(a) * 2 + torch.poisson(a)

    a = torch.linspace(0.1, 20, 100)
    compiled = torch.compile(draw)
    for _ in range(3):
        torch.manual_seed(5)
        want = draw(a)
        torch.manual_seed(5)
        assert torch.equal(compiled(a), want)


def test_shapes_without_numbers() -> None:
    one = torch.ones(2, 3, device="meta")
    for result in (
        torch.poisson(one),
        torch.binomial(one, one),
        torch._standard_gamma(one),
        torch._sample_dirichlet(one),
        torch._standard_gamma_grad(one, one),
        torch._dirichlet_grad(one, one, one),
    ):
        assert result.shape == (2, 3) and result.device.type == "meta"
    for empty in (torch.empty(0), torch.empty(2, 0)):
        assert torch._standard_gamma(empty).shape == empty.shape
        assert torch._standard_gamma_grad(empty, empty).shape == empty.shape
        assert torch.binomial(empty, empty).shape == empty.shape
    assert torch._sample_dirichlet(torch.empty(0, 3)).shape == (0, 3)


# ---- derivatives


def gamma_slope(a: float, x: float) -> Any:
    """-(dP / da) / density by a difference in 50 digits."""
    with mpmath.workdps(50):
        a, x = mpmath.mpf(a), mpmath.mpf(x)
        step = a * mpmath.mpf(10) ** -18
        if x < a:
            change = mpmath.gammainc(a + step, 0, x, regularized=True) - mpmath.gammainc(
                a - step, 0, x, regularized=True
            )
        else:
            change = mpmath.gammainc(a - step, x, regularized=True) - mpmath.gammainc(
                a + step, x, regularized=True
            )
        density = mpmath.exp((a - 1) * mpmath.log(x) - x - mpmath.loggamma(a))
        return float(-change / (2 * step) / density)


def beta_slope(a: float, b: float, x: float) -> Any:
    """-(dI / da) / density / (1 - x) by a difference in 50 digits."""
    with mpmath.workdps(50):
        a, b, x = mpmath.mpf(a), mpmath.mpf(b), mpmath.mpf(x)
        step = a * mpmath.mpf(10) ** -18
        ends = (0, x) if x < a / (a + b) else (x, 1)
        sign = -1 if ends[0] == 0 else 1
        change = mpmath.betainc(a + step, b, *ends, regularized=True) - mpmath.betainc(
            a - step, b, *ends, regularized=True
        )
        density = x ** (a - 1) * (1 - x) ** (b - 1) / mpmath.beta(a, b)
        return float(sign * change / (2 * step) / density / (1 - x))


@pytest.mark.parametrize("a", [0.01, 0.4, 0.99, 1.0, 1.7, 6.0, 40.0, 900.0])
def test_how_gamma_numbers_move(a: float) -> None:
    width = math.sqrt(a)
    points = [a * 0.05, *(a + k * width for k in (-2, -0.5, 0.01, 1, 3)), 1e-9, 1.99, 2.01, 12.0]
    points = [x for x in points if x > 0 and abs(x - a) < 9 * width or a < 1 and x > 0]
    want = [gamma_slope(a, x) for x in points]
    x = torch.tensor(points, dtype=torch.float64)
    got = torch._standard_gamma_grad(torch.full_like(x, a), x)
    np.testing.assert_allclose(got.numpy(), want, rtol=2e-13)
    got = torch._standard_gamma_grad(torch.full_like(x, a).float(), x.float())
    narrow = [gamma_slope(float(np.float32(a)), float(np.float32(v))) for v in points]
    np.testing.assert_allclose(got.numpy(), narrow, rtol=3e-7)


@pytest.mark.parametrize("a", [0.02, 0.5, 1.0, 7.0, 300.0])
@pytest.mark.parametrize("b", [0.02, 0.5, 1.0, 7.0, 300.0])
def test_how_beta_numbers_move(a: float, b: float) -> None:
    mean = a / (a + b)
    width = math.sqrt(mean * (1 - mean) / (a + b + 1))
    points = [mean + k * width for k in (-3, -1, -0.2, 0, 0.3, 1, 3)] + [
        1e-9,
        1e-3,
        0.2,
        0.9,
        0.999,
    ]
    points = [x for x in points if 0 < x < 1 and abs(x - mean) < 8 * width]
    want = [beta_slope(a, b, x) for x in points]
    x = torch.tensor(points, dtype=torch.float64)
    got = torch._dirichlet_grad(x, torch.full_like(x, a), torch.full_like(x, a + b))
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-11)


def test_derivatives_by_closed_forms() -> None:
    """Of the exponential distribution's shape there is none; of Beta(a, 1) x = u^(1 / a): dx / da = -x log(x) / a."""
    a = torch.linspace(0.1, 30, 50, dtype=torch.float64).requires_grad_()
    x = torch.distributions.Beta(a, torch.ones_like(a)).rsample()
    (slope,) = torch.autograd.grad(x.sum(), a)
    np.testing.assert_allclose(
        slope.numpy(), (-x * x.log() / a).detach().numpy(), rtol=1e-9, atol=1e-15
    )
    b = torch.linspace(0.1, 30, 50, dtype=torch.float64).requires_grad_()
    x = torch.distributions.Beta(torch.ones_like(b), b).rsample()
    (slope,) = torch.autograd.grad(x.sum(), b)
    want = (1 - x) * (-x).log1p() / b
    np.testing.assert_allclose(slope.numpy(), want.detach().numpy(), rtol=1e-9, atol=1e-15)


def test_derivatives_of_means() -> None:
    """The mean of the derivative is the mean's derivative: 1 of gamma numbers, -m_i / total of Dirichlet points."""
    a = full(0.3, 2.0, 50.0).clone().requires_grad_()
    (slope,) = torch.autograd.grad(torch._standard_gamma(a).sum(), a)
    error = slope.std(0) / math.sqrt(COUNT)
    assert ((slope.mean(0) - 1).abs() < 5 * error).all()
    c = torch.tensor([0.4, 1.5, 3.0], dtype=torch.float64)
    for i in range(3):
        many = c.expand(COUNT, 3).clone().requires_grad_()
        (slope,) = torch.autograd.grad(torch._sample_dirichlet(many)[:, i].sum(), many)
        mean = c / c.sum()
        want = (torch.eye(3, dtype=torch.float64)[i] - mean[i]) / c.sum()
        assert ((slope.mean(0) - want).abs() < 5 * slope.std(0) / math.sqrt(COUNT) + 1e-12).all()


def test_derivatives_have_none() -> None:
    a = torch.ones(2, requires_grad=True)
    (slope,) = torch.autograd.grad(torch._standard_gamma(a).sum(), a, create_graph=True)
    with pytest.raises(NotImplementedError, match="_standard_gamma_grad"):
        torch.autograd.grad(slope.sum(), a)
    with pytest.raises(NotImplementedError, match="_standard_gamma"):
        torch._standard_gamma(torch.ones(2, dtype=torch.float16))
    assert torch._standard_gamma_grad(torch.tensor([-1.0]), torch.tensor([1.0])).isnan().all()
