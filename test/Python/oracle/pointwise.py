"""Pointwise functions of the oracle: primitives with their derivatives, then what is made of primitives.

Transcendental functions are the table's bodies (N2); everything else is restated with NumPy. In half precision each
function is computed in f32 and rounded once (N6).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import body, ops
from .dtypes import DType, Number, to_float_type
from .grad import VJPS
from .ops import _common, _constant, _pointwise
from .tensor import Tensor, make

Operand = Tensor | Number
INF = math.inf
PI = math.pi


def _unary(name: str, fn: Callable[[np.ndarray], np.ndarray]) -> Callable[[Tensor], Tensor]:
    """A function of real numbers over op-math values; integers become the default float."""

    def function(x: Tensor) -> Tensor:
        return make(_pointwise(fn, to_float_type(x.dtype), (x,)), name, [x], x=x)

    function.__name__ = name
    return function


def _table(name: str) -> Callable[[Tensor], Tensor]:
    return _unary(name, lambda a: body.apply(name, _dtype_of(a), a))


def _dtype_of(a: np.ndarray) -> DType:
    return DType.F64 if a.dtype == np.float64 else DType.F32


def _body(name: str, *args: np.ndarray) -> np.ndarray:
    return body.apply(name, _dtype_of(args[0]), *args)


TABLE = """sigmoid erf erfc erfinv lgamma digamma expm1 exp2 log1p log2 log10 sin cos tan asin acos
atan sinh cosh asinh acosh atanh""".split()
for _name in TABLE:
    globals()[_name] = _table(_name)
sigmoid, erf, exp2, log1p = (_table(n) for n in ("sigmoid", "erf", "exp2", "log1p"))
sin, cos, sinh, cosh = (_table(n) for n in ("sin", "cos", "sinh", "cosh"))
expm1, digamma = _table("expm1"), _table("digamma")


def _c(a: np.ndarray, value: float) -> np.ndarray:
    return np.asarray(value, a.dtype)


rsqrt = _unary("rsqrt", lambda a: _c(a, 1) / np.sqrt(a))


def _silu(a: np.ndarray) -> np.ndarray:
    return a * _body("sigmoid", a)


def _gelu(a: np.ndarray) -> np.ndarray:
    return (a * _c(a, 0.5)) * (_body("erf", a * _c(a, math.sqrt(0.5))) + _c(a, 1))


def _gelu_tanh(a: np.ndarray) -> np.ndarray:
    inner = (a + a * a * a * _c(a, 0.044715)) * _c(a, math.sqrt(2 / PI))
    return (a * _c(a, 0.5)) * (_body("tanh", inner) + _c(a, 1))


silu, gelu_erf, gelu_tanh = (
    _unary(n, f) for n, f in (("silu", _silu), ("gelu", _gelu), ("gelu_tanh", _gelu_tanh))
)


def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    """torch.nn.functional.gelu."""
    return gelu_tanh(x) if approximate == "tanh" else gelu_erf(x)


def _whole(name: str, fn: Callable[[np.ndarray], np.ndarray]) -> Callable[[Tensor], Tensor]:
    def function(x: Tensor) -> Tensor:
        if not x.dtype.is_float:
            return ops.clone(x)
        return make(_pointwise(fn, x.dtype, (x,)), name, [x])

    return function


floor, ceil, trunc = (_whole(f.__name__, f) for f in (np.floor, np.ceil, np.trunc))
_round = _whole("round", np.rint)


def round(x: Tensor, decimals: int = 0) -> Tensor:
    """To the nearest multiple of 10^-decimals, halves to the even one."""
    if not decimals or not x.dtype.is_float:
        return _round(x)
    scale = 10.0 ** abs(decimals)

    def scaled(w: Tensor) -> Tensor:
        if decimals > 0:
            return ops.div(_round(ops.mul(w, scale)), scale)
        return ops.mul(_round(ops.div(w, scale)), scale)

    return _real(x, scaled)


def _real(x: Tensor, fn: Callable[[Tensor], Tensor]) -> Tensor:
    """fn in the op-math type of x's float type, rounded once."""
    dtype = to_float_type(x.dtype)
    return ops.to(fn(ops.to(ops.to(x, dtype), dtype.compute)), dtype)


