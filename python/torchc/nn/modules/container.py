"""Modules made of modules."""

import operator

from torchc.nn.modules.module import Module

__all__ = ["Sequential"]


class Sequential(Module):
    """Modules applied one after the other, given as arguments or as one ordered dict of names and modules.

    Indexing (an int, a slice), assignment, deletion, append, extend, insert and iteration work as with a list.
    """

    def __init__(self, *args):
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], dict) else enumerate(args)
        for name, module in named:
            self.add_module(str(name), module)

    def _key(self, index) -> str:
        """The registry key of a position. Raises IndexError naming the position and the length."""
        position = operator.index(index)
        if not -len(self) <= position < len(self):
            raise IndexError(
                f"index {position} is out of range for a Sequential of {len(self)} modules"
            )
        return list(self._modules)[position]

    def _renumber(self, modules):
        self._modules.clear()
        for i, module in enumerate(modules):
            self.add_module(str(i), module)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(dict(list(self._modules.items())[index]))
        return self._modules[self._key(index)]

    def __setitem__(self, index, module):
        setattr(self, self._key(index), module)

    def __delitem__(self, index):
        keys = list(self._modules)[index] if isinstance(index, slice) else [self._key(index)]
        for key in keys:
            delattr(self, key)
        self._renumber(list(self._modules.values()))

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __dir__(self):
        return [key for key in super().__dir__() if not key.isdigit()]

    def append(self, module):
        """Adds `module` at the end; returns self."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules):
        """Adds each of `modules` at the end; returns self."""
        for module in modules:
            self.append(module)
        return self

    def insert(self, index: int, module):
        """Puts `module` before position `index`; returns self."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        modules = list(self._modules.values())
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def forward(self, input):
        """The last module's result."""
        for module in self:
            input = module(input)
        return input
