"""Linear systems, inverses and determinants, with gradients of any order."""

from torchc import _C
from torchc._autocast import plain, single
from torchc._results import exact, exact_all, given, named
from torchc.autograd.function import Function
from torchc.linalg import _kernels as kernels
from torchc.linalg._checks import (
    broadcast_batches,
    check_infos,
    check_matrix,
    check_same_type,
    check_square,
)
from torchc.linalg._factor import check_pivots, lower_part, row_order, upper_part

_SINGULAR = "The solver failed because the input matrix is singular."
_NOT_INVERTIBLE = (
    "The diagonal element {} is zero, the inversion could not be completed because the input matrix "
    "is singular."
)

# ---- systems


class _Triangular(Function):
    """X of A X = B."""

    @staticmethod
    def forward(ctx, A, B, upper, unitriangular):
        X = kernels.trsm(A, B, upper, unitriangular)
        ctx.form = upper, unitriangular
        ctx.save_for_backward(A, X)
        return X

    @staticmethod
    def backward(ctx, g):
        A, X = ctx.saved_tensors
        upper, unit = ctx.form
        gB = triangular(A.mH, g, not upper, unit)
        gA = None
        if ctx.needs_input_grad[0]:
            gA = -gB @ X.mH
            gA = gA.triu(int(unit)) if upper else gA.tril(-int(unit))
        return gA, gB, None, None


def triangular(A, B, upper, unitriangular=False):
    """X of A X = B for a triangular A; batches broadcast."""
    A, B = broadcast_batches(A, B)
    return _Triangular.apply(A, B, upper, unitriangular)


@plain
def solve_triangular(A, B, *, upper, left=True, unitriangular=False, out=None):
    """X of A X = B, or without `left` of X A = B, for triangular A (*, n, n) and B (*, n, k); batches broadcast.

    upper: which triangle A has, the other isn't read; unitriangular: the diagonal counts as ones. Real or complex.
    """
    check_square("linalg.solve_triangular", A)
    check_matrix("linalg.solve_triangular", B, "B")
    check_same_type("linalg.solve_triangular", A, B)
    side = -2 if left else -1
    if A.shape[-1] != B.shape[side]:
        raise RuntimeError(
            f"linalg.solve_triangular: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'}"
            f" ({A.shape[-2]}x{A.shape[-1]} and {B.shape[-2]}x{B.shape[-1]})"
        )
    if left:
        return exact(triangular(A, B, upper, unitriangular), out)
    return exact(triangular(A.mT, B.mT, not upper, unitriangular).mT, out)


class _Solve(Function):
    """X of A X = B, and getrf's info."""

    @staticmethod
    def forward(ctx, A, B):
        LU, pivots, info = kernels.getrf(A)
        X = kernels.getrs(LU, pivots, B)
        ctx.save_for_backward(A, X)
        ctx.mark_non_differentiable(info)
        return X, info

    @staticmethod
    def backward(ctx, g, _):
        A, X = ctx.saved_tensors
        gB = _Solve.apply(A.mH, g)[0]
        return (-gB @ X.mH if ctx.needs_input_grad[0] else None), gB


SolveEx = named("linalg_solve_ex", "result info")


def _solved(op, A, B, left):
    check_square(op, A)
    check_same_type(op, A, B)
    # B is a batch of vectors if it has A's shape without the last dimension.
    vector = B.dim() == 1 or (B.dim() == A.dim() - 1 and B.shape == A.shape[:-1])
    if vector and not left:
        raise RuntimeError(
            f"{op}: Vector broadcasting of the left hand side is not supported for left=False. In this case "
            f"linalg.solve is equivalent to B / A.squeeze(-1)"
        )
    b = B.unsqueeze(-1) if vector else B
    if A.shape[-1] != b.shape[-2 if left else -1]:
        raise RuntimeError(
            f"{op}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
            f"({A.shape[-2]}x{A.shape[-1]} and {b.shape[-2]}x{b.shape[-1]})"
        )
    a, b = broadcast_batches(A, b)
    X, info = _Solve.apply(a, b) if left else _Solve.apply(a.mT, b.mT)
    X = X if left else X.mT
    return X.squeeze(-1) if vector else X, info


