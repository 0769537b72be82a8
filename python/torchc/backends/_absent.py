"""What the modules of devices that don't exist here have in common: programs ask it on every machine."""

from __future__ import annotations

__all__ = [
    "device_count",
    "empty_cache",
    "is_available",
    "manual_seed",
    "manual_seed_all",
    "synchronize",
]


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
