"""Tensors of other objects, on their memory where that is possible."""

from torchc import _C

__all__ = ["array_wrap", "asarray"]


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """`obj` (a tensor, an array, a buffer, numbers) as a tensor, on its memory where that is possible.

    Args:
        copy: True copies always; False raises ValueError where the memory can't be shared.
        requires_grad: whether operations on the result are recorded.
    """
    foreign = any(hasattr(obj, name) for name in ("__array_interface__", "__dlpack__"))
    if isinstance(obj, _C.Tensor):
        result = obj if requires_grad else obj.detach() if obj.requires_grad else obj
    elif foreign or isinstance(obj, (bytes, bytearray, memoryview)):
        result = _C.as_tensor(obj)
    elif copy is False:
        raise ValueError("can't alias arbitrary sequence into a tensor.")
    else:
        return _C.tensor(obj, dtype=dtype, device=device, requires_grad=requires_grad)
    device = device or _C._new_device() or result.device
    converted = result.to(device=device, dtype=dtype or result.dtype)
    if copy is False and converted is not result:
        raise ValueError(f"can't alias a tensor of dtype {result.dtype} as {converted.dtype}.")
    if copy and converted is result:
        converted = result.clone()
    return converted.detach().requires_grad_() if requires_grad else converted


def array_wrap(self, array, context=None, return_scalar=False):
    """What NumPy's functions of a tensor return: the array's memory as a tensor, truth values as uint8 (PyTorch's)."""
    return _C.as_tensor(array.astype("uint8") if array.dtype == bool else array)
