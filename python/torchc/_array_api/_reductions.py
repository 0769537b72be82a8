"""Sums, extremes, moments and scans along axes."""

from __future__ import annotations

import torchc as torch
from torchc._array_api._shapes import axes_of

__all__ = "all any cumulative_prod cumulative_sum diff max mean min prod std sum var".split()


def _one_by_one(f, x, axis, keepdims):
    """f reduces one axis: over several, the last first."""
    axes = axes_of(axis, x.ndim)
    for a in sorted(axes, reverse=True):
        x = f(x, a, keepdims)
    return x if axes else x.clone()


def _sum_type(x, dtype):
    """Integers are added in 64 bits, unless the caller says otherwise."""
    if dtype is not None:
        return dtype
    return x.dtype if x.dtype.is_floating_point or x.dtype.is_complex else torch.int64


def sum(x, /, *, axis=None, dtype=None, keepdims=False):
    """Sums along axes; small integers are added as int64."""
    dtype, axes = _sum_type(x, dtype), axes_of(axis, x.ndim)
    return torch.sum(x, axes, keepdim=keepdims, dtype=dtype) if axes else x.to(dtype, copy=True)


def prod(x, /, *, axis=None, dtype=None, keepdims=False):
    """Products along axes; small integers are multiplied as int64."""
    dtype = _sum_type(x, dtype)
    return _one_by_one(
        lambda v, a, keep: torch.prod(v, a, keep, dtype=dtype), x.to(dtype), axis, keepdims
    )


def max(x, /, *, axis=None, keepdims=False):
    """Largest elements along axes."""
    axes = axes_of(axis, x.ndim)
    return torch.amax(x, axes, keepdims) if axes else x.clone()


def min(x, /, *, axis=None, keepdims=False):
    """Least elements along axes."""
    axes = axes_of(axis, x.ndim)
    return torch.amin(x, axes, keepdims) if axes else x.clone()


def mean(x, /, *, axis=None, keepdims=False):
    """Means along axes."""
    axes = axes_of(axis, x.ndim)
    return torch.mean(x, axes, keepdims) if axes else x.clone()


def _moment(f, x, axis, correction, keepdims):
    axes = axes_of(axis, x.ndim)
    if not axes:  # one element: no deviation, and no degrees of freedom once corrected
        return x - x if correction < 1 else torch.full_like(x, float("nan"))
    return f(x, axes, correction=correction, keepdim=keepdims)


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    """Standard deviations along axes, with n - correction degrees of freedom."""
    return _moment(torch.std, x, axis, correction, keepdims)


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    """Variances along axes, with n - correction degrees of freedom."""
    return _moment(torch.var, x, axis, correction, keepdims)


def all(x, /, *, axis=None, keepdims=False):
    """Whether no element along axes is zero."""
    return _one_by_one(torch.all, x.to(torch.bool), axis, keepdims)


def any(x, /, *, axis=None, keepdims=False):
    """Whether an element along axes is not zero."""
    return _one_by_one(torch.any, x.to(torch.bool), axis, keepdims)


def _scan(f, first, x, axis, dtype, include_initial):
    if axis is None:
        if x.ndim > 1:
            raise ValueError(f"axis must be given for an array of {x.ndim} dimensions")
        axis = 0
    (axis,) = axes_of(axis, x.ndim)
    out = f(x, axis, dtype=_sum_type(x, dtype))
    if include_initial:
        shape = [*x.shape]
        shape[axis] = 1
        out = torch.cat([torch.full(shape, first, dtype=out.dtype, device=x.device), out], dim=axis)
    return out


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    """Sums of the elements up to each one along an axis, with a zero before them if asked for."""
    return _scan(torch.cumsum, 0, x, axis, dtype, include_initial)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    """Products of the elements up to each one along an axis, with a one before them if asked for."""
    return _scan(torch.cumprod, 1, x, axis, dtype, include_initial)


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    """Differences of neighbours along an axis, n times."""
    return torch.diff(x, n, axis, prepend, append)
