"""Functions that libraries take from torch._utils."""

from __future__ import annotations

from torchc import _C

__all__: list[str] = []


def _flatten_dense_tensors(tensors):
    """All elements of dense tensors as one vector."""
    return _C.cat([tensor.contiguous().reshape(-1) for tensor in tensors])


def _unflatten_dense_tensors(flat, tensors):
    """Views of a vector with the shapes of `tensors`."""
    outputs, offset = [], 0
    for tensor in tensors:
        outputs.append(flat.narrow(0, offset, tensor.numel()).view_as(tensor))
        offset += tensor.numel()
    return tuple(outputs)
