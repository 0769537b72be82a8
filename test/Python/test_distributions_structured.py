"""Distributions of vectors and matrices, transforms of them, the sets and the table of transforms into sets."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from distribution_samples import t

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from torchc import distributions as D  # noqa: E402

C = D.constraints
COUNT = 40000


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(11)


def close(got: Any, want: Any, tolerance: float = 1e-10) -> None:
    np.testing.assert_allclose(got.detach().numpy(), want, rtol=tolerance, atol=tolerance)


def check_mean(values: Any, want: Any) -> None:
    """Within 5 standard errors."""
    error = values.std(0) / math.sqrt(values.shape[0])
    assert ((values.mean(0) - want).abs() < 5 * error + 1e-12).all(), (values.mean(0), want)


# ---- distributions


def test_dirichlet() -> None:
    two = D.Dirichlet(t([0.7, 2.0], [3, 1]))
    x = t([0.3, 0.7], [0.9, 0.1])
    beta = D.Beta(t(0.7, 3), t(2, 1))
    close(two.log_prob(x), beta.log_prob(x[:, 0]).numpy())
    close(two.entropy(), beta.entropy().numpy())
    close(two.mean[:, 0], beta.mean.numpy())
    close(two.variance[:, 0], beta.variance.numpy())
    d = D.Dirichlet(t(0.7, 2, 3))
    check_mean(-d.log_prob(d.sample((COUNT,))), d.entropy())
    close(D.Dirichlet(t(2, 3, 1)).mode, [1 / 3, 2 / 3, 0])
    close(D.Dirichlet(t(0.2, 0.9, 0.4)).mode, [0, 1, 0])
    assert d.expand((4, 2)).sample((3,)).shape == (3, 4, 2, 3)


def test_multinomial() -> None:
    p = t([0.2, 0.5, 0.3], [0.0, 0.1, 0.9])
    d = D.Multinomial(5, p)
    points = [(i, j, 5 - i - j) for i in range(6) for j in range(6 - i)]
    log_p = d.log_prob(t(*points).unsqueeze(1))
    close(log_p.exp().sum(0), 1.0)
    close(d.entropy(), -torch.where(log_p > -math.inf, log_p.exp() * log_p, 0.0).sum(0).numpy())
    close(d.mean, (5 * p).numpy())
    x = d.sample((COUNT,))
    assert (x.sum(-1) == 5).all() and (x[:, 1, 0] == 0).all() and d.support.check(x).all()
    check_mean(x, d.mean)
    check_mean((x - d.mean) ** 2, d.variance)
    check_mean(x[:, 0, 0] * x[:, 0, 1], 20 * 0.2 * 0.5)
    few = D.Multinomial(2, t([0.2, 0.0, 0.5, 0.3, 0.0], [0.0, 0, 0, 0, 1]))
    x = few.sample((COUNT,))
    assert (x.sum(-1) == 2).all() and (x[:, 0, [1, 4]] == 0).all() and (x[:, 1, 4] == 2).all()
    check_mean(x, few.mean)
    check_mean((x - few.mean) ** 2, few.variance)
    logits = D.Multinomial(5, logits=p[0].log())
    close(logits.log_prob(t(1, 2, 2)), d.log_prob(t(1, 2, 2))[0].numpy())


def test_categories_without_draws() -> None:
    logits = t(0.1, -1, 2).requires_grad_()
    d = D.OneHotCategoricalStraightThrough(logits=logits)
    x = d.rsample((50,))
    assert d.support.check(x.detach().round()).all()
    (x * t(1, 2, 4)).sum().backward()
    p = d.probs.detach()
    want = 50 * p * (t(1, 2, 4) - (p * t(1, 2, 4)).sum())
    close(logits.grad, want.numpy())
    close(d.mode, [0, 0, 1])
    assert d.enumerate_support().shape == (3, 3) and d.has_enumerate_support


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_relaxed_categories(temperature: float) -> None:
    """Of two classes the first is a relaxed Bernoulli number of probability p1 / (p1 + p2)."""
    p = t(0.3, 0.7)
    d = D.RelaxedOneHotCategorical(t(temperature), p)
    one = D.RelaxedBernoulli(t(temperature), t(0.3))
    x = t([0.1, 0.9], [0.6, 0.4])
    # The density in both coordinates of exp's transform, and in one of the simplex.
    close(d.log_prob(x), one.log_prob(x[:, 0]).numpy())
    s = d.sample((COUNT,))
    check_mean((s[:, 0] > 0.5).double(), t(0.3))
    assert d.rsample().shape == (2,) and d.expand((3,)).sample((2,)).shape == (2, 3, 2)
    assert d.expand((3,)).temperature is d.temperature
    a = t(0.1, 0.2, -1).requires_grad_()
    D.RelaxedOneHotCategorical(t(temperature), logits=a).rsample()[0].backward()
    assert a.grad.abs().sum() > 0


def test_wishart() -> None:
    one = D.Wishart(t(3.5), t([[2.0]]).reshape(1, 1))
    gamma = D.Gamma(t(1.75), t(0.25))
    close(one.log_prob(t(1.3).reshape(1, 1)), gamma.log_prob(t(1.3)).numpy())
    close(one.entropy(), gamma.entropy().numpy())
    v = t([2.0, 0.5, 0], [0.5, 1.0, 0.2], [0, 0.2, 1.5])
    forms = {
        "covariance_matrix": v,
        "precision_matrix": torch.linalg.inv(v),
        "scale_tril": torch.linalg.cholesky(v),
    }
    x = t([3.0, 1, 0], [1, 2, 0.3], [0, 0.3, 5])
    for name, matrix in forms.items():
        d = D.Wishart(t(4.5), **{name: matrix})
        for other, want in forms.items():
            close(getattr(d, other), want.numpy())
        close(d.log_prob(x), D.Wishart(t(4.5), v).log_prob(x).numpy())
    s = d.sample((COUNT,))
    check_mean(s, d.mean)
    check_mean((s - d.mean) ** 2, d.variance)
    check_mean(-d.log_prob(s), d.entropy())
    family = D.exp_family.ExponentialFamily
    q = D.Wishart(t(3.2), 2 * v)
    check_mean(d.log_prob(s) - q.log_prob(s), D.kl_divergence(d, q))
    assert issubclass(D.Wishart, family) and d.mode.diagonal().min() > 0
    assert D.Wishart(t(3.5), v).mode.isnan().any()
    assert d.expand((2, 1)).sample((4,)).shape == (4, 2, 1, 3, 3)
    df, root = t(4.5).requires_grad_(), torch.linalg.cholesky(v).requires_grad_()
    D.Wishart(df, scale_tril=root).rsample().sum().backward()
    assert df.grad is not None and root.grad is not None
    assert torch.autograd.gradcheck(
        lambda df, w: D.Wishart(df, w @ w.mT).log_prob(x), (df, (v + 1).detach().requires_grad_())
    )
    for bad in ({}, {"covariance_matrix": v, "scale_tril": v}):
        with pytest.raises(ValueError, match="Exactly one"):
            D.Wishart(t(4.5), **bad)
    with pytest.raises(ValueError, match="greater than"):
        D.Wishart(t(2.0), v)


@pytest.mark.parametrize("concentration", [0.6, 1.0, 3.0])
@pytest.mark.parametrize("dim", [2, 3, 5])
def test_lkj(dim: int, concentration: float) -> None:
    """(r + 1) / 2 of a correlation r is Beta(a, a), a = c - 1 + dim / 2: r's variance is 1 / (2 c + dim - 1)."""
    d = D.LKJCholesky(dim, t(concentration))
    root = d.sample((COUNT,))
    assert C.corr_cholesky.check(root).all() and d.support.check(root).all()
    r = root @ root.mT
    places = np.tril_indices(dim, -1)
    low = r[:, places[0], places[1]]
    check_mean(low, 0.0)
    check_mean(low * low, 1 / (2 * concentration + dim - 1))
    # The mean of a quotient of two densities is 1: both have the same integral.
    other = D.LKJCholesky(dim, t(concentration + 0.4))
    check_mean((other.log_prob(root) - d.log_prob(root)).exp(), 1.0)
    if dim == 2:
        x = t([1.0, 0], [0.6, 0.8])
        beta = D.Beta(t(concentration), t(concentration))
        close(d.log_prob(x), beta.log_prob(t(0.8)).numpy() - math.log(2))
    assert d.expand((3,)).sample((2,)).shape == (2, 3, dim, dim)


