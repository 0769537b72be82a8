"""`__torch_dispatch__`: classes of tensors, and modes, that take ops below autograd.

A handler gets `(func, types, args, kwargs)` with an overload of `torch.ops.aten`; gradients are not recorded in it, the
tape records the op that it stands for. Compiled functions run such ops outside of their graph.
"""

from __future__ import annotations

import contextlib
import threading

from torchc import _C, _aten

__all__ = [
    "TorchDispatchMode",
    "is_traceable_wrapper_subclass",
    "return_and_correct_aliasing",
    "transform_subclass",
]


class _Thread(threading.local):
    def __init__(self):
        self.modes: list = []


_thread = _Thread()


def _note() -> None:
    flag = _C._DISPATCH_MODE
    _C._function_flags(*((flag, 0) if _thread.modes else (0, flag)))


def _push_mode(mode) -> None:
    _thread.modes.append(mode)
    _note()


def _pop_mode():
    mode = _thread.modes.pop()
    _note()
    return mode


def _dispatch(op, overloaded, args, kind, target):
    """Offers a call to the innermost mode, then to the classes of `overloaded`; its result, a Tensor."""
    func, args, kwargs = _aten.of_call(op, args, kind, target)
    types = tuple(type(o) for o in overloaded)
    asked = []
    if _thread.modes:
        mode = _pop_mode()
        try:
            result = mode.__torch_dispatch__(func, types, args, kwargs)
        finally:
            _push_mode(mode)
        if result is not NotImplemented:
            return _checked(mode, func, result, target)
        asked.append(type(mode))
    elif (
        not overloaded
    ):  # a backward pass restored the flags of its forward pass, whose modes have gone
        _note()
        return func(*args, **kwargs)
    for o in overloaded:
        result = type(o).__torch_dispatch__(func, types, args, kwargs)
        if result is not NotImplemented:
            return _checked(o, func, result, target)
        asked.append(type(o))
    raise TypeError(
        f"Multiple dispatch failed for 'torch.ops.{func}'; all __torch_dispatch__ handlers returned NotImplemented: "
        + ", ".join(str(t) for t in asked)
    )


def _ones_like(o):
    """The gradient that backward() starts from, for a tensor of a class that dispatches."""
    func = _aten.namespace.ones_like.default
    return _checked(o, func, type(o).__torch_dispatch__(func, (type(o),), (o,), {}), None)


def _checked(handler, func, result, target):
    if target is not None:
        return target
    if not isinstance(result, _C.Tensor):
        raise TypeError(
            f"__torch_dispatch__ of {type(handler).__name__} returned {type(result).__name__} for {func}; "
            "expected Tensor"
        )
    return result


class TorchDispatchMode:
    """A scope in which `__torch_dispatch__(self, func, types, args=(), kwargs=None)` gets every op of the thread.

    It returns the op's result; `func(*args, **kwargs)` computes it with the modes outside of this one.
    """

    def __init__(self, _dispatch_key=None):
        if _dispatch_key is not None:
            raise NotImplementedError("TorchDispatchMode(_dispatch_key): modes of one dispatch key")

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError(f"{type(self).__name__} has no __torch_dispatch__")

    def __enter__(self):
        _push_mode(self)
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        if not _thread.modes or _thread.modes[-1] is not self:
            raise RuntimeError(
                f"{type(self).__name__}: modes must be left in the opposite order of entering"
            )
        _pop_mode()

    @classmethod
    def push(cls, *args, **kwargs):
        """An instance; `with` enters it. Kept for old programs."""
        return cls(*args, **kwargs)


def _get_current_dispatch_mode():
    return _thread.modes[-1] if _thread.modes else None


def _get_current_dispatch_mode_stack() -> list:
    return list(_thread.modes)


def _len_torch_dispatch_stack() -> int:
    return len(_thread.modes)


@contextlib.contextmanager
def _disable_current_modes():
    """A scope without modes; gives those that there were."""
    saved, _thread.modes = _thread.modes, []
    _note()
    try:
        yield saved
    finally:
        _thread.modes = saved
        _note()


def is_traceable_wrapper_subclass(t) -> bool:
    """Is it a tensor of a class that says which tensors it consists of?"""
    special = isinstance(t, _C.Tensor) and type(t) is not _C.Tensor
    return special and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")


def transform_subclass(t, callback, outer_size=None, outer_stride=None):
    """A tensor of t's class from `callback(name, inner)` of each of its inner tensors."""
    names, context = t.__tensor_flatten__()
    inner = {name: callback(name, getattr(t, name)) for name in names}
    size = t.size() if outer_size is None else outer_size
    stride = t.stride() if outer_stride is None else outer_stride
    return type(t).__tensor_unflatten__(inner, context, size, stride)


def return_and_correct_aliasing(func, args, kwargs, out):
    """What a handler returns for `func`: the argument itself where the op writes to it."""
    if func._schema.is_mutable:
        return kwargs["out"] if "out" in (kwargs or {}) else args[0]
    return out
