"""A module whose calls are compiled."""

from __future__ import annotations

import copy
import functools
import types

from torchc.nn import Module

__all__ = ["CompiledModule"]

_OWN = frozenset(
    "_module _options _forward _of __dict__ __class__ __call__ __copy__ __deepcopy__ __reduce_ex__ forward "
    "report".split()
)


def _compiled_call(module: Module, options: dict):
    """A compiled function that calls `module`, whatever its class and attributes are by then."""
    from torchc.jit import _compiled

    def call(*args, **kwargs):
        return module(*args, **kwargs)

    return _compiled(
        call, name=type(module).__name__, replay=False, source=module.forward, **options
    )


class CompiledModule(Module):
    """Calls `module` compiled; every other attribute is the module's own.

    Parameters, state_dict and training mode are shared with the module: names get no prefix. Methods of the module that
    return it, such as `to` and `eval`, return the compiled module. A copy is a compiled copy of the module.
    """

    def __init__(self, module: Module, **options):
        own = self.__dict__
        own["_module"] = module
        own["_options"] = options
        own["_forward"] = _compiled_call(module, options)

    def __call__(self, *args, **kwargs):
        module = self._module
        if module._has_hooks():
            return module(*args, **kwargs)
        return self._forward(*args, **kwargs)

    def forward(self, *args, **kwargs):
        """The compiled call."""
        return self._forward(*args, **kwargs)

    def _of(self, module: Module) -> CompiledModule:
        return CompiledModule(module, **self._options)

    def __copy__(self):
        return self._of(copy.copy(self._module))

    def __deepcopy__(self, memo):
        return self._of(copy.deepcopy(self._module, memo))

    def __reduce_ex__(self, protocol):
        return _restore, (self._module, self._options)

    def report(self) -> str:
        """What calls do and why; see torchc.compile."""
        return self._forward.report()

    def __getattribute__(self, name):
        if name in _OWN:
            return object.__getattribute__(self, name)
        module = object.__getattribute__(self, "_module")
        value = getattr(module, name)
        if type(value) is not types.MethodType or value.__self__ is not module:
            return value

        @functools.wraps(value)
        def method(*args, **kwargs):
            result = value(*args, **kwargs)
            return self if result is module else result

        return method

    def __setattr__(self, name, value):
        setattr(self._module, name, value)

    def __delattr__(self, name):
        delattr(self._module, name)

    # Python looks these up in the class alone.

    def __getitem__(self, key):
        return self._module[key]

    def __len__(self):
        return len(self._module)

    def __iter__(self):
        return iter(self._module)

    def __contains__(self, item):
        return item in self._module

    def __repr__(self):
        return f"CompiledModule({self._module!r})"


def _restore(module: Module, options: dict) -> CompiledModule:
    return CompiledModule(module, **options)
