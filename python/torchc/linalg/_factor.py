"""Factorisations with gradients of any order: Cholesky, LU, QR, eigenvalues, singular values.

The gradients' formulas: S. F. Walter, L. Lehmann, "Algorithmic Differentiation of Linear Algebra Functions with
Application in Optimum Experimental Design" (2010) for QR; M. Giles, "An extended collection of matrix derivative
results for forward and reverse mode algorithmic differentiation" (2008) for the others.
"""

import math

from torchc import _C
from torchc._autocast import plain, single
from torchc._results import exact, exact_all, named
from torchc.autograd.function import Function
from torchc.linalg import _kernels as kernels
from torchc.linalg._checks import check_infos, check_matrix, check_square

_NOT_POSITIVE = (
    "The factorization could not be completed because the input is not positive-definite (the leading minor of order "
    "{} is not positive-definite)."
)
_NOT_CONVERGED = "The algorithm failed to converge ({} elements did not converge to zero)."


def solve_upper(U, B):
    """X of U X = B for an upper triangular U."""
    from torchc.linalg._solve import triangular

    return triangular(U, B, True)


def right_solve(B, A, upper):
    """X of X A = B for a triangular A."""
    from torchc.linalg._solve import triangular

    return triangular(A.mT, B.mT, not upper).mT


def mirrored(M):
    """The Hermitian matrix with M's lower triangle; of its diagonal the real part."""
    lower = M.tril(-1)
    return lower + lower.mH + M.diagonal(0, -2, -1).real.diag_embed()


# ---- Cholesky


class _Cholesky(Function):
    """L of L L^H = A."""

    @staticmethod
    def forward(ctx, A):
        L, info = kernels.potrf(A)
        ctx.save_for_backward(L)
        ctx.mark_non_differentiable(info)
        return L, info

    @staticmethod
    def backward(ctx, gL, _):
        (L,) = ctx.saved_tensors
        symmetric = 0.5 * mirrored(L.mH @ gL)
        return right_solve(solve_upper(L.mH, symmetric), L, False)


CholeskyEx = named("linalg_cholesky_ex", "L info")


@single
def cholesky_ex(A, *, upper=False, check_errors=False, out=None):
    """`cholesky` and, for each matrix, the order of the first leading minor that isn't positive (0: none), int32.

    Raises LinAlgError for such a matrix only with check_errors.
    """
    check_square("linalg.cholesky_ex", A)
    L, info = _Cholesky.apply(A.mH if upper else A)
    if check_errors:
        check_infos("linalg.cholesky_ex", info, _NOT_POSITIVE)
    return exact_all(CholeskyEx, (L.mH if upper else L, info), out)


@single
def cholesky(A, *, upper=False, out=None):
    """The lower triangular L with L L^H = A, or with `upper` the U with U^H U = A, of Hermitian matrices A (*, n, n).

    Real or complex; one triangle of A is read. Raises LinAlgError where A isn't positive-definite.
    """
    check_square("linalg.cholesky", A)
    L, info = _Cholesky.apply(A.mH if upper else A)
    check_infos("linalg.cholesky", info, _NOT_POSITIVE)
    return exact(L.mH if upper else L, out)


# ---- LU


class _Lu(Function):
    """LU in one matrix, and pivots."""

    @staticmethod
    def forward(ctx, A):
        LU, pivots, info = kernels.getrf(A)
        ctx.save_for_backward(LU, pivots)
        ctx.mark_non_differentiable(pivots, info)
        return LU, pivots, info

    @staticmethod
    def backward(ctx, g, *_):
        LU, pivots = ctx.saved_tensors
        m, n = LU.shape[-2:]
        k = min(m, n)
        L, U = lower_part(LU), upper_part(LU)
        gL, gU = g[..., :, :k].tril(-1), g[..., :k, :].triu()
        square = L[..., :k, :], U[..., :, :k]
        left, right = L.mH @ gL, gU @ U.mH
        if m > n:  # the rows below the square part: A2 = L2 U
            left = square[0].mH @ gL[..., :k, :]
            right = right - L[..., k:, :].mH @ gL[..., k:, :]
        if n > m:  # the columns beside it: A2 = L U2
            right = gU[..., :, :k] @ square[1].mH
            left = left - gU[..., :, k:] @ U[..., :, k:].mH
        inner = left.tril(-1) + right.triu()
        from torchc.linalg._solve import triangular

        gA = right_solve(triangular(square[0].mH, inner, True, True), square[1].mH, False)
        if m > n:
            gA = _C.cat([gA, right_solve(gL[..., k:, :], square[1].mH, False)], -2)
        if n > m:
            gA = _C.cat([gA, triangular(square[0].mH, gU[..., :, k:], True, True)], -1)
        return permutation(pivots, m, LU.dtype) @ gA


