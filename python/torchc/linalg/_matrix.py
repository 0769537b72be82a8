"""Functions of matrices and products: powers, exponential, Householder reflections, symmetric solvers."""

from torchc import _C
from torchc._autocast import lower, plain, single
from torchc._results import exact, exact_all, given, named
from torchc.linalg import _kernels as kernels
from torchc.linalg._checks import (
    broadcast_batches,
    check_infos,
    check_matrix,
    check_same_type,
    check_square,
    check_type,
)
from torchc.linalg._factor import eigh, svd
from torchc.linalg._solve import inv, solve

# ---- products


def matmul(input, other, *, out=None):
    """The matrix product, as torch.matmul."""
    return _C.matmul(input, other, out=out)


def multi_dot(tensors, *, out=None):
    """The product of two or more matrices in the order of least work; the first and the last may be vectors."""
    return exact(_C._linalg_multi_dot(list(tensors)), out)


def cross(input, other, *, dim=-1, out=None):
    """The vector product along `dim`, of size 3 in both; the other dimensions broadcast."""
    return exact(_C._linalg_cross(input, other, dim=dim), out)


def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """The diagonals of the matrices in two dimensions as the last one; a view."""
    return A.diagonal(offset, dim1, dim2)


@lower
def vecdot(x, y, *, dim=-1, out=None):
    """Sums of the products conj(x) y along `dim`; the shapes broadcast. One dtype."""
    check_type("linalg.vecdot", x, "x", halves=True)
    check_same_type("linalg.vecdot", x, y, ("x", "y"))
    x, y = _C.broadcast_tensors([x, y])
    return exact(
        (_C.conj(x).movedim(dim, -1).unsqueeze(-2) @ y.movedim(dim, -1).unsqueeze(-1))[..., 0, 0],
        out,
    )


def vander(x, N=None):
    """The powers 0, 1, ... N - 1 (default: as many as elements) of (*, n) as rows: (*, n, N)."""
    if N is not None and N <= 1:
        raise RuntimeError(f"N must be greater than 1, got {N}")
    x = _C.atleast_1d(x)
    x = x.long() if x.dtype in _SMALL else x
    count = x.shape[-1] if N is None else N
    powers = x.unsqueeze(-1).expand(*x.shape, max(count - 1, 0)).cumprod(-1)
    return _C.cat([_C.ones_like(x).unsqueeze(-1), powers], -1)


_SMALL = (_C.bool, _C.uint8, _C.int8, _C.int16, _C.int32)


def matrix_power(A, n, *, out=None):
    """A (*, m, m) times itself n times; negative powers are those of the inverse."""
    if n < 0:
        check_square("linalg.matrix_power", A)
        A, n = inv(A), -n
    if n == 0 and A.dim() > 1:  # a constant, but one whose gradient is 0
        return exact(
            _C.where(_C.zeros((), dtype=_C.bool, device="cpu"), A, _C.matrix_power(A, 0)), out
        )
    return exact(_C.matrix_power(A, n), out)


# Coefficients of the diagonal Pade approximant of order 13 and the 1-norm up to which it is exact in float64:
# N. J. Higham, "The Scaling and Squaring Method for the Matrix Exponential Revisited" (2005).
_PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
    10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip
_PADE_LIMIT = 5.371920351148152


@plain
def matrix_exp(A):
    """The exponential of A (*, n, n), real or complex, by scaling, an approximant of order 13, and squaring."""
    check_square("linalg.matrix_exp", A)
    if not A.numel():
        return A * 1.0
    size = A.detach().abs().sum(-2).amax(-1)
    finite = size.isfinite()
    if not bool(finite.all()):  # NaN for these matrices of the batch, not for the others
        known = matrix_exp(_C.where(finite[..., None, None], A, 0.0))
        return _C.where(finite[..., None, None], known, float("nan"))
    # Each matrix is halved until its norm is small, and its exponential squared as often.
    halvings = _C.where(size > _PADE_LIMIT, (size / _PADE_LIMIT).log2().ceil(), 0.0)
    most = halvings.amax()
    X = A * _C.exp2(-halvings)[..., None, None]
    eye = _C.eye(A.shape[-1], dtype=A.dtype, device=A.device)
    b = [c / _PADE[0] for c in _PADE]
    X2 = X @ X
    X4 = X2 @ X2
    X6 = X4 @ X2
    odd = (
        X6 @ (b[13] * X6 + b[11] * X4 + b[9] * X2) + b[7] * X6 + b[5] * X4 + b[3] * X2 + b[1] * eye
    )
    odd = X @ odd
    even = X6 @ (b[12] * X6 + b[10] * X4 + b[8] * X2) + b[6] * X6 + b[4] * X4 + b[2] * X2 + eye
    R = solve(even - odd, even + odd)
    for i in range(int(most.item())):
        R = _C.where((halvings > i)[..., None, None], R @ R, R)
    return R


@single
def matrix_sqrth(A):
    """The Hermitian positive-definite X with X X = A, of Hermitian positive-definite A (*, n, n)."""
    check_square("linalg.matrix_sqrth", A)
    L, V = eigh(A)
    return (V * L.sqrt().unsqueeze(-2)) @ V.mH


Polar = named("linalg_polar", "U H")


@plain
def polar(A, *, out=None):
    """(U, H) with U H = A (*, m, n), m >= n: U's columns orthonormal, H Hermitian positive-semidefinite."""
    check_matrix("linalg.polar", A)
    m, n = A.shape[-2:]
    if m < n:
        raise RuntimeError(f"linalg.polar: expected m >= n, but got matrices of {m} by {n}")
    U, S, Vh = svd(A, False)
    H = (Vh.mH * S.unsqueeze(-2)) @ Vh
    return exact_all(Polar, (U @ Vh, H), out)


