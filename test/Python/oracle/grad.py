"""Derivative rules (N10), each a few ops of PyTorch's formula; un-broadcasting and dtype restore
happen in the tape."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from . import ops, reduce, slices
from .dtypes import Arr, DType
from .tensor import Node, Tensor, reduced_shape

Cotangents = Sequence[Tensor | None]
VJPS: dict[str, Callable[[Node, Tensor], Cotangents]] = {}


def _rule(
    name: str,
) -> Callable[[Callable[[Node, Tensor], Cotangents]], Callable[[Node, Tensor], Cotangents]]:
    def register(
        rule: Callable[[Node, Tensor], Cotangents],
    ) -> Callable[[Node, Tensor], Cotangents]:
        VJPS[name] = rule
        return rule

    return register


# ---- elementwise ---------------------------------------------------------------------------------


@_rule("add")
def _add(n: Node, g: Tensor) -> Cotangents:
    return [g, g]


@_rule("sub")
def _sub(n: Node, g: Tensor) -> Cotangents:
    return [g, ops.neg(g)]


@_rule("mul")
def _mul(n: Node, g: Tensor) -> Cotangents:
    return [ops.mul(g, n.b) if n.needs(0) else None, ops.mul(g, n.a) if n.needs(1) else None]


@_rule("div")
def _div(n: Node, g: Tensor) -> Cotangents:
    """g/y and −g·((x/y)/y)."""
    first = ops.div(g, n.b) if n.needs(0) else None
    second = ops.mul(ops.neg(g), ops.div(ops.div(n.a, n.b), n.b)) if n.needs(1) else None
    return [first, second]


@_rule("neg")
def _neg(n: Node, g: Tensor) -> Cotangents:
    return [ops.neg(g)]


@_rule("exp")
def _exp(n: Node, g: Tensor) -> Cotangents:
    return [ops.mul(g, n.y)]


@_rule("log")
def _log(n: Node, g: Tensor) -> Cotangents:
    return [ops.div(g, n.x)]


@_rule("tanh")
def _tanh(n: Node, g: Tensor) -> Cotangents:
    """g·(1 − y·y)."""
    return [ops.mul(g, ops.sub(1, ops.mul(n.y, n.y)))]


@_rule("relu")
def _relu(n: Node, g: Tensor) -> Cotangents:
    """+0 where y ≤ 0, else g, so that a NaN result passes g on."""
    return [ops.where(ops.le(n.y, 0), 0, g)]


@_rule("maximum")
def _maximum(n: Node, g: Tensor) -> Cotangents:
    """The larger operand takes g, ties take g/2 each; with a NaN operand both take g."""
    shared = ops.where(ops.eq(n.a, n.b), ops.div(g, 2), g)
    return [ops.where(ops.lt(n.a, n.b), 0, shared), ops.where(ops.lt(n.b, n.a), 0, shared)]


@_rule("minimum")
def _minimum(n: Node, g: Tensor) -> Cotangents:
    """As maximum, for the smaller operand."""
    shared = ops.where(ops.eq(n.a, n.b), ops.div(g, 2), g)
    return [ops.where(ops.lt(n.b, n.a), 0, shared), ops.where(ops.lt(n.a, n.b), 0, shared)]


@_rule("abs")
def _abs(n: Node, g: Tensor) -> Cotangents:
    return [ops.mul(g, ops.sign(n.x))]


def _zeros(n: Node, k: int) -> Tensor:
    """The gradient of an operand that the result doesn't change with."""
    dtype, shape = n.metas[k]
    return ops.zeros(shape, dtype=dtype)


@_rule("sign")
def _sign(n: Node, g: Tensor) -> Cotangents:
    return [_zeros(n, 0)]


@_rule("sqrt")
def _sqrt(n: Node, g: Tensor) -> Cotangents:
    """g / (2·y)."""
    return [ops.div(g, ops.mul(n.y, 2))]


