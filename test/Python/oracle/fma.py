"""Fused multiply-add with exactly one rounding, vectorised, for float32 and float64.

float32 goes through float64 with a round-to-odd sum. float64 uses Boldo and Melquiond's algorithm
(error-free
product, two error-free sums, one round-to-odd) inside a safe exponent range and Python integers
outside it.
"""

from __future__ import annotations

import numpy as np

_SPLIT = 134217729.0  # 2^27 + 1, Veltkamp's constant


def _two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """s + e == a + b exactly, s the rounded sum."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _two_product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """p + e == a * b exactly (no over- or underflow), p the rounded product."""
    p = a * b
    t = _SPLIT * a
    ah = t - (t - a)
    al = a - ah
    t = _SPLIT * b
    bh = t - (t - b)
    bl = b - bh
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


def _sum_to_odd(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a + b in float64, rounded to odd: an inexact result gets an odd last bit."""
    s, e = _two_sum(a, b)
    bits = np.ascontiguousarray(s).view(np.int64)
    step = np.where((e > 0) == (s > 0), 1, -1)
    fix = (e != 0) & np.isfinite(s) & np.isfinite(e) & ((bits & 1) == 0)
    return (bits + np.where(fix, step, 0)).view(np.float64)


def fma32(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """round32(a * b + c); broadcasts. The product of two float32 is exact in float64, whose 53
    bits leave the
    round-to-odd sum enough room (24 + 2) for the second rounding to be innocuous, denormals
    included."""
    with np.errstate(all="ignore"):
        a64, b64, c64 = np.broadcast_arrays(
            *(np.asarray(v, dtype=np.float32).astype(np.float64) for v in (a, b, c))
        )
        shape = a64.shape
        wide = _sum_to_odd(np.atleast_1d(a64 * b64), np.atleast_1d(c64))
        return wide.astype(np.float32).reshape(shape)


def _fma_integer(a: float, b: float, c: float) -> float:
    """Exact fma of finite floats by integers; the product is not zero."""
    (na, da), (nb, db), (nc, dc) = a.as_integer_ratio(), b.as_integer_ratio(), c.as_integer_ratio()
    numerator = na * nb * dc + nc * da * db
    if numerator == 0:
        return 0.0
    # Denominators are powers of two; keep 53 bits (fewer for denormals) and round to nearest even.
    exponent = -((da * db * dc).bit_length() - 1)
    magnitude = abs(numerator)
    drop = max(magnitude.bit_length() - 53, -1074 - exponent, 0)
    kept, rest = magnitude >> drop, magnitude & ((1 << drop) - 1)
    half = (1 << drop) >> 1
    if drop and (rest > half or (rest == half and kept & 1)):
        kept += 1
    exponent += drop
    if kept.bit_length() + exponent > 1024:
        value = float("inf")
    else:
        value = float(np.ldexp(float(kept), exponent))  # representable: no rounding here
    return value if numerator > 0 else -value


def fma64(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """round64(a * b + c); broadcasts."""
    with np.errstate(all="ignore"):
        arrays = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (a, b, c)))
        shape = arrays[0].shape
        x, y, z = (np.ascontiguousarray(v).reshape(-1) for v in arrays)
        uh, ul = _two_product(x, y)
        th, tl = _two_sum(z, ul)
        vh, vl = _two_sum(uh, th)
        out = vh + _sum_to_odd(tl, vl)
        ax, ay, az = np.abs(x), np.abs(y), np.abs(z)
        safe = (
            (ax > 1e-120)
            & (ax < 1e120)
            & (ay > 1e-120)
            & (ay < 1e120)
            & (az < 1e240)
            & ((az > 1e-240) | (az == 0))
        )
        # A zero product is exact; so is a product with inf or nan. With a finite product an
        # infinite c decides.
        plain = (x == 0) | (y == 0) | ~np.isfinite(x) | ~np.isfinite(y)
        out = np.where(plain, x * y + z, np.where(np.isfinite(z), out, z))
        for i in np.flatnonzero(~safe & ~plain & np.isfinite(z)):
            out[i] = _fma_integer(float(x[i]), float(y[i]), float(z[i]))
        return out.reshape(shape)


def fma(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c with one rounding for floats of one type; wrapping arithmetic for integers and
    bool."""
    kind = np.asarray(a).dtype
    if kind == np.float32:
        return fma32(a, b, c)
    if kind == np.float64:
        return fma64(a, b, c)
    with np.errstate(all="ignore"):
        return np.asarray(np.add(np.multiply(a, b), c))