# ---- Householder reflections


def _reflected(A, tau, C, order):
    """C (*, m, k) after the reflections I - tau[i] v[i] v[i]^H, in this order."""
    V = A.tril(-1) + _C.eye(*A.shape[-2:], dtype=A.dtype, device=A.device)
    for i in order:
        v = V[..., :, i : i + 1]
        C = C - tau[..., i : i + 1, None] * (v @ (v.mH @ C))
    return C


@single
def householder_product(A, tau, *, out=None):
    """The first n columns of the product of the reflections that `geqrf` gives: A (*, m, n), tau (*, k)."""
    op = "torch.linalg.householder_product"
    check_matrix(op, A)
    check_same_type(op, A, tau, ("input", "tau"))
    m, n = A.shape[-2:]
    if m < n or n < tau.shape[-1]:
        raise RuntimeError(
            f"{op}: expected m >= n >= k, got matrices of {m} by {n} and {tau.shape[-1]} reflections"
        )
    if tau.shape[:-1] != A.shape[:-2]:
        raise RuntimeError(
            f"{op}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got {list(tau.shape)}"
        )
    if not (_C.is_grad_enabled() and (A.requires_grad or tau.requires_grad)):
        return given(kernels.orgqr(A, tau), out)
    start = _C.eye(m, n, dtype=A.dtype, device=A.device).expand(A.shape)
    return given(_reflected(A, tau, start, reversed(range(tau.shape[-1]))), out)


@single
def ormqr(input, tau, other, left=True, transpose=False, *, out=None):
    """Q C or (not left) C Q, with Q or (transpose) Q^H, Q the whole product of the reflections of `geqrf`."""
    op = "torch.ormqr"
    check_matrix(op, input, "input")
    check_matrix(op, other, "other")
    check_same_type(op, input, tau, ("input", "tau"))
    check_same_type(op, input, other, ("input", "other"))
    side = other.shape[-2 if left else -1]
    k = tau.shape[-1]
    if side != input.shape[-2] or k > input.shape[-1] or side < k:
        raise RuntimeError(
            f"{op}: expected other.shape[{-2 if left else -1}] to be input.shape[-2] and no smaller than the number of "
            f"reflections, got input {list(input.shape)}, tau {list(tau.shape)}, other {list(other.shape)}"
        )
    # C Q = (Q^H C^H)^H. Q itself applies the last reflection first.
    C = other if left else other.mH
    adjoint = transpose == left
    order = range(k) if adjoint else reversed(range(k))
    C = _reflected(input, tau.conj() if adjoint else tau, C, order)
    return exact(C if left else C.mH, out)


Geqrf = named("geqrf", "a tau")


@single
def geqrf(input, *, out=None):
    """(a, tau): R in and above a's diagonal, Householder vectors below. Has no gradient."""
    check_matrix("torch.geqrf", input, "input")
    if input.requires_grad and _C.is_grad_enabled():
        raise NotImplementedError("the derivative for 'geqrf' is not implemented; use linalg.qr")
    return exact_all(Geqrf, kernels.geqrf(input), out)


# ---- symmetric indefinite matrices

LdlFactor = named("linalg_ldl_factor", "LD pivots")
LdlFactorEx = named("linalg_ldl_factor_ex", "LD pivots info")


def ldl_factor_ex(A, *, hermitian=False, check_errors=False, out=None):
    """(LD, pivots, info): LAPACK's factors of symmetric (or `hermitian`) matrices, lower triangle. No gradient."""
    check_square("linalg.ldl_factor_ex", A)
    LD, pivots, info = kernels.sytrf(A, hermitian)
    results = LD.tril(), pivots, info  # LAPACK leaves A's elements above
    if check_errors:
        check_infos("linalg.ldl_factor_ex", results[2], "D[{0},{0}] is zero.")
    return exact_all(LdlFactorEx, results, out)


def ldl_factor(A, *, hermitian=False, out=None):
    """(LD, pivots) of `ldl_factor_ex`; LinAlgError for singular matrices."""
    LD, pivots, info = ldl_factor_ex(A, hermitian=hermitian)
    check_infos("linalg.ldl_factor", info, "D[{0},{0}] is zero.")
    return exact_all(LdlFactor, (LD, pivots), out)


def ldl_solve(LD, pivots, B, *, hermitian=False, out=None):
    """X of A X = B (*, n, k) for the symmetric or `hermitian` A that `ldl_factor` took apart. No gradient."""
    op = "torch.linalg.ldl_solve"
    check_square(op, LD, "LD")
    check_matrix(op, B, "B")
    check_same_type(op, LD, B, ("LD", "B"))
    if pivots.dtype not in (_C.int32, _C.int64):
        raise RuntimeError(f"{op}: Expected pivots to be integers. Got {pivots.dtype}")
    if pivots.shape != LD.shape[:-1]:
        raise RuntimeError(
            f"{op}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{list(pivots.shape)} instead"
        )
    if LD.shape[-1] != B.shape[-2]:
        raise RuntimeError(f"{op}: Incompatible matrix sizes: {list(LD.shape)} and {list(B.shape)}")
    ld, b = broadcast_batches(LD, B)
    return exact(kernels.sytrs(ld, pivots.expand(*ld.shape[:-1]), b, hermitian), out)
