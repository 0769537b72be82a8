"""Parameters that are computed from others each time they are read."""

from __future__ import annotations

from contextlib import contextmanager, suppress

from torchc import _C
from torchc.autograd.grad_mode import no_grad
from torchc.nn.modules.container import ModuleDict, ModuleList
from torchc.nn.parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "type_before_parametrizations",
]

_cache: dict | None = None


@contextmanager
def cached():
    """Inside, a parametrized tensor is computed once."""
    global _cache
    outer, _cache = _cache, {} if _cache is None else _cache
    try:
        yield
    finally:
        _cache = outer


def _as_stored(value, like):
    """A parameter when `like` was one, else a tensor."""
    return Parameter(value, like.requires_grad) if isinstance(like, Parameter) else value


class ParametrizationList(ModuleList):
    """The functions between `original` (or `original0`, `original1`, ...) and the tensor that is read."""

    def __init__(self, modules, original, unsafe: bool = False):
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        new = original
        for module in reversed(list(self)):
            if hasattr(module, "right_inverse"):
                # One that has no inverse after all starts at the tensor as it is.
                with no_grad(), suppress(NotImplementedError):
                    new = module.right_inverse(new)
        self.is_tensor = isinstance(new, _C.Tensor)
        parts = [new] if self.is_tensor else list(new)
        names = ["original"] if self.is_tensor else [f"original{i}" for i in range(len(parts))]
        self.ntensors = len(parts)
        for name, part in zip(names, parts):
            if self.is_tensor and isinstance(original, Parameter):
                original.data = part.detach()
                self.register_parameter(name, original)
            elif isinstance(original, Parameter):
                self.register_parameter(name, Parameter(part.detach(), original.requires_grad))
            else:
                self.register_buffer(name, part)

    def _originals(self) -> list:
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value):
        """Sets the originals so that the tensor becomes `value`. Raises RuntimeError when a function has no inverse."""
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                value = module.right_inverse(value)
            for own, new in zip(self._originals(), [value] if self.is_tensor else value):
                own.copy_(new)

    def forward(self):
        """The tensor."""
        modules = list(self)
        value = modules[0](*self._originals())
        for module in modules[1:]:
            value = module(value)
        return value


def _swap_class(module):
    kind = type(module)
    made = type(f"Parametrized{kind.__name__}", (kind,), {"__module__": kind.__module__})
    made.parametrizations_of = kind  # type: ignore[attr-defined]
    module.__class__ = made


def _property(name: str) -> property:
    def read(self):
        entry = self.parametrizations[name]
        if _cache is None:
            return entry()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = entry()
        return _cache[key]

    def write(self, value):
        self.parametrizations[name].right_inverse(value)

    return property(read, write)


def register_parametrization(module, tensor_name: str, parametrization, *, unsafe: bool = False):
    """Makes module.`tensor_name` the result of `parametrization` on what it was; returns the module.

    The parameter moves to module.parametrizations.`tensor_name`.original. A `right_inverse` of the parametrization
    takes values that are assigned. Raises ValueError for a missing name or, unless unsafe, a changed shape or dtype.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        module.parametrizations[tensor_name].append(parametrization)
        return module
    if tensor_name not in module._parameters and tensor_name not in module._buffers:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    original = getattr(module, tensor_name)
    shape, dtype = original.shape, original.dtype
    entry = ParametrizationList([parametrization], original, unsafe)
    if not unsafe:
        with no_grad():
            made = entry()
        if made.shape != shape or made.dtype is not dtype:
            raise ValueError(
                f"Registering a parametrization may not change the shape or dtype of the tensor: got {made.shape}, "
                f"{made.dtype}, expected {shape}, {dtype}"
            )
    delattr(module, tensor_name)
    if not is_parametrized(module):
        _swap_class(module)
        module.parametrizations = ModuleDict()
    setattr(type(module), tensor_name, _property(tensor_name))
    module.parametrizations[tensor_name] = entry
    return module


def is_parametrized(module, tensor_name: str | None = None) -> bool:
    """Whether a tensor (any, or the one called so) of the module is parametrized."""
    entries = module.__dict__.get("_modules", {}).get("parametrizations")
    if not isinstance(entries, ModuleDict):
        return False
    return len(entries) > 0 if tensor_name is None else tensor_name in entries


def remove_parametrizations(module, tensor_name: str, leave_parametrized: bool = True):
    """Makes the tensor ordinary again: its present value, or (of one tensor) the original. Returns the module."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    entry = module.parametrizations[tensor_name]
    originals = entry._originals()
    if not leave_parametrized and not entry.is_tensor:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is made of several."
        )
    with no_grad():
        value = entry().detach().clone() if leave_parametrized else originals[0]
    like = originals[0]
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if leave_parametrized and entry.is_tensor and isinstance(like, Parameter):
        like.data = value
        value = like
    if isinstance(like, Parameter):
        module.register_parameter(
            tensor_name, _as_stored(value, like) if not isinstance(value, Parameter) else value
        )
    else:
        module.register_buffer(tensor_name, value)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).parametrizations_of
    return module


def type_before_parametrizations(module) -> type:
    """The class that the module had before it was parametrized."""
    return getattr(type(module), "parametrizations_of", type(module))