def lower_part(LU):
    """L, with ones on the diagonal, of a matrix that holds both factors."""
    k = min(LU.shape[-2:])
    return LU[..., :, :k].tril(-1) + _C.eye(LU.shape[-2], k, dtype=LU.dtype, device=LU.device)


def upper_part(LU):
    """U of a matrix that holds both factors."""
    return LU[..., : min(LU.shape[-2:]), :].triu()


def check_pivots(pivots, m):
    """Raises RuntimeError for pivots outside of 1 to m."""
    if bool(((pivots < 1) | (pivots > m)).any()):
        raise RuntimeError(
            f"pivots must be between 1 and LU.size(-2) = {m} inclusive, as lu_factor gives them"
        )


def row_order(pivots, m):
    """Which row of A each row of L U is, from getrf's pivots: (*, m). RuntimeError for pivots outside of 1 to m."""
    check_pivots(pivots, m)
    batch, k = math.prod(pivots.shape[:-1]), pivots.shape[-1]
    rows = pivots.reshape(batch, k)
    if batch > 8:  # exchange by exchange for the whole batch
        order = _C.arange(m, device="cpu").expand(batch, m).clone()
        for i in range(k):
            other = rows[:, i : i + 1].long() - 1
            here, there = order[:, i : i + 1].clone(), order.gather(1, other)
            order.scatter_(1, other, here)
            order[:, i : i + 1] = there
        return order.reshape(*pivots.shape[:-1], m)
    orders = []
    for row in rows.tolist():
        order = list(range(m))
        for i, p in enumerate(row):
            order[i], order[p - 1] = order[p - 1], order[i]
        orders.append(order)
    return _C.tensor(orders, dtype=_C.int64, device="cpu").reshape(*pivots.shape[:-1], m)


def permutation(pivots, m, dtype):
    """P of P L U = A from getrf's pivots: (*, m, m). Raises RuntimeError for pivots outside of 1 to m."""
    index = row_order(pivots, m)
    return (index.unsqueeze(-2) == _C.arange(m, device="cpu").unsqueeze(-1)).to(dtype)


LuFactor = named("linalg_lu_factor", "LU pivots")
LuFactorEx = named("linalg_lu_factor_ex", "LU pivots info")
Lu = named("linalg_lu", "P L U")
LuUnpack = named("lu_unpack", "P L U")
_SINGULAR_U = "U[{0},{0}] is zero and using it on lu_solve would result in a division by zero."


def _with_pivots(op, A, pivot):
    check_matrix(op, A)
    if not pivot:
        raise RuntimeError(f"{op}: LU without pivoting is not implemented on the CPU")
    return _Lu.apply(A)


@plain
def lu_factor_ex(A, *, pivot=True, check_errors=False, out=None):
    """`lu_factor` and the place of the first zero on U's diagonal, from 1, int32 (0: none).

    Raises RuntimeError for such a matrix only with check_errors.
    """
    results = _with_pivots("linalg.lu_factor_ex", A, pivot)
    if check_errors:
        check_infos("linalg.lu_factor_ex", results[2], _SINGULAR_U, RuntimeError)
    return exact_all(LuFactorEx, results, out)


@plain
def lu_factor(A, *, pivot=True, out=None):
    """(LU, pivots) of P L U = A (*, m, n): both factors in one matrix, and the row exchanges, int32 from 1.

    Real or complex. Raises RuntimeError for pivot=False and where U has a zero on its diagonal; `lu_factor_ex` doesn't.
    """
    LU, pivots, info = _with_pivots("linalg.lu_factor", A, pivot)
    check_infos("linalg.lu_factor", info, _SINGULAR_U, RuntimeError)
    return exact_all(LuFactor, (LU, pivots), out)


