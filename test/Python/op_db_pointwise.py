"""Rows of pointwise functions."""

from __future__ import annotations

from typing import Any

from op_row import INTEGRAL, NUMERIC, Row
from op_samples_pointwise import (
    angles,
    bases,
    divisions,
    few_binary,
    few_mixed,
    few_unary,
    halves,
    integers,
    lerps,
    limits,
    powers,
    prelus,
    shifts,
    ternary,
    unit_unary,
)
from oracle.dtypes import FLOATS, INTS, DType

WIDE = (DType.F32, DType.F64)


def _call(name: str, **options: Any) -> Any:
    return lambda F, *args: getattr(F, name)(*args, **options)


REAL = (
    "sigmoid erf erfc lgamma expm1 exp2 log1p log2 log10 sinh cosh atan asinh acosh rsqrt".split()
)
SMALL = (DType.I8, DType.I64, *FLOATS)

ROWS: tuple[Row, ...] = (
    *(Row(n, _call(n), few_unary, SMALL) for n in REAL),
    Row("digamma", _call("digamma"), few_unary, SMALL, grad=False),
    *(Row(n, _call(n), unit_unary, SMALL) for n in "asin acos atanh erfinv".split()),
    *(Row(n, _call(n), angles, SMALL) for n in "sin cos tan".split()),
    Row("silu", _call("silu"), few_unary, FLOATS),
    Row("gelu", _call("gelu"), few_unary, FLOATS),
    Row("gelu_tanh", _call("gelu", approximate="tanh"), few_unary, FLOATS),
    *(Row(n, _call(n), few_unary, NUMERIC) for n in "floor ceil trunc round".split()),
    Row("round 2", _call("round", decimals=2), few_unary, FLOATS),
    Row("round -1", _call("round", decimals=-1), few_unary, FLOATS),
    Row("frac", _call("frac"), few_unary, FLOATS),
    Row("pow", _call("pow"), powers, NUMERIC),
    Row("pow_left", lambda F, x, y: x**y, bases, (DType.I32, DType.I64, *FLOATS)),
    Row("float_power", _call("float_power"), powers, SMALL),
    Row("square", _call("square"), few_unary),
    Row("reciprocal", _call("reciprocal"), few_unary, SMALL),
    Row("atan2", _call("atan2"), few_binary, SMALL),
    Row("hypot", _call("hypot"), few_binary, FLOATS),
    Row("copysign", _call("copysign"), few_mixed, SMALL),
    Row("nextafter", _call("nextafter"), few_binary, WIDE, grad=False),
    Row("lerp", _call("lerp"), lerps, FLOATS),
    Row("addcmul", _call("addcmul", value=3), ternary, NUMERIC),
    Row("addcdiv", _call("addcdiv", value=0.5), ternary, FLOATS),
    Row("clamp_min", _call("clamp_min"), few_mixed, NUMERIC),
    Row("clamp_max", _call("clamp_max"), few_mixed, NUMERIC),
    Row("clamp", _call("clamp"), limits, NUMERIC),
    Row("div_trunc", _call("div", rounding_mode="trunc"), divisions, NUMERIC),
    Row("div_floor", _call("div", rounding_mode="floor"), divisions, NUMERIC),
    *(Row(n, _call(n), divisions, NUMERIC) for n in "floor_divide remainder fmod".split()),
    Row("mod", lambda F, x, y: x % y, divisions, NUMERIC),
    *(
        Row(n, _call(n), integers, INTEGRAL, grad=False)
        for n in "bitwise_and bitwise_or bitwise_xor".split()
    ),
    Row("bitwise_not", _call("bitwise_not"), few_unary, INTEGRAL, grad=False),
    *(
        Row(n, _call(n), shifts, INTS, grad=False)
        for n in "bitwise_left_shift bitwise_right_shift".split()
    ),
    Row("logical_xor", _call("logical_xor"), few_binary, grad=False),
    Row("ldexp", _call("ldexp"), few_binary, FLOATS),
    *(Row(n, _call(n), few_unary, grad=False) for n in "isnan isinf isfinite signbit".split()),
    Row("nan_to_num", _call("nan_to_num"), few_unary, NUMERIC),
    Row("fmax", _call("fmax"), few_binary),
    Row("fmin", _call("fmin"), few_binary),
    Row("heaviside", _call("heaviside"), few_binary, NUMERIC, grad=False),
    Row("deg2rad", _call("deg2rad"), few_unary, SMALL),
    Row("rad2deg", _call("rad2deg"), few_unary, SMALL),
    Row("logit", _call("logit"), unit_unary, FLOATS),
    Row("logit eps", _call("logit", eps=0.1), unit_unary, FLOATS),
    Row("sinc", _call("sinc"), few_unary, FLOATS),
    Row("xlogy", _call("xlogy"), few_mixed, SMALL),
    Row("logaddexp", _call("logaddexp"), few_binary, FLOATS),
    Row("logaddexp2", _call("logaddexp2"), few_binary, FLOATS),
    *(
        Row(n, _call(n), few_unary, FLOATS)
        for n in "relu6 hardsigmoid hardswish leaky_relu elu selu mish softplus logsigmoid softsign "
        "tanhshrink".split()
    ),
    Row("hardtanh", _call("hardtanh", min_val=-0.77, max_val=0.913), few_unary, FLOATS),
    Row("softshrink", _call("softshrink", lambd=0.47), few_unary, FLOATS),
    Row("hardshrink", _call("hardshrink", lambd=0.47), few_unary, FLOATS),
    Row("elu alpha", _call("elu", alpha=0.3), few_unary, FLOATS),
    Row("celu", _call("celu", alpha=0.7), few_unary, FLOATS),
    Row("softplus beta", _call("softplus", beta=2.5, threshold=4), few_unary, FLOATS),
    Row("threshold", lambda F, x: F.threshold(x, 0.47, 2.5), few_unary, FLOATS),
    Row("prelu", _call("prelu"), prelus, FLOATS),
    Row("glu", _call("glu"), halves, FLOATS),
)
