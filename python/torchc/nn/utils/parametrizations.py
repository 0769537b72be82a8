"""Ready parametrizations: weight norm, spectral norm, orthogonal matrices."""

from __future__ import annotations

from torchc import _C
from torchc.autograd.grad_mode import no_grad
from torchc.nn.modules.module import Module
from torchc.nn.utils import parametrize
from torchc.nn.utils.orthogonal import Orthogonal, orthogonal_map_of
from torchc.nn.utils.spectral_norm import matrix_of, unit
from torchc.nn.utils.weight_norm import norm_except_dim

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


class _WeightNorm(Module):
    """weight = g * v / |v|, the norm over all dimensions but `dim`."""

    def __init__(self, dim: int | None = 0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        """The weight."""
        return weight_v * (weight_g / norm_except_dim(weight_v, self.dim))

    def right_inverse(self, weight):
        """(g, v) that give this weight."""
        return norm_except_dim(weight, self.dim), weight


def weight_norm(module, name: str = "weight", dim: int | None = 0):
    """Makes module.`name` the product of a magnitude (original0) and a direction (original1); returns the module."""
    return parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _SpectralNorm(Module):
    """weight / its largest singular value, found by power iteration."""

    def __init__(self, weight, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12):
        super().__init__()
        if dim >= weight.dim() or dim < -weight.dim():
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{weight.dim()}, {weight.dim() - 1}] but "
                f"got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim, self.eps = dim if dim >= 0 else dim + weight.dim(), eps
        if weight.dim() > 1:
            from torchc.nn import init

            self.n_power_iterations = n_power_iterations
            matrix = matrix_of(weight.detach(), self.dim)
            for name, size in (("_u", matrix.size(0)), ("_v", matrix.size(1))):
                start = init.normal_(_C.empty(size, dtype=weight.dtype))
                self.register_buffer(name, unit(start, eps))
            self._iterate(matrix, 15)

    @no_grad()
    def _iterate(self, matrix, times: int):
        for _ in range(times):
            self._u.copy_(unit(matrix @ self._v, self.eps))
            self._v.copy_(unit(matrix.t() @ self._u, self.eps))

    def forward(self, weight):
        """The normed weight; training improves the vectors first."""
        if weight.dim() == 1:
            return weight / (weight * weight).sum().sqrt().clamp(min=self.eps)
        matrix = matrix_of(weight, self.dim)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        return weight / (u * (matrix @ v)).sum()

    def right_inverse(self, value):
        """The value itself."""
        return value


def spectral_norm(
    module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
):
    """Divides module.`name` by its largest singular value; returns the module.

    `dim` is the output's dimension: 0, for transposed convolutions 1. Raises ValueError when there is no such tensor.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, _C.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = 1 if getattr(module, "transposed", False) else 0
    norm = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return parametrize.register_parametrization(module, name, norm)


def orthogonal(module, name: str = "weight", orthogonal_map=None, *, use_trivialization=True):
    """Makes module.`name`, of shape (..., n, k), orthogonal: columns (rows, if n < k) orthonormal; returns the module.

    orthogonal_map: "matrix_exp", "cayley" or "householder"; by default matrix_exp of square or complex weights, else
    householder. Raises ValueError when there is no such tensor, for fewer than 2 dimensions, and for another map.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, _C.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    parametrization = Orthogonal(
        weight, orthogonal_map_of(weight, orthogonal_map), use_trivialization
    )
    return parametrize.register_parametrization(module, name, parametrization, unsafe=True)
