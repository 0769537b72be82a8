"""Every distribution against integrals of its density, sums of its probabilities, and samples of its own."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest

from distribution_samples import CONTINUOUS, DISCRETE, integral, nodes, t

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from torchc import distributions as D  # noqa: E402

# Moments that don't exist, or whose integrals converge too slowly to be an oracle.
HEAVY = {"Cauchy", "StudentT", "HalfCauchy", "Pareto", "InverseGamma", "GeneralizedPareto"}


def close(got: Any, want: Any, tolerance: float = 1e-7) -> None:
    np.testing.assert_allclose(got.detach().numpy(), want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_densities(name: str) -> None:
    kind, make = CONTINUOUS[name]
    d = make()

    def mean_of(function: Any) -> np.ndarray:
        def term(x: Any) -> Any:
            p = d.log_prob(x).exp()
            return torch.where(p > 0, p * function(x), 0.0)

        return integral(kind, term)

    np.testing.assert_allclose(mean_of(lambda x: 1.0), 1, rtol=1e-6)
    if name == "VonMises":  # of the circle
        close(d.variance, 1 - mean_of(lambda x: (x - d.loc).cos()))
        return
    if name not in HEAVY and name != "LogitRelaxedBernoulli" and name != "RelaxedBernoulli":
        mean = mean_of(lambda x: x)
        close(d.mean, mean, 1e-6)
        close(d.variance, mean_of(lambda x: (x - torch.tensor(mean)) ** 2), 1e-6)
        close(d.stddev, d.variance.sqrt())
    try:
        entropy = d.entropy()
    except NotImplementedError:
        return
    close(entropy, mean_of(lambda x: -d.log_prob(x)), 2e-6)


def test_moments_that_do_not_exist() -> None:
    inf = math.inf
    for d, mean, variance in (
        (
            D.StudentT(t(0.5, 1, 1.5, 2, 3)),
            [math.nan, math.nan, 0, 0, 0],
            [math.nan, math.nan, inf, inf, 3],
        ),
        (D.Pareto(t(1.0), t(1, 1.5, 2, 3)), [inf, 3, 2, 1.5], [inf, inf, inf, 0.75]),
        (D.InverseGamma(t(1, 1.5, 2, 3), t(1.0)), [inf, 2, 1, 0.5], [inf, inf, inf, 0.25]),
        (D.GeneralizedPareto(t(0.0), t(1.0), t(1, 0.5, -1)), [inf, 2, 0.5], [inf, inf, 1 / 12]),
        (D.FisherSnedecor(t(2.0), t(2, 4, 6)), [math.nan, 2, 1.5], [math.nan, math.nan, 6.75]),
    ):
        close(d.mean, mean)
        close(d.variance, variance)


NO_CDF = {
    "Beta",
    "FisherSnedecor",
    "LogitRelaxedBernoulli",
    "RelaxedBernoulli",
    "StudentT",
    "VonMises",
}


@pytest.mark.parametrize("name", [name for name in CONTINUOUS if name not in NO_CDF])
def test_distribution_functions(name: str) -> None:
    kind, make = CONTINUOUS[name]
    d = make()
    x, weights = nodes(kind)
    column = torch.tensor(x).unsqueeze(-1)
    mass = d.log_prob(column).exp().detach().numpy() * weights[:, None]
    below = np.cumsum(mass, 0) - mass / 2
    places = [int(np.argmin(np.abs(below[:, 0] - q))) for q in (0.02, 0.3, 0.5, 0.7, 0.98)]
    p = d.cdf(column[places])
    np.testing.assert_allclose(
        p.detach().numpy().reshape(len(places), -1), below[places], atol=3e-6
    )
    try:
        back = d.icdf(p)
    except NotImplementedError:
        return
    inside = ((p > 1e-9) & (p < 1 - 1e-9)).numpy()
    want = np.broadcast_to(column[places].numpy(), inside.shape)
    np.testing.assert_allclose(back.detach().numpy()[inside], want[inside], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", DISCRETE)
def test_probabilities(name: str) -> None:
    d = DISCRETE[name]()
    if d.has_enumerate_support:
        k = d.enumerate_support(False)
        assert d.enumerate_support().shape == (len(k), *d.batch_shape)
    else:
        k = torch.arange(400, dtype=torch.float64).unsqueeze(-1)
    log_p = d.log_prob(k)
    p = log_p.exp()
    close(p.sum(0), 1.0, 1e-12)
    mean = (p * k).sum(0)
    close(d.mean, mean.numpy(), 1e-10)
    close(d.variance, (p * (k - mean) ** 2).sum(0).numpy(), 1e-10)
    assert (d.log_prob(d.mode) >= log_p.max(0).values - 1e-12).all()
    try:
        entropy = d.entropy()
    except NotImplementedError:
        return
    close(entropy, -torch.where(p > 0, p * log_p, 0.0).sum(0).numpy(), 1e-10)


def test_von_mises_at_any_concentration() -> None:
    numbers = [1e-6, 0.5, 8.0, 700.0, 1e5]
    with mpmath.workdps(40):
        norms = [mpmath.log(2 * mpmath.pi * mpmath.besseli(0, k)) for k in numbers]
        want = [float(k * mpmath.cos(mpmath.mpf(0.1)) - n) for k, n in zip(numbers, norms)]
    close(D.VonMises(t(0.0), t(*numbers)).log_prob(t(0.1)), want, 1e-10)


FACTORIES = {name: make for name, (_, make) in CONTINUOUS.items()} | DISCRETE


@pytest.mark.parametrize("name", FACTORIES)
def test_samples(name: str) -> None:
    torch.manual_seed(7)
    d, n = FACTORIES[name](), 40000
    x = d.sample((n,))
    assert x.shape == (n, *d.batch_shape) and not x.requires_grad and x.dtype is torch.float64
    assert d.support.check(x).all()
    if name not in HEAVY and name != "VonMises":
        try:
            mean, variance = d.mean, d.variance
        except NotImplementedError:
            pass
        else:
            assert ((x.mean(0) - mean).abs() < 5 * (variance / n).sqrt()).all()
    try:
        entropy = d.entropy()
    except NotImplementedError:
        return
    information = -d.log_prob(x)
    assert (
        (information.mean(0) - entropy).abs() < 5 * information.std(0) / math.sqrt(n) + 1e-12
    ).all()


@pytest.mark.parametrize("name", FACTORIES)
def test_larger_batches(name: str) -> None:
    d = FACTORIES[name]()
    shape = (3, *d.batch_shape)
    e = d.expand(shape)
    assert type(e) is type(d) and e.batch_shape == shape and e.sample((2,)).shape == (2, *shape)
    x = d.sample()
    close(e.log_prob(x), d.log_prob(x).expand(shape).numpy(), 1e-15)
    assert d.has_rsample == e.has_rsample
    assert repr(d).startswith(type(d).__name__)


PARAMETERS = {
    "Beta": (D.Beta, (0.6, 2.0)),
    "Binomial": (lambda p: D.Binomial(5, p), (0.3,)),
    "Chi2": (D.Chi2, (3.0,)),
    "ContinuousBernoulli": (D.ContinuousBernoulli, (0.3,)),
    "FisherSnedecor": (D.FisherSnedecor, (3.0, 5.0)),
    "Gamma": (D.Gamma, (0.6, 2.0)),
    "GeneralizedPareto": (D.GeneralizedPareto, (0.1, 2.0, 0.3)),
    "Geometric": (D.Geometric, (0.4,)),
    "InverseGamma": (D.InverseGamma, (0.6, 2.0)),
    "Kumaraswamy": (D.Kumaraswamy, (0.6, 2.0)),
    "LogNormal": (D.LogNormal, (0.6, 2.0)),
    "NegativeBinomial": (D.NegativeBinomial, (3.5, 0.3)),
    "Pareto": (D.Pareto, (0.6, 2.0)),
    "Poisson": (D.Poisson, (2.5,)),
    "RelaxedBernoulli": (D.RelaxedBernoulli, (0.6, 0.3)),
    "StudentT": (D.StudentT, (3.0, 0.4, 2.0)),
    "VonMises": (D.VonMises, (0.6, 2.0)),
    "Weibull": (D.Weibull, (0.6, 2.0)),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_derivatives_of_log_prob(name: str) -> None:
    torch.manual_seed(1)
    make, numbers = PARAMETERS[name]
    given = [t(v, v * 1.1).requires_grad_() for v in numbers]
    d = make(*[g.detach() for g in given])
    x = d.sample()
    if d.support.is_discrete:
        assert torch.autograd.gradcheck(lambda *p: make(*p).log_prob(x), given)
    else:
        y = x.clone().requires_grad_()
        assert torch.autograd.gradcheck(lambda v, *p: make(*p).log_prob(v), (y, *given))


REPARAMETERISED = {
    "Gamma": (D.Gamma, (0.6, 2.0)),
    "Beta": (D.Beta, (0.6, 2.0)),
    "StudentT": (D.StudentT, (30.0, 0.4, 2.0)),
    "FisherSnedecor": (D.FisherSnedecor, (5.0, 30.0)),
    "InverseGamma": (D.InverseGamma, (8.0, 2.0)),
    "Kumaraswamy": (D.Kumaraswamy, (0.6, 2.0)),
    "Pareto": (D.Pareto, (0.6, 9.0)),
    "Weibull": (D.Weibull, (0.6, 2.0)),
    "ContinuousBernoulli": (D.ContinuousBernoulli, (0.3,)),
    "LogNormal": (D.LogNormal, (0.3, 0.5)),
    "GeneralizedPareto": (D.GeneralizedPareto, (0.1, 2.0, 0.1)),
}


@pytest.mark.parametrize("name", REPARAMETERISED)
def test_derivatives_of_samples(name: str) -> None:
    """The mean of a sample's derivative is the mean's derivative."""
    torch.manual_seed(2)
    make, numbers = REPARAMETERISED[name]
    n = 40000
    given = [t(v).expand(n).clone().requires_grad_() for v in numbers]
    x = make(*given).rsample()
    slopes = torch.autograd.grad(x.sum(), given)
    single = [t(v).requires_grad_() for v in numbers]
    wants = torch.autograd.grad(make(*single).mean, single, allow_unused=True)
    for slope, want in zip(slopes, wants):
        error = 5 * slope.std().item() / math.sqrt(n) + 1e-12
        assert abs(slope.mean().item() - (0.0 if want is None else want.item())) < error


def test_entropies_of_families_have_derivatives() -> None:
    p = t(0.3, 4.0).requires_grad_()
    own = torch.autograd.grad(D.Gamma(p, 2.0).entropy().sum(), p)[0]
    family = D.exp_family.ExponentialFamily.entropy(D.Gamma(p, t(2.0)))
    # The general formula leaves the mean of the carrier out, 0 in this parametrisation.
    close(torch.autograd.grad(family.sum(), p)[0], own.numpy(), 1e-9)
    close(family, D.Gamma(p, 2.0).entropy().detach().numpy(), 1e-12)
