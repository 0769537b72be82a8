"""Pointwise functions of the oracle that are made of primitives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import ops
from .dtypes import DType, Number, result_type, to_float_type
from .ops import _common
from .pointwise import Operand, _real, _real2, copysign, exp2, log1p, pow, sin, trunc
from .tensor import Tensor

mul, sub, add, neg, where = ops.mul, ops.sub, ops.add, ops.neg, ops.where
INF, PI, LN2 = math.inf, math.pi, math.log(2)


def square(x: Tensor) -> Tensor:
    """x * x."""
    wide = ops.to(x, DType.I64) if x.dtype == DType.Bool else x
    return mul(wide, wide)


def reciprocal(x: Tensor) -> Tensor:
    """1 / x."""
    return ops.div(1, x)


def ldexp(x: Tensor, y: Tensor) -> Tensor:
    """x * 2^y."""
    return mul(x, pow(2.0, y))


def frac(x: Tensor) -> Tensor:
    """x - trunc(x)."""
    return sub(x, trunc(x))


def signbit(x: Tensor) -> Tensor:
    """Whether the sign bit is set."""
    return ops.lt(copysign(1.0, x), 0.0) if x.dtype.is_float else ops.lt(x, 0)


def _is_nan(x: Tensor) -> Tensor:
    return ops.ne(x, x)


def isnan(x: Tensor) -> Tensor:
    """True for NaN."""
    return _is_nan(x)


def isinf(x: Tensor) -> Tensor:
    """True for infinities."""
    return ops.eq(ops.abs(x), INF) if x.dtype.is_float else _is_nan(x)


def isfinite(x: Tensor) -> Tensor:
    """True for finite numbers."""
    return ops.lt(ops.abs(x), INF) if x.dtype.is_float else ops.eq(x, x)


def nan_to_num(
    x: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """NaN and infinities replaced."""
    if not x.dtype.is_float:
        return ops.clone(x)
    top = {
        DType.F16: 65504.0,
        DType.BF16: (2 - 2.0**-7) * 2.0**127,
        DType.F32: float(np.finfo(np.float32).max),
        DType.F64: float(np.finfo(np.float64).max),
    }[x.dtype]
    low = where(ops.eq(x, -INF), -top if neginf is None else neginf, x)
    finite = where(ops.eq(x, INF), top if posinf is None else posinf, low)
    return where(_is_nan(x), 0.0 if nan is None else nan, finite)


def fmax(x: Tensor, y: Tensor) -> Tensor:
    """The larger; a NaN gives way."""
    return where(ops.logical_or(ops.ge(x, y), _is_nan(y)), x, y)


def fmin(x: Tensor, y: Tensor) -> Tensor:
    """The smaller; a NaN gives way."""
    return where(ops.logical_or(ops.le(x, y), _is_nan(y)), x, y)


def heaviside(x: Tensor, values: Tensor) -> Tensor:
    """The step function."""
    return where(ops.eq(x, 0), values, ops.to(ops.gt(x, 0), x.dtype))


def deg2rad(x: Tensor) -> Tensor:
    """x * pi / 180."""
    return _real(x, lambda w: mul(w, PI / 180))


def rad2deg(x: Tensor) -> Tensor:
    """x * 180 / pi."""
    return _real(x, lambda w: mul(w, 180 / PI))


def logit(x: Tensor, eps: float | None = None) -> Tensor:
    """log(x / (1 - x))."""

    def fn(w: Tensor) -> Tensor:
        v = w if eps is None else where(ops.lt(w, eps), eps, where(ops.gt(w, 1 - eps), 1 - eps, w))
        return ops.log(ops.div(v, sub(1, v)))

    return _real(x, fn)


def sinc(x: Tensor) -> Tensor:
    """sin(pi x) / (pi x)."""

    def fn(w: Tensor) -> Tensor:
        zero = ops.eq(w, 0)
        angle = mul(where(zero, 1.0, w), PI)
        return where(zero, 1.0, ops.div(sin(angle), angle))

    return _real(x, fn)


def xlogy(x: Tensor, y: Operand) -> Tensor:
    """x * log(y); +0 where x is 0 and y no NaN."""
    if not isinstance(y, Tensor):
        y = ops.full((), y, to_float_type(_common((x, y))))

    def fn(a: Tensor, b: Tensor) -> Tensor:
        flat = ops.logical_and(ops.eq(a, 0), ops.logical_or(ops.le(b, 0), ops.eq(b, INF)))
        product = mul(a, ops.log(where(flat, 1.0, b)))
        return where(ops.eq(a, 0), ops.add(product, 0.0), product)

    return _real2(x, y, fn)


def logaddexp(x: Tensor, y: Tensor) -> Tensor:
    """log(exp(x) + exp(y))."""
    return _log_add(x, y, ops.exp, None)


def logaddexp2(x: Tensor, y: Tensor) -> Tensor:
    """log2(2^x + 2^y)."""
    return _log_add(x, y, exp2, 1 / LN2)


def _log_add(x: Tensor, y: Tensor, power: Any, scale: float | None) -> Tensor:
    def fn(a: Tensor, b: Tensor) -> Tensor:
        distance = ops.abs(where(ops.eq(a, b), 0.0, sub(a, b)))
        tail = log1p(power(neg(distance)))
        return add(ops.maximum(a, b), tail if scale is None else mul(tail, scale))

    return _real2(x, y, fn)


def _scaled_term(x: Tensor, term: Callable[[Tensor, Tensor], Tensor], a: Tensor, b: Tensor) -> Any:
    dtype = result_type([x.arr, a.arr, b.arr])
    wide = [ops.to(ops.to(v, dtype), dtype.compute) for v in (x, a, b)]
    return ops.to(add(wide[0], term(wide[1], wide[2])), dtype)


def addcmul(x: Tensor, a: Tensor, b: Tensor, value: Number = 1) -> Tensor:
    """x + value * a * b."""
    return _scaled_term(x, lambda p, q: mul(p if value == 1 else mul(p, value), q), a, b)


def addcdiv(x: Tensor, a: Tensor, b: Tensor, value: Number = 1) -> Tensor:
    """x + value * (a / b)."""

    def term(p: Tensor, q: Tensor) -> Tensor:
        quotient = ops.div(p, q)
        return quotient if value == 1 else mul(quotient, value)

    return _scaled_term(x, term, a, b)