def test_logistic_normal() -> None:
    d = D.LogisticNormal(t(0.3, -0.5), t(1.0, 0.4))
    x = d.sample((COUNT,))
    assert x.shape == (COUNT, 3) and C.simplex.check(x).all()
    flat = D.StickBreakingTransform().inv(x)
    check_mean(flat, t(0.3, -0.5))
    base = D.Normal(t(0.3, -0.5), t(1.0, 0.4)).log_prob(flat).sum(-1)
    jacobian = D.StickBreakingTransform().log_abs_det_jacobian(flat, x)
    close(d.log_prob(x), (base - jacobian).numpy(), 1e-8)
    close(d.loc, [0.3, -0.5])
    assert d.expand((5,)).sample().shape == (5, 3) and D.LogisticNormal(
        0.0, 1.0
    ).sample().shape == (2,)


def test_mixtures() -> None:
    parts = D.Independent(D.Normal(t([0.0, 1], [2, 3], [5, 0]), t([1.0, 1], [0.5, 2], [1, 1])), 1)
    weights = t(0.3, 0.5, 0.2)
    d = D.MixtureSameFamily(D.Categorical(weights), parts)
    x = d.sample((COUNT,))
    assert x.shape == (COUNT, 2) and d.event_shape == (2,) and d.batch_shape == ()
    check_mean(x, d.mean)
    check_mean((x - d.mean) ** 2, d.variance)
    point = t(0.7, 0.1)
    each = parts.log_prob(point).exp()
    close(d.log_prob(point), (each * weights).sum().log().numpy())
    assert d.expand((4,)).sample((2,)).shape == (2, 4, 2)
    for mixture, component, text in (
        (D.Normal(0.0, 1.0), D.Normal(torch.ones(2), 1.0), "Categorical"),
        (D.Categorical(torch.ones(3)), D.Normal(torch.ones(2), 1.0), "does not equal"),
        (D.Categorical(torch.ones(3, 2)), D.Normal(torch.ones(4, 2), 1.0), "not compatible"),
        (D.Categorical(torch.ones(3)), 3, "Component"),
    ):
        with pytest.raises(ValueError, match=text):
            D.MixtureSameFamily(mixture, component)


