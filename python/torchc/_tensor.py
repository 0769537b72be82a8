"""Tensor's methods that are written in Python; the extension module calls them when they are first used."""

from torchc import _C


def repr_(self) -> str:
    """`repr(tensor)`."""
    from torchc import _tensor_str

    return _tensor_str.tensor_text(self)


def format_(self, spec: str) -> str:
    """`format(tensor, spec)`: a 0-d tensor as its number, others as text."""
    if self.dim() == 0 and type(self) is _C.Tensor and self.device.type != "meta":
        return format(self.item(), spec)
    return object.__format__(self, spec)


def rebuild(data, dtype, shape, requires_grad, cls, state, device=None):
    """The tensor that `reduce_ex` took apart."""
    if data is None:
        result = _C.empty(shape, dtype=dtype, device="meta")
    else:
        result = _C._from_bytes(data, dtype).reshape(shape)
    if device is not None:
        result = result.to(device)
    result = _C.Tensor._make_subclass(cls, result, requires_grad)
    if state:
        result.__dict__.update(state)
    return result


def reduce_ex(self, protocol):
    """How pickle stores a tensor: bytes, dtype, shape, and the attributes of the object."""
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
            "moment, and pickling: use detach()"
        )
    data = None if self.device.type == "meta" else _C._to_bytes(self.detach().cpu().contiguous())
    state = getattr(self, "__dict__", None) or None
    parts = (data, self.dtype, tuple(self.shape), self.requires_grad, type(self), state)
    return rebuild, (*parts, str(self.device)) if self.is_cuda else parts


def shallow_copy(self):
    """`copy.copy(tensor)`: another object on the same memory, attributes shared."""
    if not self.is_leaf:
        raise RuntimeError("only leaves can be copied by copy.copy: use detach()")
    result = _C.Tensor._make_subclass(type(self), self, self.requires_grad)
    if self.__dict__:
        result.__dict__.update(self.__dict__)
    return result


def _copied(self, memo):
    """The tensor on a copy of its whole memory, one for all tensors on it in this deepcopy."""
    data = self.detach()
    if self.device.type != "cpu":
        return data.clone()
    identity, nbytes = _C._storage_info(data)
    key = ("torchc memory", identity)  # the originals live as long as the memo is in use
    if key not in memo:
        memo[key] = _C._storage_view(data, _C.uint8, 0, (nbytes,), (1,)).clone()
    return _C._storage_view(
        memo[key], self.dtype, self.storage_offset(), tuple(self.shape), self.stride()
    )


def deepcopy(self, memo):
    """`copy.deepcopy(tensor)`: memory of its own, `.grad` and attributes copied too."""
    import copy

    if id(self) in memo:
        return memo[id(self)]
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
            "moment. If you were attempting to deepcopy a module, this may be because of a tensor computed in it."
        )
    result = _C.Tensor._make_subclass(type(self), _copied(self, memo), self.requires_grad)
    memo[id(self)] = result
    if self.grad is not None:
        result.grad = copy.deepcopy(self.grad, memo)
    if self.__dict__:
        result.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return result


_TYPE_NAMES = {
    "float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16", "uint8": "Byte",
    "int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long", "bool": "Bool",
    "complex64": "ComplexFloat", "complex128": "ComplexDouble", "uint16": "UInt16", "uint32": "UInt32",
    "uint64": "UInt64", "float8_e4m3fn": "Float8_e4m3fn", "float8_e5m2": "Float8_e5m2",
    "float8_e4m3fnuz": "Float8_e4m3fnuz", "float8_e5m2fnuz": "Float8_e5m2fnuz",
}  # fmt: skip


def type_(self, dtype=None, non_blocking=False):
    """The old name of the tensor's type, such as "torch.FloatTensor"; with `dtype` a cast."""
    names = {f"torch.{name}Tensor": getattr(_C, key) for key, name in _TYPE_NAMES.items()}
    if dtype is None:
        return next(name for name, value in names.items() if value is self.dtype)
    if isinstance(dtype, str):
        if dtype not in names:
            raise ValueError(f"invalid type: '{dtype}'")
        dtype = names[dtype]
    elif isinstance(dtype, type):  # torchc.FloatTensor
        kind = dtype
        dtype = getattr(kind, "dtype", None)
        if not isinstance(dtype, _C.dtype):
            raise TypeError(f"invalid type object: {kind.__name__} is no type of tensors")
    return self.to(dtype)


def _options(self, dtype, device, **rest) -> dict:
    """The tensor's dtype and device where none is given, and what `rest` gives."""
    given = {name: value for name, value in rest.items() if value is not None}
    return {"dtype": dtype or self.dtype, "device": device or self.device, **given}


