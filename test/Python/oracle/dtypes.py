"""Element types, bit-level conversions (rules N6, N8) and PyTorch's promotion rules.

float16 and bfloat16 live as uint16 bit patterns, so that every conversion is spelled out here
with integers.
An `Arr` is a dtype and a NumPy array that stores it; arrays may be views, so aliasing works as in
PyTorch.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

Number = bool | int | float


class DType(enum.IntEnum):
    """Element types in the numbering of dialects/rules/DType.h."""

    Bool = 0
    U8 = 1
    I8 = 2
    I16 = 3
    I32 = 4
    I64 = 5
    F16 = 6
    BF16 = 7
    F32 = 8
    F64 = 9

    @property
    def is_float(self) -> bool:
        """Whether this is a floating type."""
        return self >= DType.F16

    @property
    def is_floating_point(self) -> bool:
        """PyTorch's spelling of `is_float`."""
        return self >= DType.F16

    @property
    def storage(self) -> np.dtype:
        """The NumPy type that holds the bits."""
        return _STORAGE[self]

    @property
    def compute(self) -> DType:
        """The op-math type: f32 for f16 and bf16, else the type itself (N6)."""
        return DType.F32 if self in (DType.F16, DType.BF16) else self

    @property
    def accumulator(self) -> DType:
        """The type sums run in: f32 for small floats, i64 for integers and bool (N4)."""
        return self.compute if self.is_float else DType.I64

    @property
    def torch_name(self) -> str:
        """The name in the torch namespace, such as "float32"."""
        return _TORCH_NAMES[self]


_STORAGE = {
    DType.Bool: np.dtype(np.bool_),
    DType.U8: np.dtype(np.uint8),
    DType.I8: np.dtype(np.int8),
    DType.I16: np.dtype(np.int16),
    DType.I32: np.dtype(np.int32),
    DType.I64: np.dtype(np.int64),
    DType.F16: np.dtype(np.uint16),
    DType.BF16: np.dtype(np.uint16),
    DType.F32: np.dtype(np.float32),
    DType.F64: np.dtype(np.float64),
}
_TORCH_NAMES = {
    DType.Bool: "bool",
    DType.U8: "uint8",
    DType.I8: "int8",
    DType.I16: "int16",
    DType.I32: "int32",
    DType.I64: "int64",
    DType.F16: "float16",
    DType.BF16: "bfloat16",
    DType.F32: "float32",
    DType.F64: "float64",
}
FLOATS = (DType.F16, DType.BF16, DType.F32, DType.F64)
INTS = (DType.U8, DType.I8, DType.I16, DType.I32, DType.I64)
ALL = (DType.Bool, *INTS, *FLOATS)


