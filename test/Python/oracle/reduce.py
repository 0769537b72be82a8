"""Reductions by rule N4 over the row-major linear index of the logical reduced axes, and N7's
max, min and argmax."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from . import body
from .dtypes import Arr, DType, cast, from_compute, to_compute

BLOCK = 1024
Dim = int | Sequence[int] | None
Combine = Callable[[np.ndarray, np.ndarray], np.ndarray]


def chain_count(accumulator: np.dtype) -> int:
    """C of N4: 64 chains for accumulators of 4 bytes, 32 for 8; small integers of max/min count
    as 4 bytes."""
    return 32 if accumulator.itemsize == 8 else 64


def fold(chains: np.ndarray, combine: Combine) -> np.ndarray:
    """[..., C] → [...]: for w = C/2 … 1, c[i] = c[i] ∘ c[i+w] for i < w."""
    width = chains.shape[-1] // 2
    while width >= 1:
        chains = combine(chains[..., :width], chains[..., width : 2 * width])
        width //= 2
    return chains[..., 0]


def combine_blocks(blocks: np.ndarray, combine: Combine) -> np.ndarray:
    """[rows, B] → [rows]: adjacent pairs level by level, an odd last block moves up unchanged."""
    while blocks.shape[1] > 1:
        even = blocks.shape[1] // 2 * 2
        merged = combine(blocks[:, 0:even:2], blocks[:, 1:even:2])
        blocks = np.concatenate([merged, blocks[:, even:]], axis=1)
    return blocks[:, 0]


def reduce_rows(
    x: np.ndarray, combine: Combine, identity: float | int, empty: float | int
) -> np.ndarray:
    """[rows, n] → [rows] by N4, in the type of `x`. Padding with the identity leaves every bit as
    it is, because
    x + (-0) = x, x·1 = x and max(x, -inf) = x for all x."""
    rows, n = x.shape
    if n == 0:
        return np.full(rows, empty, x.dtype)
    chains = chain_count(x.dtype)
    blocks = -(-n // BLOCK)
    padded = np.full((rows, blocks * BLOCK), identity, x.dtype)
    padded[:, :n] = x
    steps = padded.reshape(rows, blocks, BLOCK // chains, chains)
    with np.errstate(all="ignore"):
        acc = np.full((rows, blocks, chains), identity, x.dtype)
        for step in range(BLOCK // chains):
            acc = combine(acc, steps[:, :, step])
        return combine_blocks(fold(acc, combine), combine)


def sum_rows(x: np.ndarray) -> np.ndarray:
    """N4 sum of each row; chains start at -0, an empty sum is +0."""
    return reduce_rows(x, np.add, -0.0 if x.dtype.kind == "f" else 0, 0)


def prod_rows(x: np.ndarray) -> np.ndarray:
    """N4 product of each row; chains start at 1, as does an empty product."""
    return reduce_rows(x, np.multiply, 1, 1)


def max_rows(x: np.ndarray) -> np.ndarray:
    """N7 maximum of each row (not empty)."""
    return reduce_rows(x, body.maximum, _lowest(x.dtype), 0)


def min_rows(x: np.ndarray) -> np.ndarray:
    """N7 minimum of each row (not empty)."""
    return reduce_rows(x, body.minimum, _highest(x.dtype), 0)


def _lowest(t: np.dtype) -> float | int:
    if t.kind == "f":
        return -math.inf
    return False if t == np.bool_ else int(np.iinfo(t).min)


def _highest(t: np.dtype) -> float | int:
    if t.kind == "f":
        return math.inf
    return True if t == np.bool_ else int(np.iinfo(t).max)


# ---- axes ----------------------------------------------------------------------------------------


def normalize_dim(dim: int, ndim: int) -> int:
    """A dim in [-ndim, ndim) as one in [0, ndim); a 0-d tensor has one dim for this purpose."""
    limit = max(ndim, 1)
    if not -limit <= dim < limit:
        raise IndexError(
            f"Dimension out of range "
            f"(expected to be in range of [{-limit}, {limit - 1}], but got {dim})"
        )
    return dim % limit


def reduced_axes(dim: Dim, ndim: int) -> tuple[int, ...]:
    """Ascending reduced axes; None or an empty list means all."""
    if dim is None or (not isinstance(dim, int) and len(dim) == 0):
        return tuple(range(ndim))
    axes = [normalize_dim(d, ndim) for d in ([dim] if isinstance(dim, int) else dim)]
    if len(set(axes)) != len(axes):
        raise RuntimeError(f"dims must be unique, got {list(axes)}")
    return tuple(sorted(a for a in axes if a < ndim))


def rows_of(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """[kept, reduced]: kept axes row-major, then the reduced axes row-major."""
    kept = [i for i in range(x.ndim) if i not in axes]
    moved = np.transpose(x, kept + list(axes))
    count = math.prod(x.shape[i] for i in kept)
    return np.ascontiguousarray(moved).reshape(count, math.prod(x.shape[i] for i in axes))


def result_shape(shape: tuple[int, ...], axes: tuple[int, ...], keepdim: bool) -> tuple[int, ...]:
    """The shape after the reduction."""
    if keepdim:
        return tuple(1 if i in axes else s for i, s in enumerate(shape))
    return tuple(s for i, s in enumerate(shape) if i not in axes)


def reduce_values(
    x: np.ndarray, dim: Dim, keepdim: bool, rows: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Apply a row reduction over the axes `dim` of values in the accumulator type."""
    axes = reduced_axes(dim, x.ndim)
    return rows(rows_of(x, axes)).reshape(result_shape(x.shape, axes, keepdim))


