"""Divergences of every pair against integrals and sums; what the rules are, and how they are found."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from distribution_samples import integral, supported, t

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from torchc import distributions as D  # noqa: E402

# Two distributions each, and a set that holds all values of the first.
FAMILIES: dict[str, tuple] = {
    "Beta": ("unit", lambda: D.Beta(t(1.5), t(0.9)), lambda: D.Beta(t(0.8), t(2.0))),
    "Cauchy": ("line", lambda: D.Cauchy(t(0.3), t(1.2)), lambda: D.Cauchy(t(-1.0), t(0.7))),
    "ContinuousBernoulli": (
        "unit",
        lambda: D.ContinuousBernoulli(t(0.2)),
        lambda: D.ContinuousBernoulli(t(0.6)),
    ),
    "Exponential": ("half", lambda: D.Exponential(t(0.7)), lambda: D.Exponential(t(1.9))),
    "Gamma": ("half", lambda: D.Gamma(t(2.5), t(1.3)), lambda: D.Gamma(t(0.7), t(0.4))),
    "Gumbel": ("line", lambda: D.Gumbel(t(0.3), t(0.8)), lambda: D.Gumbel(t(-0.4), t(1.7))),
    "HalfNormal": ("half", lambda: D.HalfNormal(t(0.7)), lambda: D.HalfNormal(t(1.9))),
    "Laplace": ("line", lambda: D.Laplace(t(0.0), t(0.8)), lambda: D.Laplace(t(0.0), t(1.7))),
    "LogNormal": (
        "half",
        lambda: D.LogNormal(t(0.3), t(0.8)),
        lambda: D.LogNormal(t(-0.4), t(1.7)),
    ),
    "Normal": ("line", lambda: D.Normal(t(0.3), t(0.8)), lambda: D.Normal(t(-0.4), t(1.7))),
    "Pareto": ((1.5, math.inf), lambda: D.Pareto(t(1.5), t(4.5)), lambda: D.Pareto(t(0.1), t(1.7))),
    "Uniform": ((0.2, 0.9), lambda: D.Uniform(t(0.2), t(0.9)), lambda: D.Uniform(t(-0.5), t(1.2))),
}
RULES = [
    (p, q)
    for p, q in itertools.product(FAMILIES, FAMILIES)
    if (getattr(D, p), getattr(D, q)) in D.kl._KL_REGISTRY or p == q
]


def test_every_pair_of_pytorch_has_a_rule() -> None:
    assert len(D.kl._KL_REGISTRY) == 87


@pytest.mark.parametrize(("first", "second"), RULES)
def test_continuous_pairs(first: str, second: str) -> None:
    kind, make, _ = FAMILIES[first]
    p, q = make(), FAMILIES[second][2]()

    def term(x: Any) -> Any:
        log_p = p.log_prob(x)
        gap = log_p - supported(q, x)
        # A single point where q's density is infinite counts nothing.
        return torch.where((log_p > -700) & (gap > -math.inf), log_p.exp() * gap, 0.0)

    want = integral(kind, term)
    found = D.kl_divergence(p, q)
    if np.isinf(want).any():
        assert found.item() == math.inf
    else:
        np.testing.assert_allclose(found.numpy(), want[0], rtol=1e-5, atol=1e-6)


def test_values_outside_of_the_other_support() -> None:
    inf = math.inf
    for p, q, want in (
        (D.Uniform(t(-0.1), t(0.5)), D.Beta(t(1), t(2)), inf),
        (D.Uniform(t(0.1), t(1.5)), D.ContinuousBernoulli(t(0.3)), inf),
        (D.Uniform(t(-0.1), t(0.5)), D.Exponential(t(2)), inf),
        (D.Uniform(t(-0.1), t(0.5)), D.Gamma(t(2), t(1)), inf),
        (D.Uniform(t(0.1), t(0.5)), D.Pareto(t(0.2), t(1)), inf),
        (D.Beta(t(1), t(1)), D.Uniform(t(0.0), t(1.0)), 0.0),
        (D.Beta(t(1), t(1)), D.Uniform(t(0.1), t(1.0)), inf),
        (D.Pareto(t(1), t(1.5)), D.Normal(t(0), t(1)), inf),
        (D.Pareto(t(1), t(1)), D.Exponential(t(1)), inf),
        (D.Pareto(t(1), t(2)), D.Pareto(t(1.5), t(2)), inf),
        (D.Poisson(t(2)), D.Bernoulli(t(0.5)), inf),
        (D.Poisson(t(2)), D.Binomial(3, t(0.5)), inf),
        (D.Binomial(3, t(0.5)), D.Binomial(2, t(0.5)), inf),
    ):
        np.testing.assert_allclose(D.kl_divergence(p, q).item(), want, atol=1e-12)
    wide = D.kl_divergence(D.Normal(t(0, 1, 2), t(1.0)), D.Beta(t(1.0), t(2.0)))
    assert wide.shape == (3,) and (wide == inf).all()


DISCRETE = {
    "Bernoulli": lambda p: D.Bernoulli(t(p, 0.7)),
    "Binomial": lambda p: D.Binomial(6, t(p, 0.7)),
    "Geometric": lambda p: D.Geometric(t(p, 0.7)),
    "Poisson": lambda p: D.Poisson(t(8 * p, 0.7)),
    "Categorical": lambda p: D.Categorical(t([p, 0.7, 0.3], [0.2, p, 0.0])),
    "OneHotCategorical": lambda p: D.OneHotCategorical(t([p, 0.7, 0.3], [0.2, p, 0.0])),
}


@pytest.mark.parametrize(
    ("first", "second"), [*((name, name) for name in DISCRETE), ("Bernoulli", "Poisson")]
)
def test_discrete_pairs(first: str, second: str) -> None:
    p, q = DISCRETE[first](0.3), DISCRETE[second](0.6)
    if p.has_enumerate_support:
        k = p.enumerate_support(False)
    else:
        k = torch.arange(200, dtype=torch.float64).unsqueeze(-1)
    log_p = p.log_prob(k)
    gap = torch.where(log_p.exp() > 1e-15, log_p - q.log_prob(k), 0.0)
    want = (log_p.exp() * gap).sum(0)
    np.testing.assert_allclose(D.kl_divergence(p, q).numpy(), want.numpy(), rtol=1e-9, atol=1e-14)


def matrices() -> dict:
    w, d, loc = t([0.5, 0.1], [-1, 0.3], [0.2, 2]), t(1, 0.3, 2), t(0.1, -1, 2)
    low = D.LowRankMultivariateNormal(loc, w, d)
    return {
        "low rank": low,
        "full": D.MultivariateNormal(loc, low.covariance_matrix),
        "other low rank": D.LowRankMultivariateNormal(0 * loc, 0.7 * w[:, :1], 2 * d),
        "other": D.MultivariateNormal(0 * loc, 0.49 * w[:, :1] @ w[:, :1].mT + 2 * d.diag()),
    }


def test_normal_vectors_of_low_rank() -> None:
    m = matrices()
    low, full = m["low rank"], m["full"]
    x = t([0.3, 1, -2], [1, 0, 0.4])
    for what in ("covariance_matrix", "precision_matrix", "scale_tril", "mean", "variance", "mode"):
        np.testing.assert_allclose(
            getattr(low, what).numpy(), getattr(full, what).numpy(), rtol=1e-9, atol=1e-12
        )
    np.testing.assert_allclose(low.log_prob(x).numpy(), full.log_prob(x).numpy(), rtol=1e-12)
    np.testing.assert_allclose(low.entropy().numpy(), full.entropy().numpy(), rtol=1e-12)
    torch.manual_seed(0)
    sample = low.sample((40000,)).numpy()
    np.testing.assert_allclose(np.cov(sample.T), full.covariance_matrix.numpy(), atol=0.15)
    assert low.expand((4,)).log_prob(x[:1]).shape == (4,)
    want = D.kl_divergence(full, m["other"]).item()
    z = full.loc - m["other"].loc
    a, b = full.covariance_matrix.numpy(), m["other"].covariance_matrix.numpy()
    trace = np.trace(np.linalg.solve(b, a)) + z.numpy() @ np.linalg.solve(b, z.numpy())
    exact = 0.5 * (trace - 3 + np.log(np.linalg.det(b) / np.linalg.det(a)))
    np.testing.assert_allclose(want, exact, rtol=1e-12)
    for p, q in (("low rank", "other"), ("full", "other low rank"), ("low rank", "other low rank")):
        np.testing.assert_allclose(D.kl_divergence(m[p], m[q]).item(), exact, rtol=1e-12)
    batch = m["full"].expand((2, 1))
    assert D.kl_divergence(batch, m["other low rank"].expand((3,))).shape == (2, 3)


def test_dirichlet_and_wishart_by_samples() -> None:
    torch.manual_seed(0)
    v = t([2.0, 0.5], [0.5, 1.0])
    for p, q in (
        (D.Dirichlet(t(0.7, 2, 3)), D.Dirichlet(t(2, 1, 0.5))),
        (D.Wishart(t(4.5), v), D.Wishart(t(3.2), 2 * v + 0.1)),
    ):
        x = p.sample((40000,))
        gap = p.log_prob(x) - q.log_prob(x)
        found = D.kl_divergence(p, q).item()
        assert abs(gap.mean().item() - found) < 5 * gap.std().item() / 200


def test_rules_of_programs() -> None:
    class Mine(D.Normal):
        pass

    class Yours(D.Normal):
        pass

    one, two = Mine(0.0, 1.0), Yours(0.0, 2.0)
    np.testing.assert_allclose(
        D.kl_divergence(one, two).item(), 0.5 * (0.25 - 1 + math.log(4)), rtol=1e-6
    )
    try:
        D.register_kl(Mine, D.Normal)(lambda p, q: "p first")
        assert D.kl_divergence(one, two) == "p first"
        D.register_kl(D.Normal, Yours)(lambda p, q: "q first")
        with pytest.warns(RuntimeWarning, match="Ambiguous"):
            assert D.kl_divergence(one, two) == "p first"
    finally:
        for pair in ((Mine, D.Normal), (D.Normal, Yours)):
            D.kl._KL_REGISTRY.pop(pair, None)
    with pytest.raises(TypeError, match="type_p"):
        D.register_kl(3, D.Normal)
    with pytest.raises(NotImplementedError, match="total_count"):
        D.kl_divergence(D.Binomial(3, t(0.5)), D.Binomial(4, t(0.5)))
    with pytest.raises(NotImplementedError, match="exponential families"):
        D.kl_divergence(D.Gamma(1.0, 1.0), D.Poisson(1.0))
    with pytest.raises(NotImplementedError):
        D.kl_divergence(D.HalfNormal(1.0), D.LogNormal(0.0, 1.0))
