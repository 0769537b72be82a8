"""Sharing memory with other libraries by the DLPack protocol."""

from __future__ import annotations

import torchc as torch
from torchc import _C

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor):
    """A capsule that holds the tensor's memory; a consumer takes it once. Tensor.__dlpack__ without options."""
    return tensor.__dlpack__()


def from_dlpack(ext_tensor, *, device=None, copy=None):
    """A tensor on the memory of a capsule, or of an object that has `__dlpack__`.

    device: moved there, if it lies elsewhere. copy: True always copies, False never (ValueError where it must).
    """
    out = _C.from_dlpack(ext_tensor)
    if device is not None and torch.device(device).type != out.device.type:
        if copy is False:
            raise ValueError(
                f"from_dlpack: copy=False, but the memory lies on {out.device}, not on {device}"
            )
        return out.to(device)
    return out.clone() if copy else out
