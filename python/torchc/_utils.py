"""Functions that libraries take from torch._utils."""

from __future__ import annotations

from types import FunctionType

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


def overridable(names, namespace, module):
    """Makes the Python functions `names` of a public module's `namespace` ask `__torch_function__` first."""
    for name in names:
        if isinstance(namespace.get(name), (FunctionType, _C._CastingFunction)):
            namespace[name] = _C._overridable(namespace[name], module)