@plain
def lu(A, *, pivot=True, out=None):
    """(P, L, U) of P L U = A (*, m, n): a permutation, a lower triangle of ones on its diagonal, an upper triangle."""
    LU, pivots, _ = _with_pivots("linalg.lu", A, pivot)
    P = permutation(pivots, A.shape[-2], A.dtype)
    return exact_all(Lu, (P, lower_part(LU), upper_part(LU)), out)


@plain
def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True, *, out=None):
    """(P, L, U) from what `lu_factor` gives; those that weren't asked for are empty.

    Raises RuntimeError for pivots that aren't int32 or of no row, ValueError for pivots of another shape.
    """
    if unpack_pivots and LU_pivots.dtype is not _C.int32:
        raise RuntimeError(
            f"torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype, got "
            f"{LU_pivots.dtype}"
        )
    expected = [*LU_data.shape[:-2], min(LU_data.shape[-2:])]
    if unpack_pivots and list(LU_pivots.shape) != expected:
        raise ValueError(
            f"Expected LU_pivots to have shape {expected} but got {list(LU_pivots.shape)} instead."
        )
    none = _C.empty(0, dtype=LU_data.dtype, device=LU_data.device)
    P = permutation(LU_pivots, LU_data.shape[-2], LU_data.dtype) if unpack_pivots else none
    parts = (lower_part(LU_data), upper_part(LU_data)) if unpack_data else (none, none)
    return exact_all(LuUnpack, (P, *parts), out)


# ---- QR


class _Qr(Function):
    """Q and R of a matrix of at least as many rows as columns; Q square if it is complete."""

    @staticmethod
    def forward(ctx, A, complete):
        m, n = A.shape[-2:]
        packed, tau = kernels.geqrf(A)
        R = packed[..., : m if complete else n, :].triu()
        if complete:
            packed = _C.cat([packed, packed.new_zeros(*packed.shape[:-1], m - n)], -1)
        Q = (
            kernels.orgqr(packed, tau)
            if n
            else _C.eye(m, m if complete else 0, dtype=A.dtype, device=A.device)
            .expand(*A.shape[:-2], m, m if complete else 0)
            .clone()
        )
        ctx.complete = complete and m > n
        ctx.save_for_backward(Q, R)
        return Q, R

    @staticmethod
    def backward(ctx, gQ, gR):
        if ctx.complete:
            raise RuntimeError(
                "The QR decomposition is not differentiable when mode='complete' and nrows > ncols"
            )
        Q, R = ctx.saved_tensors
        M = mirrored(R @ gR.mH - gQ.mH @ Q)
        return right_solve(gQ + Q @ M, R.mH, False), None


Qr = named("linalg_qr", "Q R")