@_rule("where")
def _where(n: Node, g: Tensor) -> Cotangents:
    return [ops.where(n.condition, g, 0), ops.where(n.condition, 0, g)]


@_rule("cast")
def _cast(n: Node, g: Tensor) -> Cotangents:
    return [g]


@_rule("copy_")
def _copy(n: Node, g: Tensor) -> Cotangents:
    return [_zeros(n, 0), g]


@_rule("fill_")
def _fill(n: Node, g: Tensor) -> Cotangents:
    return [_zeros(n, 0)]


# ---- reductions and contractions -----------------------------------------------------------------


@_rule("sum")
def _sum(n: Node, g: Tensor) -> Cotangents:
    return [ops.expand(ops.reshape(g, reduced_shape(n.metas[0][1], n.dim)), n.metas[0][1])]


@_rule("mean")
def _mean(n: Node, g: Tensor) -> Cotangents:
    shape = n.metas[0][1]
    return [ops.div(ops.expand(ops.reshape(g, reduced_shape(shape, n.dim)), shape), n.count)]


@_rule("max_dim")
def _max_dim(n: Node, g: Tensor) -> Cotangents:
    """Zeros with g added at the selected indices: that of gather."""
    dtype, shape = n.metas[0]
    if not shape:
        return [g]
    kept = reduced_shape(shape, n.dim)
    return [
        ops.scatter_add(
            ops.zeros(shape, dtype=dtype), n.dim, ops.reshape(n.indices, kept), ops.reshape(g, kept)
        )
    ]


@_rule("amax")
def _amax(n: Node, g: Tensor) -> Cotangents:
    """(g · mask) / mask.sum(dim): ties share evenly. Of all elements: g / count where x is the extreme, NaN being
    one."""
    kept = reduced_shape(n.metas[0][1], n.dim)
    if len(reduce.reduced_axes(n.dim, len(kept))) == len(kept):
        y = ops.reshape(n.y, ())
        nan = ops.logical_and(ops.ne(n.x, n.x), ops.ne(y, y))
        found = ops.logical_or(ops.eq(n.x, y), nan)
        return [ops.where(found, ops.div(ops.reshape(g, ()), ops.sum(found)), 0)]
    mask = ops.eq(n.x, ops.reshape(n.y, kept))
    return [ops.div(ops.mul(ops.reshape(g, kept), mask), ops.sum(mask, n.dim, True))]


@_rule("as_strided")
def _as_strided(n: Node, g: Tensor) -> Cotangents:
    """Zeros with g added at each element's place, in row-major order of the view."""
    dtype, shape = n.metas[0]
    places = Tensor(Arr(DType.I64, n.places.reshape(-1)))
    flat = ops.zeros((int(np.prod(shape, dtype=np.int64)),), dtype=dtype)
    return [ops.reshape(ops.scatter_add(flat, 0, places, ops.reshape(g, (-1,))), shape)]


@_rule("matmul")
def _matmul(n: Node, g: Tensor) -> Cotangents:
    """g · bᵀ and aᵀ · g; 1-D operands get a dim of size 1 for it, dot is g·b and g·a
    elementwise."""
    a, b = n.a, n.b
    if a.ndim == 1 and b.ndim == 1:
        return [ops.mul(g, b) if n.needs(0) else None, ops.mul(g, a) if n.needs(1) else None]
    rows = ops.unsqueeze(a, 0) if a.ndim == 1 else a
    cols = ops.unsqueeze(b, 1) if b.ndim == 1 else b
    wide = ops.unsqueeze(g, -2) if a.ndim == 1 else (ops.unsqueeze(g, -1) if b.ndim == 1 else g)
    first = ops.matmul(wide, ops.transpose(cols, -1, -2)) if n.needs(0) else None
    second = ops.matmul(ops.transpose(rows, -1, -2), wide) if n.needs(1) else None
    return [_drop(first, a, -2), _drop(second, b, -1)]


