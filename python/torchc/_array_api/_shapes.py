"""Arranging, indexing, searching and sorting arrays."""

from __future__ import annotations

import collections

import torchc as torch
from torchc._array_api._types import promoted, result_type

__all__ = """argmax argmin argsort broadcast_arrays broadcast_to concat count_nonzero expand_dims flip moveaxis nonzero
permute_dims repeat reshape roll searchsorted sort squeeze stack take take_along_axis tile unique_all unique_counts
unique_inverse unique_values unstack where""".split()

UniqueAll = collections.namedtuple("UniqueAll", "values indices inverse_indices counts")
UniqueCounts = collections.namedtuple("UniqueCounts", "values counts")
UniqueInverse = collections.namedtuple("UniqueInverse", "values inverse_indices")


def axes_of(axis, ndim: int) -> tuple:
    """All axes for None, else one or several as non-negative numbers. IndexError outside, ValueError if one repeats."""
    axes = range(ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    out = []
    for a in axes:
        if not -ndim <= a < ndim:
            raise IndexError(f"axis {a} is out of range for an array of {ndim} dimensions")
        out.append(a % ndim)
    if len(set(out)) < len(out):
        raise ValueError(f"an axis occurs twice in {tuple(axes)}")
    return tuple(out)


def _each(axis) -> tuple:
    return (axis,) if isinstance(axis, int) else tuple(axis)


def broadcast_arrays(*arrays):
    """The arrays, each expanded to their common shape, as a list."""
    return list(torch.broadcast_tensors(*arrays))


def broadcast_to(x, /, shape):
    """x expanded to a shape, as a view."""
    return torch.broadcast_to(x, tuple(shape))


def concat(arrays, /, *, axis=0):
    """Arrays joined along an axis; flattened first with axis=None."""
    arrays = promoted(*arrays)
    if axis is None:
        return torch.cat([a.reshape(-1) for a in arrays])
    return torch.cat(arrays, dim=axis)


def stack(arrays, /, *, axis=0):
    """Arrays of one shape joined along a new axis."""
    return torch.stack(promoted(*arrays), dim=axis)


def unstack(x, /, *, axis=0):
    """The arrays along an axis, as a tuple of views."""
    return torch.unbind(x, axis)


def expand_dims(x, /, axis):
    """x with new axes of size 1, at their places in the result."""
    axes = _each(axis)
    for a in sorted(axes_of(axes, x.ndim + len(axes))):
        x = torch.unsqueeze(x, a)
    return x


def squeeze(x, /, axis):
    """x without the named axes. Raises ValueError where one is longer than 1."""
    axes = axes_of(axis, x.ndim)
    for a in axes:
        if x.shape[a] != 1:
            raise ValueError(f"squeeze: axis {a} has {x.shape[a]} elements, expected 1")
    return torch.squeeze(x, axes)


def flip(x, /, *, axis=None):
    """x with axes reversed: all, or the named ones."""
    return torch.flip(x, axes_of(axis, x.ndim))


def moveaxis(x, source, destination, /):
    """x with axes moved to other places."""
    return torch.moveaxis(x, source, destination)


def permute_dims(x, /, axes):
    """x with its axes in another order, as a view."""
    return torch.permute(x, tuple(axes))


def repeat(x, repeats, /, *, axis=None):
    """Each element `repeats` times along an axis; of the flattened array with axis=None."""
    if isinstance(repeats, torch.Tensor):
        repeats = repeats.to(torch.int64)
    return torch.repeat_interleave(x, repeats, dim=axis)


def tile(x, repetitions, /):
    """x repeated as often along each axis."""
    return torch.tile(x, tuple(repetitions))


def roll(x, /, shift, *, axis=None):
    """x shifted in circles along axes; flattened in between with axis=None."""
    if axis is None:
        return torch.roll(x.reshape(-1), shift).reshape(x.shape)
    return torch.roll(x, shift, axis)


def reshape(x, /, shape, *, copy=None):
    """x in another shape. copy: True always copies, False never (ValueError where it must)."""
    if copy is False:
        try:
            return x.view(tuple(shape))
        except RuntimeError as error:
            raise ValueError(f"reshape: copy=False, but {error}") from error
    return torch.reshape(x.clone() if copy else x, tuple(shape))


def take(x, indices, /, *, axis=None):
    """The elements at one-dimensional indices along an axis; axis=None asks for a one-dimensional x."""
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take: axis must be given for an array of {x.ndim} dimensions")
        axis = 0
    (axis,) = axes_of(axis, x.ndim)
    return torch.index_select(x, axis, torch.where(indices < 0, indices + x.shape[axis], indices))


def take_along_axis(x, indices, /, *, axis=-1):
    """The elements at indices of the same number of dimensions, along an axis; other axes broadcast."""
    return torch.take_along_dim(x, indices, dim=axis)


def where(condition, x1, x2, /):
    """x1 where the condition holds, else x2, in their common dtype."""
    return torch.where(condition, *promoted(x1, x2))


def nonzero(x, /):
    """Indices of elements that are not zero: an array for each axis. Raises ValueError for no dimensions."""
    if x.ndim == 0:
        raise ValueError("nonzero: expected an array of at least one dimension, got none")
    return torch.nonzero(x, as_tuple=True)


def count_nonzero(x, /, *, axis=None, keepdims=False):
    """How many elements are not zero, along axes."""
    axes = axes_of(axis, x.ndim)
    return (x != 0).sum(axes, keepdim=keepdims) if axes else (x != 0).to(torch.int64)


def argmax(x, /, *, axis=None, keepdims=False):
    """Where the largest element stands first."""
    return torch.argmax(x, axis, keepdims)


def argmin(x, /, *, axis=None, keepdims=False):
    """Where the least element stands first."""
    return torch.argmin(x, axis, keepdims)


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    """Where elements of x2 belong in the ascending one-dimensional x1."""
    common = result_type(x1, x2)
    return torch.searchsorted(x1.to(common), x2.to(common), side=side, sorter=sorter)


def sort(x, /, *, axis=-1, descending=False, stable=True):
    """x sorted along an axis."""
    return torch.sort(x, dim=axis, descending=descending, stable=stable)[0]


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    """The order that sorts x along an axis."""
    return torch.sort(x, dim=axis, descending=descending, stable=stable)[1]


def _distinct(x):
    """Values, where each occurs first, each element's value, counts. NaNs and zeros of either sign are distinct."""
    flat = x.reshape(-1)
    keys = torch.view_as_real(flat).unbind(-1) if flat.dtype.is_complex else (flat,)
    order = torch.arange(len(flat), device=x.device)
    for key in reversed(keys):
        order = order[torch.sort(key[order], stable=True)[1]]
    ordered = flat[order]
    new = torch.ones(len(flat), dtype=torch.bool, device=x.device)
    new[1:] = ordered[1:] != ordered[:-1]
    inverse = torch.empty_like(order)
    inverse[order] = torch.cumsum(new, 0) - 1
    starts = torch.nonzero(new)[:, 0]
    ends = torch.cat([starts[1:], torch.tensor([len(flat)], device=x.device)])[: len(starts)]
    return UniqueAll(ordered[starts], order[starts], inverse.reshape(x.shape), ends - starts)


def unique_all(x, /):
    """Distinct values, where each occurs first, each element's place among them, and how often each occurs."""
    return _distinct(x)


def unique_counts(x, /):
    """Distinct values and how often each occurs."""
    found = _distinct(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x, /):
    """Distinct values and each element's place among them."""
    found = _distinct(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x, /):
    """Distinct values."""
    return _distinct(x).values
