"""MPS: there is none."""

from __future__ import annotations

__all__ = ["device_count", "empty_cache", "is_available", "manual_seed", "synchronize"]


def is_available() -> bool:
    """False."""
    return False


def device_count() -> int:
    """0."""
    return 0


def synchronize(device=None) -> None:
    """Nothing: no work is waiting anywhere."""


def empty_cache() -> None:
    """Nothing: there is no cache."""


def manual_seed(seed: int) -> None:
    """Nothing: no device has a generator."""


manual_seed_all = manual_seed


def set_device(device) -> None:
    """Raises AssertionError: there is no device."""
    raise AssertionError("torchc is not compiled with MPS enabled")
