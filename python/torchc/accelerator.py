"""The one accelerator of a machine: there is none."""

from __future__ import annotations

__all__ = ["current_accelerator", "device_count", "is_available", "set_device_index", "synchronize"]


def is_available() -> bool:
    """False."""
    return False


def current_accelerator(check_available: bool = False):
    """None."""
    return None


def device_count() -> int:
    """0."""
    return 0


def synchronize(device=None) -> None:
    """Nothing: no work is waiting anywhere."""


def set_device_index(device) -> None:
    """Raises RuntimeError: there is no device."""
    raise RuntimeError("there is no accelerator")