def test_angles() -> None:
    d = D.VonMises(t(0.5, 3.0), t(0.7, 30))
    x = d.sample((COUNT,))
    assert ((x >= -math.pi) & (x < math.pi)).all()
    check_mean((x - d.loc).cos(), 1 - d.variance)
    check_mean((x - d.loc).sin(), 0.0)
    assert D.VonMises(t(0.0), t(1e-8)).sample((9,)).isfinite().all()


# ---- transforms


TRANSFORMS = [
    (D.StickBreakingTransform(), (4,), lambda y: y[..., :-1]),
    (D.CorrCholeskyTransform(), (6,), lambda y: D.utils.tril_matrix_to_vec(y, -1)),
    (D.ReshapeTransform((2, 3), (6,)), (2, 3), lambda y: y),
    (D.CatTransform([D.ExpTransform(), D.TanhTransform()], 0, [1, 2]), (3,), lambda y: y),
    (D.StackTransform([D.ExpTransform(), D.TanhTransform()], 0), (2,), lambda y: y),
]


@pytest.mark.parametrize("k", range(len(TRANSFORMS)))
def test_jacobians(k: int) -> None:
    transform, shape, free = TRANSFORMS[k]
    x = torch.randn(shape, dtype=torch.float64)
    y = transform(x)
    close(transform.inv(y), x.numpy(), 1e-8)
    assert transform.codomain.check(y).all() and transform.bijective
    jacobian = torch.autograd.functional.jacobian(lambda v: free(transform(v)).reshape(-1), x)
    want = torch.linalg.slogdet(jacobian.reshape(x.numel(), x.numel()))[1]
    close(transform.log_abs_det_jacobian(x, y).sum(), want.numpy(), 1e-9)
    if k < 3:
        assert transform.forward_shape(shape) == tuple(y.shape)
        assert transform.inverse_shape(y.shape) == shape
        with pytest.raises(ValueError):
            transform.inverse_shape(())
    assert transform == transform and transform != D.AbsTransform()


def test_other_transforms() -> None:
    normal = D.Normal(t(0.3), t(2.0))
    cdf = D.CumulativeDistributionTransform(normal)
    x = t(-1, 0.2, 4)
    close(cdf(x), normal.cdf(x).numpy())
    close(cdf.inv(cdf(x)), x.numpy())
    close(cdf.log_abs_det_jacobian(x, cdf(x)), normal.log_prob(x).numpy())
    m = torch.randn(2, 3, 3, dtype=torch.float64)
    low, definite = D.LowerCholeskyTransform(), D.PositiveDefiniteTransform()
    assert C.lower_cholesky.check(low(m)).all() and C.positive_definite.check(definite(m)).all()
    close(low.inv(low(m)), m.tril().numpy())
    close(definite.inv(definite(m)), m.tril().numpy(), 1e-8)
    exp = D.ExpTransform()
    assert exp == D.ExpTransform() and hash(exp) == hash(D.ExpTransform())
    assert D.AffineTransform(0.0, t(1, 2)) != D.AffineTransform(0.0, t(1, 3))
    assert D.AffineTransform(0.0, 2.0) == D.AffineTransform(0.0, 2.0)
    assert exp.with_cache(0) is exp and exp.with_cache(1)._cache_size == 1
    for bad in (
        lambda: D.ReshapeTransform((2, 3), (5,)),
        lambda: D.ReshapeTransform((2, 3), (6,))(torch.ones(3, 2)),
        lambda: D.CatTransform([exp], 0, [1, 2]),
        lambda: D.StackTransform([3], 0),
        lambda: D.CorrCholeskyTransform().forward_shape((4,)),
        lambda: D.utils.vec_to_tril_matrix(torch.ones(5)),
        lambda: D.utils.tril_matrix_to_vec(torch.ones(3, 3), 3),
        lambda: exp.with_cache(2),
    ):
        with pytest.raises(ValueError):
            bad()