# ---- ops -----------------------------------------------------------------------------------------


def _accumulate(x: Arr, dtype: DType | None) -> tuple[np.ndarray, DType]:
    """Values in the accumulator type, and the result type; `dtype=` casts the elements first."""
    if dtype is None:
        dtype = x.dtype if x.dtype.is_float else DType.I64
    x = cast(x, dtype)
    return to_compute(x).astype(dtype.accumulator.storage), dtype


def _store(values: np.ndarray, dtype: DType) -> Arr:
    """Round once from the accumulator type."""
    if dtype.is_float:
        return from_compute(np.asarray(values), dtype)
    return cast(Arr(DType.I64, np.asarray(values)), dtype)


def sum(x: Arr, dim: Dim = None, keepdim: bool = False, dtype: DType | None = None) -> Arr:
    """torch.sum."""
    values, out = _accumulate(x, dtype)
    return _store(reduce_values(values, dim, keepdim, sum_rows), out)


def prod(x: Arr, dim: Dim = None, keepdim: bool = False, dtype: DType | None = None) -> Arr:
    """torch.prod."""
    values, out = _accumulate(x, dtype)
    with np.errstate(all="ignore"):
        return _store(reduce_values(values, dim, keepdim, prod_rows), out)


def _reduced_count(x: Arr, dim: Dim) -> int:
    return math.prod(x.shape[a] for a in reduced_axes(dim, x.ndim))


def mean(x: Arr, dim: Dim = None, keepdim: bool = False, dtype: DType | None = None) -> Arr:
    """torch.mean: N4 sum / n, one rounding at the end."""
    dtype = x.dtype if dtype is None else dtype
    if not dtype.is_float:
        raise RuntimeError(f"mean(): expected a floating dtype, got {dtype.torch_name}")
    values, out = _accumulate(x, dtype)
    with np.errstate(all="ignore"):
        total = reduce_values(values, dim, keepdim, sum_rows)
        return _store(total / np.asarray(_reduced_count(x, dim)).astype(values.dtype), out)


def var_values(x: np.ndarray, dim: Dim, correction: float, keepdim: bool) -> np.ndarray:
    """N4's variance in the accumulator type."""
    n = math.prod(x.shape[a] for a in reduced_axes(dim, x.ndim))
    with np.errstate(all="ignore"):
        m = reduce_values(x, dim, True, sum_rows) / np.asarray(n).astype(x.dtype)
        d = x - m
        total = reduce_values(d * d, dim, keepdim, sum_rows)
        return np.asarray(total / np.asarray(max(0, n - correction)).astype(x.dtype))


def var(x: Arr, dim: Dim = None, correction: float = 1, keepdim: bool = False) -> Arr:
    """torch.var."""
    return _store(var_values(_accumulate(x, None)[0], dim, correction, keepdim), x.dtype)


def std(x: Arr, dim: Dim = None, correction: float = 1, keepdim: bool = False) -> Arr:
    """torch.std: the root of the variance before its rounding."""
    with np.errstate(all="ignore"):
        return _store(
            np.sqrt(var_values(_accumulate(x, None)[0], dim, correction, keepdim)), x.dtype
        )


def norm(x: Arr, p: float = 2, dim: Dim = None, keepdim: bool = False) -> Arr:
    """torch.linalg.vector_norm for p in {0, 1, 2, inf, -inf} and, where the table has `pow`, any
    other p."""
    values, out = _accumulate(x, None)
    with np.errstate(all="ignore"):
        if p == 2:
            return _store(np.sqrt(reduce_values(values * values, dim, keepdim, sum_rows)), out)
        if p == 0:
            count = reduce_values((values != 0).astype(values.dtype), dim, keepdim, sum_rows)
            return _store(count, out)
        magnitude = np.abs(values)
        if p == 1:
            return _store(reduce_values(magnitude, dim, keepdim, sum_rows), out)
        if math.isinf(p):
            return _store(
                reduce_values(magnitude, dim, keepdim, max_rows if p > 0 else min_rows), out
            )
        exponent, inverse = (np.asarray(v).astype(values.dtype) for v in (p, 1 / p))
        powers = body.apply("pow", out.compute, magnitude, exponent)
        return _store(
            body.apply("pow", out.compute, reduce_values(powers, dim, keepdim, sum_rows), inverse),
            out,
        )


