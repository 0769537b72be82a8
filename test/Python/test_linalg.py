"""Linear algebra: factors by their properties, values against NumPy in float64, gradients against differences."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from torchc.autograd.gradcheck import gradcheck, gradgradcheck  # noqa: E402

L = torch.linalg
RNG = np.random.default_rng(7)
SHAPES = [
    (3, 3),
    (5, 3),
    (3, 5),
    (2, 4, 4),
    (2, 1, 5, 3),
    (1, 1),
    (0, 0),
    (3, 0),
    (0, 3),
    (0, 2, 2),
]


def draw(*shape: int, dtype: str = "float64") -> np.ndarray:
    return RNG.standard_normal(shape).astype(dtype)


def tensor(a: np.ndarray, grad: bool = False) -> Any:
    return torch.tensor(a).requires_grad_(grad)


def positive(n: int, *batch: int) -> np.ndarray:
    a = draw(*batch, n, n)
    return a @ np.swapaxes(a, -1, -2) + n * np.eye(n)


def close(actual: Any, expected: Any, tol: float = 1e-11) -> None:
    a, e = np.asarray(actual.detach().numpy()), np.asarray(expected)
    assert a.shape == e.shape
    np.testing.assert_allclose(a, e, rtol=tol, atol=tol)


# ---- factors


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_factors_give_the_matrix_back(shape: tuple[int, ...], dtype: str) -> None:
    a = draw(*shape, dtype=dtype)
    tol = 1e-12 if dtype == "float64" else 3e-5
    x = tensor(a)
    m, n = shape[-2:]
    P, low, up = L.lu(x)
    close(P @ low @ up, a, tol)
    close(low.triu(1), np.zeros(low.shape))
    close(up.tril(-1), np.zeros(up.shape))
    packed, pivots = L.lu_factor(x)
    for ours, theirs in zip(torch.lu_unpack(packed, pivots), (P, low, up), strict=True):
        assert torch.equal(ours, theirs)
    for mode, k in (("reduced", min(m, n)), ("complete", m)):
        Q, R = L.qr(x, mode)
        assert Q.shape == (*shape[:-1], k) and R.shape == (*shape[:-2], k, n)
        close(Q @ R, a, tol)
        close(Q.mT @ Q, np.broadcast_to(np.eye(k), (*shape[:-2], k, k)), tol)
        close(R.tril(-1), np.zeros(R.shape))
    for full in (False, True):
        U, S, Vh = L.svd(x, full)
        k = min(m, n)
        assert U.shape[-1] == (m if full else k) and Vh.shape[-2] == (n if full else k)
        close((U[..., :k] * S.unsqueeze(-2)) @ Vh[..., :k, :], a, tol)
        close(
            U.mT @ U, np.broadcast_to(np.eye(U.shape[-1]), (*shape[:-2], *[U.shape[-1]] * 2)), tol
        )
        close(S, np.linalg.svd(a, compute_uv=False), tol)
    close(L.svdvals(x), np.linalg.svd(a, compute_uv=False), tol)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("shape", [(4,), (3, 2), (1,), (0,), (2, 0)])
def test_symmetric_factors(shape: tuple[int, ...], upper: bool) -> None:
    n = shape[0]
    a = positive(n, *shape[1:])
    junk = tensor(np.where(np.triu(np.ones((n, n)), 1) > 0, 9.0, a))  # only one triangle is read
    x = junk.mT if upper else junk
    F = L.cholesky(x, upper=upper)
    close(F.mT @ F if upper else F @ F.mT, a)
    assert torch.equal(F, F.triu() if upper else F.tril())
    values, V = L.eigh(x, "U" if upper else "L")
    close(values, np.linalg.eigvalsh(a))
    close((V * values.unsqueeze(-2)) @ V.mT, a)
    close(L.eigvalsh(x, "U" if upper else "L"), np.linalg.eigvalsh(a))
    close(torch.cholesky_inverse(F, upper), np.linalg.inv(a))
    b = draw(*shape[1:], n, 3)
    close(torch.cholesky_solve(tensor(b), F, upper), np.linalg.solve(a, b))
    close(L.matrix_sqrth(tensor(a)) @ L.matrix_sqrth(tensor(a)), a)


def test_indefinite_matrices_are_solved() -> None:
    a = draw(2, 5, 5)
    a = a + np.swapaxes(a, -1, -2)
    LD, pivots = L.ldl_factor(tensor(a))
    b = draw(2, 5, 2)
    close(L.ldl_solve(LD, pivots, tensor(b)), np.linalg.solve(a, b), 1e-9)


def test_reflections() -> None:
    a = draw(2, 5, 3)
    packed, tau = torch.geqrf(tensor(a))
    Q, R = L.qr(tensor(a))
    close(L.householder_product(packed, tau), Q.numpy())
    close(packed[..., :3, :].triu(), R.numpy())
    whole, _ = L.qr(tensor(a), "complete")
    c = draw(2, 5, 4)
    close(torch.ormqr(packed, tau, tensor(c)), whole.numpy() @ c)
    close(torch.ormqr(packed, tau, tensor(c), transpose=True), whole.mT.numpy() @ c)
    close(
        torch.ormqr(packed, tau, tensor(c).mT, left=False), np.swapaxes(c, -1, -2) @ whole.numpy()
    )


def test_polar() -> None:
    a = draw(2, 5, 3)
    U, H = L.polar(tensor(a))
    close(U @ H, a)
    close(U.mT @ U, np.broadcast_to(np.eye(3), (2, 3, 3)))
    assert bool((L.eigvalsh(H) > 0).all())


# ---- solvers


@pytest.mark.parametrize(
    ("a", "b"), [((3, 3), (3, 2)), ((3, 3), (3,)), ((2, 3, 3), (2, 3)), ((4, 1, 3, 3), (2, 3, 2)), ((0, 0), (0, 2))]
)  # fmt: skip
def test_solve(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    A, B = draw(*a), draw(*b)
    vector = len(b) == 1 or (len(b) == len(a) - 1 and b == a[:-1])
    expected = np.linalg.solve(A, B[..., None] if vector else B)
    expected = expected[..., 0] if vector else expected
    close(L.solve(tensor(A), tensor(B)), expected)
    X, info = L.solve_ex(tensor(A), tensor(B))
    close(X, expected)
    assert info.dtype is torch.int32 and not info.any()
    if not vector:
        LU, pivots = L.lu_factor(tensor(np.broadcast_to(A, (*expected.shape[:-2], *a[-2:])).copy()))
        close(L.lu_solve(LU, pivots, tensor(B)), expected)
        close(torch.lu_solve(tensor(B), LU, pivots), expected)
        close(
            L.lu_solve(LU, pivots, tensor(B), adjoint=True),
            np.linalg.solve(np.swapaxes(A, -1, -2), B),
        )
        right = np.swapaxes(B, -1, -2)
        X = L.solve(tensor(A), tensor(right.copy()), left=False)
        close(X @ tensor(A), np.broadcast_to(right, (*expected.shape[:-2], *right.shape[-2:])))


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_triangular(upper: bool, left: bool, unit: bool) -> None:
    A, B = draw(2, 3, 3), draw(3, 3)
    triangle = np.triu(A) if upper else np.tril(A)
    if unit:
        triangle = triangle - triangle * np.eye(3) + np.eye(3)
    X = L.solve_triangular(tensor(A), tensor(B), upper=upper, left=left, unitriangular=unit)
    back = tensor(triangle) @ X if left else X @ tensor(triangle)
    close(back, np.broadcast_to(B, (2, 3, 3)))
    X, copy = torch.triangular_solve(tensor(B), tensor(A), upper, False, unit)
    close(tensor(triangle) @ X, np.broadcast_to(B, (2, 3, 3)))
    assert torch.equal(copy, tensor(A))


def test_inverses_and_determinants() -> None:
    a = draw(2, 4, 4)
    x = tensor(a)
    for inverse in (L.inv(x), torch.inverse(x), x.inverse(), L.inv_ex(x).inverse):
        close(inverse, np.linalg.inv(a))
    for det in (L.det(x), torch.det(x), x.det()):
        close(det, np.linalg.det(a))
    sign, logarithm = np.linalg.slogdet(a)
    for result in (L.slogdet(x), torch.slogdet(x), x.slogdet()):
        close(result.sign, sign)
        close(result.logabsdet, logarithm)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        close(torch.logdet(x), np.where(sign < 0, np.nan, logarithm))
    close(L.det(torch.zeros(0, 0, dtype=torch.float64)), 1.0)
    assert L.slogdet(torch.zeros(2, 2)).logabsdet.item() == -np.inf
    t = draw(2, 3, 6)
    close(L.tensorinv(tensor(t), 2), np.linalg.tensorinv(t, 2))
    b = draw(2, 3)
    close(L.tensorsolve(tensor(t), tensor(b)), np.linalg.tensorsolve(t, b))


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4), (2, 5, 3)])
@pytest.mark.parametrize("driver", [None, "gels", "gelsy", "gelsd", "gelss"])
def test_least_squares(shape: tuple[int, ...], driver: str | None) -> None:
    a, b = draw(*shape), draw(*shape[:-1], 2)
    X, residuals, rank, values = L.lstsq(tensor(a), tensor(b), driver=driver)
    expected = np.linalg.pinv(a) @ b
    close(X, expected)
    m, n = shape[-2:]
    if m > n and driver not in (None, "gelsy"):
        close(residuals, ((a @ expected - b) ** 2).sum(-2))
    else:
        assert residuals.numel() == 0
    assert (rank.numel() == 0) == (driver == "gels") and not (rank != min(m, n)).any()
    if driver in ("gelsd", "gelss"):
        close(values, np.linalg.svd(a, compute_uv=False))


def test_ranks_and_pseudoinverses() -> None:
    a = draw(5, 2) @ draw(2, 4)
    x = tensor(a)
    assert L.matrix_rank(x).item() == 2
    assert L.matrix_rank(x, atol=1e6).item() == 0
    close(L.pinv(x), np.linalg.pinv(a, rcond=1e-13))
    close(torch.pinverse(x, 1e-10), np.linalg.pinv(a, rcond=1e-10))
    s = a @ a.T
    close(L.pinv(tensor(s), hermitian=True), np.linalg.pinv(s, rcond=1e-12), 1e-9)
    assert L.matrix_rank(tensor(s), hermitian=True).item() == 2
    square = draw(3, 3)
    for p in (None, 2, -2, "fro", "nuc", 1, -1, np.inf, -np.inf):
        close(L.cond(tensor(square), p), np.linalg.cond(square, p), 1e-9)
    assert L.cond(torch.zeros(2, 2), 1).item() == np.inf


# ---- functions of matrices


@pytest.mark.parametrize("p", ["fro", "nuc", 2, -2, 1, -1, np.inf, -np.inf])
def test_matrix_norms(p: Any) -> None:
    a = draw(3, 2, 4)
    close(L.matrix_norm(tensor(a), p, (0, 2)), np.linalg.norm(a, p, (0, 2)))
    close(
        L.matrix_norm(tensor(a), p, (2, 0), keepdim=True),
        np.linalg.norm(a, p, (2, 0), keepdims=True),
    )
    close(L.norm(tensor(a[0]), p), np.linalg.norm(a[0], p))
    if p == "nuc":
        close(tensor(a[0]).norm("nuc"), np.linalg.norm(a[0], p))
    if p not in (-1, -2, -np.inf):
        assert L.matrix_norm(torch.zeros(3, 0), p).item() == 0


def test_exponential_by_its_series() -> None:
    for scale in (0.1, 1.0, 4.0):
        a = scale * draw(2, 4, 4)
        total, term = np.eye(4) + 0 * a, np.eye(4) + 0 * a
        for k in range(1, 200):
            term = term @ a / k
            total = total + term
        close(L.matrix_exp(tensor(a)), total, 1e-9)
    close(torch.matrix_exp(torch.zeros(3, 3)), np.eye(3))
    for bad in (np.inf, -np.inf, np.nan):  # the other matrices of the batch don't see it
        batch = torch.tensor([[[bad, 0.0], [1.0, 2.0]], [[0.0, 1.0], [0.0, 0.0]]])
        found = L.matrix_exp(batch)
        assert found[0].isnan().all() and found[1].tolist() == [[1, 1], [0, 1]]
    nilpotent = torch.tensor([[0.0, 1e3], [0.0, 0.0]], dtype=torch.float64)
    close(nilpotent.matrix_exp(), [[1, 1e3], [0, 1]])


def test_products_and_powers() -> None:
    a = draw(3, 3)
    close(L.matrix_power(tensor(a), 3), a @ a @ a)
    close(L.matrix_power(tensor(a), -2), np.linalg.inv(a @ a), 1e-9)
    close(L.matrix_power(tensor(a), 0), np.eye(3))
    b, c = draw(3, 4), draw(4, 2)
    close(L.multi_dot([tensor(a), tensor(b), tensor(c)]), a @ b @ c)
    close(L.vecdot(tensor(a), tensor(b[:, :3].copy()), dim=0), (a * b[:, :3]).sum(0))
    close(L.cross(tensor(a), tensor(b[:, :3].copy())), np.cross(a, b[:, :3]))
    close(L.vander(tensor(a[0]), 4), np.vander(a[0], 4, increasing=True))
    assert L.diagonal(tensor(a)).data_ptr() and L.matmul(tensor(a), tensor(b)).shape == (3, 4)


@pytest.mark.parametrize("shape", [(20, 8), (8, 20), (2, 12, 9)])
def test_low_rank(shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    a = draw(*shape[:-1], 3) @ draw(*shape[:-2], 3, shape[-1])
    U, S, V = torch.svd_lowrank(tensor(a), 4)
    close((U * S.unsqueeze(-2)) @ V.mT, a, 1e-9)
    close(S[..., :3], np.linalg.svd(a, compute_uv=False)[..., :3], 1e-9)
    centred = a - a.mean(-2, keepdims=True)
    U, S, V = torch.pca_lowrank(tensor(a), 4)
    close((U * S.unsqueeze(-2)) @ V.mT, centred, 1e-9)
    with pytest.raises(ValueError, match="not greater"):
        torch.pca_lowrank(tensor(a), 30)


# ---- gradients


def _symmetric(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a: f((a + a.mT) / 2)


GRADIENTS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "cholesky": (lambda a: L.cholesky(a @ a.mT + 2 * torch.eye(3, dtype=a.dtype)), [(2, 3, 3)]),
    "cholesky upper": (lambda a: L.cholesky(a @ a.mT + torch.eye(3, dtype=a.dtype), upper=True), [(3, 3)]),
    "lu square": (lambda a: L.lu(a)[1:], [(2, 3, 3)]),
    "lu wide": (lambda a: L.lu(a)[1:], [(3, 5)]),
    "lu tall": (lambda a: L.lu(a)[1:], [(5, 3)]),
    "lu_factor": (lambda a: L.lu_factor(a)[0], [(4, 3)]),
    "qr": (lambda a: L.qr(a), [(2, 4, 3)]),
    "qr wide": (lambda a: L.qr(a), [(3, 4)]),
    "eigh": (_symmetric(lambda a: (L.eigh(a)[0], L.eigh(a)[1] ** 2)), [(3, 3)]),
    "svd": (lambda a: (L.svd(a, False)[1], L.svd(a, False)[0] ** 2, L.svd(a, False)[2] ** 2), [(4, 3)]),
    "svd wide": (lambda a: (L.svd(a, False)[0] ** 2, L.svd(a, False)[2] ** 2), [(3, 4)]),
    "svd full": (lambda a: L.svd(a)[1], [(2, 3)]),
    "svdvals": (L.svdvals, [(2, 3, 4)]),
    "solve": (L.solve, [(2, 3, 3), (3, 2)]),
    "solve right": (lambda a, b: L.solve(a, b, left=False), [(3, 3), (2, 3)]),
    "triangular": (lambda a, b: L.solve_triangular(a, b, upper=True), [(3, 3), (2, 3, 2)]),
    "triangular unit": (
        lambda a, b: L.solve_triangular(a, b, upper=False, left=False, unitriangular=True), [(3, 3), (2, 3)]
    ),
    "lu_solve": (lambda a, b: L.lu_solve(*L.lu_factor(a), b), [(3, 3), (3, 2)]),
    "inv": (L.inv, [(2, 3, 3)]),
    "det": (L.det, [(2, 3, 3)]),
    "slogdet": (lambda a: L.slogdet(a)[1], [(3, 3)]),
    "pinv tall": (L.pinv, [(4, 3)]),
    "pinv wide": (L.pinv, [(3, 4)]),
    "lstsq": (lambda a, b: L.lstsq(a, b)[0], [(4, 3), (4, 2)]),
    "lstsq residuals": (lambda a, b: L.lstsq(a, b, driver="gels")[1], [(4, 3), (4, 2)]),
    "matrix_exp": (L.matrix_exp, [(3, 3)]),
    "matrix_sqrth": (_symmetric(lambda a: L.matrix_sqrth(a @ a + torch.eye(3, dtype=a.dtype))), [(3, 3)]),
    "householder_product": (L.householder_product, [(4, 3), (3,)]),
    "cond": (L.cond, [(3, 3)]),
    "nuc": (lambda a: L.matrix_norm(a, "nuc"), [(3, 4)]),
    "cholesky_solve": (lambda b, a: torch.cholesky_solve(b, a), [(3, 2), (3, 3)]),
    "polar": (L.polar, [(4, 3)]),
}  # fmt: skip


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name: str) -> None:
    f, shapes = GRADIENTS[name]
    rng = np.random.default_rng(3)
    inputs = [
        tensor(rng.standard_normal(s) + (np.eye(*s[-2:]) * 3 if len(s) > 1 else 0), True)
        for s in shapes
    ]
    assert gradcheck(f, inputs)
    assert gradgradcheck(f, inputs, atol=1e-4)


def test_gradient_of_a_singular_determinant_is_its_cofactors() -> None:
    a = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]])
    x = tensor(a, True)
    (g,) = torch.autograd.grad(L.det(x), x)
    cofactors = np.array(
        [
            [(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(a, i, 0), j, 1)) for j in range(3)]
            for i in range(3)
        ]
    )
    close(g, cofactors)


# ---- errors


def test_singular_matrices() -> None:
    zero = torch.zeros(2, 2, 2)
    for f in (L.inv, lambda a: L.solve(a, a), L.cholesky):
        with pytest.raises(L.LinAlgError, match="Batch element 0"):
            f(zero)
    assert issubclass(L.LinAlgError, RuntimeError)
    assert L.inv_ex(zero).info.tolist() == [1, 1]
    assert L.cholesky_ex(zero).info.tolist() == [1, 1]
    for f in (L.inv_ex, L.cholesky_ex):
        with pytest.raises(L.LinAlgError):
            f(zero, check_errors=True)
    with pytest.raises(RuntimeError, match="Batch element 0") as error:
        L.lu_factor_ex(zero, check_errors=True)
    assert error.type is RuntimeError


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: L.inv(torch.ones(2, 3)), "square"),
        (lambda: L.det(torch.ones(3)), "at least 2 dimensions"),
        (lambda: L.inv(torch.ones(2, 2).long()), "floating point"),
        (lambda: L.svd(torch.ones(2, 2).half()), "Low precision"),
        (lambda: L.qr(torch.ones(2, 2), "no"), "unrecognized mode"),
        (lambda: L.eigh(torch.ones(2, 2), "X"), "UPLO"),
        (lambda: L.solve(torch.ones(2, 2), torch.ones(3, 2)), "Incompatible shapes"),
        (lambda: L.solve(torch.ones(2, 2), torch.ones(2, 2).double()), "same dtype"),
        (lambda: L.lstsq(torch.ones(2, 2), torch.ones(2, 2), driver="x"), "driver"),
        (lambda: L.lu(torch.ones(2, 2), pivot=False), "pivoting"),
        (lambda: L.lu_factor(torch.ones(2, 2)), r"U\[2,2\] is zero"),
        (lambda: L.lu_factor(torch.zeros(3, 2, 2)), "Batch element 0"),
        (lambda: torch.lu_unpack(torch.eye(2), torch.tensor([1, 3]).int()), "between 1 and"),
        (lambda: torch.lu_unpack(torch.eye(2), torch.tensor([0, 1]).int()), "between 1 and"),
        (lambda: L.lu_solve(torch.eye(2), torch.tensor([1, 3]).int(), torch.eye(2)), "between 1"),
        (lambda: L.matrix_norm(torch.ones(2)), "at least 2 dimensions"),
        (lambda: L.matrix_norm(torch.ones(2, 2), 3), "Order 3"),
    ],
)
def test_refusals(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        call()


def test_refusals_of_types() -> None:
    calls = (
        L.cholesky, L.inv, L.det, L.slogdet, L.qr, L.svd, L.svdvals, L.eigh, L.eigvalsh, L.lu, L.lu_factor,
        L.matrix_exp, L.cond, L.ldl_factor, torch.geqrf, torch.cholesky_inverse, torch.logdet, lambda a: L.solve(a, a),
    )  # fmt: skip
    others = (L.pinv, L.matrix_rank, lambda a: L.lstsq(a, a))
    for call in (*calls, *others):
        for kind in (torch.half, torch.bfloat16, torch.int64, torch.bool):
            with pytest.raises(RuntimeError) as error:
                call(torch.eye(2).to(kind))
            assert error.type is (RuntimeError if call in others else NotImplementedError)
        with pytest.raises(TypeError, match="must be Tensor, not str"):
            call("x")
    for call, kinds in ((L.eig, (torch.int64, torch.bool)), (L.eigvals, (torch.int64,))):
        for kind in kinds:
            with pytest.raises(RuntimeError) as error:
                call(torch.eye(2).to(kind))
            assert error.type is RuntimeError
        with pytest.raises(NotImplementedError):
            call(torch.eye(2).half())
    with pytest.raises(NotImplementedError):
        L.vecdot(torch.tensor([1, 2]), torch.tensor([3, 4]))
    close(L.vecdot(torch.ones(2).half(), torch.ones(2).half()), np.float16(2))
    for shape in (1, 3):
        with pytest.raises(ValueError, match="to have shape"):
            torch.lu_unpack(torch.eye(2), torch.ones(shape, dtype=torch.int32))


def test_nan_is_named() -> None:
    nan = torch.full((2, 2), float("nan"))
    for call in (
        L.svd, L.svdvals, L.pinv, L.matrix_rank, L.cond, lambda a: L.matrix_norm(a, "nuc"),
    ):  # fmt: skip
        with pytest.raises(L.LinAlgError, match="svd: The algorithm .* non-finite values"):
            call(nan)
        with pytest.raises(L.LinAlgError, match="Batch element 1"):
            call(torch.stack([torch.eye(2), nan]))


def test_out() -> None:
    a = tensor(draw(3, 3))
    target = torch.empty(0, dtype=torch.float64)
    assert L.inv(a, out=target) is target and torch.equal(target, L.inv(a))
    parts = tuple(torch.empty(0, dtype=torch.float64) for _ in range(2))
    assert torch.equal(L.qr(a, out=parts).R, parts[1])
    for dtype in (torch.int64, torch.float32, torch.complex128):
        for f in (L.inv, L.det, L.svdvals, L.norm):
            with pytest.raises(RuntimeError, match="to have dtype float64, but got"):
                f(a, out=torch.empty(0, dtype=dtype))
        with pytest.raises(RuntimeError, match="to have dtype float64, but got"):
            L.qr(a, out=tuple(torch.empty(0, dtype=dtype) for _ in range(2)))
    assert L.pinv(a, out=torch.empty(0, dtype=torch.complex128)).is_complex()


def test_without_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
    from torchc.linalg import _lapack

    monkeypatch.setattr(_lapack, "_OPENBLAS", ("libnothing.so",))
    monkeypatch.setattr(_lapack, "_PLAIN", ())
    monkeypatch.setattr(_lapack, "_wheels", lambda: iter(()))
    _lapack.library.cache_clear()
    try:
        with pytest.raises(RuntimeError, match="needs LAPACK.*libnothing"):
            L.inv(torch.eye(2))
    finally:
        _lapack.library.cache_clear()


def test_libraries_with_other_spellings() -> None:
    """NumPy's wheel has names with a prefix and a suffix and integers of 64 bits; plain LAPACK has neither."""
    from torchc.linalg import _lapack

    found = [_lapack._open(name) for name in (*_lapack._wheels(), *_lapack._PLAIN)]
    found = [library for library in found if library]
    if not found:
        pytest.skip("no other LAPACK here")
    original = _lapack.library
    for library in found:
        _lapack.library = lambda library=library: library  # type: ignore[assignment,misc]
        import torchc.linalg._kernels as kernels

        before, kernels.library = kernels.library, _lapack.library
        try:
            a = draw(2, 5, 4)
            U, S, Vh = L.svd(tensor(a), False)
            close((U * S.unsqueeze(-2)) @ Vh, a)
            close(
                L.lstsq(tensor(a), tensor(a), driver="gelsd")[0],
                np.broadcast_to(np.eye(4), (2, 4, 4)),
            )
            P, low, up = L.lu(tensor(a))
            close(P @ low @ up, a)
        finally:
            _lapack.library, kernels.library = original, before