@pytest.mark.parametrize("diag", [-2, -1, 0, 1])
def test_triangles(diag: int) -> None:
    m = torch.randn(2, 4, 4).tril(diag)
    v = D.utils.tril_matrix_to_vec(m, diag)
    want = m.numpy()[:, *np.tril_indices(4, diag)]
    np.testing.assert_array_equal(v.numpy(), want)
    np.testing.assert_array_equal(D.utils.vec_to_tril_matrix(v, diag).numpy(), m.numpy())


# ---- sets


SETS = {
    "real": C.real,
    "positive": C.positive,
    "greater_than_eq": C.greater_than_eq(1.0),
    "less_than": C.less_than(3.0),
    "unit_interval": C.unit_interval,
    "half_open_interval": C.half_open_interval(-1.0, t(2.0)),
    "simplex": C.simplex,
    "real_vector": C.real_vector,
    "independent": C.independent(C.positive, 1),
    "lower_cholesky": C.lower_cholesky,
    "positive_definite": C.positive_definite,
    "positive_semidefinite": C.positive_semidefinite,
    "corr_cholesky": C.corr_cholesky,
    "stack": C.stack([C.positive, C.real, C.unit_interval], -1),
    "cat": C.cat([C.positive, C.unit_interval], -1, [1, 2]),
}
NO_BIJECTION = {"lower_cholesky", "positive_definite", "positive_semidefinite"}


@pytest.mark.parametrize("name", SETS)
def test_transforms_into_sets(name: str) -> None:
    s = SETS[name]
    x = torch.randn(3, 3, dtype=torch.float64)
    y = D.transform_to(s)(x)
    assert s.check(y).all()
    if name in NO_BIJECTION:
        with pytest.raises(NotImplementedError, match="Cannot transform"):
            D.biject_to(s)
        return
    bijection = D.biject_to(s)
    y = bijection(x)
    assert bijection.bijective and s.check(y).all()
    close(bijection.inv(y), x.numpy(), 1e-7)


def test_the_table_of_transforms() -> None:
    class Even(type(C.real)):
        pass

    table = D.constraint_registry.ConstraintRegistry()
    table.register(Even, lambda s: "even")
    assert table(Even()) == "even"

    @table.register(C.simplex)
    def simplex(s: Any) -> str:
        return repr(s)

    assert table(C.simplex) == "Simplex()"
    with pytest.raises(NotImplementedError, match="Boolean"):
        table(C.boolean)
    with pytest.raises(TypeError, match="Constraint"):
        table.register(3, lambda s: s)


MEMBERS = [
    (C.boolean, t(0, 1, 2, 0.5), [True, True, False, False]),
    (C.positive_integer, t(0, 1, 1.5, math.inf), [False, True, False, False]),
    (C.nonnegative_integer, t(0, -1, 1.5, 7), [True, False, False, True]),
    (C.integer_interval(1, 3), t(0, 1, 3, 2.5), [False, True, True, False]),
    (C.half_open_interval(0.0, 1.0), t(0, 0.5, 1, math.nan), [True, True, False, False]),
    (C.less_than(1.0), t(0, 1, math.nan), [True, False, False]),
    (C.greater_than_eq(1.0), t(0, 1, 2), [False, True, True]),
    (C.simplex, t([0.5, 0.5], [0.6, 0.5], [1.1, -0.1]), [True, False, False]),
    (C.one_hot, t([0, 1], [1, 1], [0.5, 0.5]), [True, False, False]),
    (C.multinomial(3), t([1, 2], [1, 1], [2, 2], [-1, 1]), [True, True, False, False]),
    (C.corr_cholesky, t([[1, 0], [0.6, 0.8]], [[1, 0], [0.6, 0.7]]), [True, False]),
    (C.positive_semidefinite, t([[1, 1], [1, 1]], [[1, 2], [2, 1]]), [True, False]),
    (C.MixtureSameFamilyConstraint(C.positive), t(1, -1), [True, False]),
    (C.cat([C.positive, C.boolean]), t(2, 2), [True, False]),
    (C.stack([C.positive, C.boolean]), t(2, 2), [True, False]),
]


