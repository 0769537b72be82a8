"""Instance normalisation."""

from __future__ import annotations

import warnings

from torchc.nn import functional as F
from torchc.nn.modules.batchnorm import _LazyNormBase, _NormBase

__all__ = [
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
]


class _InstanceNorm(_NormBase):
    """Normalises each channel of each sample; a subclass has the number of spatial dimensions."""

    _rank = 0

    def __init__(
        self, num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False, device=None, dtype=None,
        *, bias=True,
    ):  # fmt: skip
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def _check_input_dim(self, input):
        if input.dim() not in (self._rank + 1, self._rank + 2):
            raise ValueError(
                f"expected {self._rank + 1}D or {self._rank + 2}D input (got {input.dim()}D input)"
            )

    def forward(self, input):
        """See `functional.instance_norm`; a sample without batch dimension is a batch of one."""
        self._check_input_dim(input)
        channel = input.dim() - self._rank - 1
        if input.size(channel) != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={channel} to match num_features ({self.num_features}), but got: "
                    f"{input.size(channel)}."
                )
            warnings.warn(
                f"input's size at dim={channel} does not match num_features. You can silence this warning by not "
                "passing in num_features, which is not used because affine=False",
                stacklevel=2,
            )
        single = channel == 0
        result = F.instance_norm(
            input.unsqueeze(0) if single else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return result.squeeze(0) if single else result


class InstanceNorm1d(_InstanceNorm):
    """Normalises each channel of each sample of (N, C, L) or (C, L)."""

    _rank = 1


class InstanceNorm2d(_InstanceNorm):
    """Normalises each channel of each sample of (N, C, H, W) or (C, H, W)."""

    _rank = 2


class InstanceNorm3d(_InstanceNorm):
    """Normalises each channel of each sample of (N, C, D, H, W) or (C, D, H, W)."""

    _rank = 3


class _LazyInstanceNorm(_LazyNormBase):
    _rank: int

    def __init__(
        self,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__(eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def initialize_parameters(self, input):
        """Takes the channels from the input."""
        missing = input.dim() == self._rank + 1
        super().initialize_parameters(input.unsqueeze(0) if missing else input)


class LazyInstanceNorm1d(_LazyInstanceNorm, InstanceNorm1d):
    """An InstanceNorm1d that learns `num_features` from its first input."""

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyInstanceNorm, InstanceNorm2d):
    """An InstanceNorm2d that learns `num_features` from its first input."""

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyInstanceNorm, InstanceNorm3d):
    """An InstanceNorm3d that learns `num_features` from its first input."""

    cls_to_become = InstanceNorm3d