def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
    """`torchc.tensor` with this tensor's dtype and device as defaults."""
    return _C.tensor(data, **_options(self, dtype, device), requires_grad=requires_grad)


def new_full(self, size, fill_value, *, dtype=None, device=None, **rest):
    """`torchc.full` with this tensor's dtype and device as defaults."""
    return _C.full(size, fill_value, **_options(self, dtype, device, **rest))


def new_zeros(self, *size, dtype=None, device=None, **rest):
    """`torchc.zeros` with this tensor's dtype and device as defaults."""
    return _C.zeros(*size, **_options(self, dtype, device, **rest))


def new_ones(self, *size, dtype=None, device=None, **rest):
    """`torchc.ones` with this tensor's dtype and device as defaults."""
    return _C.ones(*size, **_options(self, dtype, device, **rest))


def new_empty(self, *size, dtype=None, device=None, **rest):
    """`torchc.empty` with this tensor's dtype and device as defaults."""
    return _C.empty(*size, **_options(self, dtype, device, **rest))


def new_empty_strided(self, size, stride, dtype=None, device=None, **rest):
    """`torchc.empty_strided` with this tensor's dtype and device as defaults."""
    return _C.empty_strided(size, stride, **_options(self, dtype, device, **rest))


def apply_(self, callable):
    """Replaces each element by `callable` of it, as a Python number; returns the tensor. Slow."""
    if self.requires_grad:
        raise RuntimeError(
            "apply_(): can't be called on a tensor that requires gradients; use detach()"
        )
    return self.copy_(
        _C.tensor([callable(v) for v in self.flatten().tolist()], dtype=self.dtype).reshape(
            self.shape
        )
    )


def map_(self, tensor, callable):
    """Replaces each element by `callable` of it and `tensor`'s (broadcast), as Python numbers; returns the tensor."""
    if self.requires_grad or tensor.requires_grad:
        raise RuntimeError(
            "map_(): can't be called on tensors that require gradients; use detach()"
        )
    other = tensor.expand(self.shape).flatten().tolist()
    values = [callable(a, b) for a, b in zip(self.flatten().tolist(), other)]
    return self.copy_(_C.tensor(values, dtype=self.dtype).reshape(self.shape))


def cuda(self, device=None, non_blocking=False, memory_format=None):
    """The tensor on a cuda device, the current one unless `device` says otherwise; itself if it is there.

    Raises RuntimeError where there is no driver or no such device.
    """
    where = _C.device("cuda") if device is None else _C.device(device)
    if where.type != "cuda":
        raise RuntimeError(f"Invalid device, must be cuda device, but got: {where}")
    return self.to(where)


def record_stream(self, stream) -> None:
    """The memory isn't used again before what `stream` has now is done. Raises RuntimeError on other devices."""
    _C._cuda_record_stream(self, stream._raw)


def pin_memory(self, device=None):
    """Raises RuntimeError: pinned memory is for copies to a device, and there is none."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


def is_pinned(self, device=None) -> bool:
    """False: see pin_memory."""
    return False


def is_shared(self) -> bool:
    """False: other processes can't see the memory."""
    return False


def share_memory_(self):
    """Raises NotImplementedError: memory isn't shared with other processes."""
    raise NotImplementedError("Tensor.share_memory_: tensors in shared memory")


def untyped_storage(self):
    """The memory that the tensor and its views share."""
    from torchc.storage import UntypedStorage

    return UntypedStorage(self)


def new(self, *args):
    """A tensor of this one's dtype from sizes (uninitialised) or values."""
    if len(args) == 1 and not isinstance(args[0], int):
        sizes = isinstance(args[0], _C.Size)
        return new_empty(self, *args[0]) if sizes else new_tensor(self, args[0])
    return new_empty(self, *(args or (0,)))


def make_wrapper_subclass(
    cls,
    size,
    strides=None,
    storage_offset=None,
    memory_format=None,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
    **policies,
):
    """A tensor of class `cls` without memory, of that size, dtype and device; `cls.__torch_dispatch__` computes.

    Raises TypeError for a class without `__torch_dispatch__`. `policies` (dispatch_sizes_strides_policy, ...) say
    what a class overrides beyond ops and change nothing.
    """
    if cls.__torch_dispatch__ is _C._disabled_torch_dispatch_impl:
        raise TypeError(
            f"_make_wrapper_subclass(): {cls.__name__} must define __torch_dispatch__: it has no memory to compute on"
        )
    if strides is None:
        data = _C.empty(size, dtype=dtype, device="meta")
    else:
        data = _C.empty_strided(size, strides, dtype=dtype, device="meta")
    result = _C.Tensor._make_subclass(cls, data, requires_grad)
    result.__dict__["_wrapper_device"] = _C.device(device or "cpu")
    return result