def _extreme(x: Arr, dim: Dim, keepdim: bool, name: str) -> Arr:
    rows = max_rows if name == "max" else min_rows
    if _reduced_count(x, dim) == 0:
        raise (RuntimeError if dim is None else IndexError)(
            f"{name}(): expected a reduced extent of at least 1, got 0"
        )
    values = reduce_values(to_compute(x), dim, keepdim, rows)
    return from_compute(np.asarray(values), x.dtype)


def amax(x: Arr, dim: Dim = None, keepdim: bool = False) -> Arr:
    """torch.amax, and torch.max without dim."""
    return _extreme(x, dim, keepdim, "max")


def amin(x: Arr, dim: Dim = None, keepdim: bool = False) -> Arr:
    """torch.amin, and torch.min without dim."""
    return _extreme(x, dim, keepdim, "min")


def _first_index(rows: np.ndarray, extreme: np.ndarray) -> np.ndarray:
    """First index per row whose element has the extreme's bits; any NaN matches a NaN extreme."""
    hit = rows == extreme[:, None]
    if rows.dtype.kind == "f":
        hit &= np.signbit(rows) == np.signbit(extreme)[:, None]
        hit |= np.isnan(rows) & np.isnan(extreme)[:, None]
    return np.argmax(hit, axis=1).astype(np.int64)


def _arg(x: Arr, dim: int | None, keepdim: bool, name: str) -> Arr:
    axes = reduced_axes(dim, x.ndim)
    rows = rows_of(to_compute(x), axes)
    if rows.shape[1] == 0:
        raise IndexError(f"arg{name}(): expected a reduced extent of at least 1, got 0")
    best = (max_rows if name == "max" else min_rows)(rows)
    return Arr(DType.I64, _first_index(rows, best).reshape(result_shape(x.shape, axes, keepdim)))


def argmax(x: Arr, dim: int | None = None, keepdim: bool = False) -> Arr:
    """torch.argmax by N7: first index in logical order holding the maximum."""
    return _arg(x, dim, keepdim, "max")


def argmin(x: Arr, dim: int | None = None, keepdim: bool = False) -> Arr:
    """torch.argmin by N7."""
    return _arg(x, dim, keepdim, "min")


def cumsum(x: Arr, dim: int, dtype: DType | None = None) -> Arr:
    """torch.cumsum: one left-to-right chain in the accumulator type, outputs rounded from it."""
    values, out = _accumulate(x, dtype)
    if values.ndim == 0:
        return _store(values, out)
    return _store(_running(values, normalize_dim(dim, x.ndim), np.add), out)


def cumprod(x: Arr, dim: int, dtype: DType | None = None) -> Arr:
    """torch.cumprod, as cumsum."""
    values, out = _accumulate(x, dtype)
    if values.ndim == 0:
        return _store(values, out)
    return _store(_running(values, normalize_dim(dim, x.ndim), np.multiply), out)


def _running(values: np.ndarray, dim: int, combine: Combine) -> np.ndarray:
    moved = np.moveaxis(values.copy(), dim, 0)
    with np.errstate(all="ignore"):
        for i in range(1, moved.shape[0]):
            moved[i] = combine(moved[i - 1], moved[i])
    return np.ascontiguousarray(np.moveaxis(moved, 0, dim))


def latest_extreme(x: Arr, dim: int, largest: bool) -> Arr:
    """Index of the latest largest (smallest) element so far; NaN is both."""
    values = to_compute(x)
    if values.ndim == 0:
        return Arr(DType.I64, np.zeros((), np.int64))
    moved = np.moveaxis(values, normalize_dim(dim, x.ndim), 0)
    out = np.zeros(moved.shape, np.int64)
    best = moved[0].copy() if len(moved) else moved
    for i in range(1, len(moved)):
        better = (moved[i] >= best) if largest else (moved[i] <= best)
        better = better | (moved[i] != moved[i])
        out[i] = np.where(better, i, out[i - 1])
        best = np.where(better, moved[i], best)
    return Arr(DType.I64, np.ascontiguousarray(np.moveaxis(out, 0, normalize_dim(dim, x.ndim))))
