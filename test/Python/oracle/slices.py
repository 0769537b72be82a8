"""Gradients of basic indexing: zeros with the cotangent at the index, and sums of such (N10)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dtypes import Arr
from .ops import add, getitem
from .tensor import Tensor, make


def slice_backward(g: Tensor, shape: tuple[int, ...], key: tuple[Any, ...]) -> Tensor:
    """Zeros of `shape` with `g` at `key`."""
    out = np.zeros(shape, g.dtype.storage)
    out[key] = g.arr.data
    return make(Arr(g.dtype, out), "slice_backward", [g], key=key)


def first_slice(key: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[Any, ...] | None:
    """What the first of an index's parts, left to right, leaves of a tensor: one dimension's integer
    or slice. None if that is all of it, or a reshape that comes first."""
    taken = sum(k is not None and k is not Ellipsis for k in key)
    at = 0
    for k in key:
        if k is None:
            return None
        if k is Ellipsis:
            at += len(shape) - taken
            continue
        if not isinstance(k, slice):
            begin = k % shape[at]
            return (slice(None),) * at + (slice(begin, begin + 1),)
        if k.indices(shape[at]) != (0, shape[at], 1):
            return (slice(None),) * at + (k,)
        at += 1
    return None


def passed_at(g: Tensor, key: tuple[Any, ...]) -> Tensor:
    """g, which went to `key` by another way and met +0 there."""
    out = g.arr.data.copy()
    out[key] = out[key] + out.dtype.type(0)
    return make(Arr(g.dtype, out), "passed_at", [g], key=key)


def add_at(x: Tensor, key: tuple[Any, ...], g: Tensor) -> Tensor:
    """x with what g has at `key` added there; elsewhere x's bits."""
    part = add(getitem(x, key), getitem(g, key))
    out = x.arr.data.copy()
    out[key] = part.arr.data
    return make(Arr(x.dtype, out), "add_at", [x, g], key=key)
