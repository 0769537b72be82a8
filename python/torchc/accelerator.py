"""The one accelerator of a machine: cuda where it has a device."""

from __future__ import annotations

from torchc import _C

__all__ = ["current_accelerator", "device_count", "is_available", "set_device_index", "synchronize"]


def is_available() -> bool:
    """Is there a device?"""
    return _C._cuda_device_count() > 0


def current_accelerator(check_available: bool = False):
    """torchc.device("cuda"), or None where there is no device."""
    return _C.device("cuda") if is_available() else None


def device_count() -> int:
    """The number of devices."""
    return _C._cuda_device_count()


def synchronize(device=None) -> None:
    """Waits until all work of the device is done; nothing where there is none."""
    from torchc import cuda

    cuda.synchronize(device)


def set_device_index(device) -> None:
    """Makes a device the current one. Raises RuntimeError where there is none."""
    from torchc import cuda

    if not is_available():
        raise RuntimeError("there is no accelerator")
    cuda.set_device(device)
