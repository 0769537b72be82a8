"""Overriding functions: the `__torch_function__` protocol, and modes that see every call.

A call of a public function, or of a method, property or operator of Tensor, is taken by the first of these: the
innermost `TorchFunctionMode` of the thread; then each class among the arguments' that has `__torch_function__`,
subclasses before their bases. One that returns NotImplemented passes the call on.
"""

from __future__ import annotations

import functools
import threading
import types
import warnings

from torchc import _C

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
    "wrap_torch_function",
]


class _Thread(threading.local):
    def __init__(self):
        self.modes: list = []


_thread = _Thread()


def _modes() -> list:
    """This thread's modes, outermost first."""
    return _thread.modes


def _note() -> None:
    """Tells the bindings whether there are modes."""
    mode = _C._FUNCTION_MODE
    _C._function_flags(*((mode, 0) if _thread.modes else (0, mode)))


def _push(mode) -> None:
    _thread.modes.append(mode)
    _note()


def _pop():
    mode = _thread.modes.pop()
    _note()
    return mode


class _Without:
    """A scope without the innermost mode: its handler runs in it."""

    def __enter__(self):
        self.mode = _pop()
        return self.mode

    def __exit__(self, *_):
        _push(self.mode)


def _dispatch(function, overloaded, args, kwargs):
    """Offers a call to the innermost mode and to the classes of the arguments `overloaded`."""
    found = tuple(type(o) for o in overloaded)
    rest = () if kwargs is None else (kwargs,)
    handlers = []
    if _thread.modes:
        with _Without() as mode:
            result = mode.__torch_function__(function, found, args, *rest)
        if result is not NotImplemented:
            return result
        handlers.append(repr(type(mode)))
    elif (
        not overloaded
    ):  # a backward pass restored the flags of its forward pass, whose modes have gone
        _note()
        return function(*args, **(kwargs or {}))
    for o in overloaded:
        result = o.__torch_function__(function, found, args, *rest)
        if result is not NotImplemented:
            return result
    handlers += [repr(t) for t in found]
    raise TypeError(
        f"no implementation found for '{resolve_name(function) or function}' on types that implement "
        f"__torch_function__: [{', '.join(handlers)}]"
    )


