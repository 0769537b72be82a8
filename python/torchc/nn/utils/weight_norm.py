"""Weight normalisation as a hook (the older form; see `parametrizations`)."""

from __future__ import annotations

from torchc.nn._functions.distance import vector_norm
from torchc.nn.parameter import Parameter

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


def norm_except_dim(v, dim: int):
    """The 2-norm over all dimensions but `dim` (-1: over all), of a shape that broadcasts to v."""
    if dim == -1:
        return vector_norm(v.reshape(-1), 2, 0)
    shape = [n if d == dim % v.dim() else 1 for d, n in enumerate(v.shape)]
    rows = v.transpose(0, dim).flatten(1) if v.dim() > 1 else v.reshape(-1, 1)
    return vector_norm(rows, 2, 1).reshape(*shape)


class WeightNorm:
    """A forward pre-hook that computes `name` from `name`_g and `name`_v."""

    def __init__(self, name: str, dim: int | None):
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module):
        """The weight."""
        g, v = getattr(module, self.name + "_g"), getattr(module, self.name + "_v")
        return v * (g / norm_except_dim(v, self.dim))

    @staticmethod
    def apply(module, name: str, dim: int | None):
        """Splits the parameter. Raises RuntimeError when it is split already."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError(
                    f"Cannot register two weight_norm hooks on the same parameter {name}"
                )
        fn = WeightNorm(name, dim)
        weight = getattr(module, name)
        del module._parameters[name]
        module.register_parameter(name + "_g", Parameter(norm_except_dim(weight, fn.dim).detach()))
        module.register_parameter(name + "_v", Parameter(weight.detach()))
        setattr(module, name, fn.compute_weight(module))
        module.register_forward_pre_hook(fn)
        return fn

    def remove(self, module):
        """Makes the present weight an ordinary parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"]
        del module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.detach()))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module, name: str = "weight", dim: int | None = 0):
    """Makes module.`name` the product of `name`_g (magnitude) and `name`_v (direction); returns the module."""
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module, name: str = "weight"):
    """Undoes weight_norm; returns the module. Raises ValueError when there is none."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
