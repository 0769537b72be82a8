"""The standard's linear algebra: its functions of the main namespace, and its extension."""

from __future__ import annotations

import collections

import torchc as torch
from torchc import linalg as _linalg
from torchc._array_api._reductions import _sum_type
from torchc._array_api._shapes import axes_of
from torchc._array_api._types import promoted

__all__ = """matmul matrix_transpose tensordot vecdot cholesky cross det diagonal eigh eigvalsh inv matrix_norm
matrix_power matrix_rank outer pinv qr slogdet solve svd svdvals trace vector_norm""".split()

EighResult = collections.namedtuple("EighResult", "eigenvalues eigenvectors")
QRResult = collections.namedtuple("QRResult", "Q R")
SlogdetResult = collections.namedtuple("SlogdetResult", "sign logabsdet")
SVDResult = collections.namedtuple("SVDResult", "U S Vh")


def matmul(x1, x2, /):
    """Matrix products; the leading axes broadcast."""
    return torch.matmul(*promoted(x1, x2))


def matrix_transpose(x, /):
    """Matrices with rows and columns exchanged, as a view."""
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose: expected at least 2 dimensions, got {x.ndim}")
    return x.mT


def tensordot(x1, x2, /, *, axes=2):
    """Sums of products over pairs of axes."""
    return torch.tensordot(*promoted(x1, x2), dims=axes)


def vecdot(x1, x2, /, *, axis=-1):
    """Sums of conj(x1) * x2 along an axis, which counts from the end."""
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"vecdot: the vectors have {x1.shape[axis]} and {x2.shape[axis]} elements")
    x1, x2 = torch.broadcast_tensors(*promoted(x1, x2))
    product = torch.conj(x1) * x2
    return torch.sum(product, axis, dtype=product.dtype)


def cholesky(x, /, *, upper=False):
    """The triangular factor of positive definite matrices."""
    return _linalg.cholesky(x, upper=upper)


def cross(x1, x2, /, *, axis=-1):
    """Vector products of vectors of three along an axis."""
    if not (-min(x1.ndim, x2.ndim) <= axis < max(x1.ndim, x2.ndim)):
        raise ValueError(f"cross: axis {axis} is out of range")
    x1, x2 = torch.broadcast_tensors(*promoted(x1, x2))
    return _linalg.cross(x1, x2, dim=axis)


def det(x, /):
    """Determinants."""
    return _linalg.det(x)


def diagonal(x, /, *, offset=0):
    """The diagonals of matrices, as a view."""
    return torch.diagonal(x, offset, -2, -1)


def eigh(x, /):
    """Eigenvalues, ascending, and eigenvectors of Hermitian matrices."""
    return EighResult(*_linalg.eigh(x))


def eigvalsh(x, /):
    """Eigenvalues of Hermitian matrices, ascending."""
    return _linalg.eigvalsh(x)


def inv(x, /):
    """Inverse matrices."""
    return _linalg.inv(x)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """Norms of matrices."""
    return _linalg.matrix_norm(x, ord, (-2, -1), keepdims)


def matrix_power(x, n, /):
    """Powers of square matrices."""
    return _linalg.matrix_power(x, n)


def _row_wise(rtol):
    return rtol if rtol is None or not isinstance(rtol, torch.Tensor) else rtol.clone()


def matrix_rank(x, /, *, rtol=None):
    """How many singular values exceed rtol times the largest."""
    if x.ndim < 2:
        raise ValueError(f"matrix_rank: expected at least 2 dimensions, got {x.ndim}")
    return _linalg.matrix_rank(x, rtol=_row_wise(rtol))


def outer(x1, x2, /):
    """All products of elements of two vectors."""
    return torch.outer(*promoted(x1, x2))


def pinv(x, /, *, rtol=None):
    """Pseudo-inverse matrices; singular values up to rtol times the largest count as zero."""
    return _linalg.pinv(x, rtol=_row_wise(rtol))


def qr(x, /, *, mode="reduced"):
    """Q with orthonormal columns and upper triangular R, of which x is the product."""
    return QRResult(*_linalg.qr(x, mode=mode))


def slogdet(x, /):
    """Sign and logarithm of the absolute value of determinants."""
    return SlogdetResult(*_linalg.slogdet(x))


def solve(x1, x2, /):
    """X of x1 @ X = x2. One-dimensional x2 is a vector, anything else are matrices."""
    x1, x2 = promoted(x1, x2)
    if x2.ndim == 1:
        return _linalg.solve(x1, x2[:, None])[..., 0]
    batch = torch.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    return _linalg.solve(x1.expand(*batch, *x1.shape[-2:]), x2.expand(*batch, *x2.shape[-2:]))


def svd(x, /, *, full_matrices=True):
    """U, singular values (descending) and the adjoint of V, of which x is the product."""
    return SVDResult(*_linalg.svd(x, full_matrices=full_matrices))


def svdvals(x, /):
    """Singular values, descending."""
    return _linalg.svdvals(x)


def trace(x, /, *, offset=0, dtype=None):
    """Sums of diagonals; small integers are added as int64."""
    return torch.sum(diagonal(x, offset=offset), -1, dtype=_sum_type(x, dtype))


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """Norms of vectors along axes, or of all elements."""
    axes = axes_of(axis, x.ndim)
    if not axes:
        return torch.abs(x) if ord != 0 else (x != 0).to(torch.abs(x).dtype)
    return _linalg.vector_norm(x, ord, axes, keepdims)
