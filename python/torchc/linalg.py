"""Norms under the names of torch.linalg; what needs a factorisation is not implemented yet and says so."""

import math

from torchc import _C

__all__ = ["matrix_norm", "norm", "vector_norm"]

_INF = math.inf


def _given(result, out):
    return result if out is None else out.copy_(result)


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None, out=None):
    """The `ord`-norm of the elements of `x`, or along `dim` (an int or a tuple): 2, 1, inf, -inf, 0 or any other power.

    Floating types only (NotImplementedError otherwise); `dtype` casts the elements first.
    """
    return _given(_C.linalg_vector_norm(x, ord, dim, keepdim, dtype=dtype), out)


def _extreme_of_sums(a, largest, sum_dim, dim, keepdim):
    sums = a.abs().sum(sum_dim, keepdim=True)
    found = sums.amax(dim, keepdim=True) if largest else sums.amin(dim, keepdim=True)
    if keepdim:
        return found
    shape = [n for i, n in enumerate(found.shape) if i not in (sum_dim, dim)]
    return found.reshape(shape)


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None, out=None):
    """The norm of the matrices in the two dimensions `dim`: "fro", 1, -1, inf or -inf.

    2, -2 and "nuc" need singular values: NotImplementedError.
    """
    if len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {tuple(dim)}")
    rows, columns = (d + A.dim() if d < 0 else d for d in dim)
    if rows == columns:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got {tuple(dim)}")
    a = A if dtype is None else A.to(dtype)
    if ord == "fro":
        return _given(_C.linalg_vector_norm(a, 2, [rows, columns], keepdim), out)
    if ord in (1, -1):
        return _given(_extreme_of_sums(a, ord > 0, rows, columns, keepdim), out)
    if ord in (_INF, -_INF):
        return _given(_extreme_of_sums(a, ord > 0, columns, rows, keepdim), out)
    if ord in (2, -2, "nuc"):
        raise NotImplementedError(
            f"linalg.matrix_norm: order {ord} needs singular values, which are not implemented"
        )
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