def test_code_that_interrupts_a_batch_may_use_it() -> None:
    """A signal's handler, and a finalizer that the collector runs."""
    program = """if True:
        import gc, signal, torchc as torch
        from torchc.linalg import _lapack
        L = torch.linalg
        signal.alarm(30)  # a closed lock would last for ever
        L.inv(torch.eye(2))
        class Cycle:
            def __init__(self): self.me = self
            def __del__(self): done.append(L.det(2 * torch.eye(2)).item())
        done = []
        space = _lapack._space
        def collecting(*args):
            gc.collect()
            return space(*args)
        _lapack._space = collecting
        Cycle()
        assert L.svdvals(torch.eye(3).expand(4, 3, 3)).tolist() == [[1, 1, 1]] * 4
        signal.signal(signal.SIGUSR1, lambda *_: done.append(L.det(3 * torch.eye(2)).item()))
        def interrupted(*args):
            signal.raise_signal(signal.SIGUSR1)
            return space(*args)
        _lapack._space = interrupted
        assert L.svdvals(torch.eye(3).expand(4, 3, 3)).tolist() == [[1, 1, 1]] * 4
        assert done == [4, 9], done
    """
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_a_child_finds_the_lock_open() -> None:
    import os

    from torchc.linalg import _lapack

    L.inv(torch.eye(2))
    held, forked = threading.Event(), threading.Event()

    def hold() -> None:
        with _lapack._lock:
            held.set()
            forked.wait()

    other = threading.Thread(target=hold)
    other.start()
    held.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # a closed lock would last for ever
        os._exit(0 if torch.equal(L.inv(torch.eye(2)), torch.eye(2)) else 1)
    forked.set()
    other.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_compiled_calls_equal_eager_ones() -> None:
    def f(A: Any, b: Any) -> Any:
        return (L.solve(A * 2, b) + 1).sum() + torch.logdet(A @ A.mT)

    compiled = torch.compile(f)
    for _ in range(12):
        a, b = draw(4, 4) + 4 * np.eye(4), draw(4)
        results = []
        for g in (f, compiled):
            A = tensor(a, True)
            y = g(A, tensor(b))
            y.backward()
            results.append((y.item(), A.grad))
        assert results[0][0] == results[1][0] and torch.equal(results[0][1], results[1][1])
