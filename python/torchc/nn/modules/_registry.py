"""The dictionaries in which a module keeps what it is made of."""

import copy
from collections import OrderedDict

from torchc import _C

__all__ = ["Registry"]


class Registry(dict):
    """A dict whose every change moves the process-wide epoch (rule E2), so that compiled code notices it.

    Also the type of the hook dictionaries. (A plain dict can't be weakly referenced, a hook's handle needs that.)
    """

    __slots__ = ("__weakref__",)

    def __reduce__(self):
        # A pickled module holds plain dicts, as PyTorch's do; Module.__setstate__ makes registries of them.
        return OrderedDict, (), None, None, iter(self.items())

    def __copy__(self):
        return Registry(self)

    def __deepcopy__(self, memo):
        copied = memo[id(self)] = Registry()
        for key, value in self.items():
            dict.__setitem__(copied, copy.deepcopy(key, memo), copy.deepcopy(value, memo))
        return copied


def _bumping(name: str):
    change = getattr(dict, name)

    def method(self, *args, **kwargs):
        _C._bump_epoch()
        return change(self, *args, **kwargs)

    method.__name__ = name
    method.__doc__ = change.__doc__
    return method


for _name in (
    "__setitem__",
    "__delitem__",
    "__ior__",
    "clear",
    "pop",
    "popitem",
    "setdefault",
    "update",
):
    setattr(Registry, _name, _bumping(_name))
