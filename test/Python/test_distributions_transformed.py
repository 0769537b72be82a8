"""Normal vectors against NumPy, transforms against their derivatives, densities against their integrals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from torchc import distributions as D  # noqa: E402

COVARIANCE = np.array([[2.0, 0.5, 0.1], [0.5, 1.5, 0.2], [0.1, 0.2, 1.0]])
LOC = np.array([0.1, -0.4, 2.0])


def tensor(*values: Any) -> Any:
    return torch.tensor(np.array(values, dtype="float64"))


def close(a: Any, b: Any, tol: float = 1e-12) -> None:
    np.testing.assert_allclose(np.asarray(a.detach().numpy()), b, rtol=tol, atol=tol)


FORMS = {
    "covariance_matrix": COVARIANCE,
    "precision_matrix": np.linalg.inv(COVARIANCE),
    "scale_tril": np.linalg.cholesky(COVARIANCE),
}


@pytest.mark.parametrize("form", FORMS)
def test_multivariate_normal(form: str) -> None:
    d = D.MultivariateNormal(torch.tensor(LOC), **{form: torch.tensor(FORMS[form])})
    v = np.array([0.3, 1.2, 2.5])
    z = v - LOC
    determinant = np.linalg.det(COVARIANCE)
    density = -0.5 * (
        z @ np.linalg.solve(COVARIANCE, z) + np.log(determinant) + 3 * np.log(2 * np.pi)
    )
    close(d.log_prob(torch.tensor(v)), density)
    close(d.entropy(), 0.5 * (3 + 3 * np.log(2 * np.pi) + np.log(determinant)))
    close(d.covariance_matrix, COVARIANCE)
    close(d.precision_matrix, np.linalg.inv(COVARIANCE))
    close(d.scale_tril, np.linalg.cholesky(COVARIANCE))
    close(d.variance, np.diag(COVARIANCE))
    assert d.expand((4,)).log_prob(torch.tensor(v)).shape == (4,)
    torch.manual_seed(0)
    samples = d.sample((20000,)).numpy()
    np.testing.assert_allclose(samples.mean(0), LOC, atol=0.05)
    np.testing.assert_allclose(np.cov(samples.T), COVARIANCE, atol=0.08)


def test_divergence_of_normal_vectors() -> None:
    p = D.MultivariateNormal(torch.tensor(LOC), torch.tensor(COVARIANCE))
    q = D.MultivariateNormal(
        torch.zeros(3, dtype=torch.float64), 2 * torch.eye(3, dtype=torch.float64)
    )
    expected = 0.5 * (
        np.trace(COVARIANCE) / 2 + LOC @ LOC / 2 - 3 + np.log(8 / np.linalg.det(COVARIANCE))
    )
    close(D.kl_divergence(p, q), expected)
    close(D.kl_divergence(p, p), 0.0)


def test_multivariate_normal_refuses() -> None:
    eye = torch.eye(2)
    for arguments, message in (
        ({}, "Exactly one"),
        ({"covariance_matrix": eye, "scale_tril": eye}, "Exactly one"),
        ({"covariance_matrix": -eye}, "PositiveDefinite"),
        ({"scale_tril": eye + 1}, "LowerCholesky"),
        ({"covariance_matrix": torch.ones(2, 3)}, "PositiveDefinite"),
    ):
        with pytest.raises(ValueError, match=message):
            D.MultivariateNormal(torch.zeros(2), **arguments)


TRANSFORMS = [
    (D.AffineTransform(1.0, -2.0), (-2.0, 2.0)),
    (D.AffineTransform(tensor(1.0), tensor(0.5)), (-2.0, 2.0)),
    (D.ExpTransform(), (-2.0, 2.0)),
    (D.ExpTransform().inv, (0.1, 2.0)),
    (D.PowerTransform(torch.tensor(-1.5, dtype=torch.float64)), (0.1, 2.0)),
    (D.SigmoidTransform(), (-4.0, 4.0)),
    (D.TanhTransform(), (-3.0, 3.0)),
    (D.SoftplusTransform(), (-3.0, 3.0)),
    (
        D.ComposeTransform(
            [D.ExpTransform(), D.AffineTransform(0.5, 3.0), D.TanhTransform().inv.inv]
        ),
        (-3.0, -1.0),
    ),
]


@pytest.mark.parametrize("k", range(len(TRANSFORMS)))
def test_transforms(k: int) -> None:
    t, (low, high) = TRANSFORMS[k]
    x = torch.linspace(low, high, 9, dtype=torch.float64).requires_grad_()
    y = t(x)
    (slope,) = torch.autograd.grad(y.sum(), x)
    close(t.log_abs_det_jacobian(x, y), np.log(np.abs(slope.numpy())), 1e-9)
    close(t.inv(y), x.detach().numpy(), 1e-8)
    close(t.inv.log_abs_det_jacobian(y, x), -np.log(np.abs(slope.numpy())), 1e-9)


def test_events_of_transforms() -> None:
    t = D.IndependentTransform(D.ExpTransform(), 1)
    x = tensor(0.1, 0.2, 0.3)
    close(t.log_abs_det_jacobian(x, t(x)), 0.6)
    both = D.ComposeTransform(
        [D.ExpTransform(), D.AffineTransform(tensor(1, 2, 3), 2.0, event_dim=1)]
    )
    assert both.event_dim == 1
    close(both.log_abs_det_jacobian(x, both(x)), 0.6 + 3 * np.log(2))
    cached = D.TanhTransform(cache_size=1)
    y = cached(x)
    assert cached.inv(y) is x
    close(D.SoftmaxTransform()(x).sum(), 1.0)


def test_transformed_distribution() -> None:
    normal = D.Normal(tensor(0.1, 0.2), tensor(1.0, 2.0))
    d = D.TransformedDistribution(normal, D.ExpTransform())
    v = tensor(0.5, 1.5)
    close(d.log_prob(v), D.LogNormal(normal.loc, normal.scale).log_prob(v).numpy())
    vector = D.TransformedDistribution(D.Independent(normal, 1), [D.ExpTransform()])
    close(vector.log_prob(v), d.log_prob(v).sum().numpy())
    assert vector.event_shape == (2,) and vector.expand((4,)).log_prob(v).shape == (4,)
    down = D.TransformedDistribution(normal, [D.AffineTransform(0.0, -1.0)])
    close(down.cdf(v), 1 - normal.cdf(-v).numpy())
    close(down.icdf(down.cdf(v)), v.numpy(), 1e-9)
    close(down.sample((3,)).isnan().sum(), 0)
    with pytest.raises(ValueError, match="Transform"):
        D.TransformedDistribution(normal, [3])
    with pytest.raises(ValueError, match="size at least"):
        D.TransformedDistribution(D.Normal(0.0, 1.0), D.SoftmaxTransform())


SPREADING = [
    D.AffineTransform(torch.zeros(3), 1.0),
    D.AffineTransform(0.0, torch.ones(3)),
    D.PowerTransform(torch.ones(3)),
    D.IndependentTransform(D.AffineTransform(torch.zeros(3), torch.ones(3)), 1),
    D.ComposeTransform([D.ExpTransform(), D.AffineTransform(torch.zeros(3), torch.ones(3))]),
]


@pytest.mark.parametrize("k", range(len(SPREADING)))
def test_transforms_that_broadcast_have_a_number_for_each_element(k: int) -> None:
    base = D.Uniform(torch.tensor([1.0]) if k == 3 else 1.0, torch.tensor([2.0]) if k == 3 else 2.0)
    d = D.TransformedDistribution(base, [SPREADING[k]])
    assert (*d.batch_shape, *d.event_shape) == (3,)
    torch.manual_seed(0)
    x = d.sample((4000,))
    assert x.shape == (4000, 3)
    np.testing.assert_allclose(np.corrcoef(x.numpy().T), np.eye(3), atol=0.06)
    assert len(set(d.sample().tolist())) == 3


def test_sets_of_matrices() -> None:
    C = D.constraints
    nan = torch.full((2, 2), float("nan"))
    for matrix, square, symmetric, definite in (
        (torch.ones(4, 2, 3), False, False, False),
        (torch.eye(2).expand(4, 2, 2), True, True, True),
        (torch.ones(4, 2, 2).tril(), True, False, False),
        (-torch.eye(2).expand(4, 2, 2), True, True, False),
        (nan.expand(4, 2, 2), True, False, False),
    ):
        for c, want in (
            (C.square, square),
            (C.symmetric, symmetric),
            (C.positive_definite, definite),
        ):
            assert c.check(matrix).tolist() == [want] * 4, (c, matrix)


DENSITIES = [
    (D.Cauchy(tensor(0.5), tensor(2.0)), -4000.0),
    (D.HalfCauchy(tensor(2.0)), 0.0),
    (D.HalfNormal(tensor(2.0)), 0.0),
    (D.Gumbel(tensor(0.5), tensor(2.0)), -12.0),
    (D.TransformedDistribution(D.Normal(tensor(0.3), tensor(1.2)), D.TanhTransform()), -0.999999),
]


@pytest.mark.parametrize("k", range(len(DENSITIES)))
def test_distribution_functions_are_integrals_of_densities(k: int) -> None:
    d, low = DENSITIES[k]
    for high in (0.3, 0.9) if k == 4 else (0.3, 2.0, 5.0):
        grid = torch.linspace(low, high, 400001, dtype=torch.float64).unsqueeze(-1)
        mass = torch.trapezoid(d.log_prob(grid).exp().squeeze(-1), grid.squeeze(-1))
        start = d.cdf(tensor(low))
        close(d.cdf(tensor(high)) - start, mass.numpy(), 2e-5)
        close(d.icdf(d.cdf(tensor(high))), [high], 1e-7)
    assert d.expand((2, 1)).log_prob(tensor(0.5)).shape == (2, 1)


def test_moments() -> None:
    torch.manual_seed(1)
    for d in (D.HalfNormal(tensor(2.0)), D.Gumbel(tensor(0.5), tensor(2.0))):
        s = d.sample((40000,)).numpy()
        np.testing.assert_allclose(s.mean(), d.mean.numpy()[0], rtol=0.02)
        np.testing.assert_allclose(s.var(), d.variance.numpy()[0], rtol=0.04)
        x = d.sample((40000,))
        np.testing.assert_allclose(-d.log_prob(x).mean().item(), d.entropy().item(), atol=0.02)
    assert D.HalfCauchy(tensor(1.0)).mean.item() == np.inf
    assert np.isnan(D.Cauchy(tensor(0.0), tensor(1.0)).mean.item())


def test_the_divergence_of_half_normals() -> None:
    """log(q / p) + p^2 / (2 q^2) - 1 / 2 for scales p and q: folding both keeps their ratio."""
    d = torch.distributions
    p, q = torch.tensor([1.0, 0.5]), torch.tensor([2.0, 3.0])
    want = (q / p).log() + p * p / (2 * q * q) - 0.5
    torch.testing.assert_close(d.kl_divergence(d.HalfNormal(p), d.HalfNormal(q)), want)