@plain
def solve_ex(A, B, *, left=True, check_errors=False, out=None):
    """`solve` and, for each matrix, the place of the first zero pivot, from 1, int32 (0: none).

    Raises LinAlgError for such a matrix only with check_errors.
    """
    X, info = _solved("linalg.solve_ex", A, B, left)
    if check_errors:
        check_infos("linalg.solve_ex", info, _SINGULAR)
    return exact_all(SolveEx, (X, info), out)


@single
def solve(A, B, *, left=True, out=None):
    """X of A X = B, or without `left` of X A = B: A (*, n, n), B (*, n, k), (n,) or (*, n); batches broadcast.

    Real or complex. Raises LinAlgError for a singular A.
    """
    X, info = _solved("linalg.solve", A, B, left)
    check_infos("linalg.solve", info, _SINGULAR)
    return exact(X, out)


def _rows(B, order):
    """The rows of matrices in this order; batches are broadcast."""
    if order.dim() == 1:
        return B.index_select(-2, order)
    rank = max(B.dim(), order.dim() + 1)
    B = B.reshape((1,) * (rank - B.dim()) + tuple(B.shape))
    index = order.reshape((1,) * (rank - 1 - order.dim()) + tuple(order.shape))
    return B.take_along_dim(index.unsqueeze(-1), -2)


@plain
def lu_solve(LU, pivots, B, *, left=True, adjoint=False, out=None):
    """`solve` for the A whose `lu_factor` is (LU, pivots), or with `adjoint` for A^H."""
    op = "linalg.lu_solve"
    check_square(op, LU, "LU")
    check_matrix(op, B, "B")
    check_same_type(op, LU, B, ("LU", "B"))
    if pivots.dtype is not _C.int32:
        raise RuntimeError(
            f"{op}: Expected pivots to be a tensor of torch.int32 dtype, got {pivots.dtype}"
        )
    if LU.shape[:-1] != pivots.shape:
        raise RuntimeError(
            f"{op}: Number of pivots per batch should be same as the dimension of the matrix: got shapes "
            f"{list(LU.shape)} and {list(pivots.shape)}"
        )
    n = LU.shape[-1]
    if n != B.shape[-2 if left else -1]:
        raise RuntimeError(
            f"{op}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
            f"({n}x{n} and {B.shape[-2]}x{B.shape[-1]})"
        )
    recorded = _C.is_grad_enabled() and (LU.requires_grad or B.requires_grad)
    if left and not adjoint and not recorded:
        check_pivots(pivots, n)
        LU, B = broadcast_batches(LU, B)
        return exact(kernels.getrs(LU, pivots.expand(*LU.shape[:-1]), B), out)
    order, L, U = row_order(pivots, n), lower_part(LU), upper_part(LU)
    b = B if left else B.mH
    if adjoint == left:  # A^H = U^H L^H P^H
        X = _rows(triangular(L.mH, triangular(U.mH, b, False), True, True), order.argsort())
    else:
        X = triangular(U, triangular(L, _rows(b, order), False, True), True)
    return exact(X if left else X.mH, out)


# ---- inverses


class _Inverse(Function):
    """The inverse, and getrf's info."""

    @staticmethod
    def forward(ctx, A):
        LU, pivots, info = kernels.getrf(A)
        X = kernels.getrs(
            LU, pivots, _C.eye(A.shape[-1], dtype=A.dtype, device=A.device).expand(A.shape)
        )
        ctx.save_for_backward(X)
        ctx.mark_non_differentiable(info)
        return X, info

    @staticmethod
    def backward(ctx, g, _):
        (X,) = ctx.saved_tensors
        return -X.mH @ g @ X.mH


InvEx = named("linalg_inv_ex", "inverse info")


@single
def inv_ex(A, *, check_errors=False, out=None):
    """`inv` and, for each matrix, the place of the first zero pivot, from 1, int32 (0: none).

    Raises LinAlgError for such a matrix only with check_errors.
    """
    check_square("linalg.inv_ex", A)
    X, info = _Inverse.apply(A)
    if check_errors:
        check_infos("linalg.inv_ex", info, _NOT_INVERTIBLE)
    return exact_all(InvEx, (X, info), out)


