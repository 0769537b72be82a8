"""A module whose forward is compiled."""

from __future__ import annotations

from torchc.nn import Module

__all__ = ["CompiledModule"]


class CompiledModule(Module):
    """Calls the compiled forward of `module`; every other attribute is the module's own.

    Parameters, state_dict and training mode are shared with the module: names get no prefix.
    """

    def __init__(self, module: Module, forward):
        own = self.__dict__
        own["_module"] = module
        own["_forward"] = forward

    def __call__(self, *args, **kwargs):
        module = self._module
        if module._has_hooks():
            return module(*args, **kwargs)
        return self._forward(*args, **kwargs)

    def forward(self, *args, **kwargs):
        """The compiled forward."""
        return self._forward(*args, **kwargs)

    def report(self) -> str:
        """What calls do and why; see torchc.compile."""
        return self._forward.report()

    def __getattribute__(self, name):
        if name in (
            "_module",
            "_forward",
            "__dict__",
            "__class__",
            "__call__",
            "forward",
            "report",
        ):
            return object.__getattribute__(self, name)
        return getattr(object.__getattribute__(self, "_module"), name)

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
