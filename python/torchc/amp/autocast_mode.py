"""autocast: which dtype operations compute in is chosen by the operation, on the CPU.

A function's policy is the kind castLow, castSingle or castWidest of its record in the op table, or the decorator of
`torchc._autocast` where it is written in Python; the lists are PyTorch's for the CPU.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterable, Mapping

from torchc import _C
from torchc.errors import Unsupported

__all__ = [
    "autocast",
    "autocast_decorator",
    "custom_bwd",
    "custom_fwd",
    "get_autocast_dtype",
    "is_autocast_available",
    "is_autocast_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
]

# Devices of which the thread knows a lower dtype: their number there. Others of PyTorch's: a dtype that nothing uses.
_KINDS = {"cpu": 0, "cuda": 2}
_OTHERS = {
    "hpu": _C.bfloat16, "ipu": _C.float16, "maia": _C.float16, "mps": _C.float16, "mtia": _C.float16,
    "privateuseone": _C.float16, "xla": _C.bfloat16, "xpu": _C.float16,
}  # fmt: skip
_LOWER = (_C.bfloat16, _C.float16)


def _check_type(device_type) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def is_autocast_available(device_type: str) -> bool:
    """Whether PyTorch has autocast for the kind of device. Raises RuntimeError for a name that is none."""
    if device_type in _KINDS or device_type in _OTHERS:
        return True
    if device_type != "meta":
        raise RuntimeError(f"autocast: expected a kind of device, got {device_type!r}")
    return False


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether this thread is in an enabled autocast context for the kind of device."""
    is_autocast_available(device_type)
    return device_type == "cpu" and _C._is_autocast_enabled()


def set_autocast_enabled(device_type, enabled: bool | None = None) -> None:
    """Switches autocast for a kind of device, "cuda" if only a bool is given, in this thread.

    Raises TypeError for another type, and NotImplementedError to switch it on elsewhere than on the CPU.
    """
    if enabled is None:
        device_type, enabled = "cuda", device_type
    if not isinstance(enabled, bool):
        raise TypeError(
            f"set_autocast_enabled(): argument 'enabled' must be bool, not {type(enabled).__name__}"
        )
    is_autocast_available(device_type)
    if device_type == "cpu":
        _C._set_autocast_enabled(enabled)
    elif enabled:
        raise Unsupported(
            f"autocast({device_type!r}): operations choose their dtype on the CPU alone"
        )


def get_autocast_dtype(device_type: str):
    """The lower dtype of the kind of device. Raises RuntimeError for one without."""
    if device_type in _KINDS:
        return _C._get_autocast_dtype(_KINDS[device_type])
    if device_type in _OTHERS:
        return _OTHERS[device_type]
    raise RuntimeError(f"autocast: no dtype for device type {device_type!r}")


def set_autocast_dtype(device_type: str, dtype) -> None:
    """Sets what autocast casts to in this thread when no dtype is given."""
    if device_type in _KINDS:
        _C._set_autocast_dtype(_KINDS[device_type], dtype)
    else:
        get_autocast_dtype(device_type)


class _Scope:
    """One entered context: what was before."""

    def __init__(self, device: str, enabled: bool, dtype, cache_enabled: bool):
        self.device = device
        self.before = (get_autocast_dtype(device), _C.is_autocast_cache_enabled())
        self.enabled = is_autocast_enabled(device)
        set_autocast_enabled(device, enabled)
        set_autocast_dtype(device, dtype)
        _C.set_autocast_cache_enabled(cache_enabled)
        _C.autocast_increment_nesting()

    def leave(self) -> None:
        """Restores it; with the outermost context the casts that were kept go."""
        _C.autocast_decrement_nesting()
        set_autocast_enabled(self.device, self.enabled)
        set_autocast_dtype(self.device, self.before[0])
        _C.set_autocast_cache_enabled(self.before[1])


