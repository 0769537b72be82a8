"""Indexing and data movement: exact copies, and accumulation in ascending source order from the
target (N4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .dtypes import (
    Arr,
    DType,
    Number,
    cast,
    from_compute,
    number_to_compute,
    result_type,
    to_compute,
)
from .reduce import normalize_dim


def _checked(index: Arr, size: int, what: str, error: type[Exception] = IndexError) -> np.ndarray:
    """Index values as int64, each within [0, size), else an `error`."""
    if index.data.size and index.dtype not in (DType.I64, DType.I32):
        raise RuntimeError(
            f"{what}: expected index of dtype int32 or int64, got {index.dtype.torch_name}"
        )
    flat = index.data.astype(np.int64)
    bad = (flat < 0) | (flat >= size)
    if np.any(bad):
        raise error(f"{what}: index {int(flat[bad][0])} is out of bounds for size {size}")
    return flat


def index_select(x: Arr, dim: int, index: Arr) -> Arr:
    """torch.index_select: rows of `dim` in the order of a 1-D (or 0-d) index."""
    dim = normalize_dim(dim, x.ndim)
    data = x.data.reshape(1) if x.ndim == 0 else x.data
    flat = _checked(index, data.shape[dim], "index_select").reshape(-1)
    picked = np.take(data, flat, axis=dim)
    return Arr(x.dtype, picked.reshape(()) if x.ndim == 0 else picked)


def index_add(x: Arr, dim: int, index: Arr, source: Arr, alpha: Number = 1) -> Arr:
    """x with source rows (times alpha, rounded) added in ascending source index, in the op-math
    type."""
    dim = normalize_dim(dim, x.ndim)
    values = to_compute(x).copy()
    wide = values.reshape(1) if x.ndim == 0 else values
    added = to_compute(source).reshape(1) if source.ndim == 0 else to_compute(source)
    flat = _checked(index, wide.shape[dim], "index_add").reshape(-1)
    with np.errstate(all="ignore"):
        if not (isinstance(alpha, int) and alpha == 1):
            added = np.asarray(added * number_to_compute(alpha, x.dtype))
        target, rows = np.moveaxis(wide, dim, 0), np.moveaxis(added, dim, 0)
        for i, at in enumerate(flat):
            target[at] = target[at] + rows[i]
    return from_compute(values, x.dtype)


def scatter(x: Arr, dim: int, index: Arr, src: Arr | Number) -> Arr:
    """torch.scatter: written in ascending source index, so the last of equal targets stays."""
    dim = normalize_dim(dim, x.ndim)
    out = x.data.copy()
    data = out.reshape(1) if x.ndim == 0 else out
    if isinstance(src, Arr):
        if src.dtype != x.dtype:
            raise RuntimeError(
                f"scatter(): expected src of dtype {x.dtype.torch_name}, got {src.dtype.torch_name}"
            )
        source = src.data
    else:
        source = np.broadcast_to(
            from_compute(number_to_compute(src, x.dtype), x.dtype).data, index.shape
        )
    where = index.data.reshape(1) if index.ndim == 0 else index.data
    values = source.reshape(1) if source.ndim == 0 else source
    if where.size:
        flat = _checked(Arr(index.dtype, where), data.shape[dim], "scatter", RuntimeError)
        for at in np.ndindex(where.shape):
            target = list(at)
            target[dim] = int(flat[at])
            data[tuple(target)] = values[at]
    return Arr(x.dtype, out)


def scatter_add(x: Arr, dim: int, index: Arr, src: Arr) -> Arr:
    """torch.scatter_add: ascending source index in the op-math type."""
    dim = normalize_dim(dim, x.ndim)
    values = to_compute(x).copy()
    added = to_compute(src)
    flat = _checked(index, values.shape[dim], "scatter_add", RuntimeError)
    with np.errstate(all="ignore"):
        for at in np.ndindex(flat.shape):
            target = list(at)
            target[dim] = int(flat[at])
            values[tuple(target)] = values[tuple(target)] + added[at]
    return from_compute(values, x.dtype)


def gather(x: Arr, dim: int, index: Arr) -> Arr:
    """torch.gather."""
    dim = normalize_dim(dim, x.ndim)
    if index.data.size == 0:
        return Arr(x.dtype, np.zeros(index.shape, x.dtype.storage))
    data, where = np.atleast_1d(x.data), Arr(index.dtype, np.atleast_1d(index.data))
    flat = _checked(where, data.shape[dim], "gather", RuntimeError)
    shape = enumerate(flat.shape)
    window = data[tuple(slice(None) if d == dim else slice(0, s) for d, s in shape)]
    return Arr(x.dtype, np.take_along_axis(window, flat, axis=dim).reshape(index.shape))


def one_hot(index: Arr, num_classes: int = -1) -> Arr:
    """torch.nn.functional.one_hot: int64 0 and 1 along a new last dim."""
    if index.dtype != DType.I64:
        raise RuntimeError(f"one_hot: expected index of dtype int64, got {index.dtype.torch_name}")
    if num_classes < 0:
        if index.data.size == 0:
            raise RuntimeError("one_hot: cannot infer the number of classes from an empty index")
        num_classes = int(index.data.max()) + 1
    if np.any(index.data < 0) or np.any(index.data >= num_classes):
        raise RuntimeError(f"one_hot: expected class values in [0, {num_classes})")
    return Arr(DType.I64, (index.data[..., None] == np.arange(num_classes)).astype(np.int64))


def cat(parts: Sequence[Arr], dim: int = 0) -> Arr:
    """torch.cat with promotion; legacy empty 1-D parts are skipped."""
    dtype = result_type(parts)
    used = [p for p in parts if p.shape != (0,)] or [parts[0]]
    dim = normalize_dim(dim, used[0].ndim)
    for p in used:
        same = [s for i, s in enumerate(p.shape) if i != dim]
        if p.ndim != used[0].ndim or same != [s for i, s in enumerate(used[0].shape) if i != dim]:
            raise RuntimeError(
                f"cat: expected sizes to match except in dim {dim}, "
                f"got {list(used[0].shape)} and {list(p.shape)}"
            )
    return Arr(dtype, np.concatenate([cast(p, dtype).data for p in used], axis=dim))
