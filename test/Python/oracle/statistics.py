"""Reductions of the oracle that are several primitives (N4)."""

from __future__ import annotations

import builtins
import math
from typing import Any

from . import fused, ops, reduce
from .dtypes import DType, from_compute, to_compute, to_float_type
from .grad import VJPS
from .pointwise import _power
from .reduce import Dim, reduced_axes
from .tensor import Tensor, make, reduced_shape

where, mul, sub, add = ops.where, ops.mul, ops.sub, ops.add
INF = math.inf


def _wide(x: Tensor) -> Tensor:
    return ops.to(x, x.dtype.compute)


def _count(x: Tensor, dim: Dim) -> float:
    return float(math.prod(x.shape[a] for a in reduced_axes(dim, x.ndim)))


def prod(x: Tensor, dim: Dim = None, keepdim: bool = False) -> Tensor:
    """N4 product."""
    return make(reduce.prod(x.arr, dim, keepdim), "prod", [x], x=x, dim=dim)


def _prod_rule(n: Any, g: Tensor) -> list[Tensor | None]:
    zero = ops.eq(n.x, 0)
    safe = where(zero, 1.0, n.x)
    count = ops.sum(zero, n.dim, True)
    product = prod(safe, n.dim, True)
    at_zero = where(ops.eq(count, 1), product, 0.0)
    elsewhere = where(ops.eq(count, 0), ops.div(product, safe), 0.0)
    kept = ops.reshape(g, reduced_shape(n.metas[0][1], n.dim))
    return [mul(kept, where(zero, at_zero, elsewhere))]


VJPS["prod"] = _prod_rule


def logsumexp(x: Tensor, dim: Dim, keepdim: bool = False) -> Tensor:
    """m = max (0 if infinite), log(N4 sum exp(x - m)) + m."""
    x = ops.to(x, to_float_type(x.dtype))
    values = to_compute(x.arr)
    compute = x.dtype.compute
    with fused.np.errstate(all="ignore"):
        most = reduce.reduce_values(values, dim, True, reduce.max_rows)
        m = fused.np.where(fused.np.isinf(most), 0, most).astype(values.dtype)
        e = fused._exp(fused.np.asarray(values - m), compute)
        out = fused._log(reduce.reduce_values(e, dim, True, reduce.sum_rows), compute) + m
    shape = reduce.result_shape(x.shape, reduced_axes(dim, x.ndim), keepdim)
    return make(from_compute(out.reshape(shape), x.dtype), "logsumexp", [x], x=x, dim=dim)


def _logsumexp_rule(n: Any, g: Tensor) -> list[Tensor | None]:
    kept = reduced_shape(n.metas[0][1], n.dim)
    y, wide = _wide(ops.reshape(n.y, kept)), _wide(ops.reshape(g, kept))
    finite = where(ops.eq(y, -INF), 0.0, y)
    return [mul(wide, ops.exp(sub(_wide(n.x), finite)))]


VJPS["logsumexp"] = _logsumexp_rule


# ---- scans ---------------------------------------------------------------------------------------


def _flip(x: Tensor, dim: int) -> Tensor:
    if not x.ndim:
        return x
    data = fused.np.flip(x.arr.data, reduce.normalize_dim(dim, x.ndim)).copy()
    return make(type(x.arr)(x.dtype, data), "flip", [x], dim=dim)


VJPS["flip"] = lambda n, g: [_flip(g, n.dim)]


def cumsum(x: Tensor, dim: int) -> Tensor:
    """Running sums."""
    return make(reduce.cumsum(x.arr, dim), "cumsum", [x], dim=dim)


VJPS["cumsum"] = lambda n, g: [_flip(cumsum(_flip(g, n.dim), n.dim), n.dim)]


def cumprod(x: Tensor, dim: int) -> Tensor:
    """Running products."""
    return make(reduce.cumprod(x.arr, dim), "cumprod", [x], x=x, dim=dim)


def _cumprod_rule(n: Any, g: Tensor) -> list[Tensor | None]:
    def back(t: Tensor) -> Tensor:
        return _flip(cumsum(_flip(t, n.dim), n.dim), n.dim)

    zero = ops.eq(n.x, 0)
    zeros = cumsum(zero, n.dim)
    first = ops.logical_and(zero, ops.eq(zeros, 1))
    without = cumprod(where(first, 1.0, n.x), n.dim)
    before, at = back(mul(g, n.y)), back(mul(g, without))
    slope = ops.div(before, where(zero, 1.0, n.x))
    return [where(ops.eq(zeros, 0), slope, where(first, at, 0.0))]


VJPS["cumprod"] = _cumprod_rule


def _latest(x: Tensor, dim: int, largest: bool) -> Any:
    index = make(reduce.latest_extreme(x.arr, dim, largest))
    return ops.gather(x, dim, index), index


def cummax(x: Tensor, dim: int) -> Any:
    """Largest so far, and where."""
    return _latest(x, dim, True)


def cummin(x: Tensor, dim: int) -> Any:
    """Smallest so far, and where."""
    return _latest(x, dim, False)


