"""Activations, normalisations and binary cross entropy of the oracle, in ops (N6, N9)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from . import attention, ops, random
from .dtypes import DType, Number
from .grad import VJPS
from .pointwise import (
    _real,
    clamp_min,
    fma,
    log1p,
    rsqrt,
    sigmoid,
)
from .pointwise import expm1 as _expm1
from .tensor import Tensor, make, no_grad

mul, sub, add, neg, where = ops.mul, ops.sub, ops.add, ops.neg, ops.where


def _limited(x: Tensor, low: Number, high: Number) -> Tensor:
    return where(ops.ge(x, high), high, where(ops.le(x, low), low, x))


def _scaled(x: Tensor, factor: float) -> Tensor:
    return x if factor == 1 else mul(x, factor)


def _elu(x: Tensor, alpha: float, scale: float, input_scale: float) -> Tensor:
    low = ops.le(x, 0)
    e = _expm1(_scaled(where(low, x, 0.0), input_scale))
    return where(low, _scaled(e, alpha * scale), _scaled(x, scale))


def _softplus(x: Tensor, beta: float, threshold: float) -> Tensor:
    bx = _scaled(x, beta)
    far = ops.gt(bx, threshold)
    tail = log1p(ops.exp(where(far, 0.0, bx)))
    return where(far, x, tail if beta == 1 else ops.div(tail, beta))


def _log_sigmoid(x: Tensor) -> Tensor:
    return sub(ops.minimum(x, 0.0), log1p(ops.exp(neg(ops.abs(x)))))


def hardtanh(x: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Limited; no gradient at the limits."""
    return _real(x, lambda w: _limited(w, min_val, max_val))


def relu6(x: Tensor) -> Tensor:
    """hardtanh of [0, 6]."""
    return hardtanh(x, 0.0, 6.0)


def hardsigmoid(x: Tensor) -> Tensor:
    """relu6(x + 3) / 6."""
    return _real(x, lambda w: ops.div(_limited(add(w, 3.0), 0.0, 6.0), 6.0))


def hardswish(x: Tensor) -> Tensor:
    """x * relu6(x + 3) / 6."""
    return _real(x, lambda w: ops.div(mul(w, _limited(add(w, 3.0), 0.0, 6.0)), 6.0))


def leaky_relu(x: Tensor, negative_slope: float = 0.01) -> Tensor:
    """x above 0, else x * slope."""
    return _real(x, lambda w: where(ops.gt(w, 0), w, mul(w, negative_slope)))


def prelu(x: Tensor, weight: Tensor) -> Tensor:
    """leaky_relu with a slope per channel."""
    channel = 1 if x.ndim > 1 else 0
    shape = [weight.numel() if i == channel else 1 for i in range(x.ndim)]
    slope = ops.to(ops.reshape(weight, shape), x.dtype.compute)
    return _real(x, lambda w: where(ops.gt(w, 0), w, mul(w, slope)))


def elu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """alpha * (exp(x) - 1) below 0."""
    return _real(x, lambda w: _elu(w, alpha, 1, 1))


def selu(x: Tensor) -> Tensor:
    """Self-normalising elu."""
    return _real(
        x,
        lambda w: _elu(w, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1),
    )


def celu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """elu of x / alpha."""
    return _real(x, lambda w: _elu(w, alpha, 1, 1 / alpha))


def glu(x: Tensor, dim: int = -1) -> Tensor:
    """First half times sigmoid of the second."""
    d = dim % x.ndim
    half = x.shape[d] // 2

    def part(w: Tensor, begin: int) -> Tensor:
        return ops.getitem(w, tuple([slice(None)] * d) + (slice(begin, begin + half),))

    return _real(x, lambda w: mul(part(w, 0), sigmoid(part(w, half))))


def mish(x: Tensor) -> Tensor:
    """x * tanh(softplus(x))."""
    return _real(x, lambda w: mul(w, ops.tanh(_softplus(w, 1, 20))))


