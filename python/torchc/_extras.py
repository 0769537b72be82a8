"""Functions at the top of the package that are written in Python."""

from __future__ import annotations

import math
import warnings

from torchc import _C

__all__ = [
    "are_deterministic_algorithms_enabled",
    "frombuffer",
    "get_autocast_cpu_dtype",
    "get_autocast_gpu_dtype",
    "get_deterministic_debug_mode",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "is_autocast_cpu_enabled",
    "is_deterministic_algorithms_warn_only_enabled",
    "is_nonzero",
    "is_storage",
    "is_warn_always_enabled",
    "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled",
    "set_autocast_gpu_dtype",
    "set_default_tensor_type",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_flush_denormal",
    "set_num_interop_threads",
    "set_warn_always",
    "use_deterministic_algorithms",
]

_settings = {
    "deterministic": False,
    "warn_only": False,
    "precision": "highest",
    "warn_always": False,
}


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Accepted; every algorithm here is deterministic anyway."""
    _settings.update(deterministic=bool(mode), warn_only=bool(warn_only))


def are_deterministic_algorithms_enabled() -> bool:
    """What use_deterministic_algorithms was told."""
    return bool(_settings["deterministic"])


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """What use_deterministic_algorithms was told."""
    return bool(_settings["warn_only"])


def set_deterministic_debug_mode(debug_mode) -> None:
    """use_deterministic_algorithms by number or name: 0 "default", 1 "warn", 2 "error"."""
    names = {"default": 0, "warn": 1, "error": 2}
    if debug_mode not in names and debug_mode not in names.values():
        raise RuntimeError(
            f"invalid value of debug_mode, expected one of {list(names)} or 0 to 2, got {debug_mode!r}"
        )
    level = names.get(debug_mode, debug_mode)
    use_deterministic_algorithms(level > 0, warn_only=level == 1)


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2; see set_deterministic_debug_mode."""
    return 0 if not _settings["deterministic"] else 1 if _settings["warn_only"] else 2


def set_float32_matmul_precision(precision: str) -> None:
    """Accepted: "highest", "high" or "medium"; products are always computed in float32 itself."""
    if precision not in ("highest", "high", "medium"):
        raise ValueError(f"expected 'highest', 'high' or 'medium', got {precision!r}")
    _settings["precision"] = precision


def get_float32_matmul_precision() -> str:
    """What set_float32_matmul_precision was told."""
    return str(_settings["precision"])


def set_warn_always(b: bool) -> None:
    """Kept; every warning of torchc goes through Python's filters."""
    _settings["warn_always"] = bool(b)


def is_warn_always_enabled() -> bool:
    """What set_warn_always was told."""
    return bool(_settings["warn_always"])


def set_flush_denormal(mode: bool) -> bool:
    """False: denormal numbers are always kept."""
    return False


def get_num_interop_threads() -> int:
    """1: operations run one after the other."""
    return 1


def set_num_interop_threads(num: int) -> None:
    """Accepted for positive numbers; operations run one after the other."""
    if num <= 0:
        raise RuntimeError("set_num_interop_threads(): expected a positive number of threads")


def _with_device(device, function):
    """`function` whose new tensors are made on the device: `@torch.device("meta")`."""
    import functools

    @functools.wraps(function)
    def decorated(*args, **kwargs):
        with device:
            return function(*args, **kwargs)

    return decorated


def set_default_tensor_type(t) -> None:
    """The default dtype by an old name such as "torch.DoubleTensor"."""
    names = {
        "FloatTensor": "float32",
        "DoubleTensor": "float64",
        "HalfTensor": "float16",
        "BFloat16Tensor": "bfloat16",
    }
    name = (t if isinstance(t, str) else t.__name__).rsplit(".", 1)[-1]
    if name not in names:
        raise TypeError(
            f"invalid type object: only floating-point types are supported as the default type, got {t}"
        )
    warnings.warn(
        "torch.set_default_tensor_type() is deprecated: use torch.set_default_dtype()", stacklevel=2
    )
    _C.set_default_dtype(getattr(_C, names[name]))


def is_autocast_cpu_enabled() -> bool:
    """Whether autocast is on for the CPU; `is_autocast_enabled("cpu")`."""
    return _C._is_autocast_enabled()


def get_autocast_cpu_dtype():
    """What autocast casts to on the CPU; `get_autocast_dtype("cpu")`."""
    return _C._get_autocast_dtype(0)


def get_autocast_gpu_dtype():
    """What autocast would cast to on CUDA; `get_autocast_dtype("cuda")`."""
    return _C._get_autocast_dtype(2)


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """`set_autocast_enabled("cpu", enabled)`."""
    _C._set_autocast_enabled(enabled)


def set_autocast_cpu_dtype(dtype) -> None:
    """`set_autocast_dtype("cpu", dtype)`."""
    _C._set_autocast_dtype(0, dtype)


def set_autocast_gpu_dtype(dtype) -> None:
    """`set_autocast_dtype("cuda", dtype)`."""
    _C._set_autocast_dtype(2, dtype)