def _drop(g: Tensor | None, x: Tensor, dim: int) -> Tensor | None:
    """Remove the dim that stands for a 1-D operand, so that the tape can un-broadcast the batch."""
    if g is None or x.ndim > 1:
        return g
    return ops.squeeze(g, dim)


@_rule("log_softmax")
def _log_softmax(n: Node, g: Tensor) -> Cotangents:
    """g − exp(y)·sum(g), in the op-math type."""
    wide, y = (ops.to(t, t.dtype.compute) for t in (g, n.y))
    return [ops.sub(wide, ops.mul(ops.exp(y), ops.sum(wide, n.dim, True)))]


@_rule("softmax")
def _softmax(n: Node, g: Tensor) -> Cotangents:
    """(g − sum(g·y))·y, in the op-math type."""
    wide, y = (ops.to(t, t.dtype.compute) for t in (g, n.y))
    return [ops.mul(ops.sub(wide, ops.sum(ops.mul(wide, y), n.dim, True)), y)]


# ---- views, indexing -----------------------------------------------------------------------------


@_rule("reshape")
def _reshape(n: Node, g: Tensor) -> Cotangents:
    return [ops.reshape(g, n.metas[0][1])]


@_rule("permute")
def _permute(n: Node, g: Tensor) -> Cotangents:
    inverse = sorted(range(len(n.dims)), key=lambda i: n.dims[i])
    return [ops.permute(g, inverse)]


@_rule("expand")
def _expand(n: Node, g: Tensor) -> Cotangents:
    return [g]


@_rule("slice")
def _slice(n: Node, g: Tensor) -> Cotangents:
    return [slices.slice_backward(g, n.metas[0][1], n.key)]


@_rule("add_at")
def _add_at(n: Node, g: Tensor) -> Cotangents:
    whole = slices.slice_backward(ops.getitem(g, n.key), n.metas[1][1], n.key)
    return [slices.passed_at(g, n.key), whole]


@_rule("passed_at")
def _passed_at(n: Node, g: Tensor) -> Cotangents:
    return [slices.passed_at(g, n.key)]


@_rule("slice_backward")
def _slice_backward(n: Node, g: Tensor) -> Cotangents:
    return [ops.getitem(g, n.key)]


@_rule("cat")
def _cat(n: Node, g: Tensor) -> Cotangents:
    parts, at = [], 0
    for _, shape in n.metas:
        if shape == (0,) and g.ndim != 1:
            parts.append(ops.zeros(shape, dtype=g.dtype))
            continue
        key = tuple(slice(None) for _ in range(n.dim)) + (slice(at, at + shape[n.dim]),)
        parts.append(ops.getitem(g, key))
        at += shape[n.dim]
    return parts


@_rule("index_select")
def _index_select(n: Node, g: Tensor) -> Cotangents:
    """Accumulated in ascending source index from +0."""
    dtype, shape = n.metas[0]
    return [ops.index_add(ops.zeros(shape, dtype=dtype), n.dim, n.index, g)]


@_rule("index_add")
def _index_add(n: Node, g: Tensor) -> Cotangents:
    return [g, ops.index_select(g, n.dim, n.index) if n.needs(1) else None]


@_rule("scatter")
def _scatter(n: Node, g: Tensor) -> Cotangents:
    kept = ops.scatter(g, n.dim, n.index, 0) if n.needs(0) else None
    if len(n.edges) == 1:
        return [kept]
    return [kept, ops.gather(g, n.dim, n.index) if n.needs(1) else None]


@_rule("scatter_add")
def _scatter_add(n: Node, g: Tensor) -> Cotangents:
    return [g, ops.gather(g, n.dim, n.index) if n.needs(1) else None]


@_rule("gather")
def _gather(n: Node, g: Tensor) -> Cotangents:
    dtype, shape = n.metas[0]
    return [ops.scatter_add(ops.zeros(shape, dtype=dtype), n.dim, n.index, g)]