def _real2(x: Operand, y: Operand, fn: Callable[[Any, Any], Tensor]) -> Tensor:
    dtype = to_float_type(_common((x, y)))

    def enter(v: Operand) -> Operand:
        return ops.to(ops.to(v, dtype), dtype.compute) if isinstance(v, Tensor) else v

    return ops.to(fn(enter(x), enter(y)), dtype)


# ---- two operands --------------------------------------------------------------------------------


def _two(name: str, fn: Callable[..., np.ndarray], x: Operand, y: Operand, dtype: DType) -> Tensor:
    inputs = [t if isinstance(t, Tensor) else _constant(t, dtype) for t in (x, y)]
    return make(_pointwise(fn, dtype, (x, y)), name, inputs, a=x, b=y)


def _trunc_div(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Integer division towards zero; INT_MIN / -1 wraps (N8)."""
    if np.any(b == 0):
        raise RuntimeError("ZeroDivisionError")
    magnitude = np.abs(a.astype(object)) // np.abs(b.astype(object))
    signed = np.where((a < 0) != (b < 0), -magnitude, magnitude)
    return np.vectorize(lambda v: _wrap(int(v), a.dtype), otypes=[a.dtype])(signed)


def _wrap(value: int, dtype: np.dtype) -> int:
    bits = dtype.itemsize * 8
    value %= 1 << bits
    return value - (1 << bits) if dtype.kind == "i" and value >> (bits - 1) else value


def _int_mod(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, b = np.broadcast_arrays(np.asarray(a), np.asarray(b))
    return np.asarray(a - _trunc_div(a, b) * b) if a.size else a


def _float_mod(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    m = np.asarray(np.fmod(a, b))
    return np.where((m != 0) & ((m < 0) != (b < 0)), m + b, m)


def _no_bool(name: str, dtype: DType) -> None:
    if dtype == DType.Bool:
        raise NotImplementedError(f'"{name}" not implemented for Bool')


def _div_kernel(floats: Any, integers: Any) -> Any:
    def kernel(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        a, b = np.broadcast_arrays(np.asarray(a), np.asarray(b))
        if a.dtype.kind == "f":
            return np.asarray(floats(a, b))
        return np.asarray(integers(a, b)) if a.size else a

    return kernel


def _floor_div_float(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    m = np.fmod(a, b)
    q = (a - m) / b
    q = np.where((m != 0) & ((m < 0) != (b < 0)), q - _c(a, 1), q)
    whole = np.floor(q)
    whole = np.where(q - whole > 0.5, whole + _c(a, 1), whole)
    zero = np.copysign(_c(a, 0), a / b)
    return np.where(b == 0, a / b, np.where(q == 0, zero, whole)).astype(a.dtype)


def _floor_div_int(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    q, m = _trunc_div(a, b), _int_mod(a, b)
    return np.where((m != 0) & ((m < 0) != (b < 0)), q - 1, q).astype(a.dtype)


def _remainder_int(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    m = _int_mod(a, b)
    return np.where((m != 0) & ((m < 0) != (b < 0)), m + b, m).astype(a.dtype)


_DIVISIONS = {
    "div_trunc": _div_kernel(lambda a, b: np.trunc(a / b), _trunc_div),
    "floor_divide": _div_kernel(_floor_div_float, _floor_div_int),
    "remainder": _div_kernel(_float_mod, _remainder_int),
    "fmod": _div_kernel(np.fmod, _int_mod),
}


def _division(name: str) -> Callable[[Operand, Operand], Tensor]:
    def function(x: Operand, y: Operand) -> Tensor:
        dtype = _common((x, y))
        _no_bool(name, dtype)
        return _two(name, _DIVISIONS[name], x, y, dtype)

    return function


div_trunc, floor_divide, remainder, fmod = (_division(n) for n in _DIVISIONS)


def div(x: Operand, y: Operand, rounding_mode: str | None = None) -> Tensor:
    """torch.div."""
    if rounding_mode is None:
        return ops.div(x, y)
    return (div_trunc if rounding_mode == "trunc" else floor_divide)(x, y)


def _bits(name: str, fn: Callable[..., np.ndarray]) -> Callable[[Operand, Operand], Tensor]:
    def function(x: Operand, y: Operand) -> Tensor:
        dtype = _common((x, y))
        if dtype.is_float:
            raise NotImplementedError(f"{name} of floats")
        return make(_pointwise(fn, dtype, (x, y)))

    return function


def _shift(left: bool) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    def kernel(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        width = a.dtype.itemsize * 8
        inside = (b >= 0) & (b < width)
        count = np.where(inside, b, 0).astype(a.dtype)
        if left:
            return np.where(inside, a << count, 0).astype(a.dtype)
        return np.where(inside, a >> count, np.where(a < 0, -1, 0)).astype(a.dtype)

    return kernel


bitwise_and = _bits("bitwise_and", lambda a, b: a & b)
bitwise_or = _bits("bitwise_or", lambda a, b: a | b)
bitwise_xor = _bits("bitwise_xor", lambda a, b: a ^ b)
bitwise_left_shift = _bits("bitwise_left_shift", _shift(True))
bitwise_right_shift = _bits("bitwise_right_shift", _shift(False))


def bitwise_not(x: Tensor) -> Tensor:
    """Every bit flipped."""
    return make(_pointwise(lambda a: ~a, x.dtype, (x,)))


def logical_xor(x: Tensor, y: Tensor) -> Tensor:
    """Whether one of the two is non-zero."""
    return ops.ne(ops.to(x, DType.Bool), ops.to(y, DType.Bool))


def _power_int(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """By squaring in uint64, which wraps; a negative exponent leaves 1, -1 or 0."""
    a, b = np.broadcast_arrays(np.asarray(a, np.int64), np.asarray(b, np.int64))
    base, e = a.astype(np.uint64), np.maximum(b, 0).astype(np.uint64)
    out = np.ones_like(base)
    for _ in range(63):
        out = np.where(e & np.uint64(1), out * base, out)
        base, e = base * base, e >> np.uint64(1)
    reciprocal = np.where(a == 1, 1, np.where(a == -1, np.where(b % 2 == 0, 1, -1), 0))
    return np.where(b < 0, reciprocal, out.astype(np.int64))


def _power(x: Tensor, y: Tensor) -> Tensor:
    dtype = _common((x, y))
    if dtype.is_float:
        return _two("pow", lambda a, b: _body("pow", a, b), x, y, dtype)
    _no_bool("pow", dtype)
    wide = [ops.to(v, DType.I64) for v in (x, y)]
    return ops.to(_two("pow", _power_int, wide[0], wide[1], DType.I64), dtype)


def pow(x: Operand, y: Operand) -> Tensor:
    """torch.pow; numbers that PyTorch has a shorter way for take it."""
    dtype = _common((x, y))
    if not isinstance(x, Tensor):
        if not dtype.is_float:
            return ops.to(_power(ops.full((), x, DType.I64), ops.to(y, DType.I64)), dtype)
        return _real(ops.to(y, dtype), lambda w: _power(ops.full((), x, w.dtype), w))
    if isinstance(y, Tensor):
        return _power(x, y)
    if not dtype.is_float:
        if y < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        _no_bool("pow", dtype)
        return ops.to(_power(ops.to(x, DType.I64), ops.full((), int(y), DType.I64)), dtype)
    return _real(ops.to(x, dtype), lambda w: _power_by_number(w, float(y)))


def _power_by_number(w: Tensor, e: float) -> Tensor:
    short: dict[float, Callable[[], Tensor]] = {
        1: lambda: ops.mul(w, 1),
        2: lambda: ops.mul(w, w),
        3: lambda: ops.mul(ops.mul(w, w), w),
        0.5: lambda: ops.sqrt(w),
        -0.5: lambda: rsqrt(w),
        -1: lambda: ops.div(1, w),
        -2: lambda: ops.div(1, ops.mul(w, w)),
    }
    return short[e]() if e in short else _power(w, ops.full((), e, w.dtype))


def float_power(x: Tensor, y: Operand) -> Tensor:
    """A power in float64."""
    wide = ops.to(x, DType.F64)
    return pow(wide, ops.to(y, DType.F64) if isinstance(y, Tensor) else float(y))


def atan2(x: Operand, y: Operand) -> Tensor:
    """The angle of (y, x)."""
    dtype = to_float_type(_common((x, y)))
    return _two("atan2", lambda a, b: _body("atan2", a, b), x, y, dtype)


def hypot(x: Tensor, y: Tensor) -> Tensor:
    """By the table's body."""
    dtype = _common((x, y))
    if not dtype.is_float:
        raise NotImplementedError("hypot of integers")
    return _two("hypot", lambda a, b: _body("hypot", a, b), x, y, dtype)


def copysign(x: Operand, y: Operand) -> Tensor:
    """|x| with y's sign."""
    return _two("copysign", np.copysign, x, y, to_float_type(_common((x, y))))


def nextafter(x: Tensor, y: Tensor) -> Tensor:
    """The neighbour of x towards y."""
    return make(_pointwise(np.nextafter, _common((x, y)), (x, y)))


def lerp(x: Tensor, y: Tensor, w: Operand) -> Tensor:
    """x + w * (y - x), from the nearer end."""
    dtype = _common((x, y))

    def kernel(a: np.ndarray, b: np.ndarray, t: np.ndarray) -> np.ndarray:
        d = b - a
        return np.where(np.abs(t) < 0.5, a + t * d, b - d * (_c(a, 1) - t))

    inputs = [t if isinstance(t, Tensor) else _constant(t, dtype) for t in (x, y, w)]
    return make(_pointwise(kernel, dtype, (x, y, w)), "lerp", inputs, a=x, b=y, w=w)


def fma(x: Tensor, y: Tensor, z: Tensor) -> Tensor:
    """x * y + z with one rounding."""
    from .fma import fma as exact

    dtype = _common((x, y, z))
    arr = _pointwise(lambda a, b, c: exact(*np.broadcast_arrays(a, b, c)), dtype, (x, y, z))
    return make(arr, "fma", [x, y, z], a=x, b=y)


def clamp_min(x: Tensor, y: Operand) -> Tensor:
    """max(x, limit)."""
    return _two("clamp_min", body.maximum, x, y, _common((x, y)))


def clamp_max(x: Tensor, y: Operand) -> Tensor:
    """min(x, limit)."""
    return _two("clamp_max", body.minimum, x, y, _common((x, y)))


def clamp(x: Tensor, min: Operand | None = None, max: Operand | None = None) -> Tensor:
    """torch.clamp."""
    if min is None and max is None:
        raise RuntimeError("clamp(): expected at least one of min and max")
    low = x if min is None else clamp_min(x, min)
    return low if max is None else clamp_max(low, max)


clip = clamp


# ---- derivatives ---------------------------------------------------------------------------------

mul, sub, add, neg, exp, where = ops.mul, ops.sub, ops.add, ops.neg, ops.exp, ops.where
LN2, LN10 = math.log(2), math.log(10)


def _bell(n: Any, g: Tensor) -> list[Tensor | None]:
    return [mul(mul(2 / math.sqrt(PI), exp(neg(mul(n.x, n.x)))), g)]


def trigamma(x: Tensor) -> Tensor:
    """The derivative of digamma."""
    dtype = to_float_type(x.dtype)
    return make(_pointwise(lambda a: _body("trigamma", a), dtype, (x,)))


def _zero(n: Any, g: Tensor) -> list[Tensor | None]:
    return [mul(g, 0.0) for _ in n.edges]


def _pow_rule(n: Any, g: Tensor) -> list[Tensor | None]:
    out: list[Tensor | None] = [None, None]
    if n.needs(0):
        slope = mul(n.b, _power(n.a, sub(n.b, 1)))
        out[0] = where(ops.eq(n.b, 0), 0, mul(g, slope))
    if n.needs(1):
        flat = ops.logical_and(ops.eq(n.a, 0), ops.ge(n.b, 0))
        out[1] = where(flat, 0, mul(g, mul(n.y, ops.log(n.a))))
    return out


def _wide_pair(n: Any, g: Tensor) -> tuple[Tensor, Tensor]:
    return ops.to(n.x, n.x.dtype.compute), ops.to(g, g.dtype.compute)


def _silu_rule(n: Any, g: Tensor) -> list[Tensor | None]:
    x, wide = _wide_pair(n, g)
    s = sigmoid(x)
    return [mul(wide, mul(s, add(mul(x, sub(1, s)), 1)))]


def _gelu_rule(n: Any, g: Tensor) -> list[Tensor | None]:
    x, wide = _wide_pair(n, g)
    cdf = mul(add(erf(mul(x, math.sqrt(0.5))), 1), 0.5)
    pdf = mul(exp(mul(mul(x, x), -0.5)), 1 / math.sqrt(2 * PI))
    return [mul(wide, add(cdf, mul(x, pdf)))]


def _gelu_tanh_rule(n: Any, g: Tensor) -> list[Tensor | None]:
    x, wide = _wide_pair(n, g)
    k, c = math.sqrt(2 / PI), 0.044715
    x2 = mul(x, x)
    t = ops.tanh(mul(add(x, mul(mul(x2, x), c)), k))
    first = mul(add(t, 1), 0.5)
    slope = mul(add(mul(x2, 3 * c), 1), k)
    second = mul(mul(mul(x, 0.5), sub(1, mul(t, t))), slope)
    return [mul(wide, add(first, second))]


def _atan2_rule(n: Any, g: Tensor) -> list[Tensor | None]:
    square = add(mul(n.a, n.a), mul(n.b, n.b))
    return [mul(g, ops.div(n.b, square)), mul(g, ops.div(neg(n.a), square))]


def _per_quotient(quotient: Any) -> Any:
    def rule(n: Any, g: Tensor) -> list[Tensor | None]:
        return [g, mul(neg(g), quotient(n.a, n.b)) if n.needs(1) else None]

    return rule


def _clamp_rule(inside: Any, outside: Any) -> Any:
    return lambda n, g: [where(inside(n.a, n.b), g, 0), where(outside(n.a, n.b), g, 0)]


_ONE_MINUS_SQUARE = lambda x: sub(1, mul(x, x))  # noqa: E731
VJPS.update(
    {
        "sigmoid": lambda n, g: [mul(mul(g, sub(1, n.y)), n.y)],
        "erf": _bell,
        "erfc": lambda n, g: [mul(mul(-2 / math.sqrt(PI), exp(neg(mul(n.x, n.x)))), g)],
        "erfinv": lambda n, g: [mul(mul(0.88622692545275801, exp(mul(n.y, n.y))), g)],
        "lgamma": lambda n, g: [mul(g, digamma(n.x))],
        "digamma": lambda n, g: [mul(g, trigamma(n.x))],
        "expm1": lambda n, g: [mul(g, add(n.y, 1))],
        "exp2": lambda n, g: [mul(mul(g, n.y), LN2)],
        "log1p": lambda n, g: [ops.div(g, add(n.x, 1))],
        "log2": lambda n, g: [ops.div(g, mul(n.x, LN2))],
        "log10": lambda n, g: [ops.div(g, mul(n.x, LN10))],
        "sin": lambda n, g: [mul(g, cos(n.x))],
        "cos": lambda n, g: [mul(g, neg(sin(n.x)))],
        "tan": lambda n, g: [mul(g, add(mul(n.y, n.y), 1))],
        "asin": lambda n, g: [mul(g, rsqrt(_ONE_MINUS_SQUARE(n.x)))],
        "acos": lambda n, g: [mul(g, neg(rsqrt(_ONE_MINUS_SQUARE(n.x))))],
        "atan": lambda n, g: [ops.div(g, add(mul(n.x, n.x), 1))],
        "sinh": lambda n, g: [mul(g, cosh(n.x))],
        "cosh": lambda n, g: [mul(g, sinh(n.x))],
        "asinh": lambda n, g: [mul(g, rsqrt(add(mul(n.x, n.x), 1)))],
        "acosh": lambda n, g: [mul(g, rsqrt(sub(mul(n.x, n.x), 1)))],
        "atanh": lambda n, g: [ops.div(g, _ONE_MINUS_SQUARE(n.x))],
        "rsqrt": lambda n, g: [mul(mul(-0.5, g), mul(mul(n.y, n.y), n.y))],
        "silu": _silu_rule,
        "gelu": _gelu_rule,
        "gelu_tanh": _gelu_tanh_rule,
        "pow": _pow_rule,
        "atan2": _atan2_rule,
        "hypot": lambda n, g: [mul(g, ops.div(v, n.y)) for v in (n.a, n.b)],
        "copysign": lambda n, g: [
            where(ops.eq(n.a, 0), 0, mul(g, ops.div(n.y, n.a))),
            mul(g, 0.0),
        ],
        "lerp": lambda n, g: [sub(g, mul(g, n.w)), mul(g, n.w), mul(g, sub(n.b, n.a))],
        "fma": lambda n, g: [mul(g, n.b), mul(g, n.a), g],
        "clamp_min": _clamp_rule(ops.ge, ops.lt),
        "clamp_max": _clamp_rule(ops.le, ops.gt),
        "remainder": _per_quotient(floor_divide),
        "fmod": _per_quotient(div_trunc),
        **dict.fromkeys(("floor", "ceil", "trunc", "round", "floor_divide", "div_trunc"), _zero),
    }
)
