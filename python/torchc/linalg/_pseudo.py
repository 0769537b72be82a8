"""Pseudoinverses, least squares, ranks and condition numbers.

The gradient of the pseudoinverse: G. H. Golub, V. Pereyra, "The Differentiation of Pseudo-Inverses and Nonlinear Least
Squares Problems Whose Variables Separate" (1973), for matrices whose rank doesn't change nearby.
"""

import math

from torchc import _C
from torchc._autocast import plain, single
from torchc._results import given, given_all, named
from torchc._type_info import finfo
from torchc.autograd.function import Function
from torchc.linalg import _kernels as kernels
from torchc.linalg._checks import (
    broadcast_batches,
    check_infos,
    check_matrix,
    check_same_type,
    check_square,
)
from torchc.linalg._factor import eigvalsh, svdvals
from torchc.linalg._norms import norm
from torchc.linalg._solve import inv_ex

_INF = math.inf


def _limit(atol, rtol, A, largest):
    """The size below which singular values count as 0, max(atol, rtol * largest), for each matrix.

    rtol is eps * max(m, n) unless it or a positive atol is given.
    """
    default = finfo(A.dtype).eps * max(A.shape[-2:])
    if rtol is None:
        if isinstance(atol, _C.Tensor):
            rtol = _C.where(atol > 0, 0.0, default)
        else:
            rtol = 0.0 if atol else default
    bound = largest * rtol
    if isinstance(atol, _C.Tensor):
        return _C.maximum(atol, bound)
    return bound.clamp_min(atol or 0.0)


def _check_tolerances(op, *tolerances):
    for t in tolerances:
        if isinstance(t, _C.Tensor) and t.is_complex():
            raise RuntimeError(f"{op}: tolerances of complex type are not supported, got {t.dtype}")


class _Pinv(Function):
    """The pseudoinverse."""

    @staticmethod
    def forward(ctx, A, atol, rtol, hermitian):
        if hermitian:
            S, U, info = kernels.syevd(A)
            V, sizes = U, S.abs()
        else:
            U, S, Vh, info = kernels.gesdd(A)
            V, sizes = Vh.mH, S
        check_infos("linalg.pinv", info, "The algorithm failed to converge ({}).")
        keep = sizes > _limit(atol, rtol, A, sizes.amax(-1)).unsqueeze(-1)
        inverse = _C.where(keep, 1.0 / _C.where(keep, S, 1.0), 0.0)
        P = (V * inverse.unsqueeze(-2)) @ U.mH
        ctx.save_for_backward(A, P)
        return P

    @staticmethod
    def backward(ctx, g):
        A, P = ctx.saved_tensors
        return pseudoinverse_gradient(g, A, P), None, None, None


def pseudoinverse_gradient(g, A, P):
    """A's part of the cotangent g of its pseudoinverse P."""
    gh, Ph = g.mH, P.mH
    if A.shape[-2] <= A.shape[-1]:
        K = gh @ P
        KPh = K @ Ph
        return KPh - (P @ K).mH - A @ (P @ KPh) + Ph @ (P @ (gh - K @ A))
    K = P @ gh
    PhK = Ph @ K
    return PhK - (K @ P).mH - ((PhK @ P) @ A) + ((gh - A @ K) @ P) @ Ph