@pytest.mark.parametrize("k", range(len(MEMBERS)))
def test_members_of_sets(k: int) -> None:
    s, values, want = MEMBERS[k]
    assert s.check(values).tolist() == want
    assert repr(s).endswith(")")


def test_sets_that_depend_on_others() -> None:
    assert C.is_dependent(C.dependent) and C.is_dependent(D.Uniform.support)
    assert not C.is_dependent(C.real) and not C.is_dependent(D.Uniform(0.0, 1.0).support)
    assert D.Uniform.support.event_dim == 0 and not D.Uniform.support.is_discrete
    with pytest.raises(NotImplementedError):
        assert D.Independent.support.event_dim
    with pytest.raises(ValueError):
        C.dependent.check(t(1))
    assert C.dependent(event_dim=2).event_dim == 2


# ---- arguments


BAD = {
    "D.Gamma(-1., 1.)": "concentration",
    "D.Beta(torch.tensor([1., -1.]), 1.)": "concentration1",
    "D.Dirichlet(torch.tensor(1.))": "one-dimensional",
    "D.Binomial(-1, torch.tensor(.5))": "total_count",
    "D.Binomial(2.5, torch.tensor(.5))": "total_count",
    "D.Binomial(2)": "must be specified",
    "D.Geometric(0.)": "positive",
    "D.Poisson(-1.)": "rate",
    "D.Multinomial(3, torch.ones(2)).log_prob(torch.tensor([2., 2.]))": "within the support",
    "D.Binomial(3, torch.tensor(.5)).log_prob(torch.tensor(4.))": "within the support",
    "D.Gamma(1., 1.).log_prob(torch.tensor(-1.))": "within the support",
    "D.Pareto(1., 1.).log_prob(torch.tensor(.5))": "within the support",
    "D.GeneralizedPareto(0., 1., -1.).log_prob(torch.tensor(1.5))": "within the support",
    "D.StudentT(-1.)": "df",
    "D.LKJCholesky(1)": "dim",
    "D.NegativeBinomial(-1., torch.tensor(.5))": "total_count",
    "D.NegativeBinomial(1., torch.tensor(1.))": "probs",
    "D.ContinuousBernoulli(1.5)": "probs",
    "D.LowRankMultivariateNormal(torch.ones(3), torch.ones(2, 1), torch.ones(3))": "cov_factor",
    "D.LowRankMultivariateNormal(torch.ones(3), torch.ones(3, 1), torch.ones(2))": "cov_diag",
    "D.Dirichlet(torch.ones(3)).log_prob(torch.ones(3))": "within the support",
    "D.RelaxedBernoulli(torch.tensor(1.), 1.5)": "probs",
    "D.VonMises(0., -1.)": "concentration",
    "D.Weibull(1., -1.)": "concentration",
    "D.Kumaraswamy(-1., 1.)": "concentration1",
    "D.InverseGamma(-1., 1.)": "concentration",
    "D.Gamma(torch.ones(2), 1.).log_prob(torch.ones(3))": "not broadcastable",
    "D.Poisson(1.).log_prob(2.)": "must be a Tensor",
}


@pytest.mark.parametrize("text", BAD)
def test_wrong_arguments(text: str) -> None:
    with pytest.raises(ValueError, match=BAD[text]):
        eval(text, {"D": D, "torch": torch})


def test_subclasses() -> None:
    class Plain(D.Gamma):
        pass

    class Own(D.Gamma):
        def __init__(self) -> None:
            super().__init__(1.0, 2.0)

    assert type(Plain(1.0, 2.0).expand((3,))) is Plain
    with pytest.raises(NotImplementedError, match="custom __init__"):
        Own().expand((3,))
    with pytest.raises(NotImplementedError, match="total_count"):
        D.Multinomial(torch.tensor(3), torch.ones(2))
    with pytest.raises(NotImplementedError, match="Inhomogeneous"):
        D.Binomial(t(2, 3), t(0.5)).entropy()
    with pytest.warns(FutureWarning, match="sample_n"):
        assert D.Gamma(1.0, 1.0).sample_n(3).shape == (3,)