@dataclass
class Arr:
    """A typed array; `data` has the dtype's storage type and may be a view of another array."""

    dtype: DType
    data: np.ndarray

    def __post_init__(self) -> None:
        self.data = np.asarray(self.data)  # NumPy turns 0-d results into scalars
        if self.data.dtype != self.dtype.storage:
            raise TypeError(
                f"{self.dtype.name} is stored as {self.dtype.storage}, got {self.data.dtype}"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes, outermost first."""
        return self.data.shape

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self.data.ndim


# ---- f16 and bf16 --------------------------------------------------------------------------------


def f32_to_bf16(x: np.ndarray) -> np.ndarray:
    """float32 → bfloat16 bits, to nearest even; NaN becomes a quiet NaN."""
    bits = (
        np.ascontiguousarray(x, dtype=np.float32)
        .reshape(np.shape(x))
        .view(np.uint32)
        .astype(np.uint64)
    )
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(x), (bits >> 16) | 0x40, rounded).astype(np.uint16)


def bf16_to_f32(bits: np.ndarray) -> np.ndarray:
    """bfloat16 bits → float32, exact."""
    return (np.asarray(bits).astype(np.uint32) << np.uint32(16)).view(np.float32)


def f32_to_f16(x: np.ndarray) -> np.ndarray:
    """float32 → float16 bits, to nearest even with denormals; overflow gives infinity."""
    bits = (
        np.ascontiguousarray(x, dtype=np.float32)
        .reshape(np.shape(x))
        .view(np.uint32)
        .astype(np.int64)
    )
    sign = (bits >> 16) & 0x8000
    mag = bits & 0x7FFFFFFF
    exponent = mag >> 23
    # Value = significand * 2^(max(exponent,1) - 150); the f16 grid is 2^(max(e16,1) - 25) with
    # e16 = exponent - 112.
    significand = np.where(exponent > 0, (mag & 0x7FFFFF) | 0x800000, mag & 0x7FFFFF)
    e16 = np.maximum(exponent - 112, 1)
    shift = np.minimum(e16 - 25 - (np.maximum(exponent, 1) - 150), 40)
    kept = significand >> shift
    rest = significand - (kept << shift)
    half = np.int64(1) << (shift - 1)
    kept += (rest > half) | ((rest == half) & ((kept & 1) == 1))
    # Adding the significand with its hidden bit to (e16 - 1) << 10 carries into the exponent as
    # it must.
    out = np.minimum(kept + ((e16 - 1) << 10), 0x7C00)
    out = np.where(mag >= 0x7F800000, np.where(mag > 0x7F800000, 0x7E00, 0x7C00), out)
    return (out | sign).astype(np.uint16)


def f16_to_f32(bits: np.ndarray) -> np.ndarray:
    """float16 bits → float32, exact."""
    b = np.asarray(bits).astype(np.int64)
    exponent, mantissa = (b >> 10) & 31, b & 0x3FF
    mag = np.where(exponent > 0, mantissa | 0x400, mantissa).astype(np.float64)
    mag = np.ldexp(mag, (np.maximum(exponent, 1) - 25).astype(np.int32))
    special = np.where(mantissa == 0, np.inf, np.nan)
    mag = np.where(exponent == 31, special, mag)
    return np.where((b & 0x8000) != 0, -mag, mag).astype(np.float32)


# ---- casts (N8) ----------------------------------------------------------------------------------


def to_compute(x: Arr) -> np.ndarray:
    """The values of `x` in its op-math type."""
    if x.dtype == DType.BF16:
        return np.asarray(bf16_to_f32(x.data))
    if x.dtype == DType.F16:
        return np.asarray(f16_to_f32(x.data))
    return x.data


def from_compute(values: np.ndarray, dtype: DType) -> Arr:
    """Store values of the op-math type as `dtype`: the one rounding of N6."""
    values = np.asarray(values)
    if values.dtype != dtype.compute.storage:
        raise TypeError(
            f"expected {dtype.compute.storage} values for {dtype.name}, got {values.dtype}"
        )
    if dtype == DType.BF16:
        return Arr(dtype, f32_to_bf16(values))
    if dtype == DType.F16:
        return Arr(dtype, f32_to_f16(values))
    return Arr(dtype, values)


def _float_to_int64(x: np.ndarray) -> np.ndarray:
    """Truncate towards zero, saturating to int64; NaN gives 0 (N8)."""
    wide = x.astype(np.float64)
    limit = 2.0**63
    inside = (wide >= -limit) & (wide < limit)
    out = np.where(inside, wide, 0.0).astype(np.int64)
    info = np.iinfo(np.int64)
    return np.where(
        inside, out, np.where(np.isnan(wide), 0, np.where(wide > 0, info.max, info.min))
    )


def cast(x: Arr, dtype: DType) -> Arr:
    """Convert by N6 and N8. Always a copy."""
    if x.dtype == dtype:
        return Arr(dtype, x.data.copy())
    with np.errstate(all="ignore"):
        values = to_compute(x)
        if dtype == DType.Bool:
            return Arr(dtype, np.asarray(values != 0))
        if not dtype.is_float:
            wide = _float_to_int64(values) if x.dtype.is_float else values.astype(np.int64)
            return Arr(dtype, np.asarray(wide.astype(dtype.storage)))
        return from_compute(np.asarray(values.astype(dtype.compute.storage)), dtype)


def number_to_compute(value: Number, dtype: DType) -> np.ndarray:
    """A Python number, rounded once to the op-math type of `dtype` (N2)."""
    compute = dtype.compute
    with np.errstate(all="ignore"):
        if compute.is_float:
            exact = np.int64(value) if isinstance(value, (bool, int)) else np.float64(value)
            return np.asarray(exact.astype(compute.storage))
        if compute == DType.Bool:
            return np.asarray(value != 0)
        return np.asarray(np.int64(_to_integer(value, dtype)).astype(compute.storage))


def _to_integer(value: Number, dtype: DType) -> int:
    """A Python number truncated to an integer that int64 holds; PyTorch refuses the others."""
    if value != value or abs(value) >= 2**63:
        raise RuntimeError(f"value cannot be converted to type {dtype.torch_name} without overflow")
    return int(value)


def broadcast_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The common shape, or PyTorch's RuntimeError."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        shown = ", ".join(str(list(s)) for s in shapes)
        raise RuntimeError(f"expected shapes that broadcast, got {shown}") from None


def same_bits(x: Arr, y: Arr) -> np.ndarray:
    """Elementwise N1 equality: equal bits, or both NaN. Shapes and dtypes must agree."""
    if x.dtype != y.dtype or x.shape != y.shape:
        raise ValueError(
            f"cannot compare {x.dtype.name}{list(x.shape)} with {y.dtype.name}{list(y.shape)}"
        )
    if not x.dtype.is_float:
        return np.asarray(x.data == y.data)
    raw = np.dtype(f"u{x.data.dtype.itemsize}")
    equal = np.ascontiguousarray(x.data).view(raw) == np.ascontiguousarray(y.data).view(raw)
    both_nan = np.isnan(to_compute(x)) & np.isnan(to_compute(y))
    return np.asarray(equal.reshape(x.shape) | both_nan)


# ---- promotion -----------------------------------------------------------------------------------

_DEFAULT = DType.F32


def promote_types(a: DType, b: DType) -> DType:
    """PyTorch's torch.promote_types."""
    if a == b:
        return a
    low, high = sorted((a, b))
    if high.is_float:
        if not low.is_float:
            return high
        return DType.F32 if (low, high) == (DType.F16, DType.BF16) else high
    if low == DType.U8 and high == DType.I8:
        return DType.I16
    return high


def _join(higher: DType | None, lower: DType | None) -> DType | None:
    """Combine two priority classes: the higher one decides unless the lower is of a higher
    category."""
    if higher is None or lower is None:
        return lower if higher is None else higher
    if higher.is_float:
        return higher
    if higher == DType.Bool or lower.is_float:
        return promote_types(higher, lower)
    return higher


def number_dtype(value: Number) -> DType:
    """The type a Python number stands for when it is alone."""
    if isinstance(value, bool):
        return DType.Bool
    return DType.I64 if isinstance(value, int) else _DEFAULT


def result_type(operands: Iterable[Arr | Number]) -> DType:
    """PyTorch's torch.result_type: tensors with dims, then 0-d tensors, then Python numbers."""
    classes: list[DType | None] = [None, None, None]
    for item in operands:
        if isinstance(item, Arr):
            rank, dtype = (0 if item.ndim > 0 else 1), item.dtype
        else:
            rank, dtype = 2, number_dtype(item)
        seen = classes[rank]
        classes[rank] = dtype if seen is None else promote_types(seen, dtype)
    joined = _join(classes[0], _join(classes[1], classes[2]))
    if joined is None:
        raise ValueError("result_type: expected at least one operand, got none")
    return joined


def to_float_type(dtype: DType) -> DType:
    """The result type of true division and unary float functions: integers become the default
    float."""
    return dtype if dtype.is_float else _DEFAULT
