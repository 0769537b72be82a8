"""Random numbers by rule N9: Philox4x32-10 counters addressed by (seed, ordinal, element,
sub-draw)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import body
from .dtypes import Arr, DType, Number, from_compute, number_to_compute, to_compute

_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = 0x9E3779B9, 0xBB67AE85
_MASK = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)


@dataclass
class Generator:
    """Seed and ordinal; each executed random op takes one ordinal, also when it has no elements."""

    seed: int = 0
    ordinal: int = 0

    def manual_seed(self, seed: int) -> Generator:
        """seed mod 2^64, ordinal 0."""
        self.seed, self.ordinal = seed % 2**64, 0
        return self

    def take(self) -> tuple[int, int]:
        """(seed, ordinal) of the next random op."""
        taken = (self.seed, self.ordinal)
        self.ordinal = (self.ordinal + 1) % 2**64
        return taken

    def get_state(self) -> bytes:
        """16 bytes: seed, ordinal."""
        return self.seed.to_bytes(8, "little") + self.ordinal.to_bytes(8, "little")


DEFAULT = Generator()
State = tuple[int, int]


def philox(counter: np.ndarray, key: tuple[int, int]) -> np.ndarray:
    """Philox4x32-10 of counters [n, 4] (uint64 holding 32-bit words) → words [n, 4]."""
    c0, c1, c2, c3 = (counter[:, i].astype(np.uint64) for i in range(4))
    k0, k1 = key
    for _ in range(10):
        p0, p1 = _M0 * c0, _M1 * c2
        c0, c1, c2, c3 = (
            (p1 >> _32) ^ c1 ^ np.uint64(k0),
            p1 & _MASK,
            (p0 >> _32) ^ c3 ^ np.uint64(k1),
            p0 & _MASK,
        )
        k0, k1 = (k0 + _W0) & 0xFFFFFFFF, (k1 + _W1) & 0xFFFFFFFF
    return np.stack([c0, c1, c2, c3], axis=1)


def _blocks(count: int, state: State, sub_draw: int) -> np.ndarray:
    """Words of the first `count` counters, [count, 4]."""
    seed, ordinal = state
    i = np.arange(count, dtype=np.uint64)
    counter = np.empty((count, 4), np.uint64)
    counter[:, 0], counter[:, 1] = i & _MASK, i >> _32
    counter[:, 2] = ordinal & 0xFFFFFFFF
    counter[:, 3] = (ordinal >> 32) ^ (sub_draw << 24)
    return philox(counter, (seed & 0xFFFFFFFF, seed >> 32))


def words32(n: int, state: State, sub_draw: int = 0) -> np.ndarray:
    """One word per element: element i takes word i mod 4 of counter i/4."""
    return _blocks(-(-n // 4), state, sub_draw).reshape(-1)[:n]


def words64(n: int, state: State, sub_draw: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """(w0, w1) per element: words 2(i mod 2), +1 of counter i/2."""
    pairs = _blocks(-(-n // 2), state, sub_draw).reshape(-1, 2)[:n]
    return pairs[:, 0], pairs[:, 1]


def unit(n: int, dtype: DType, state: State, sub_draw: int = 0) -> np.ndarray:
    """Uniform [0, 1) in the compute type of `dtype`."""
    if dtype == DType.F64:
        w0, w1 = words64(n, state, sub_draw)
        mantissa = ((w0 >> np.uint64(5)) << np.uint64(26)) + (w1 >> np.uint64(6))
        return mantissa.astype(np.float64) * 2.0**-53
    bits = {DType.F32: 24, DType.F16: 11, DType.BF16: 8}[dtype]
    word = words32(n, state, sub_draw) >> np.uint64(32 - bits)
    return (word.astype(np.float64) * 2.0**-bits).astype(np.float32)


def _shape_count(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape, dtype=np.int64))


def uniform(
    shape: tuple[int, ...], dtype: DType, state: State, low: float = 0.0, high: float = 1.0
) -> Arr:
    """u·(b−a) + a, each operation rounded in the compute type. b−a is a Python number computed in
    double."""
    u = unit(_shape_count(shape), dtype, state).reshape(shape)
    if (low, high) == (0.0, 1.0):
        return from_compute(u, dtype)
    with np.errstate(all="ignore"):
        scaled = u * number_to_compute(high - low, dtype) + number_to_compute(low, dtype)
    return from_compute(np.asarray(scaled), dtype)


def bernoulli(p: Arr | Number, shape: tuple[int, ...], dtype: DType, state: State) -> Arr:
    """1 where u < p; u has the type of p (a number: of the result)."""
    u_type = p.dtype if isinstance(p, Arr) else (dtype if dtype.is_float else DType.F32)
    limit = (
        to_compute(p)
        if isinstance(p, Arr)
        else to_compute(from_compute(number_to_compute(p, u_type), u_type))
    )
    hit = unit(_shape_count(shape), u_type, state).reshape(shape) < limit
    return from_compute(np.asarray(hit.astype(dtype.compute.storage)), dtype)


def normal(
    shape: tuple[int, ...], dtype: DType, state: State, mean: float = 0.0, std: float = 1.0
) -> Arr:
    """z·std + mean with z = sqrt(−2·log u1)·cos(2π·u2); f16 and bf16 in f32. Needs the table's
    `log` and `cos`."""
    wide = DType.F64 if dtype == DType.F64 else DType.F32
    n, t = _shape_count(shape), wide.storage.type
    with np.errstate(all="ignore"):
        u1 = t(1) - unit(n, wide, state, 0)
        angle = t(2 * np.pi) * unit(n, wide, state, 1)
        radius = np.sqrt(t(-2) * body.apply("log", wide, u1))
        z = radius * body.apply("cos", wide, angle)
        value = z * number_to_compute(std, dtype) + number_to_compute(mean, dtype)
    return from_compute(np.asarray(value.reshape(shape)), dtype)


def randint(low: int, high: int, shape: tuple[int, ...], dtype: DType, state: State) -> Arr:
    """lo + (word·r >> 32) for r ≤ 2^32, else the high half of the 128-bit product with w0 +
    w1·2^32."""
    span, n = high - low, _shape_count(shape)
    if span <= 0:
        raise RuntimeError(f"randint: expected low < high, got {low} and {high}")
    if span <= 2**32:
        drawn = [low + (int(w) * span >> 32) for w in words32(n, state)]
    else:
        w0, w1 = words64(n, state)
        drawn = [low + ((int(a) + (int(b) << 32)) * span >> 64) for a, b in zip(w0, w1)]
    wide = np.array(drawn, dtype=np.int64).reshape(shape)
    if dtype.is_float:
        return from_compute(np.asarray(wide.astype(dtype.compute.storage)), dtype)
    return Arr(dtype, np.asarray(wide.astype(dtype.storage)))


def randperm(n: int, state: State) -> Arr:
    """Stable argsort of the elements' 64-bit keys."""
    w0, w1 = words64(n, state)
    return Arr(DType.I64, np.argsort(w0 + (w1 << _32), kind="stable").astype(np.int64))


def dropout(x: Arr, p: float, state: State) -> Arr:
    """keep = u < f32(1−p), y = x·(keep ? f32(1/(1−p)) : +0); p = 1 gives x·0."""
    v = to_compute(x)
    u_type = DType.F64 if x.dtype == DType.F64 else DType.F32
    u = unit(v.size, u_type, state).reshape(v.shape)
    scale = np.float32(0) if p == 1 else np.float32(1 / (1 - p))
    with np.errstate(all="ignore"):
        factor = np.where(u < np.float32(1 - p), scale, np.float32(0)).astype(v.dtype)
        return from_compute(np.asarray(v * factor), x.dtype)
