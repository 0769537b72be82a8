"""The base class of everything with parameters."""

from __future__ import annotations

from torchc import _C
from torchc.autograd.grad_mode import no_grad
from torchc.nn.modules._hooks import (
    ACTIVE,
    OWN,
    Hooks,
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
    registered,
)
from torchc.nn.modules._registry import Registry
from torchc.nn.modules._state import IncompatibleKeys, StateDict
from torchc.nn.parameter import Buffer, Parameter
from torchc.utils.hooks import RemovableHandle

__all__ = [
    "Module",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

_IncompatibleKeys = IncompatibleKeys  # PyTorch's name of the class


def factory_options(device, dtype) -> dict:
    """Keyword arguments for a function that makes a tensor: what isn't None."""
    return {
        name: value for name, value in (("device", device), ("dtype", dtype)) if value is not None
    }


def _parse_to(args, kwargs):
    """The device and the dtype that the arguments of `to` name, None where absent. Raises TypeError."""
    device, dtype = kwargs.pop("device", None), kwargs.pop("dtype", None)
    other = kwargs.pop("tensor", None)
    for name in ("non_blocking", "copy", "memory_format"):
        kwargs.pop(name, None)
    if kwargs:
        raise TypeError(f"to() got an unexpected keyword argument '{next(iter(kwargs))}'")
    for arg in args:
        if isinstance(arg, _C.dtype):
            dtype = arg
        elif isinstance(arg, _C.Tensor):
            other = arg
        elif isinstance(arg, (str, _C.device)):
            device = arg
        elif arg is not None and not isinstance(arg, bool):
            raise TypeError(f"to() expects a device, a dtype or a tensor, got {type(arg).__name__}")
    if other is not None:
        device, dtype = other.device, other.dtype
    if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
        raise TypeError(
            f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
        )
    return device, dtype


def _addindent(text: str, spaces: int) -> str:
    """All lines but the first moved to the right; libraries that print modules themselves use it."""
    return text.replace("\n", "\n" + " " * spaces)


class Module(Hooks, StateDict):
    """A computation with parameters, buffers and modules inside, registered by assigning them to attributes.

    Subclasses call `super().__init__()` first and define `forward`. Every write to a module moves the epoch that
    compiled code checks (rule E2); a write to the class itself is checked by the code that reads it.
    """

    training: bool

    def __init__(self):
        write = super().__setattr__
        write("training", True)
        for name in ("_parameters", "_buffers", "_modules"):
            write(name, Registry())
        write("_non_persistent_buffers_set", set())
        self._init_hooks()
        _C._bump_epoch()

    def forward(self, *args, **kwargs):
        """Computes the result; each subclass defines it."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args, **kwargs):
        if (
            self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or ACTIVE
        ):
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    def __setstate__(self, state):
        self.__dict__.update(state)
        # Pickled registries are plain dicts; a module of an older version lacks some.
        for name in ("_parameters", "_buffers", "_modules", *OWN):
            value = self.__dict__.get(name)
            if not isinstance(value, Registry):
                registry = self.__dict__[name] = Registry(value or {})
                for handle in self.__dict__.values():
                    if value is not None and isinstance(handle, RemovableHandle):
                        handle._replace(value, registry)
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        _C._bump_epoch()

    # Attributes.

    def __getattr__(self, name):
        # Only reached when the ordinary look-up failed.
        for registry in ("_parameters", "_buffers", "_modules"):
            entries = self.__dict__.get(registry)
            if entries is not None and name in entries:
                return entries[name]
        raise AttributeError(
            f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self
        )

    def __setattr__(self, name, value):
        own = self.__dict__
        parameters = own.get("_parameters")
        if isinstance(value, Parameter):
            if parameters is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._take_over(name, value, "_parameters")
        elif isinstance(value, Buffer) and (parameters is None or name not in own["_buffers"]):
            if parameters is None:
                raise AttributeError("cannot assign buffer before Module.__init__() call")
            for place in ("_parameters", "_modules"):
                own[place].pop(name, None)
            own.pop(name, None)
            self.register_buffer(name, value, getattr(value, "persistent", True))
        elif isinstance(value, Module):
            if parameters is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._take_over(name, value, "_modules")
        elif parameters is not None and name in parameters:
            self._overwrite(
                parameters, name, value, type(None), "parameter", "torch.nn.Parameter or None"
            )
        elif parameters is not None and name in own["_modules"]:
            self._overwrite(
                own["_modules"], name, value, type(None), "child module", "torch.nn.Module or None"
            )
        elif parameters is not None and name in own["_buffers"]:
            self._overwrite(
                own["_buffers"],
                name,
                value,
                (type(None), _C.Tensor),
                "buffer",
                "torch.Tensor, torch.nn.Buffer or None",
            )
        else:
            _C._bump_epoch()
            super().__setattr__(name, value)

    def _take_over(self, name, value, registry):
        entries = self.__dict__[registry]
        for place in ("_parameters", "_buffers", "_modules"):
            if place != registry:
                self.__dict__[place].pop(name, None)
        self.__dict__.pop(name, None)
        self._non_persistent_buffers_set.discard(name)
        if registry == "_parameters":
            self.register_parameter(name, value)
        else:
            entries[name] = registered(self, "module", name, value)

    def _overwrite(self, entries, name, value, allowed, what, expected):
        if not isinstance(value, allowed):
            kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
            raise TypeError(f"cannot assign '{kind}' as {what} '{name}' ({expected} expected)")
        entries[name] = value

    def __delattr__(self, name):
        for entries in (self._parameters, self._buffers, self._modules):
            if name in entries:
                del entries[name]
                self._non_persistent_buffers_set.discard(name)
                return
        _C._bump_epoch()
        super().__delattr__(name)

    def __dir__(self):
        names = {
            *dir(type(self)),
            *self.__dict__,
            *self._parameters,
            *self._buffers,
            *self._modules,
        }
        return sorted(name for name in names if not name[:1].isdigit())

    # Registering.

    def _check_name(self, name, what: str, entries):
        """Raises PyTorch's error for a name that can't be registered."""
        if "_parameters" not in self.__dict__:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {type(name).__name__}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')
        if hasattr(self, name) and name not in entries:
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name: str, param):
        """Registers `param` (a Parameter or None) under `name`. Raises TypeError, KeyError or ValueError."""
        self._check_name(name, "parameter", self.__dict__.get("_parameters", ()))
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{type(param).__name__}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created "
                "explicitly; compute it in forward() instead."
            )
        self._parameters[name] = registered(self, "parameter", name, param)

    def register_buffer(self, name: str, tensor, persistent: bool = True):
        """Registers a tensor (or None) that is no parameter; only a persistent one is saved."""
        self._check_name(name, "buffer", self.__dict__.get("_buffers", ()))
        if tensor is not None and not isinstance(tensor, _C.Tensor):
            raise TypeError(
                f"cannot assign '{type(tensor).__name__}' object to buffer '{name}' "
                "(torch Tensor or None required)"
            )
        self._buffers[name] = registered(self, "buffer", name, tensor)
        change = (
            self._non_persistent_buffers_set.discard
            if persistent
            else self._non_persistent_buffers_set.add
        )
        change(name)

    def add_module(self, name: str, module):
        """Registers a child module (or None) under `name`."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._check_name(name, "module", self.__dict__.get("_modules", ()))
        self._modules[name] = registered(self, "module", name, module)

    def register_module(self, name: str, module):
        """The same as `add_module`."""
        self.add_module(name, module)

    # Looking things up.

    def get_submodule(self, target: str):
        """The module at a dotted path. Raises AttributeError naming the part that is missing or no module."""
        module = self
        for name in filter(None, target.split(".")):
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module, strict: bool = False):
        """Puts `module` at a dotted path; with `strict` one must be there. Raises ValueError, AttributeError."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        setattr(parent, name, module)

    def get_extra_state(self):
        """What the module saves besides tensors; a subclass that overrides it overrides set_extra_state, too."""
        raise RuntimeError(
            "Reached a code path in Module.get_extra_state() that should never be called."
        )

    def set_extra_state(self, state):
        """Takes over what get_extra_state gave."""
        raise RuntimeError(
            "Reached a code path in Module.set_extra_state() that should never be called."
        )

    def _member(self, target: str, registry: str, what: str):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        if name not in getattr(module, registry):
            raise AttributeError(f"`{name}` is not {what}")
        return getattr(module, registry)[name]

    def get_parameter(self, target: str):
        """The parameter at a dotted path. Raises AttributeError."""
        return self._member(target, "_parameters", "an nn.Parameter")

    def get_buffer(self, target: str):
        """The buffer at a dotted path. Raises AttributeError."""
        return self._member(target, "_buffers", "a buffer")

    def named_modules(self, memo=None, prefix: str = "", remove_duplicate: bool = True):
        """(dotted name, module) of this module and all below, each once unless told otherwise."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                below = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, below, remove_duplicate)

    def modules(self):
        """This module and all below, each once."""
        return (module for _, module in self.named_modules())

    def named_children(self):
        """(name, module) of the modules directly inside, each once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self):
        """The modules directly inside, each once."""
        return (module for _, module in self.named_children())

    def _named_members(self, registry: str, prefix: str, recurse: bool, remove_duplicate: bool):
        seen = set()
        places = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        for path, module in places:
            for name, value in getattr(module, registry).items():
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield f"{path}.{name}" if path else name, value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ):
        """(dotted name, parameter) of this module and, when `recurse`, of all below."""
        return self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True):
        """The parameters of this module and, when `recurse`, of all below, each once."""
        return (value for _, value in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True):
        """(dotted name, buffer) of this module and, when `recurse`, of all below."""
        return self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True):
        """The buffers of this module and, when `recurse`, of all below, each once."""
        return (value for _, value in self.named_buffers(recurse=recurse))

    # Changing everything below.

    def apply(self, fn):
        """Calls `fn` with each module below, then with this one; returns self."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn, recurse: bool = True):
        """Replaces the values of all parameters, gradients and buffers by `fn` of them; returns self."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for parameter in self._parameters.values():
            if parameter is None:
                continue
            with no_grad():
                parameter.data = fn(parameter)
                if parameter.grad is not None:
                    parameter.grad.data = fn(parameter.grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args, **kwargs):
        """Moves to a device, casts floating point values to a dtype, or both as in a given tensor; returns self."""
        device, dtype = _parse_to(args, dict(kwargs))

        def convert(value):
            options = {} if device is None else {"device": device}
            if dtype is not None and value.dtype.is_floating_point:
                options["dtype"] = dtype
            return value.to(**options) if options else value

        return self._apply(convert)

    def float(self):
        """Casts floating point values to float32; returns self."""
        return self.to(_C.float32)

    def double(self):
        """Casts floating point values to float64; returns self."""
        return self.to(_C.float64)

    def half(self):
        """Casts floating point values to float16; returns self."""
        return self.to(_C.float16)

    def bfloat16(self):
        """Casts floating point values to bfloat16; returns self."""
        return self.to(_C.bfloat16)

    def cpu(self):
        """Moves to the CPU; returns self."""
        return self.to("cpu")

    def cuda(self, device=None):
        """Moves parameters and buffers to a cuda device; returns self. Raises RuntimeError where there is none."""
        return self._apply(lambda value: value.cuda(device))

    def type(self, dst_type):
        """Casts all parameters and buffers; returns self."""
        return self._apply(lambda value: value.type(dst_type))

    def to_empty(self, *, device, recurse: bool = True):
        """Moves to a device without copying the values; returns self."""
        return self._apply(lambda value: _C.empty_like(value, device=device), recurse)

    def share_memory(self):
        """Raises NotImplementedError: tensors in shared memory don't exist yet."""
        raise NotImplementedError("Module.share_memory: tensors in shared memory")

    def compile(self, *args, **kwargs):
        """Compiles forward in place; see `torchc.compile`."""
        from torchc import jit

        self.__dict__["forward"] = jit.compile(self.forward, *args, **kwargs)
        _C._bump_epoch()

    def train(self, mode: bool = True):
        """Sets the training flag here and below; returns self."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        """Clears the training flag here and below; returns self."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True):
        """Sets whether the parameters' gradients are recorded; returns self."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True):
        """Drops the parameters' gradients, or fills them with 0."""
        for parameter in self.parameters():
            if set_to_none:
                parameter.grad = None
            elif parameter.grad is not None:
                grad = parameter.grad
                if not grad.is_leaf:  # of a backward pass with create_graph
                    grad.detach_()
                else:
                    grad.requires_grad_(False)
                with no_grad():
                    grad.zero_()

    # Printing.

    def _get_name(self):
        return type(self).__name__

    def extra_repr(self) -> str:
        """What `repr` shows of this module besides the modules inside."""
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [
            f"({name}): {_addindent(repr(module), 2)}" for name, module in self._modules.items()
        ]
        if len(lines) <= 1 and not children:
            return f"{self._get_name()}({extra})"
        return f"{self._get_name()}(\n  " + "\n  ".join([*lines, *children]) + "\n)"
