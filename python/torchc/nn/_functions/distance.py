"""Distances and similarities of vectors."""

from __future__ import annotations

from torchc import _C

__all__ = ["cosine_similarity", "normalize", "pairwise_distance", "pdist"]


def vector_norm(x, p, dim, keepdim=False):
    """The p-norm along `dim` (rule N4): 2 as the root of the sum of squares, 1, inf and 0 by their own formulas.

    The gradient at 0 is 0.
    """
    if x.is_complex():
        x = x.abs()
    if p == float("inf"):
        return x.abs().amax(dim, keepdim=keepdim)
    if p == float("-inf"):
        return x.abs().amin(dim, keepdim=keepdim)
    if p == 1:
        return x.abs().sum(dim, keepdim=keepdim)
    if p == 0:
        return (x != 0).to(x.dtype).sum(dim, keepdim=keepdim)
    total = (x * x if p == 2 else x.abs() ** p).sum(dim, keepdim=keepdim)
    zero = total == 0
    safe = _C.where(zero, _C.ones_like(total), total)
    root = safe.sqrt() if p == 2 else safe ** (1.0 / p)
    return _C.where(zero, _C.zeros_like(total), root)


def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    """The p-norm of x1 - x2 + eps along the last dimension; half types round once, at the end."""
    d = x1 - x2 + eps
    if d.dtype in (_C.float16, _C.bfloat16):
        return vector_norm(d.float(), p, -1, keepdim).to(d.dtype)
    return vector_norm(d, p, -1, keepdim)


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """x1 · x2 / (max(|x1|, eps) max(|x2|, eps)) along `dim`, the inputs broadcast."""
    dtype = _C.promote_types(x1.dtype, x2.dtype)
    if not dtype.is_floating_point:
        raise RuntimeError(
            f"expected common dtype to be floating point, yet common dtype is {dtype}"
        )
    if not eps >= 0:
        raise RuntimeError(f"cosine_similarity(): expected eps of 0 or more, got {eps}")
    x1, x2 = _C.broadcast_tensors(x1.to(dtype), x2.to(dtype))
    norms = [vector_norm(x, 2, dim, True).clamp(min=eps) for x in (x1, x2)]
    return ((x1 / norms[0]) * (x2 / norms[1])).sum(dim)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """input / max(its p-norm along `dim`, eps)."""
    norm = vector_norm(input, p, dim, True).clamp(min=eps)
    result = input / norm.expand_as(input)
    return result if out is None else out.copy_(result)


def pdist(input, p=2):
    """The p-norms between all pairs of rows i < j of a matrix, in row order."""
    if input.dim() != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.dim()}D")
    if not p >= 0:
        raise RuntimeError("pdist only supports non-negative p values")
    rows = [vector_norm(input[i] - input[i + 1 :], p, -1) for i in range(input.size(0) - 1)]
    return _C.cat(rows) if rows else input.new_empty(0)
