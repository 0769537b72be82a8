"""Interpreter of the op table's scalar bodies (bodies.json) over NumPy arrays.

Each body node is one IEEE operation with its own rounding (N2); `Fma` is the only fused one.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .dtypes import DType, _float_to_int64
from .fma import fma

Node = dict[str, Any]

_PAIRED: dict[np.dtype[Any], np.dtype[Any]] = {
    np.dtype(np.float32): np.dtype(np.int32),
    np.dtype(np.float64): np.dtype(np.int64),
}


class BodiesMissing(RuntimeError):
    """bodies.json has not been generated, or has no such body."""


def maximum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """N7 maximum: NaN propagates, -0 < +0."""
    a, b = np.asarray(a), np.asarray(b)
    with np.errstate(all="ignore"):
        if a.dtype.kind != "f":
            return np.maximum(a, b)
        tie = np.where(np.signbit(a), b, a)
        out = np.where(a == b, tie, np.where(a > b, a, b))
        return np.where(np.isnan(a) | np.isnan(b), a + b, out)


def minimum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """N7 minimum: NaN propagates, -0 < +0."""
    a, b = np.asarray(a), np.asarray(b)
    with np.errstate(all="ignore"):
        if a.dtype.kind != "f":
            return np.minimum(a, b)
        tie = np.where(np.signbit(a), a, b)
        out = np.where(a == b, tie, np.where(a < b, a, b))
        return np.where(np.isnan(a) | np.isnan(b), a + b, out)


def _paired(t: np.dtype) -> np.dtype:
    """The integer type of the same width as compute type `t`."""
    return _PAIRED[t] if t in _PAIRED else t


def _divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Float division, or integer division towards zero that refuses a zero divisor (N8)."""
    if a.dtype.kind == "f":
        return np.asarray(a / b)
    if np.any(b == 0):
        raise ZeroDivisionError("integer division by zero")
    q = a // b
    return np.asarray(q + ((q < 0) & (q * b != a)).astype(q.dtype))


