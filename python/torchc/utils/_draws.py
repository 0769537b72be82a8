"""Random numbers that end in a logarithm, which must not meet 0."""

from __future__ import annotations

from torchc import _C

__all__ = ["exponential", "laplace"]


def _numbers(shape, like):
    """Uniform numbers of [0, 1) in float32 at least, and half of the step between two of them.

    In a type with few digits the ends would be drawn often: 0 once in 256 numbers of bfloat16.
    """
    wide = like.dtype if like.dtype.itemsize >= 4 else _C.float32
    u = _C.rand(shape, dtype=wide, device=like.device)
    if wide is _C.float64:
        return u, 2.0**-54
    return u, 2.0**-24 if like.dtype is _C.float16 else 2.0**-25  # float16 has nothing below 2^-24


def exponential(shape, like):
    """Standard exponential numbers in `like`'s dtype, never 0: -log(1 - u), at least half a step of u."""
    u, half = _numbers(shape, like)
    return (-(1 - u).log()).clamp(min=half).to(like.dtype)


def laplace(shape, like):
    """Standard Laplace numbers in `like`'s dtype, all finite, by the inverse of the distribution function."""
    u, half = _numbers(shape, like)
    u = u - 0.5
    return (-u.sign() * (1 - 2 * u.abs()).clamp(min=2 * half).log()).to(like.dtype)