class autocast:
    """A context, or a decorator, in which operations on the CPU choose the dtype that they compute in.

    Products, convolutions and attention cast floating operands to `dtype`; losses, LAPACK, transforms and what else
    loses too much cast lower ones to float32; cat, stack and index_copy take the widest. All others compute in what
    they are given. float64 is never cast. What in-place functions and `out=` write isn't touched. Gradients have the
    dtype of what they belong to. It holds in this thread; contexts nest.

    Args:
        device_type: "cpu"; "cuda" is off with a warning where there is no GPU.
        dtype: bfloat16 or float16; others switch it off with a warning. Default: `get_autocast_dtype`.
        enabled: False: no casts inside.
        cache_enabled: casts of parameters are kept until the outermost context ends, unless the parameter changes.

    Raises ValueError for a device_type that is no str, RuntimeError for one without autocast, and NotImplementedError
    when it is entered for a GPU.
    """

    def __init__(self, device_type: str, dtype=None, enabled: bool = True, cache_enabled=None):
        _check_type(device_type)
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self.device = device_type
        if not is_autocast_available(device_type):
            raise RuntimeError(f"autocast: device type {device_type!r} has none")
        self._cache_enabled = (
            _C.is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        )
        if enabled and device_type == "cuda" and not _cuda_available():
            warnings.warn("CUDA is not available. Disabling autocast.", stacklevel=2)
            enabled = False
        elif enabled and device_type != "cuda" and self.fast_dtype not in _LOWER:
            warnings.warn(
                f"In {device_type.upper()} autocast, but the target dtype is not supported. Disabling autocast: "
                f"expected {_LOWER[0]} or {_LOWER[1]}, got {self.fast_dtype}",
                stacklevel=2,
            )
            enabled = False
        self._enabled = enabled
        self._scopes: list[_Scope] = []

    def _enter(self) -> _Scope:
        return _Scope(self.device, self._enabled, self.fast_dtype, bool(self._cache_enabled))

    def __enter__(self):
        self._scopes.append(self._enter())
        return self

    def __exit__(self, *exception):
        self._scopes.pop().leave()
        return False

    def __call__(self, function):
        return autocast_decorator(self, function)


def _cuda_available() -> bool:
    from torchc import cuda

    return cuda.is_available()


def autocast_decorator(context: autocast, function):
    """`function` that runs in the context; calls in several threads don't meet."""

    @functools.wraps(function)
    def decorated(*args, **kwargs):
        scope = context._enter()
        try:
            return function(*args, **kwargs)
        finally:
            scope.leave()

    return decorated


def _cast(value, device_type: str, dtype):
    """`value` with all floating tensors on the device but those of float64 cast, in containers too."""
    if isinstance(value, _C.Tensor):
        lower = value.is_floating_point() and value.dtype is not _C.float64
        return value.to(dtype) if lower and value.device.type == device_type else value
    if isinstance(value, (str, bytes)) or type(value).__module__.partition(".")[0] == "numpy":
        return value
    if isinstance(value, Mapping):
        return {
            _cast(k, device_type, dtype): _cast(v, device_type, dtype) for k, v in value.items()
        }
    if isinstance(value, Iterable):
        items = (_cast(item, device_type, dtype) for item in value)
        return type(value)(items) if isinstance(value, (list, tuple)) else items
    return value


def custom_fwd(fwd=None, *, device_type: str, cast_inputs=None):
    """Decorator of a Function's forward, beside `custom_bwd`.

    Args:
        cast_inputs: under autocast, floating tensors come in this dtype and forward runs outside of autocast; None:
            forward runs in the state that is current.
    """
    _check_type(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(ctx, *args, **kwargs):
        ctx._dtype = get_autocast_dtype(device_type)
        active = is_autocast_enabled(device_type)
        ctx._fwd_used_autocast = active and cast_inputs is None
        if not active or cast_inputs is None:
            return fwd(ctx, *args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(
                ctx,
                *_cast(args, device_type, cast_inputs),
                **_cast(kwargs, device_type, cast_inputs),
            )

    return decorated


def custom_bwd(bwd=None, *, device_type: str):
    """Decorator of a Function's backward: it runs in the autocast state that forward ran in."""
    _check_type(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(ctx, *args, **kwargs):
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(ctx, *args, **kwargs)

    return decorated