@single
def qr(A, mode="reduced", *, out=None):
    """(Q, R) with Q R = A (*, m, n), Q's columns orthonormal, R an upper triangle.

    mode: "reduced" gives min(m, n) columns of Q, "complete" m, "r" an empty Q and reduced R (without gradients).
    Real or complex.
    """
    check_matrix("linalg.qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    m, n = A.shape[-2:]
    if m >= n:
        Q, R = _Qr.apply(A, mode == "complete")
    else:  # Q is that of the first m columns: R2 = Q^H A2
        Q, R = _Qr.apply(A[..., :m], False)
        R = _C.cat([R, Q.mH @ A[..., m:]], -1)
    if mode == "r":
        Q = _C.empty(0, dtype=A.dtype, device=A.device)
    return exact_all(Qr, (Q, R), out)


# ---- eigenvalues


class _Eigh(Function):
    """Eigenvalues and eigenvectors of the lower triangle's Hermitian matrix."""

    @staticmethod
    def forward(ctx, A):
        values, vectors, info = kernels.syevd(A)
        check_infos("linalg.eigh", info, _NOT_CONVERGED)
        ctx.save_for_backward(values, vectors)
        ctx.set_materialize_grads(False)
        return values, vectors

    @staticmethod
    def backward(ctx, g_values, g_vectors):
        L, V = ctx.saved_tensors
        if g_vectors is None:
            return None if g_values is None else (V * g_values.unsqueeze(-2)) @ V.mH
        gaps = L.unsqueeze(-2) - L.unsqueeze(-1)
        diagonal = _C.eye(L.shape[-1], dtype=_C.bool, device="cpu")
        inner = _C.where(diagonal, 0.0, V.mH @ g_vectors / _C.where(diagonal, 1.0, gaps))
        if g_values is not None:
            inner = inner + g_values.diag_embed()
        gA = V @ inner @ V.mH
        return 0.5 * (gA + gA.mH)  # one triangle is read, but A is Hermitian


Eigh = named("linalg_eigh", "eigenvalues eigenvectors")


def _triangle(op, UPLO):
    if str(UPLO).upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return str(UPLO).upper() == "U"


@single
def eigh(A, UPLO="L", *, out=None):
    """(eigenvalues ascending (*, n), eigenvectors as columns (*, n, n)) of Hermitian matrices; UPLO: the triangle read.

    Real or complex; eigenvalues are real. Signs and phases of the vectors are LAPACK's. Raises LinAlgError where it
    doesn't converge.
    """
    check_square("linalg.eigh", A)
    upper = _triangle("linalg.eigh", UPLO)
    return exact_all(Eigh, _Eigh.apply(A.mH if upper else A), out)


@single
def eigvalsh(A, UPLO="L", *, out=None):
    """The eigenvalues of `eigh`."""
    check_square("linalg.eigvalsh", A)
    upper = _triangle("linalg.eigvalsh", UPLO)
    return exact(_Eigh.apply(A.mH if upper else A)[0], out)


class _Eig(Function):
    """Eigenvalues and eigenvectors of any matrix.

    The gradient: C. Boeddeker, P. Hanebrink, et al., "On the Computation of Complex-valued Gradients with Application
    to Statistically Optimum Beamforming" (2017), (4.77), for vectors whose norm is fixed.
    """

    @staticmethod
    def forward(ctx, A):
        values, vectors, info = kernels.geev(A)
        check_infos("linalg.eig", info, _NOT_CONVERGED)
        ctx.real = not A.is_complex()
        ctx.save_for_backward(values, vectors)
        ctx.set_materialize_grads(False)
        return values, vectors

    @staticmethod
    def backward(ctx, g_values, g_vectors):
        from torchc.linalg._solve import solve

        L, V = ctx.saved_tensors
        if g_vectors is None:
            if g_values is None:
                return None
            inner = g_values.unsqueeze(-1) * V.mH
        else:
            M = V.mH @ g_vectors
            M = M - V.mH @ (V * M.diagonal(0, -2, -1).real.unsqueeze(-2))
            diagonal = _C.eye(L.shape[-1], dtype=_C.bool, device="cpu")
            gaps = (L.unsqueeze(-2) - L.unsqueeze(-1)).conj()
            inner = _C.where(diagonal, 0.0, M) / _C.where(diagonal, 1.0, gaps)
            inner = (inner if g_values is None else inner + g_values.diag_embed()) @ V.mH
        gA = solve(V.mH, inner)
        return gA.real if ctx.real else gA


Eig = named("linalg_eig", "eigenvalues eigenvectors")


def _check_finite(op, A):
    if not bool(A.detach().isfinite().all()):
        raise RuntimeError(f"{op}: input tensor should not contain infs or NaNs.")


def _eig_error(A):
    """As PyTorch's: what eig has no kernel for isn't what it doesn't take."""
    half = isinstance(A, _C.Tensor) and A.dtype in (_C.float16, _C.bfloat16)
    return NotImplementedError if half else RuntimeError


@single
def eig(A, *, out=None):
    """(eigenvalues (*, n), eigenvectors as columns (*, n, n)) of square matrices, both complex, in LAPACK's order.

    Real or complex. The vectors have norm 1; gradients are right for what doesn't depend on their phase. Raises
    RuntimeError for infinite values, LinAlgError where the algorithm doesn't converge.
    """
    check_square("linalg.eig", A, error=_eig_error(A))
    _check_finite("linalg.eig", A)
    return exact_all(Eig, _Eig.apply(A), out)


@single
def eigvals(A, *, out=None):
    """The eigenvalues of `eig`, complex."""
    check_square("linalg.eigvals", A, error=_eig_error(A))
    _check_finite("linalg.eigvals", A)
    if A.requires_grad and _C.is_grad_enabled():
        return exact(_Eig.apply(A)[0], out)
    values, _, info = kernels.geev(A, vectors=False)
    check_infos("linalg.eigvals", info, _NOT_CONVERGED)
    return exact(values, out)


# ---- singular values


class _Svd(Function):
    """U, S, V^H."""

    @staticmethod
    def forward(ctx, A, full):
        U, S, Vh, info = kernels.gesdd(A, full)
        check_infos("linalg.svd", info, _NOT_CONVERGED)
        ctx.save_for_backward(U, S, Vh)
        ctx.set_materialize_grads(False)
        return U, S, Vh

    @staticmethod
    def backward(ctx, gU, gS, gVh):
        U, S, Vh = ctx.saved_tensors
        k = S.shape[-1]
        U, Vh = U[..., :k], Vh[..., :k, :]  # the others are an arbitrary basis of what is left
        if gU is None and gVh is None:
            return (None if gS is None else (U * gS.unsqueeze(-2)) @ Vh), None
        gU = None if gU is None else gU[..., :k]
        gVh = None if gVh is None else gVh[..., :k, :]
        m, n = U.shape[-2], Vh.shape[-1]
        squares = S * S
        gaps = squares.unsqueeze(-2) - squares.unsqueeze(-1)
        diagonal = _C.eye(k, dtype=_C.bool, device="cpu")
        gaps = _C.where(diagonal, 1.0, gaps)
        inner = S.new_zeros(S.shape).diag_embed() if gS is None else gS.diag_embed()
        phases = None  # of complex vectors: only U's minus V's has a meaning
        if gU is not None:
            skew = U.mH @ gU
            skew = skew - skew.mH
            inner = inner + _C.where(diagonal, 0.0, skew) / gaps * S.unsqueeze(-2)
            phases = skew.diagonal(0, -2, -1)
        if gVh is not None:
            skew = Vh @ gVh.mH
            skew = skew - skew.mH
            inner = inner + S.unsqueeze(-1) * (_C.where(diagonal, 0.0, skew) / gaps)
            turned = skew.diagonal(0, -2, -1)
            phases = -turned if phases is None else phases - turned
        if U.is_complex():
            inner = inner + (phases / (4.0 * S)).diag_embed()
        gA = U @ inner @ Vh
        if gU is not None and m > k:
            outside = gU / S.unsqueeze(-2)
            gA = gA + (outside - U @ (U.mH @ outside)) @ Vh
        if gVh is not None and n > k:
            outside = gVh / S.unsqueeze(-1)
            gA = gA + U @ (outside - (outside @ Vh.mH) @ Vh)
        return gA, None


Svd = named("linalg_svd", "U S Vh")


def _check_driver(op, driver):
    if driver is not None:
        raise RuntimeError(f"{op}: keyword argument `driver=` is only supported on CUDA inputs")


@single
def svd(A, full_matrices=True, *, driver=None, out=None):
    """(U, S, Vh) with U diag(S) Vh = A (*, m, n), S descending; U and Vh square, or without full_matrices reduced.

    Real or complex; S is real. Signs and phases are LAPACK's; gradients pass through the min(m, n) leading vectors
    only. Raises LinAlgError where the algorithm doesn't converge.
    """
    check_matrix("linalg.svd", A)
    _check_driver("linalg.svd", driver)
    m, n = A.shape[-2:]
    return exact_all(Svd, _Svd.apply(A, bool(full_matrices) and m != n), out)


@single
def svdvals(A, *, driver=None, out=None):
    """The singular values of (*, m, n), descending: (*, min(m, n))."""
    check_matrix("linalg.svdvals", A)
    _check_driver("linalg.svdvals", driver)
    if A.requires_grad and _C.is_grad_enabled():
        return exact(_Svd.apply(A, False)[1], out)
    _, S, _, info = kernels.gesdd(A, vectors=False)
    check_infos("linalg.svdvals", info, _NOT_CONVERGED)
    return exact(S, out)