def softplus(x: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """log(1 + exp(beta x)) / beta."""
    return _real(x, lambda w: _softplus(w, beta, threshold))


def logsigmoid(x: Tensor) -> Tensor:
    """log(sigmoid(x))."""
    return _real(x, _log_sigmoid)


def softsign(x: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return _real(x, lambda w: ops.div(w, add(ops.abs(w), 1)))


def tanhshrink(x: Tensor) -> Tensor:
    """x - tanh(x)."""
    return _real(x, lambda w: sub(w, ops.tanh(w)))


def softshrink(x: Tensor, lambd: float = 0.5) -> Tensor:
    """Towards 0 by lambd."""

    def fn(w: Tensor) -> Tensor:
        inner = where(ops.lt(w, -lambd), add(w, lambd), mul(w, 0.0))
        return where(ops.gt(w, lambd), sub(w, lambd), inner)

    return _real(x, fn)


def hardshrink(x: Tensor, lambd: float = 0.5) -> Tensor:
    """0 within [-lambd, lambd]."""
    return _real(x, lambda w: where(ops.logical_and(ops.ge(w, -lambd), ops.le(w, lambd)), 0.0, w))


def threshold(x: Tensor, threshold: Number, value: Number) -> Tensor:
    """x above the threshold, else value."""
    return where(ops.le(x, threshold), value, x)


# ---- normalisation -------------------------------------------------------------------------------


def _wide(x: Tensor) -> Tensor:
    return ops.to(x, x.dtype.compute)


def _spread(x: Tensor, axes: Sequence[int]) -> tuple[Tensor, Tensor, Tensor, float]:
    """Mean, distance, sum of squared distances, count."""
    n = float(math.prod(x.shape[a] for a in axes))
    mean = ops.div(ops.sum(x, list(axes), True), n)
    distance = sub(x, mean)
    return mean, distance, ops.sum(mul(distance, distance), list(axes), True), n


def _affine(y: Tensor, w: Tensor | None, b: Tensor | None) -> Tensor:
    if w is not None and b is not None:
        return fma(y, _wide(w), _wide(b))
    if w is not None:
        return mul(y, _wide(w))
    return y if b is None else add(y, _wide(b))


def _channels(v: Tensor | None, x: Tensor) -> Tensor | None:
    if v is None:
        return None
    return ops.reshape(v, [v.numel() if i == 1 else 1 for i in range(x.ndim)])


def _own_statistics(x: Tensor, axes: Sequence[int], eps: float) -> tuple[Tensor, Tensor]:
    """(x - mean) * rstd and rstd."""
    _, distance, squares, n = _spread(x, axes)
    rstd = rsqrt(add(ops.div(squares, n), eps))
    return mul(distance, rstd), rstd


def _along(v: Tensor | None, x: Tensor, axes: Sequence[int]) -> Tensor | None:
    """A parameter that runs along `axes` as an operand of x, in the op-math type."""
    if v is None:
        return None
    return ops.reshape(_wide(v), [x.shape[i] if i in axes else 1 for i in range(x.ndim)])


def _normed(
    x: Tensor,
    w: Tensor | None,
    b: Tensor | None,
    along: Sequence[int],
    axes: Sequence[int],
    eps: float,
    given: tuple[Tensor, Tensor] | None = None,
) -> Tensor:
    """One op: x normalised over `axes`, or by a given mean and variance, its parameters along
    `along`."""
    parameters = [None if v is None else _wide(v) for v in (w, b)]
    with no_grad():
        if given is None:
            y, _ = _own_statistics(x, axes, eps)
        else:
            mean, var = (_along(v, x, along) for v in given)
            y = mul(sub(x, mean), rsqrt(add(var, eps)))
        w_along, b_along = (_along(v, x, along) for v in parameters)
        y = _affine(y, w_along, b_along)
    present = [v for v in parameters if v is not None]
    saved = {"x": x, "w": parameters[0], "b": parameters[1], "given": given, "eps": eps}
    return make(y.arr, "norm", [x, *present], along=along, axes=axes, **saved)


def _norm_rule(n: Any, g: Tensor) -> list[Tensor | None]:
    """rstd (gw - mean(gw) - y mean(gw y)), y = (x - mean) rstd, gw = g w; sums of g y and of g."""
    x, others = n.x, [i for i in range(n.x.ndim) if i not in n.along]
    gw = g if n.w is None else mul(g, _along(n.w, x, n.along))
    if n.given is None:
        y, rstd = _own_statistics(x, n.axes, n.eps)
        count = float(math.prod(x.shape[a] for a in n.axes))
        mean = ops.div(ops.sum(gw, list(n.axes), True), count)
        slope = mul(y, ops.div(ops.sum(mul(gw, y), list(n.axes), True), count))
        first = mul(sub(sub(gw, mean), slope), rstd)
    else:
        mean, var = (_along(v, x, n.along) for v in n.given)
        rstd = rsqrt(add(var, n.eps))
        y = mul(sub(x, mean), rstd)
        first = mul(gw, rstd)
    grads: list[Tensor | None] = [first]
    for v, slope in ((n.w, lambda: mul(g, y)), (n.b, lambda: g)):
        if v is not None:
            grads.append(ops.sum(slope(), others, False) if others else slope())
    return grads


VJPS["norm"] = _norm_rule


def layer_norm(
    x: Tensor,
    shape: Sequence[int],
    w: Tensor | None = None,
    b: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Over the last dims."""
    axes = list(range(x.ndim - len(shape), x.ndim))
    return ops.to(_normed(_wide(x), w, b, axes, axes, eps), x.dtype)


def rms_norm(
    x: Tensor, shape: Sequence[int], w: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """x / sqrt(mean of squares + eps)."""
    axes = list(range(x.ndim - len(shape), x.ndim))
    wide = _wide(x)
    n = float(math.prod(shape))
    least = 2.0**-52 if wide.dtype == DType.F64 else 2.0**-23
    square = ops.div(ops.sum(mul(wide, wide), axes, True), n)
    y = mul(wide, rsqrt(add(square, least if eps is None else eps)))
    return ops.to(_affine(y, w, None), x.dtype)


def group_norm(
    x: Tensor, groups: int, w: Tensor | None = None, b: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Over the channels of a group and space."""
    grouped = ops.reshape(_wide(x), (x.shape[0], groups, x.shape[1] // groups, *x.shape[2:]))
    _, distance, squares, n = _spread(grouped, list(range(2, grouped.ndim)))
    y = ops.reshape(mul(distance, rsqrt(add(ops.div(squares, n), eps))), x.shape)
    return ops.to(_affine(y, _channels(w, x), _channels(b, x)), x.dtype)


def batch_norm(
    x: Tensor,
    w: Tensor | None,
    b: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Tensor:
    """Over batch and space; running statistics are updated in place."""
    wide, given = _wide(x), None
    axes = [a for a in range(x.ndim) if a != 1]
    if training:
        with no_grad():
            mean, _, squares, n = _spread(wide, axes)
            for running, now in (
                (running_mean, mean),
                (running_var, ops.div(squares, max(0.0, n - 1))),
            ):
                if running is not None:
                    new = ops.to(ops.reshape(now, running.shape), running.dtype.compute)
                    mixed = add(mul(_wide(running), 1 - momentum), mul(new, momentum))
                    ops.copy_(running, ops.to(mixed, running.dtype))
    else:
        given = (_wide(running_mean), _wide(running_var))
    return ops.to(_normed(wide, w, b, [1], axes, eps, given), x.dtype)


def dropout(x: Tensor, p: float = 0.5, train: bool = True) -> Tensor:
    """keep = u < f32(1 - p), y = x * (keep ? f32(1 / (1 - p)) : +0)."""
    if not train or p == 0 or not x.numel():
        return x
    if p == 1:
        return ops.to(mul(_wide(x), 0.0), x.dtype)
    u = Tensor(random.uniform(x.shape, DType.F32, random.DEFAULT.take()))
    factor = where(ops.lt(u, 1 - p), 1 / (1 - p), 0.0)
    return ops.to(mul(_wide(x), ops.to(factor, DType.F32)), x.dtype)


# ---- attention -----------------------------------------------------------------------------------


def scaled_dot_product_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """N6; [B, H, L, D] operands with equal heads, no dropout."""
    factor = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    mask = None if attn_mask is None else attn_mask.arr
    arr = attention.attention(q.arr, k.arr, v.arr, mask, is_causal, factor)
    inputs = [q, k, v]
    if attn_mask is not None and attn_mask.dtype.is_float:
        inputs.append(attn_mask)
    saved = {"q": q, "k": k, "v": v, "mask": attn_mask, "scale": factor, "causal": is_causal}
    return make(arr, "attention", inputs, **saved)


def _attention_rule(n: Any, g: Tensor) -> list[Tensor | None]:
    q, k, v, wide = (_wide(t) for t in (n.q, n.k, n.v, g))
    s = mul(ops.matmul(q, ops.transpose(k, -1, -2)), n.scale)
    if n.mask is not None:
        s = where(n.mask, s, -math.inf) if n.mask.dtype == DType.Bool else add(s, _wide(n.mask))
    if n.causal:
        rows, keys = ops.arange(s.shape[-2]), ops.arange(s.shape[-1])
        s = where(ops.ge(ops.reshape(rows, (-1, 1)), ops.reshape(keys, (1, -1))), s, -math.inf)
    p = where(ops.eq(s, -math.inf), 0.0, ops.softmax(s, -1))
    dp = ops.matmul(wide, ops.transpose(v, -1, -2))
    ds = mul(p, sub(dp, ops.sum(mul(dp, p), -1, True)))
    scaled = mul(ds, n.scale)
    grads: list[Tensor | None] = [
        ops.matmul(scaled, k),
        ops.matmul(ops.transpose(scaled, -1, -2), q),
        ops.matmul(ops.transpose(p, -1, -2), wide),
    ]
    return [*grads, ds][: len(n.edges)]


VJPS["attention"] = _attention_rule


# ---- binary cross entropy ------------------------------------------------------------------------


def _bce_terms(x: Tensor, t: Tensor) -> Tensor:
    with no_grad():
        off = clamp_min(log1p(neg(x)), -100.0)
        on = clamp_min(ops.log(x), -100.0)
        value = sub(mul(sub(t, 1), off), mul(t, on))
    return make(value.arr, "bce", [x, t], x=x, t=t)


def _bce_rule(n: object, g: Tensor) -> list[Tensor | None]:
    x, t = n.x, n.t  # type: ignore[attr-defined]
    spread = clamp_min(mul(sub(1, x), x), 1e-12)
    off = clamp_min(log1p(neg(x)), -100.0)
    on = clamp_min(ops.log(x), -100.0)
    return [ops.div(mul(g, sub(x, t)), spread), mul(g, sub(off, on))]


VJPS["bce"] = _bce_rule


def _reduced(terms: Tensor, weight: Tensor | None, reduction: str, dtype: DType) -> Tensor:
    if weight is not None:
        terms = mul(terms, _wide(weight))
    if reduction != "none":
        terms = ops.mean(terms) if reduction == "mean" else ops.sum(terms)
    return ops.to(terms, dtype)


def binary_cross_entropy(
    x: Tensor, t: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """Of probabilities."""
    return _reduced(_bce_terms(_wide(x), _wide(t)), weight, reduction, x.dtype)


def binary_cross_entropy_with_logits(
    x: Tensor,
    t: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Of logits."""
    w, y = _wide(x), _wide(t)
    tail = _log_sigmoid(w)
    if pos_weight is not None:
        tail = mul(add(mul(sub(_wide(pos_weight), 1), y), 1), tail)
    return _reduced(sub(mul(sub(1, y), w), tail), weight, reduction, x.dtype)
