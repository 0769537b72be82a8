"""Normalisation over the features of a sample."""

from __future__ import annotations

import numbers

from torchc import _C
from torchc.nn import functional as F
from torchc.nn import init
from torchc.nn.modules.module import Module, factory_options
from torchc.nn.parameter import Parameter

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


class LocalResponseNorm(Module):
    """See `functional.local_response_norm`."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0):
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input):
        """See `functional.local_response_norm`."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self):
        """The options."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(LocalResponseNorm):
    """The same for (N, C, H, W), under its old name."""


class _Affine(Module):
    """A weight and a bias of one shape, 1 and 0 at the start."""

    def _register(self, shape, weight: bool, bias: bool, options: dict):
        for name, present in (("weight", weight), ("bias", bias)):
            self.register_parameter(
                name, Parameter(_C.empty(*shape, **options)) if present else None
            )
        self.reset_parameters()

    def reset_parameters(self):
        """Weight 1, bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if getattr(self, "bias", None) is not None:
            init.zeros_(self.bias)


class LayerNorm(_Affine):
    """Normalises over the last dimensions, which are `normalized_shape`; see `functional.layer_norm`."""

    def __init__(
        self, normalized_shape, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True, device=None,
        dtype=None,
    ):  # fmt: skip
        super().__init__()
        if isinstance(normalized_shape, numbers.Integral):
            normalized_shape = (normalized_shape,)
        self.normalized_shape = tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self._register(
            self.normalized_shape,
            elementwise_affine,
            elementwise_affine and bias,
            factory_options(device, dtype),
        )

    def forward(self, input):
        """See `functional.layer_norm`."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        """Shape and options."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(_Affine):
    """Divides by the root mean square over the last dimensions; see `functional.rms_norm`."""

    def __init__(
        self,
        normalized_shape,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        if isinstance(normalized_shape, numbers.Integral):
            normalized_shape = (normalized_shape,)
        self.normalized_shape = tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        options = factory_options(device, dtype)
        weight = (
            Parameter(_C.empty(*self.normalized_shape, **options)) if elementwise_affine else None
        )
        self.register_parameter("weight", weight)
        self.reset_parameters()

    def forward(self, input):
        """See `functional.rms_norm`."""
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self):
        """Shape and options."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(_Affine):
    """Normalises groups of channels of each sample; see `functional.group_norm`."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, device=None, dtype=None,
        *, bias: bool = True,
    ):  # fmt: skip
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})"
            )
        self.num_groups, self.num_channels, self.eps, self.affine = (
            num_groups,
            num_channels,
            eps,
            affine,
        )
        self._register((num_channels,), affine, affine and bias, factory_options(device, dtype))

    def forward(self, input):
        """See `functional.group_norm`."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self):
        """Groups and options."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )
