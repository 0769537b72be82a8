"""Policies under autocast of functions that are written in Python; those of the op table have theirs there.

A decorated function costs a few nanoseconds more outside of autocast, and adds no frame of Python's.
"""

from functools import update_wrapper

from torchc import _C

__all__ = ["lower", "plain", "single"]


def lower(function):
    """Its floating operands (but float64) are cast to the type of the context."""
    return update_wrapper(_C._CastingFunction(function, 0), function)


def single(function):
    """Its operands of half precision are cast to float32."""
    return update_wrapper(_C._CastingFunction(function, 1), function)


def plain(function):
    """It computes in the types that it is given, also where it multiplies matrices on its way."""
    return update_wrapper(_C._CastingFunction(function, 3), function)
