"""Linear algebra of complex matrices, and eigenvalues of general ones: properties, NumPy's values, differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from torchc.autograd.gradcheck import gradcheck, gradgradcheck  # noqa: E402

L = torch.linalg
RNG = np.random.default_rng(11)
SHAPES = [(3, 3), (5, 3), (3, 5), (2, 4, 4), (1, 1), (0, 0), (3, 0), (0, 2, 2)]


def draw(*shape: int, dtype: str = "complex128") -> np.ndarray:
    return (RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)).astype(dtype)


def adjoint(a: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(a, -1, -2))


def hermitian(n: int, *batch: int) -> np.ndarray:
    a = draw(*batch, n, n)
    return a + adjoint(a)


def positive(n: int, *batch: int) -> np.ndarray:
    a = draw(*batch, n, n)
    return a @ adjoint(a) + n * np.eye(n)


def close(actual: Any, expected: Any, tol: float = 1e-11) -> None:
    a, e = np.asarray(actual.detach().resolve_conj().numpy()), np.asarray(expected)
    assert a.shape == e.shape and a.dtype.kind == e.dtype.kind
    np.testing.assert_allclose(a, e, rtol=tol, atol=tol)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_factors_give_the_matrix_back(shape: tuple[int, ...], dtype: str) -> None:
    a = draw(*shape, dtype=dtype)
    tol = 1e-12 if dtype == "complex128" else 3e-5
    x = torch.tensor(a)
    m, n = shape[-2:]
    k = min(m, n)
    P, low, up = L.lu(x)
    close(P @ low @ up, a, tol)
    packed, pivots = L.lu_factor(x)
    assert all(
        torch.equal(a, b)
        for a, b in zip(torch.lu_unpack(packed, pivots), (P, low, up), strict=True)
    )
    for mode in ("reduced", "complete"):
        Q, R = L.qr(x, mode)
        close(Q @ R, a, tol)
        close(Q.mH @ Q, np.broadcast_to(np.eye(Q.shape[-1]) + 0j, (*shape[:-2], *[Q.shape[-1]] * 2)), tol)  # fmt: skip
    for full in (False, True):
        U, S, Vh = L.svd(x, full)
        assert S.dtype is x.dtype.to_real()
        close((U[..., :k] * S.unsqueeze(-2)) @ Vh[..., :k, :], a, tol)
        close(U.mH @ U, np.broadcast_to(np.eye(U.shape[-1]) + 0j, (*shape[:-2], *[U.shape[-1]] * 2)), tol)  # fmt: skip
    close(L.svdvals(x), np.linalg.svd(a, compute_uv=False), tol)
    U, S, V = torch.svd(x)
    close((U * S.unsqueeze(-2)) @ V.mH, a, tol)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("shape", [(4,), (3, 2), (1,), (0,)])
def test_hermitian_factors(shape: tuple[int, ...], upper: bool) -> None:
    n = shape[0]
    a = positive(n, *shape[1:])
    junk = np.where(np.triu(np.ones((n, n)), 1) > 0, 9.0, a)  # only one triangle is read
    x = torch.tensor(adjoint(junk).copy() if upper else junk)
    F = L.cholesky(x, upper=upper)
    close(F.mH @ F if upper else F @ F.mH, a)
    values, V = L.eigh(x, "U" if upper else "L")
    close(values, np.linalg.eigvalsh(a))
    close((V * values.unsqueeze(-2)) @ V.mH, a)
    close(torch.cholesky_inverse(F, upper), np.linalg.inv(a))
    b = draw(*shape[1:], n, 3)
    close(torch.cholesky_solve(torch.tensor(b), F, upper), np.linalg.solve(a, b))
    close(L.matrix_sqrth(torch.tensor(a)) @ L.matrix_sqrth(torch.tensor(a)), a)


def test_indefinite_matrices_are_solved() -> None:
    b = torch.tensor(draw(2, 5, 2))
    for a, form in ((hermitian(5, 2), True), (hermitian(5, 2).conj() * 1j, None)):
        if form is None:
            a, form = np.tril(a) + np.swapaxes(np.tril(a, -1), -1, -2), False  # complex symmetric
        LD, pivots = L.ldl_factor(torch.tensor(a), hermitian=form)
        close(L.ldl_solve(LD, pivots, b, hermitian=form), np.linalg.solve(a, b.numpy()), 1e-9)


def test_reflections() -> None:
    a = torch.tensor(draw(2, 5, 3))
    packed, tau = torch.geqrf(a)
    Q, R = L.qr(a)
    close(L.householder_product(packed, tau), Q.numpy())
    close(packed[..., :3, :].triu(), R.numpy())
    whole = L.qr(a, "complete")[0].numpy()
    c = draw(2, 5, 4)
    for transpose, q in ((False, whole), (True, adjoint(whole))):
        close(torch.ormqr(packed, tau, torch.tensor(c), transpose=transpose), q @ c)
        right = np.swapaxes(c, -1, -2).copy()
        close(torch.ormqr(packed, tau, torch.tensor(right), False, transpose), right @ q)


def test_solvers_and_inverses() -> None:
    a, b = draw(2, 4, 4), draw(2, 4, 3)
    x, y = torch.tensor(a), torch.tensor(b)
    right = np.swapaxes(b, -1, -2).copy()
    close(L.solve(x, y), np.linalg.solve(a, b))
    close(L.solve(x, torch.tensor(right), left=False) @ x, right)
    LU, pivots = L.lu_factor(x)
    for turned, m in ((False, a), (True, adjoint(a))):
        close(L.lu_solve(LU, pivots, y, adjoint=turned), np.linalg.solve(m, b))
        X = L.lu_solve(LU, pivots, torch.tensor(right), left=False, adjoint=turned)
        close(X @ torch.tensor(m), right)
    close(L.inv(x), np.linalg.inv(a))
    close(L.det(x), np.linalg.det(a))
    sign, logarithm = np.linalg.slogdet(a)
    close(L.slogdet(x).sign, sign)
    close(L.slogdet(x).logabsdet, logarithm)
    close(torch.exp(torch.logdet(x)), np.linalg.det(a))
    for upper, triangle in ((False, np.tril(a)), (True, np.triu(a))):
        close(L.solve_triangular(x, y, upper=upper), np.linalg.solve(triangle, b))
        X, _ = torch.triangular_solve(y, x, upper, True)
        close(X, np.linalg.solve(np.swapaxes(triangle, -1, -2), b))


@pytest.mark.parametrize("shape", [(5, 3), (3, 5)])
@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss"])
def test_least_squares(shape: tuple[int, ...], driver: str) -> None:
    a, b = draw(*shape), draw(shape[0], 2)
    X, residuals, _, values = L.lstsq(torch.tensor(a), torch.tensor(b), driver=driver)
    expected = np.linalg.pinv(a) @ b
    close(X, expected)
    if shape[0] > shape[1] and driver != "gelsy":
        close(residuals, (abs(a @ expected - b) ** 2).sum(-2))
    if driver in ("gelsd", "gelss"):
        close(values, np.linalg.svd(a, compute_uv=False))


def test_ranks_norms_and_functions() -> None:
    a = draw(5, 2) @ draw(2, 4)
    x = torch.tensor(a)
    assert L.matrix_rank(x).item() == 2
    close(L.pinv(x), np.linalg.pinv(a, rcond=1e-13))
    s = a @ adjoint(a)
    close(L.pinv(torch.tensor(s), hermitian=True), np.linalg.pinv(s, rcond=1e-12), 1e-9)
    square = draw(3, 3)
    for p in (None, 2, -2, "fro", "nuc", 1, -1, np.inf, -np.inf):
        close(L.cond(torch.tensor(square), p), np.linalg.cond(square, p), 1e-9)
    close(L.matrix_norm(x, "nuc"), np.linalg.norm(a, "nuc"))
    total = term = np.eye(3) + 0j
    for k in range(1, 80):
        term = term @ square / k
        total = total + term
    close(L.matrix_exp(torch.tensor(square)), total, 1e-9)
    close(L.matrix_power(torch.tensor(square), -2), np.linalg.inv(square @ square), 1e-9)


# ---- eigenvalues of general matrices


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(4, 4), (2, 5, 5), (1, 1), (0, 0), (0, 3, 3), (3, 0, 0)])
def test_eig(shape: tuple[int, ...], dtype: str) -> None:
    a = draw(*shape) if dtype.startswith("c") else RNG.standard_normal(shape)
    a = a.astype(dtype)
    tol = 1e-11 if dtype in ("float64", "complex128") else 2e-4
    values, V = L.eig(torch.tensor(a))
    assert values.dtype is V.dtype and values.is_complex()
    assert values.shape == shape[:-1] and V.shape == shape
    close(torch.tensor(a).to(V.dtype) @ V, (V * values.unsqueeze(-2)).numpy(), tol)
    close(V.abs().square().sum(-2), np.ones(shape[:-1]), tol)
    kind = values.numpy().dtype
    ours = np.sort(L.eigvals(torch.tensor(a)).numpy(), -1)  # NumPy's order can be another one
    np.testing.assert_allclose(ours, np.sort(np.linalg.eigvals(a).astype(kind), -1), tol, tol)


def test_eig_of_a_rotation() -> None:
    values, V = L.eig(torch.tensor([[0.0, -1.0], [1.0, 0.0]]))
    assert values.tolist() == [1j, -1j]
    close(V, np.array([[1, 1], [-1j, 1j]]) / np.sqrt(2), 1e-6)


def test_eig_refuses() -> None:
    for f in (L.eig, L.eigvals):
        with pytest.raises(RuntimeError, match="infs or NaNs"):
            f(torch.tensor([[float("nan")]]))
        with pytest.raises(RuntimeError, match="square"):
            f(torch.ones(2, 3))


# ---- gradients


def _hermitian(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a: f((a + a.mH) / 2)


GRADIENTS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "cholesky": (lambda a: L.cholesky(a @ a.mH + 2 * torch.eye(3)), [(2, 3, 3)]),
    "lu square": (lambda a: L.lu(a)[1:], [(3, 3)]),
    "lu wide": (lambda a: L.lu(a)[1:], [(3, 4)]),
    "lu tall": (lambda a: L.lu(a)[1:], [(4, 3)]),
    "qr": (lambda a: L.qr(a), [(4, 3)]),
    "eigh": (_hermitian(lambda a: (L.eigh(a)[0], L.eigh(a)[1].abs())), [(3, 3)]),
    "eig": (lambda a: (L.eig(a)[0], L.eig(a)[1].abs()), [(3, 3)]),
    "eigvals": (L.eigvals, [(2, 3, 3)]),
    "svd": (lambda a: (L.svd(a, False)[0].abs(), L.svd(a, False)[1], L.svd(a, False)[2].abs()), [(4, 3)]),
    "svd polar": (lambda a: L.svd(a, False)[0] @ L.svd(a, False)[2], [(3, 4)]),
    "solve": (L.solve, [(3, 3), (3, 2)]),
    "triangular": (lambda a, b: L.solve_triangular(a, b, upper=True), [(3, 3), (3, 2)]),
    "inv": (L.inv, [(3, 3)]),
    "det": (L.det, [(2, 3, 3)]),
    "slogdet": (lambda a: tuple(L.slogdet(a)), [(3, 3)]),
    "pinv": (L.pinv, [(4, 3)]),
    "lstsq": (lambda a, b: L.lstsq(a, b)[0], [(4, 3), (4, 2)]),
    "matrix_exp": (L.matrix_exp, [(3, 3)]),
    "householder_product": (L.householder_product, [(4, 3), (3,)]),
}  # fmt: skip


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name: str) -> None:
    f, shapes = GRADIENTS[name]
    rng = np.random.default_rng(3)
    inputs = [
        torch.tensor(
            rng.standard_normal(s) + 1j * rng.standard_normal(s) + (3 * np.eye(*s[-2:]) if len(s) > 1 else 0)
        ).requires_grad_()
        for s in shapes
    ]  # fmt: skip
    assert gradcheck(f, inputs)
    assert gradgradcheck(f, inputs, atol=1e-4)


def test_gradients_of_real_eigenvalues() -> None:
    a = torch.tensor(np.random.default_rng(5).standard_normal((4, 4))).requires_grad_()
    assert L.eigvals(a).imag.abs().max() > 0.1
    assert gradcheck(lambda x: (L.eigvals(x), L.eig(x)[1].abs()), [a])


def test_gradient_of_a_singular_determinant_is_its_cofactors() -> None:
    a = draw(3, 3)
    a[2] = a[0] * (1 + 2j)
    a[2, 2] = a[0, 2] * (1 + 2j)
    x = torch.tensor(a).requires_grad_()
    (g,) = torch.autograd.grad(L.det(x).real, x)
    minors = [
        [
            (-1) ** (i + j) * np.linalg.det(np.delete(np.delete(a, i, 0), j, 1))
            for j in range(3)
        ]
        for i in range(3)
    ]  # fmt: skip
    close(g, np.conj(np.array(minors)), 1e-9)


@pytest.mark.parametrize("shape", [(20, 8), (8, 20), (2, 12, 9)])
def test_low_rank(shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    a = draw(*shape[:-1], 3) @ draw(*shape[:-2], 3, shape[-1])
    U, S, V = torch.svd_lowrank(torch.tensor(a), 4)
    close((U * S.unsqueeze(-2)) @ V.mH, a, 1e-9)
    close(S[..., :3], np.linalg.svd(a, compute_uv=False)[..., :3], 1e-9)
    U, S, V = torch.pca_lowrank(torch.tensor(a), 4)
    close((U * S.unsqueeze(-2)) @ V.mH, a - a.mean(-2, keepdims=True), 1e-9)
