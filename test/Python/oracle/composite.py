"""Functions that are several primitives (N6, RATIONALE.md): their gradients are those of the primitives.

In f16 and bf16 each is computed in the op-math type, cast up at entry, and rounded once at the exit.
"""

from __future__ import annotations

from typing import Any

from . import ops
from .dtypes import DType, Number, cast, from_compute, number_to_compute, result_type
from .fused import Reduction
from .tensor import Tensor

Operand = Tensor | Number


def _wide(x: Tensor) -> Tensor:
    return ops.to(x, x.dtype.compute)


def _scaled(x: Operand, y: Operand, alpha: Number, op: Any) -> Tensor:
    """x op alpha·y: both cast to the common type, the product rounded in the op-math type."""
    dtype = result_type([v.arr if isinstance(v, Tensor) else v for v in (x, y)])
    if dtype.compute.is_float is False and isinstance(alpha, float):
        raise RuntimeError("For integral input tensors, argument alpha must not be a float.")
    compute = dtype.compute

    def enter(v: Operand) -> Tensor:
        if isinstance(v, Tensor):
            return ops.to(ops.to(v, dtype), compute)
        return Tensor(from_compute(number_to_compute(v, dtype), compute))

    factor = bool(alpha) if dtype == DType.Bool else alpha
    product = ops.mul(enter(y), factor)  # before x enters: gradients come by ascending slot (N10)
    return ops.to(op(enter(x), product), dtype)


def add(x: Operand, y: Operand, alpha: Number = 1) -> Tensor:
    """x + alpha·y."""
    return ops.add(x, y) if alpha == 1 else _scaled(x, y, alpha, ops.add)


def sub(x: Operand, y: Operand, alpha: Number = 1) -> Tensor:
    """x − alpha·y; bool operands are refused."""
    ops.refuse_bool(x, y)
    return ops.sub(x, y) if alpha == 1 else _scaled(x, y, alpha, ops.sub)


def index_add(x: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Number = 1) -> Tensor:
    """x with alpha·source rows added in ascending source index."""
    if alpha == 1:
        return ops.index_add(x, dim, index, source)
    added = ops.mul(_wide(source), alpha)
    return ops.to(ops.index_add(_wide(x), dim, index, added), x.dtype)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x · weightᵀ by N3 over all rows of x together, then the bias."""
    rows = _wide(x)
    wide = _wide(weight)
    if x.ndim > 2 and weight.ndim == 2:
        count = 1
        for size in x.shape[:-1]:
            count *= size
        rows = ops.reshape(rows, (count, x.shape[-1]))
    y = ops.matmul(rows, ops.t(wide))
    if bias is not None:
        y = ops.add(y, _wide(bias))
    if x.ndim > 2 and weight.ndim == 2:
        y = ops.reshape(y, (*x.shape[:-1], weight.shape[0]))
    return ops.to(y, x.dtype)


def addmm(c: Tensor, a: Tensor, b: Tensor, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """product·alpha (rounded) + input·beta (rounded); beta = 0 does not read the input."""
    y = ops.matmul(_wide(a), _wide(b))
    if alpha != 1:
        y = ops.mul(y, alpha)
    if beta != 0:
        y = ops.add(y, _wide(c) if beta == 1 else ops.mul(_wide(c), beta))
    return ops.to(y, a.dtype)


# ---- cross entropy -------------------------------------------------------------------------------


def _along_classes(weight: Tensor, x: Tensor, dim: int) -> Tensor:
    return ops.reshape(weight, [weight.numel() if i == dim else 1 for i in range(x.ndim)])


def _index_terms(
    logp: Tensor, target: Tensor, weight: Tensor | None, ignore: int, smoothing: float
) -> tuple[Tensor, Tensor]:
    """(row terms, what `mean` divides by): t = −logp[y]·w[y], ignored rows +0."""
    dim = 0 if logp.ndim == 1 else 1
    classes = logp.shape[dim]
    used = ops.ne(target, ignore)
    inside = used.arr.data & ((target.arr.data < 0) | (target.arr.data >= classes))
    if inside.any():
        raise IndexError(f"Target is out of bounds: expected 0 <= target < {classes}")
    safe = ops.where(used, target, 0)
    picked = ops.gather(logp, dim, ops.unsqueeze(safe, dim))
    t = ops.neg(ops.reshape(picked, target.shape))
    w = None
    if weight is not None:
        w = ops.reshape(
            ops.index_select(weight, 0, ops.reshape(safe, (-1,) if safe.numel() else (0,))),
            target.shape,
        )
        t = ops.mul(t, w)
    if smoothing:
        spread = ops.neg(logp)
        if weight is not None:
            spread = ops.mul(spread, _along_classes(weight, logp, dim))
        spread = ops.sum(spread, dim)
        t = ops.add(ops.mul(t, 1 - smoothing), ops.mul(spread, smoothing / classes))
    count = ops.sum(used) if w is None else ops.sum(ops.where(used, w, 0.0))
    return ops.where(used, t, 0.0), ops.to(count, logp.dtype)


def _probability_terms(
    logp: Tensor, target: Tensor, weight: Tensor | None, smoothing: float
) -> Tensor:
    """t = −N4 sum over c of (logp·w)·target; smoothing mixes the target with 1/C first."""
    dim = 0 if logp.ndim == 1 else 1
    target = ops.to(target, logp.dtype)
    if smoothing:
        target = ops.add(ops.mul(target, 1 - smoothing), smoothing / max(logp.shape[dim], 1))
    scaled = logp if weight is None else ops.mul(logp, _along_classes(weight, logp, dim))
    return ops.neg(ops.sum(ops.mul(scaled, target), dim))


def cross_entropy(
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: Reduction = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """torch.nn.functional.cross_entropy."""
    dim = 0 if x.ndim == 1 else 1
    indexed = not target.dtype.is_float
    expected = x.shape[:dim] + x.shape[dim + 1 :] if indexed else x.shape
    if target.shape != expected:
        raise ValueError(
            f"cross_entropy: expected target of shape {list(expected)}, got {list(target.shape)}"
        )
    logp = ops.log_softmax(_wide(x), dim)
    wide = None if weight is None else ops.to(weight, logp.dtype)
    if indexed:
        terms, total = _index_terms(logp, target, wide, ignore_index, label_smoothing)
    else:
        terms = _probability_terms(logp, target, wide, label_smoothing)
        total = Tensor(cast(ops.full((), terms.numel(), DType.I64).arr, logp.dtype))
    if reduction == "none":
        return ops.to(terms, x.dtype)
    loss = ops.sum(terms)
    return ops.to(loss if reduction == "sum" else ops.div(loss, total), x.dtype)