class TorchFunctionMode:
    """A scope in which `__torch_function__(self, func, types, args=(), kwargs=None)` gets every call of the thread.

    It returns the result; `func(*args, **kwargs)` computes it with the modes outside of this one. Used as
    `with Mode():`, or as a decorator.
    """

    def __init__(self) -> None:
        pass

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError(f"{type(self).__name__} has no __torch_function__")

    def __enter__(self):
        _push(self)
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        if not _thread.modes or _thread.modes[-1] is not self:
            raise RuntimeError(
                f"{type(self).__name__}: modes must be left in the opposite order of entering"
            )
        _pop()

    @classmethod
    def push(cls, *args, **kwargs):
        """An instance; `with` enters it. Kept for old programs."""
        warnings.warn(
            "`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`",
            stacklevel=2,
        )
        return cls(*args, **kwargs)

    def __call__(self, function):
        """Runs the function in the mode."""

        @functools.wraps(function)
        def within(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return within


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that calls each function."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        """func(*args, **kwargs)."""
        return func(*args, **(kwargs or {}))


class _Disable:
    """A scope without overrides; also a decorator."""

    _flags = 0

    def __enter__(self):
        flags = self._flags
        self._clear = flags & ~_C._function_flags(flags, 0)
        return self

    def __exit__(self, *_):
        _C._function_flags(0, self._clear)


class DisableTorchFunctionSubclass(_Disable):
    """A scope in which classes don't take calls; modes do."""

    _flags = _C._NO_SUBCLASS_FUNCTIONS


class DisableTorchFunction(_Disable):
    """A scope in which neither classes nor modes take calls."""

    _flags = _C._NO_SUBCLASS_FUNCTIONS | _C._NO_FUNCTIONS


def _mode_active() -> bool:
    return bool(_thread.modes) and not _C._function_flags(0, 0) & _C._NO_FUNCTIONS


def has_torch_function(relevant_args) -> bool:
    """Does a mode, or the class of one of the arguments, take calls?"""
    return _mode_active() or any(_C._overrides(o) for o in relevant_args)


def has_torch_function_unary(arg) -> bool:
    """See has_torch_function."""
    return _mode_active() or _C._overrides(arg)


def has_torch_function_variadic(*args) -> bool:
    """See has_torch_function."""
    return has_torch_function(args)


def _overloaded(arguments) -> list:
    """The arguments whose classes take calls, one of each class, subclasses first."""
    found: list = []
    for o in arguments:
        kind = type(o)
        if not _C._overrides(o) or any(type(f) is kind for f in found):
            continue
        before = next((i for i, f in enumerate(found) if issubclass(kind, type(f))), len(found))
        found.insert(before, o)
    return found


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """Calls what overrides `public_api(*args, **kwargs)` for the arguments `relevant_args`.

    Raises TypeError if all of them return NotImplemented.
    """
    return _dispatch(public_api, _overloaded(relevant_args), args, kwargs)


def wrap_torch_function(dispatcher):
    """A decorator of functions written in Python: `dispatcher(*args, **kwargs)` gives the arguments that count."""

    def decorate(function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped

    return decorate


def is_tensor_like(inp) -> bool:
    """Is it a tensor, or of a class that overrides functions?"""
    return type(inp) is _C.Tensor or hasattr(inp, "__torch_function__")


@functools.lru_cache(None)
def get_default_nowrap_functions() -> set:
    """What gives its result as it is, not as an object of the subclass."""
    return {_C.Tensor._base.__get__, _C.Tensor.grad.__get__, _C.Tensor._grad.__get__}


_NAMESPACES = ("", ".nn.functional", ".linalg", ".fft", ".special")


def _modules():
    from importlib import import_module

    for name in _NAMESPACES:
        yield f"torch{name}", import_module(f"torchc{name}")


# Functions of no tensor, or that never ask.
_IGNORED = (
    "arange as_strided_ as_tensor asarray can_cast "
    "compile compiled_with_cxx11_abi empty empty_like empty_strided "
    "enable_grad export eye finfo frombuffer from_dlpack from_numpy full get_default_device get_default_dtype "
    "get_device_module "
    "get_num_interop_threads get_num_threads get_printoptions get_rng_state hann_window hamming_window iinfo "
    "inference_mode initial_seed is_grad_enabled is_inference_mode_enabled is_storage is_tensor is_warn_always_enabled "
    "linspace load logspace manual_seed no_grad normal ones promote_types rand randint randn randperm range "
    "result_type save scalar_tensor seed set_default_device set_default_dtype set_default_tensor_type "
    "set_flush_denormal set_grad_enabled set_num_interop_threads set_num_threads set_printoptions set_rng_state "
    "set_warn_always sparse_coo_tensor tensor tril_indices triu_indices typename vmap while_loop zeros cond "
    "autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache get_autocast_cpu_dtype "
    "get_autocast_dtype get_autocast_gpu_dtype is_autocast_cache_enabled is_autocast_cpu_enabled is_autocast_enabled "
    "set_autocast_cache_enabled set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_dtype "
    "set_autocast_enabled set_autocast_gpu_dtype"
).split()


@functools.lru_cache(None)
def get_ignored_functions() -> set:
    """Functions that no class of an argument can override."""
    import torchc

    found = {getattr(torchc, name) for name in _IGNORED if hasattr(torchc, name)}
    names = "as_subclass _make_subclass __new__ __init__ __subclasshook__ __torch_function__ __hash__".split()
    return found | {getattr(_C.Tensor, name) for name in names}


def _callables(module):
    names = module.__all__ if module.__name__ != "torchc" else dir(module)
    for name in names:
        if not name.startswith("_"):
            value = getattr(module, name, None)
            if callable(value) and not isinstance(value, type):
                yield name, value


def _tensor_functions():
    """Tensor's methods and the getters of its properties, by name."""
    for name in dir(_C.Tensor):
        if name in ("__class__", "__dict__", "__doc__", "__weakref__", "__module__"):
            continue
        value = getattr(_C.Tensor, name)
        if isinstance(value, (types.GetSetDescriptorType, property)):
            yield f"{name}.__get__", value.__get__
            if isinstance(value, property) or name in (
                "grad",
                "data",
                "requires_grad",
                "real",
                "imag",
            ):
                yield f"{name}.__set__", value.__set__
        elif callable(value) and not hasattr(object, name):
            yield name, value


@functools.lru_cache(None)
def _names() -> tuple[dict, dict]:
    """Overridable functions by namespace, and the full name of each."""
    functions: dict = {}
    names: dict = {}
    for space, module in _modules():
        for name, value in _callables(module):
            names.setdefault(value, f"{space}.{name}")
            if value not in get_ignored_functions():
                functions.setdefault(module, []).append(value)
    for name, value in _tensor_functions():
        names.setdefault(value, f"torch.Tensor.{name}")
        if value not in get_ignored_functions():
            functions.setdefault(_C.Tensor, []).append(value)
    return functions, names


def get_overridable_functions() -> dict:
    """The functions that `__torch_function__` can get, by module or class."""
    return _names()[0]


def get_testing_overrides() -> dict:
    """For each overridable function one of any arguments that returns -1."""
    return {
        function: (lambda *args, **kwargs: -1)
        for functions in get_overridable_functions().values()
        for function in functions
    }


def resolve_name(f) -> str | None:
    """ "torch.add", "torch.Tensor.add", "torch.Tensor.shape.__get__": how a function is reached; None: unknown."""
    if hasattr(f, "_schema"):
        return str(f)
    try:
        return _names()[1].get(f)
    except TypeError:  # not hashable
        return None


@functools.lru_cache(None)
def _of_tensor() -> frozenset:
    return frozenset(value for _, value in _tensor_functions())


def is_tensor_method_or_property(func) -> bool:
    """Is it a method of Tensor, or `__get__` or `__set__` of a property?"""
    return func in _of_tensor() or getattr(func, "__name__", None) == "__get__"


# Names that libraries take from torch._C.
EXTENSION = {
    "DisableTorchFunction": DisableTorchFunction,
    "DisableTorchFunctionSubclass": DisableTorchFunctionSubclass,
    "_get_function_stack_at": lambda i: _thread.modes[i],
    "_has_torch_function": has_torch_function,
    "_has_torch_function_unary": has_torch_function_unary,
    "_has_torch_function_variadic": has_torch_function_variadic,
    "_is_torch_function_enabled": lambda: (
        not _C._function_flags(0, 0) & (_C._NO_SUBCLASS_FUNCTIONS | _C._NO_FUNCTIONS)
    ),
    "_is_torch_function_mode_enabled": _mode_active,
    "_len_torch_function_stack": lambda: len(_thread.modes),
    "_pop_torch_function_stack": _pop,
    "_push_on_torch_function_stack": _push,
}
