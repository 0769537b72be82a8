"""Tensors in SciPy: sparse matrices, optimisers, and functions of arrays."""

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
np = pytest.importorskip("numpy")
scipy = pytest.importorskip("scipy")
from scipy import integrate, interpolate, optimize, sparse, spatial, special, stats  # noqa: E402

DENSE = np.array([[0, 1, 2], [3, 0, 5]], dtype="f4")
GOAL = torch.tensor([1.0, 2.0], dtype=torch.float64)


def distance(v):
    """Its value and gradient."""
    p = torch.tensor(v, requires_grad=True)
    value = ((p - GOAL) ** 2).sum()
    value.backward()
    return value.detach(), p.grad


MATRICES = (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix)
KINDS = (*MATRICES, sparse.csr_array, sparse.coo_array)


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_matrices(kind):
    t = torch.from_numpy(DENSE)
    m = kind(t)
    assert m.nnz == 4 and np.array_equal(m.toarray(), DENSE)
    assert torch.equal(torch.from_numpy(m.toarray()), t)
    assert np.array_equal(m @ t.T, DENSE @ DENSE.T)
    for convert in (torch.tensor, torch.as_tensor):
        with pytest.raises(TypeError, match="sparse"):
            convert(m)
    for refused in (lambda: t + m, lambda: torch.matmul(t.T, m)):
        with pytest.raises(TypeError):
            refused()


def test_sparse_matrices_of_arrays_that_are_tensors():
    m = sparse.csr_matrix(torch.from_numpy(DENSE))
    parts = tuple(torch.from_numpy(part) for part in (m.data, m.indices, m.indptr))
    again = sparse.csr_matrix(parts, shape=m.shape)
    assert np.array_equal(again.toarray(), DENSE)
    rows = torch.repeat_interleave(torch.arange(2), parts[2].diff())
    dense = torch.zeros(2, 3).index_put((rows, parts[1].long()), parts[0])
    assert np.array_equal(dense.numpy(), DENSE)


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "CG", "TNC", "SLSQP"])
def test_minimize(method):
    got = optimize.minimize(distance, torch.zeros(2, dtype=torch.float64), jac=True, method=method)
    assert got.success and np.allclose(got.x, GOAL, atol=1e-4)


def test_minimize_without_gradients():
    for method in ("Nelder-Mead", "Powell", "BFGS"):
        got = optimize.minimize(
            lambda v: distance(v)[0], torch.zeros(2, dtype=torch.float64), method=method
        )
        assert np.allclose(got.x, GOAL, atol=1e-3)
    got = optimize.minimize_scalar(lambda v: (torch.tensor(v) - 2) ** 2)
    assert abs(float(got.x) - 2) < 1e-4
    with pytest.raises(RuntimeError, match="requires grad"):
        optimize.minimize(lambda v: torch.tensor(v, requires_grad=True).square().sum(), np.ones(2))


def test_roots_and_least_squares():
    start = torch.ones(2, dtype=torch.float64)

    def residual(v):
        return torch.as_tensor(v) ** 2 - 2

    def jacobian(v):
        return torch.diag(2 * torch.as_tensor(v))

    for got in (
        optimize.root(residual, start).x,
        optimize.root(residual, start, jac=jacobian).x,
        optimize.fsolve(residual, start),
        optimize.least_squares(residual, start).x,
        optimize.least_squares(residual, start, jac=jacobian).x,
    ):
        assert np.allclose(got, 2**0.5, atol=1e-6)
    assert abs(optimize.brentq(lambda v: torch.tensor(v) ** 2 - 2, 0, 2) - 2**0.5) < 1e-5


def test_curves():
    t = torch.linspace(0, 1, 20, dtype=torch.float64)
    for line in (lambda t, a, b: a * t + b, lambda t, a, b: a * torch.as_tensor(t) + b):
        found, _ = optimize.curve_fit(line, t, 3 * t + 1)
        assert np.allclose(found, [3, 1])
    assert np.allclose(interpolate.interp1d(t, t * 2)(torch.tensor([0.5])), 1.0)


def test_functions_of_arrays():
    t = torch.linspace(0.5, 2, 7, dtype=torch.float64)
    assert np.allclose(np.asarray(special.gamma(t)), np.exp(torch.lgamma(t).numpy()))
    assert np.allclose(np.asarray(stats.norm.cdf(t)), torch.special.ndtr(t))
    assert stats.describe(t).nobs == 7 and stats.ttest_ind(t, t).pvalue == 1.0
    assert np.allclose(scipy.linalg.inv(torch.eye(2) * 2), np.eye(2) / 2)
    x = torch.arange(6.0).reshape(2, 3)
    assert np.allclose(spatial.distance.cdist(x, x), torch.cdist(x, x))
    assert spatial.cKDTree(x).query(x)[1].tolist() == [0, 1]
    got = integrate.solve_ivp(lambda _, y: -torch.as_tensor(y), (0, 1), torch.ones(2), rtol=1e-8)
    assert np.allclose(got.y[:, -1], np.exp(-1), atol=1e-6)
