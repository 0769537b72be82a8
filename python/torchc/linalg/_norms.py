"""Norms of vectors and matrices."""

import math

from torchc import _C
from torchc._results import exact, wrapped
from torchc.linalg._factor import svdvals

_INF = math.inf


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None, out=None):
    """The `ord`-norm of the elements of `x`, or along `dim` (an int or a tuple): 2, 1, inf, -inf, 0 or any other power.

    Floating types only (NotImplementedError otherwise); `dtype` casts the elements first.
    """
    return exact(_C.linalg_vector_norm(x, ord, dim, keepdim, dtype=dtype), out)


def _extreme(values, largest, dim, keepdim):
    if largest and not values.shape[dim]:
        return values.sum(dim, keepdim)  # norms aren't negative: that of nothing is 0
    return values.amax(dim, keepdim) if largest else values.amin(dim, keepdim)


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None, out=None):
    """The norm of the matrices in the two dimensions `dim`, floating types only; `dtype` casts the elements first.

    ord: "fro", the root of the sum of squares; "nuc", the sum of the singular values; 2 and -2, their extremes; 1, -1,
    inf, -inf, the extremes of the sums of columns and rows.
    """
    if A.dim() < 2:
        raise RuntimeError(
            f"linalg.matrix_norm: The input tensor A must have at least 2 dimensions, got {A.dim()}"
        )
    dim = [wrapped("linalg.matrix_norm", d, A.dim()) for d in dim]
    if len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {tuple(dim)}")
    rows, columns = dim
    if rows == columns:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got {tuple(dim)}")
    a = A if dtype is None else A.to(dtype)
    if ord == "fro":
        return exact(_C.linalg_vector_norm(a, 2, [rows, columns], keepdim), out)
    if ord in (1, -1, _INF, -_INF):
        first, then = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = _C.linalg_vector_norm(a, 1, [first], keepdim)
        shift = not keepdim and first < then
        return exact(_extreme(sums, ord > 0, then - shift, keepdim), out)
    if ord in (2, -2, "nuc"):
        values = svdvals(a.movedim((rows, columns), (-2, -1)))
        result = values.sum(-1) if ord == "nuc" else _extreme(values, ord > 0, -1, False)
        for d in sorted((rows, columns)) if keepdim else ():
            result = result.unsqueeze(d)
        return exact(result, out)
    raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")


def norm(A, ord=None, dim=None, keepdim=False, *, out=None, dtype=None):
    """`vector_norm` along one dimension or, without `ord`, over all of them; `matrix_norm` over two."""
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype, out=out)
    dims = [dim] if isinstance(dim, int) else dim
    if dims is None:
        if A.dim() not in (1, 2):
            raise RuntimeError(
                f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.dim()}D."
            )
        dims = range(A.dim())
    if len(dims) == 1:
        return vector_norm(A, ord, list(dims), keepdim, dtype=dtype, out=out)
    return matrix_norm(A, ord, tuple(dims), keepdim, dtype=dtype, out=out)