def _shift(kind: str, a: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Shifts by N8: a count that is negative or at least the width gives 0, or the sign for
    IShr."""
    width = a.dtype.itemsize * 8
    ok = (count >= 0) & (count < width)
    n = np.where(ok, count, 0).astype(a.dtype)
    if kind == "IShl":
        return np.where(ok, a << n, 0).astype(a.dtype)
    if kind == "IShr":
        return np.where(ok, a >> n, np.where(a < 0, -1, 0)).astype(a.dtype)
    unsigned = np.dtype(f"u{a.dtype.itemsize}")
    moved = np.ascontiguousarray(a).view(unsigned).reshape(a.shape) >> n.astype(unsigned)
    return np.where(ok, moved, 0).astype(unsigned).view(a.dtype)


def _view(a: np.ndarray, t: np.dtype) -> np.ndarray:
    """Bit cast that also takes 0-d and strided arrays."""
    return np.ascontiguousarray(a).view(t).reshape(np.shape(a))


def _constant(kind: str, bits: int, t: np.dtype) -> np.ndarray:
    """Const (a double's bits), Bits (bits of T) or ConstI (bits of the paired integer)."""
    word = np.uint64(bits & 0xFFFFFFFFFFFFFFFF)
    if kind == "Const":
        value = np.asarray(word).view(np.float64)
        return value.astype(t)
    target = t if kind == "Bits" else _paired(t)
    if target == np.bool_:
        return np.asarray(bool(bits & 1))
    return np.asarray(word).astype(f"u{target.itemsize}").view(target)


_BINARY: dict[str, Callable[..., Any]] = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Div": _divide,
    "Min": minimum,
    "Max": maximum,
    "Lt": lambda a, b: a < b,
    "Le": lambda a, b: a <= b,
    "Gt": lambda a, b: a > b,
    "Ge": lambda a, b: a >= b,
    "Eq": lambda a, b: a == b,
    "Ne": lambda a, b: a != b,
    "And": lambda a, b: a & b,
    "Or": lambda a, b: a | b,
    "Xor": lambda a, b: a ^ b,
    "IAdd": lambda a, b: a + b,
    "ISub": lambda a, b: a - b,
    "IMul": lambda a, b: a * b,
    "IAnd": lambda a, b: a & b,
    "IOr": lambda a, b: a | b,
    "IXor": lambda a, b: a ^ b,
}
_UNARY: dict[str, Callable[[np.ndarray, np.dtype], Any]] = {
    "Neg": lambda a, t: -a,
    "Abs": lambda a, t: np.abs(a),
    "Sqrt": lambda a, t: np.sqrt(a),
    "Floor": lambda a, t: np.floor(a),
    "RoundEven": lambda a, t: np.rint(a),
    "IsNan": lambda a, t: np.isnan(a),
    "Not": lambda a, t: ~a,
    "ToInt": lambda a, t: _view(a, _paired(t)),
    "FromInt": lambda a, t: _view(a, t),
    "IFromF": lambda a, t: _float_to_int64(a).astype(_paired(t)),
    "FFromI": lambda a, t: a.astype(t),
}


def _int(text: Any) -> int:
    """Bits as written in the JSON: hex string or integer."""
    return int(text, 0) if isinstance(text, str) else int(text)


def run_body(
    body: Sequence[Node],
    compute: np.dtype,
    args: Sequence[np.ndarray],
    index: np.ndarray | None = None,
) -> np.ndarray:
    """Evaluate a body in SSA order; `args` are already in the compute type. The last node is the
    result."""
    values: list[np.ndarray] = []
    with np.errstate(all="ignore"):
        for position, node in enumerate(body):
            values.append(np.asarray(_eval(node, compute, args, index, values)))
            if values[-1].dtype == object:
                raise TypeError(f"body node {position} ({node['op']}) has no NumPy type")
    return values[-1]


def _eval(
    node: Node,
    t: np.dtype,
    args: Sequence[np.ndarray],
    index: np.ndarray | None,
    values: list[np.ndarray],
) -> Any:
    """One node."""
    kind = node["op"]
    if kind == "Arg":
        return args[_int(node.get("bits", 0))]
    if kind in ("Const", "Bits", "ConstI"):
        return _constant(kind, _int(node.get("bits", 0)), t)
    if kind == "Index":
        if index is None:
            raise ValueError("body uses Index, but no index was given")
        return index
    operands = [values[node[name]] for name in ("a", "b", "c") if node.get(name, -1) >= 0]
    if kind == "Fma":
        return fma(*operands)
    if kind == "Select":
        return np.where(operands[0], operands[1], operands[2])
    if kind in ("IShl", "IShr", "IUShr"):
        return _shift(kind, operands[0], operands[1])
    if kind in _BINARY:
        return _BINARY[kind](operands[0], operands[1])
    if kind in _UNARY:
        return _UNARY[kind](operands[0], t)
    raise BodiesMissing(f"unknown body operation {kind!r}")


def find_bodies() -> Path | None:
    """The newest generated bodies.json of this checkout."""
    root = Path(__file__).resolve().parents[3]
    found = sorted(root.glob("build/*/gen/torchc-gen/bodies.json"), key=lambda p: p.stat().st_mtime)
    return found[-1] if found else None


@functools.cache
def load_bodies(path: Path | None = None) -> dict[str, Node]:
    """Op name → its JSON record."""
    path = path or find_bodies()
    if path is None:
        raise BodiesMissing(
            "build/*/gen/torchc-gen/bodies.json not found: build torchc-tblgen's outputs first"
        )
    return {op["name"]: op for op in json.loads(path.read_text())["ops"]}


def body_class(compute: DType) -> str:
    """The class of bodies a compute type uses."""
    return {DType.F32: "f32", DType.F64: "f64", DType.Bool: "bool"}.get(compute, "int")


def get_body(name: str, compute: DType) -> list[Node]:
    """The body of op `name` for a compute type."""
    record = load_bodies().get(name)
    bodies = record.get("bodies", {}) if record else {}
    body = bodies.get(body_class(compute)) or bodies.get("any")
    if not body:
        raise BodiesMissing(f"op {name!r} has no body for {compute.name}")
    return list(body)


def apply(name: str, compute: DType, *args: np.ndarray) -> np.ndarray:
    """Op `name` on values of the compute type, by its body; broadcasts."""
    out = run_body(get_body(name, compute), compute.storage, args)
    return np.asarray(np.broadcast_to(out, np.broadcast_shapes(*(np.shape(a) for a in args))))