def is_storage(obj) -> bool:
    """Whether it is a storage."""
    from torchc.storage import UntypedStorage

    return isinstance(obj, UntypedStorage)


def is_nonzero(input) -> bool:
    """bool(input), a tensor of one element. Raises RuntimeError for others."""
    return bool(input)


def frombuffer(buffer, *, dtype, count: int = -1, offset: int = 0, requires_grad: bool = False):
    """A vector on the memory of a buffer.

    Args:
        count: elements; -1: all that follow.
        offset: bytes before the first element.

    Raises ValueError for an empty buffer or numbers that don't fit into it.
    """
    view = memoryview(buffer)
    if view.nbytes == 0:
        raise ValueError(f"both buffer length ({view.nbytes}) and count ({count}) must not be 0")
    if not 0 <= offset < view.nbytes:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
            f"({view.nbytes} bytes) minus 1"
        )
    if count == 0:
        raise ValueError(f"both buffer length ({view.nbytes}) and count ({count}) must not be 0")
    rest = view.nbytes - offset
    if count < 0:
        if rest % dtype.itemsize:
            raise ValueError(
                f"buffer length ({rest} bytes) after offset ({offset} bytes) must be a multiple of element size "
                f"({dtype.itemsize})"
            )
        count = rest // dtype.itemsize
    elif count * dtype.itemsize > rest:
        raise ValueError(
            f"requested buffer length ({count} * {dtype.itemsize} bytes) after offset ({offset} bytes) must not be "
            f"greater than actual buffer length ({view.nbytes} bytes)"
        )
    if view.readonly:
        warnings.warn(
            "The given buffer is not writable, and PyTorch does not support non-writable tensors: writing to this "
            "tensor is undefined behavior.",
            stacklevel=2,
        )
    tensor = _C._from_buffer(buffer, dtype, offset, count)
    return tensor.requires_grad_(True) if requires_grad else tensor


def _assert(condition, message):
    """Raises AssertionError with `message` unless the condition holds."""
    if not bool(condition):
        raise AssertionError(message)


def _check_with(kind, condition, message):
    if not condition:
        raise kind(
            message()
            if callable(message)
            else "Expected cond to be True, but got False."
            if message is None
            else message
        )


def _check(cond, message=None):
    """Raises RuntimeError unless `cond`; message is a function."""
    _check_with(RuntimeError, cond, message)


def _check_value(cond, message=None):
    """Raises ValueError unless `cond`."""
    _check_with(ValueError, cond, message)


def _check_type(cond, message=None):
    """Raises TypeError unless `cond`."""
    _check_with(TypeError, cond, message)


def _check_index(cond, message=None):
    """Raises IndexError unless `cond`."""
    _check_with(IndexError, cond, message)


# Functions that change their first argument: `torch.relu_(x)` is `x.relu_()`.
IN_PLACE = frozenset(
    name + "_"
    for name in (
        "abs acos acosh addmv alpha_dropout arccos arccosh arcsin arcsinh arctan arctanh as_strided asin asinh atan "
        "atanh ceil celu clamp clamp_max clamp_min clip conj_physical cos cosh deg2rad detach dropout "
        "embedding_renorm erf erfc exp2 exp expm1 feature_alpha_dropout feature_dropout fill fix floor frac gcd i0 "
        "index_put lcm ldexp log10 log1p log2 log logit nan_to_num neg negative rad2deg reciprocal relu resize_as "
        "round rrelu rsqrt selu sigmoid sin sinc sinh sqrt square tan tanh threshold trunc xlogy zero"
    ).split()
)

CONSTANTS = {"e": math.e, "inf": math.inf, "nan": math.nan, "newaxis": None, "pi": math.pi}


class _TypedMeta(type):
    """`isinstance(x, FloatTensor)`, and the dtype in its name."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, _C.Tensor) and instance.dtype is cls.dtype  # type: ignore[attr-defined]


def typed_tensor(name: str):
    """The old class `name`, such as FloatTensor: makes tensors of its dtype on the CPU from sizes or values."""
    dtype = getattr(_C, _TYPED[name])

    def make(cls, *args, device=None):
        if len(args) == 1 and not isinstance(args[0], int):
            data = args[0]
            return (
                _C.empty(tuple(data), dtype=dtype)
                if isinstance(data, _C.Size)
                else _C.tensor(data, dtype=dtype)
            )
        return _C.empty(*(args or (0,)), dtype=dtype)

    body = {
        "__new__": make,
        "dtype": dtype,
        "__module__": "torchc",
        "__doc__": f"Tensors of {dtype}.",
    }
    return _TypedMeta(name, (), body)


_TYPED = {
    "FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16", "BFloat16Tensor": "bfloat16",
    "ByteTensor": "uint8", "CharTensor": "int8", "ShortTensor": "int16", "IntTensor": "int32", "LongTensor": "int64",
    "BoolTensor": "bool",
}  # fmt: skip
