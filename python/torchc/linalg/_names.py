"""Matrix functions under their names outside of torch.linalg."""

from torchc import _C, linalg
from torchc._autocast import single
from torchc._results import given, given_all, named
from torchc.linalg._checks import (
    broadcast_batches,
    check_matrix,
    check_same_type,
    check_square,
)
from torchc.linalg._solve import triangular


def cholesky(input, upper=False, *, out=None):
    """`linalg.cholesky`."""
    return linalg.cholesky(input, upper=upper, out=out)


@single
def cholesky_solve(B, L, upper=False, *, out=None):
    """X of A X = B (*, n, k) for the A whose Cholesky factor is L (*, n, n), or U with `upper`; batches broadcast."""
    check_square("cholesky_solve", L, "A")
    check_matrix("cholesky_solve", B, "B")
    check_same_type("cholesky_solve", L, B, ("L", "B"))
    if L.shape[-1] != B.shape[-2]:
        raise RuntimeError(
            f"cholesky_solve: Incompatible matrix sizes for cholesky_solve: each A matrix is {L.shape[-1]} by "
            f"{L.shape[-1]} but each b matrix is {B.shape[-2]} by {B.shape[-1]}"
        )
    low = L.mH if upper else L
    return given(triangular(low.mH, triangular(low, B, False), True), out)


@single
def cholesky_inverse(L, upper=False, *, out=None):
    """The inverse of the matrix whose Cholesky factor is L (*, n, n), or U with `upper`."""
    check_square("cholesky_inverse", L, "L")
    eye = _C.eye(L.shape[-1], dtype=L.dtype, device=L.device)
    return given(cholesky_solve(eye.expand(L.shape), L, upper), out)


TriangularSolve = named("triangular_solve", "solution cloned_coefficient")


@single
def triangular_solve(b, A, upper=True, transpose=False, unitriangular=False, *, out=None):
    """(X, a copy of A) of A X = b, or (transpose) A^T X = b, for triangular A; see `linalg.solve_triangular`."""
    check_matrix("triangular_solve", b, "b")
    check_square("triangular_solve", A)
    check_same_type("triangular_solve", b, A, ("b", "A"))
    if A.shape[-1] != b.shape[-2]:
        raise RuntimeError(
            f"Incompatible matrix sizes for triangular_solve: each A matrix is {A.shape[-1]} by {A.shape[-1]} "
            f"but each b matrix is {b.shape[-2]} by {b.shape[-1]}"
        )
    a, b = broadcast_batches(A, b)
    matrix, up = (a.mT, not upper) if transpose else (a, upper)
    return given_all(TriangularSolve, (triangular(matrix, b, up, unitriangular), a.clone()), out)


@single
def lu_solve(b, LU_data, LU_pivots, *, out=None):
    """`linalg.lu_solve` with the right-hand side first."""
    return given(linalg.lu_solve(LU_data, LU_pivots, b), out)


OldLu = named("lu", "LU pivots")
LuWithInfos = named("lu", "LU pivots info")


@single
def lu(input, pivot=True, get_infos=False, out=None):
    """(LU, pivots) as `linalg.lu_factor`, and with `get_infos` the infos."""
    LU, pivots, info = linalg.lu_factor_ex(input, pivot=pivot)
    kind, results = (LuWithInfos, (LU, pivots, info)) if get_infos else (OldLu, (LU, pivots))
    return given_all(kind, results, out)


OldQr = named("qr", "Q R")
OldSvd = named("svd", "U S V")


def qr(input, some=True, *, out=None):
    """`linalg.qr`, reduced with `some` and complete without."""
    return given_all(OldQr, linalg.qr(input, "reduced" if some else "complete"), out)


@single
def svd(input, some=True, compute_uv=True, *, out=None):
    """(U, S, V) with U diag(S) V^H = input; `some`: reduced; without compute_uv U and V are zeros."""
    U, S, Vh = linalg.svd(input, not some)
    V = Vh.mH
    if not compute_uv:
        m, n = input.shape[-2:]
        U, V = (
            _C.zeros((*input.shape[:-2], k, k), dtype=input.dtype, device=input.device)
            for k in (m, n)
        )
    return given_all(OldSvd, (U, S, V), out)


def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The p-norm of all elements or along `dim`; "fro" is 2, "nuc" the sum of a matrix' singular values."""
    if isinstance(p, str) and p == "nuc":
        dim = tuple(range(input.dim())) if dim is None else dim
        x = input if dtype is None else input.to(dtype)
        return linalg.matrix_norm(x, "nuc", dim, keepdim, out=out)
    return _C.norm(input, p, dim, keepdim, dtype=dtype, out=out)


@single
def pinverse(input, rcond=1e-15):
    """`linalg.pinv` with a relative limit."""
    return linalg.pinv(input, rcond)


@single
def inverse(input, *, out=None):
    """`linalg.inv`."""
    return linalg.inv(input, out=out)


def det(input):
    """`linalg.det`."""
    return linalg.det(input)


def slogdet(input):
    """`linalg.slogdet`."""
    return linalg.slogdet(input)


def logdet(input):
    """log(det) of (*, n, n): real, NaN for a negative determinant; or complex. -inf for 0."""
    check_square("logdet", input)
    sign, logarithm = linalg.slogdet(input)
    if sign.is_complex():
        return sign.log() + logarithm
    return _C.where(sign < 0, float("nan"), logarithm)


def matrix_exp(input):
    """`linalg.matrix_exp`."""
    return linalg.matrix_exp(input)


@single
def orgqr(input, input2, *, out=None):
    """`linalg.householder_product`."""
    return linalg.householder_product(input, input2, out=out)