@single
def inv(A, *, out=None):
    """The inverse of A (*, n, n), real or complex. Raises LinAlgError for a singular matrix."""
    check_square("linalg.inv", A)
    X, info = _Inverse.apply(A)
    check_infos("linalg.inv", info, _NOT_INVERTIBLE)
    return exact(X, out)


@single
def tensorinv(A, ind=2, *, out=None):
    """The inverse of A as a linear map from its first `ind` dimensions' shape to the others' (of equal product)."""
    if ind <= 0:
        raise RuntimeError(
            f"linalg.tensorinv: Expected a strictly positive integer for 'ind', got {ind}"
        )
    first, last = A.shape[:ind], A.shape[ind:]
    rows, columns = first.numel(), last.numel()
    if rows != columns:
        raise RuntimeError(
            f"Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{columns} != {rows}"
        )
    return given(inv(A.reshape(rows, columns)).reshape(*last, *first), out)


@single
def tensorsolve(A, B, dims=None, *, out=None):
    """X of tensordot(A, X, X.ndim) = B; `dims` of A are first moved to its end."""
    if dims is not None:
        A = A.movedim(list(dims), list(range(-len(dims), 0)))
    shape = A.shape[B.dim() :]
    size = shape.numel()
    if size != B.numel():
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
            f"but got {size} != {B.numel()}"
        )
    return given(solve(A.reshape(size, size), B.reshape(size)).reshape(shape), out)


# ---- determinants


def _diagonal_of_lu(A):
    """U's diagonal, and the sign of the permutation: every row exchange changes it."""
    LU, pivots, _ = kernels.getrf(A)
    places = _C.arange(1, A.shape[-1] + 1, dtype=_C.int32, device="cpu")
    odd = (pivots != places).sum(-1) % 2
    return LU.diagonal(0, -2, -1), (1 - 2 * odd).to(A.dtype)


class _Slogdet(Function):
    """Sign and logarithm of the determinant; d log|det A| = tr(A^-1 dA)."""

    @staticmethod
    def forward(ctx, A):
        diagonal, exchanges = _diagonal_of_lu(A)
        sign, logarithm = diagonal.sgn().prod(-1) * exchanges, diagonal.abs().log().sum(-1)
        ctx.save_for_backward(A, sign)
        return sign, logarithm

    @staticmethod
    def backward(ctx, g_sign, g):
        A, sign = ctx.saved_tensors
        if sign.is_complex():  # a phase: d sign = i Im(tr(A^-1 dA)) sign
            g = _C.complex(g, -(g_sign.conj() * sign).imag)
        return g[..., None, None] * inv_ex(A)[0].mH


class _Det(Function):
    """The determinant. Its gradient is the adjugate's adjoint, conj(det A) A^-H where A has an inverse."""

    @staticmethod
    def forward(ctx, A):
        diagonal, exchanges = _diagonal_of_lu(A)
        det = diagonal.prod(-1) * exchanges
        ctx.save_for_backward(A, det)
        return det

    @staticmethod
    def backward(ctx, g):
        A, det = ctx.saved_tensors
        singular = det.detach() == 0
        if not bool(singular.any()):
            return (g * det.conj())[..., None, None] * inv_ex(A)[0].mH
        return g[..., None, None] * _cofactors(A)


def _cofactors(A):
    """The adjugate's adjoint, also of singular matrices: of A = U S V^H, U (products of the other values) V^H."""
    from torchc.linalg._factor import svd

    U, S, Vh = svd(A, False)
    n = S.shape[-1]
    # Every product of all values but one, without a division.
    others = _C.where(_C.eye(n, dtype=_C.bool, device="cpu"), 1.0, S.unsqueeze(-2)).prod(-1)
    sign = (det(U) * det(Vh)).conj()
    return sign[..., None, None] * ((U * others.unsqueeze(-2)) @ Vh)


Slogdet = named("linalg_slogdet", "sign logabsdet")


@plain
def det(A, *, out=None):
    """The determinants of A (*, n, n), real or complex; that of a 0 x 0 matrix is 1."""
    check_square("linalg.det", A)
    return exact(_Det.apply(A), out)


@plain
def slogdet(A, *, out=None):
    """(sign, log|det|) of A (*, n, n): 0 and -inf for singular matrices."""
    check_square("linalg.slogdet", A)
    return exact_all(Slogdet, _Slogdet.apply(A), out)
