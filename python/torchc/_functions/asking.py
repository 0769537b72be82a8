"""Questions about tensors, old ranges, and pieces as copies."""

import builtins
import math
import warnings

from torchc import _C
from torchc._functions.strided import _given_each
from torchc._results import given


def is_same_size(input, other) -> bool:
    """Equal shapes?"""
    return input.is_same_size(other)


def is_signed(input) -> bool:
    """Has the dtype negative values?"""
    return input.is_signed()


def is_inference(input) -> bool:
    """Made in inference mode?"""
    return input.is_inference()


def get_device(input) -> int:
    """The number of the GPU; -1: not on one."""
    return input.get_device()


def is_set_to(self, tensor) -> bool:
    """The same memory, offset, sizes and strides?"""
    same = _C._storage_info(self)[0] == _C._storage_info(tensor)[0]
    return same and (self.storage_offset(), self.shape, self.stride()) == (
        tensor.storage_offset(),
        tensor.shape,
        tensor.stride(),
    )


def dim_order(self, *, ambiguity_check=False) -> tuple:
    """The dimensions from the largest stride to the smallest; of equal ones, as in the shape."""
    return tuple(sorted(builtins.range(self.dim()), key=lambda i: -self.stride()[i]))


def reversed_(self):
    """`reversed(tensor)`: the elements in reverse order along all dimensions."""
    return self.flip(tuple(builtins.range(self.dim()))) if self.dim() else self.clone()


def range(
    start, end, step=1, *, out=None, dtype=None, layout=None, device=None, requires_grad=False
):
    """start, start + step, ... up to and with end, in the default dtype; arange, without the end, replaces it."""
    warnings.warn(
        "torch.range is deprecated: use torch.arange, which leaves out the end", stacklevel=2
    )
    if not math.isfinite(end - start):
        raise RuntimeError(f"range(): unsupported range: {start} -> {end}")
    if step == 0 or (end - start) / step < 0:
        raise RuntimeError(
            f"range(): upper bound and lower bound inconsistent with step sign, got {start}, {end}, {step}"
        )
    count = int((end - start) / step) + 1
    dtype = _C.get_default_dtype() if dtype is None else dtype
    wide = _C.float64 if dtype.is_floating_point else _C.int64
    values = _C.arange(count, dtype=wide, device=device) * step + start
    return given(values.to(dtype).requires_grad_(requires_grad), out)


def slice_copy(input, dim=0, start=None, end=None, step=1, *, out=None):
    """input[start:end:step] of one dimension as a copy."""
    index = [slice(None)] * input.dim()
    index[dim] = slice(start, end, step)
    return given(input[tuple(index)].clone(), out)


def split_copy(input, split_size, dim=0, *, out=None):
    """`split` as copies, or copied into the tensors of the list `out`."""
    return _given_each("split_copy", [p.clone() for p in input.split(split_size, dim)], out)