@plain
def pinv(A, rcond=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """The pseudoinverse (*, n, m) of A (*, m, n), real or complex.

    Singular values up to max(atol, rtol * the largest) count as 0; rtol is eps * max(m, n) unless atol > 0 is given.

    Args:
        rcond: rtol under its old name.
        hermitian: A is Hermitian, and its lower triangle is read.
    """
    op = "linalg.pinv"
    (check_square if hermitian else check_matrix)(op, A, error=RuntimeError)
    if rcond is not None:
        atol, rtol = 0.0, rcond
    _check_tolerances(op, atol, rtol)
    if 0 in A.shape[-2:]:
        return given(A.mT * 1.0, out)
    return given(_Pinv.apply(A, atol, rtol, hermitian), out)


@single
def matrix_rank(A, tol=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """How many singular values of A (*, m, n) are larger than max(atol, rtol * the largest): int64.

    tol: atol with rtol = 0; hermitian: A is Hermitian. rtol is eps * max(m, n) unless atol > 0 is given.
    """
    op = "linalg.matrix_rank"
    (check_square if hermitian else check_matrix)(op, A, error=RuntimeError)
    if tol is not None:
        atol, rtol = tol, 0.0
    _check_tolerances(op, atol, rtol)
    if 0 in A.shape[-2:]:
        return given(_C.zeros(A.shape[:-2], dtype=_C.int64, device="cpu"), out)
    A = A.detach()
    sizes = eigvalsh(A).abs() if hermitian else svdvals(A)
    limit = _limit(atol, rtol, A, sizes.amax(-1))
    return given((sizes > limit.unsqueeze(-1)).sum(-1), out)


@single
def cond(A, p=None, *, out=None):
    """The condition number of A in the norm `p`: norm(A) * norm(inverse), infinite for singular matrices.

    p: None or 2 (of any shape, as -2), "fro", "nuc", 1, -1, inf, -inf (square matrices).
    """
    op = "linalg.cond"
    check_matrix(op, A)
    if p is None or p in (2, -2):
        if 0 in A.shape[-2:]:
            return given(_C.zeros(A.shape[:-2], dtype=A.dtype.to_real(), device=A.device), out)
        S = svdvals(A)
        large, small = S[..., 0], S[..., -1]
        return given(small / large if p == -2 else large / small, out)
    if p not in ("fro", "nuc", 1, -1, _INF, -_INF):
        raise RuntimeError(f"{op} got an invalid norm type: {p}")
    check_square(op, A)
    if 0 in A.shape[-2:]:
        return given(_C.zeros(A.shape[:-2], dtype=A.dtype.to_real(), device=A.device), out)
    if p == "nuc":
        S = svdvals(A)
        return given(S.sum(-1) * (1.0 / S).sum(-1), out)
    inverse, info = inv_ex(A)
    regular = info == 0
    inverse = _C.where(regular[..., None, None], inverse, 0.0)
    result = norm(A, p, (-2, -1)) * norm(inverse, p, (-2, -1))
    return given(_C.where(regular, result, _INF), out)


# ---- least squares


class _LeastSquares(Function):
    """The solution, whose gradient is that of pinv(A) B."""

    @staticmethod
    def forward(ctx, A, B, rcond, driver):
        X, rank, values, info = kernels.least_squares(A, B, rcond, driver)
        check_infos(
            "linalg.lstsq",
            info,
            "The least squares problem has no full rank or didn't converge ({}).",
        )
        n = A.shape[-1]
        ctx.save_for_backward(A, B)
        ctx.mark_non_differentiable(rank, values)
        return X[..., :n, :].clone(), rank, values

    @staticmethod
    def backward(ctx, g, *_):
        A, B = ctx.saved_tensors
        P = pinv(A)
        gA = pseudoinverse_gradient(g @ B.mH, A, P) if ctx.needs_input_grad[0] else None
        return gA, P.mH @ g, None, None


Lstsq = named("linalg_lstsq", "solution residuals rank singular_values")


@single
def lstsq(A, B, rcond=None, *, driver=None, out=None):
    """The X that minimises |A X - B| for A (*, m, n), B (*, m, k), (m,) or (*, m); batches broadcast.

    Args:
        rcond: singular values up to rcond * the largest count as 0; eps * max(m, n) by default.
        driver: LAPACK's gels (full rank), gelsy (the default), gelsd or gelss.

    Returns (solution, residuals, rank, singular_values). The squared residuals are given for m > n and full rank by
    all drivers but gelsy, ranks by all but gels, singular values by gelsd and gelss; the rest is empty.
    """
    op = "torch.linalg.lstsq"
    check_matrix(op, A, error=RuntimeError)
    check_same_type(op, A, B)
    driver = "gelsy" if driver is None else driver
    if driver not in ("gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(
            f"{op}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss), got {driver}"
        )
    vector = B.dim() == 1 or (B.dim() == A.dim() - 1 and B.shape == A.shape[:-1])
    b = B.unsqueeze(-1) if vector else B
    m, n = A.shape[-2:]
    if b.dim() < 2 or b.shape[-2] != m:
        raise RuntimeError(
            f"{op}: input.size(-2) should match other.size({-1 if vector else -2}), got {m} and shape {list(B.shape)}"
        )
    rcond = finfo(A.dtype).eps * max(m, n) if rcond is None else float(rcond)
    A, b = broadcast_batches(A, b)
    X, rank, values = _LeastSquares.apply(A, b, rcond, driver)
    full = driver == "gels" or bool((rank == n).all())
    if driver == "gelsy" or m <= n or not full:
        residuals = _C.empty(0, dtype=A.dtype.to_real(), device=A.device)
    else:
        rest = A @ X - b
        residuals = (rest * rest.conj()).real.sum(-2)
    if driver == "gels":
        rank = _C.empty(0, dtype=_C.int64, device="cpu")
    if driver not in ("gelsd", "gelss"):
        values = _C.empty(0, dtype=A.dtype.to_real(), device=A.device)
    return given_all(Lstsq, (X.squeeze(-1) if vector else X, residuals, rank, values), out)