def _root(s: Tensor) -> Tensor:
    zero = ops.eq(s, 0)
    return where(zero, 0.0, ops.sqrt(where(zero, 1.0, s)))


def _moments(x: Tensor, dim: Dim, correction: float, keepdim: bool) -> tuple[Tensor, Tensor]:
    n = _count(x, dim)
    wide = _wide(x)
    mean = ops.div(ops.sum(wide, dim, True), n)
    d = sub(wide, mean)
    total = ops.sum(mul(d, d), dim, keepdim)
    var = ops.div(total, builtins.max(0.0, n - correction))
    return var, mean if keepdim else ops.reshape(mean, var.shape)


def var(x: Tensor, dim: Dim = None, correction: float = 1, keepdim: bool = False) -> Tensor:
    """torch.var."""
    return ops.to(_moments(x, dim, correction, keepdim)[0], x.dtype)


def std(x: Tensor, dim: Dim = None, correction: float = 1, keepdim: bool = False) -> Tensor:
    """torch.std; its derivative at 0 is 0."""
    return ops.to(_root(_moments(x, dim, correction, keepdim)[0]), x.dtype)


def var_mean(x: Tensor, dim: Dim = None, correction: float = 1, keepdim: bool = False) -> Any:
    """torch.var_mean."""
    return tuple(ops.to(t, x.dtype) for t in _moments(x, dim, correction, keepdim))


def std_mean(x: Tensor, dim: Dim = None, correction: float = 1, keepdim: bool = False) -> Any:
    """torch.std_mean."""
    v, m = _moments(x, dim, correction, keepdim)
    return ops.to(_root(v), x.dtype), ops.to(m, x.dtype)


def nansum(x: Tensor, dim: Dim = None, keepdim: bool = False) -> Tensor:
    """The sum of what isn't NaN."""
    kept = where(ops.ne(x, x), 0.0, x) if x.dtype.is_float else x
    return ops.sum(kept, dim, keepdim)


def nanmean(x: Tensor, dim: Dim = None, keepdim: bool = False) -> Tensor:
    """The mean of what isn't NaN."""
    wide = _wide(x)
    return ops.to(
        ops.div(nansum(wide, dim, keepdim), ops.sum(ops.eq(wide, wide), dim, keepdim)), x.dtype
    )


def count_nonzero(x: Tensor, dim: Dim = None) -> Tensor:
    """How many elements aren't 0."""
    return ops.sum(ops.ne(x, 0), dim)


def _truth(x: Tensor, dim: Dim, keepdim: bool, reduction: Any) -> Tensor:
    out = reduction(ops.ne(x, 0), dim, keepdim)
    return ops.to(out, DType.U8) if x.dtype == DType.U8 else out


def any(x: Tensor, dim: Dim = None, keepdim: bool = False) -> Tensor:
    """Whether one is non-zero."""
    if 0 in [x.shape[a] for a in reduced_axes(dim, x.ndim)]:
        shape = reduce.result_shape(x.shape, reduced_axes(dim, x.ndim), keepdim)
        return ops.full(shape, False, DType.U8 if x.dtype == DType.U8 else DType.Bool)
    return _truth(x, dim, keepdim, lambda t, d, k: make(reduce.amax(t.arr, d, k)))


def all(x: Tensor, dim: Dim = None, keepdim: bool = False) -> Tensor:
    """Whether none is zero."""
    if 0 in [x.shape[a] for a in reduced_axes(dim, x.ndim)]:
        shape = reduce.result_shape(x.shape, reduced_axes(dim, x.ndim), keepdim)
        return ops.full(shape, True, DType.U8 if x.dtype == DType.U8 else DType.Bool)
    return _truth(x, dim, keepdim, lambda t, d, k: make(reduce.amin(t.arr, d, k)))


def aminmax(x: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Any:
    """Smallest and largest."""
    return ops.amin(x, dim, keepdim), ops.amax(x, dim, keepdim)


def _flat_power(x: Tensor, p: float) -> Tensor:
    exponent = ops.full((), p, x.dtype)
    if not p > 0:
        return _power(x, exponent)
    zero = ops.eq(x, 0)
    return where(zero, 0.0, _power(where(zero, 1.0, x), exponent))


def norm(x: Tensor, p: float = 2, dim: Dim = None, keepdim: bool = False) -> Tensor:
    """torch.norm; its derivative at 0 is 0."""
    w = _wide(x)
    if p == 2:
        out = _root(ops.sum(mul(w, w), dim, keepdim))
    elif p == 0:
        out = ops.to(ops.sum(ops.ne(w, 0), dim, keepdim), w.dtype)
    elif p == 1:
        out = ops.sum(ops.abs(w), dim, keepdim)
    elif math.isinf(p):
        out = (ops.amax if p > 0 else ops.amin)(ops.abs(w), dim, keepdim)
    else:
        out = _flat_power(ops.sum(_flat_power(ops.abs(w), p), dim, keepdim), 1 / p)
    return ops.to(out, x.dtype)


def dist(x: Tensor, y: Tensor, p: float = 2) -> Tensor:
    """The norm of x - y."""
    return norm(sub(x, y), p)
