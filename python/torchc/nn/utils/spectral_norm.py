"""Spectral normalisation as a hook (the older form; see `parametrizations`)."""

from __future__ import annotations

from torchc import _C
from torchc.autograd.grad_mode import no_grad
from torchc.nn import init
from torchc.nn.parameter import Parameter

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]


def matrix_of(weight, dim: int):
    """The weight as a matrix whose rows are dimension `dim`."""
    order = (dim, *(d for d in range(weight.dim()) if d != dim))
    return weight.permute(*order).flatten(1)


def unit(vector, eps: float):
    """vector / max(its length, eps)."""
    return vector / (vector * vector).sum().sqrt().clamp(min=eps)


class SpectralNorm:
    """A forward pre-hook that computes `name` from `name`_orig and the vectors `name`_u and `name`_v."""

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float):
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def compute_weight(self, module, do_power_iteration: bool):
        """The normed weight."""
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = matrix_of(weight, self.dim)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(unit(matrix.t() @ u, self.eps))
                    u.copy_(unit(matrix @ v, self.eps))
            u, v = u.clone(), v.clone()
        return weight / (u * (matrix @ v)).sum()

    def remove(self, module):
        """Makes the present weight an ordinary parameter again."""
        with no_grad():
            weight = self.compute_weight(module, False)
        delattr(module, self.name)
        for end in ("_u", "_v"):
            delattr(module, self.name + end)
        delattr(module, self.name + "_orig")
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module, module.training))


def spectral_norm(
    module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
):
    """Divides module.`name` by its largest singular value (power iteration); returns the module."""
    if dim is None:
        dim = 1 if getattr(module, "transposed", False) else 0
    for hook in module._forward_pre_hooks.values():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            raise RuntimeError(
                f"Cannot register two spectral_norm hooks on the same parameter {name}"
            )
    fn = SpectralNorm(name, n_power_iterations, dim, eps)
    weight = module._parameters[name]
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    matrix = matrix_of(weight.detach(), dim)
    delattr(module, name)
    module.register_parameter(name + "_orig", weight)
    # Not a parameter any more, but forward before the first hook may read it.
    setattr(module, name, weight.data)
    for end, size in (("_u", matrix.size(0)), ("_v", matrix.size(1))):
        start = init.normal_(_C.empty(size, dtype=weight.dtype))
        module.register_buffer(name + end, unit(start, eps))
    module.register_forward_pre_hook(fn)
    return module


def remove_spectral_norm(module, name: str = "weight"):
    """Undoes spectral_norm; returns the module. Raises ValueError when there is none."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"spectral_norm of '{name}' not found in {module}")
