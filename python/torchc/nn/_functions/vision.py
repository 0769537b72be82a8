"""The old names of `interpolate`."""

from __future__ import annotations

import warnings

from torchc.nn._spatial import interpolate

__all__ = ["upsample", "upsample_bilinear", "upsample_nearest"]


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """The old name of `interpolate`."""
    warnings.warn(
        "`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """`interpolate` with mode="nearest"."""
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """`interpolate` with mode="bilinear" and aligned corners."""
    return interpolate(input, size, scale_factor, "bilinear", True)
