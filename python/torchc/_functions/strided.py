"""Views by sizes and strides as copies, and changes of size."""

import math

from torchc import _C
from torchc._results import given


def as_strided_copy(input, size, stride, storage_offset=None, *, out=None):
    """`as_strided` as a copy."""
    return given(_C.as_strided(input, size, stride, storage_offset).clone(), out)


def _extent(size, stride, offset) -> int:
    """One more than the last place in memory that is reached."""
    return 0 if 0 in size else offset + sum((n - 1) * s for n, s in zip(size, stride)) + 1


def as_strided_scatter(input, src, size, stride, storage_offset=None, *, out=None):
    """A copy of `input` in which the elements that `as_strided` would see are `src`'s, of shape `size`.

    Places of the view that aren't elements of `input` are left out. Raises RuntimeError for a src of another shape.
    """
    if tuple(src.shape) != tuple(size):
        raise RuntimeError(
            f"as_strided_scatter(): expected src to have a size equal to the slice of self. src size = "
            f"{list(src.shape)}, slice size = {list(size)}"
        )
    start = input.storage_offset()
    offset = start if storage_offset is None else storage_offset
    room = _C._storage_info(input)[1] // input.itemsize
    if _extent(size, stride, offset) > room:
        raise RuntimeError(
            f"as_strided_scatter(): sizes {list(size)}, strides {list(stride)} and offset {offset} reach beyond the "
            f"memory of {room} elements"
        )
    memory = max(_extent(size, stride, offset), _extent(input.shape, input.stride(), start), 1)
    places = _C.arange(memory, device=input.device)
    source = _C.full_like(places, -1)  # which element of src lies at each place of memory
    view = _C.as_strided(places, size, stride, offset).reshape(-1)
    source = source.index_copy(0, view, _C.arange(view.numel(), device=input.device))
    chosen = source[_C.as_strided(places, input.shape, input.stride(), start)]
    if not src.numel():
        return given(input.clone(), out)
    values = src.reshape(-1)[chosen.clamp_min(0)]
    return given(_C.where(chosen >= 0, values.to(input.dtype), input), out)


def unfold_copy(input, dimension, size, step, *, out=None):
    """`Tensor.unfold` as a copy."""
    return given(input.unfold(dimension, size, step).clone(), out)


def _given_each(op, results, out):
    if out is None:
        return results
    if len(out) != len(results):
        raise RuntimeError(f"{op}(): expected {len(results)} tensors as out, got {len(out)}")
    for result, target in zip(results, out):
        given(result, target)
    return None


def split_with_sizes_copy(input, split_sizes, dim=0, *, out=None):
    """`split_with_sizes` as copies, or copied into the tensors of the list `out`."""
    return _given_each(
        "split_with_sizes_copy", _C.split_with_sizes_copy(input, split_sizes, dim), out
    )


def unbind_copy(input, dim=0, *, out=None):
    """`unbind` as copies, or copied into the tensors of the list `out`."""
    return _given_each("unbind_copy", _C.unbind_copy(input, dim), out)


def nonzero(input, *, out=None, as_tuple=False):
    """Where elements are non-zero: one row per place, int64, or with `as_tuple` one tensor per dimension."""
    result = _C.nonzero(input, as_tuple=as_tuple)
    return result if as_tuple else given(result, out)


def _resized(self, shape):
    if any(s < 0 for s in shape):
        raise RuntimeError(f"resize_(): expected non-negative sizes, got {list(shape)}")
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    if tuple(self.shape) == tuple(shape):
        return self
    count = math.prod(shape)
    room = _C._storage_info(self)[1] // self.itemsize - self.storage_offset()
    strides = [math.prod(shape[i + 1 :]) if count else 1 for i in range(len(shape))]
    if count <= room:
        with_memory = _C.as_strided(self, shape, strides, self.storage_offset())
    else:
        with_memory = _C.empty(shape, dtype=self.dtype, device=self.device)
        kept = min(room, count)
        with_memory.view(-1)[:kept].copy_(_C.as_strided(self, [kept], [1], self.storage_offset()))
    self.data = with_memory
    return self


def resize_(self, *sizes, memory_format=None):
    """The tensor with other sizes, row-major on its memory; where that is too small, on a larger copy of it.

    New elements are uninitialised. Raises RuntimeError for tensors that require gradients.
    """
    shape = sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes
    return _resized(self, list(shape))


def resize_as_(self, the_template, *, memory_format=None):
    """`resize_` to another tensor's sizes."""
    return _resized(self, list(the_template.shape))
