"""CUDA as programs ask for it: there is none, `is_available()` is False, and what needs a device raises.

Calls that a program makes on every machine (seeds, caches, memory counters) do nothing.
"""

from __future__ import annotations

from contextlib import contextmanager

from torchc.backends._absent import (
    device_count,
    empty_cache,
    is_available,
    manual_seed,
    manual_seed_all,
    synchronize,
)
from torchc.cuda import amp

__all__ = [
    "CUDAGraph",
    "Event",
    "OutOfMemoryError",
    "Stream",
    "amp",
    "current_device",
    "current_stream",
    "device",
    "device_count",
    "empty_cache",
    "get_device_name",
    "get_device_properties",
    "init",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "stream",
    "synchronize",
]


class OutOfMemoryError(RuntimeError):
    """A CUDA allocation failed. Never raised here."""


class DeferredCudaCallError(Exception):
    """PyTorch's error of a late initialisation. Never raised here."""


def _unavailable(*args, **kwargs):
    raise AssertionError("torchc is not compiled with CUDA enabled")


def is_initialized() -> bool:
    """False."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """False: there is no device."""
    return False


def init():
    """Raises AssertionError: there is no CUDA."""
    _unavailable()


def current_device() -> int:
    """Raises AssertionError: there is no CUDA."""
    return _unavailable()


def get_device_name(device=None) -> str:
    """Raises AssertionError: there is no CUDA."""
    return _unavailable()


def get_device_capability(device=None) -> tuple:
    """Raises AssertionError: there is no CUDA."""
    return _unavailable()


def get_device_properties(device=None):
    """Raises AssertionError: there is no CUDA."""
    return _unavailable()


def current_stream(device=None):
    """Raises AssertionError: there is no CUDA."""
    return _unavailable()


default_stream = current_stream


def mem_get_info(device=None) -> tuple:
    """Raises AssertionError: there is no CUDA."""
    return _unavailable()


def get_rng_state(device="cuda"):
    """Raises AssertionError: there is no CUDA."""
    return _unavailable()


def set_rng_state(new_state, device="cuda"):
    """Raises AssertionError: there is no CUDA."""
    return _unavailable()


def get_rng_state_all() -> list:
    """An empty list: there are no devices."""
    return []


def set_rng_state_all(new_states) -> None:
    """Nothing for an empty list; AssertionError for states of devices."""
    for _ in new_states:
        _unavailable()


def set_device(device) -> None:
    """Nothing for a negative number; AssertionError for a device."""
    if not (isinstance(device, int) and device < 0):
        _unavailable()


def ipc_collect() -> None:
    """Nothing."""


def seed() -> None:
    """Nothing: no device has a generator."""


seed_all = seed


def memory_allocated(device=None) -> int:
    """0."""
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated
memory_cached = max_memory_cached = memory_allocated


def memory_stats(device=None) -> dict:
    """Empty."""
    return {}


def memory_summary(device=None, abbreviated=False) -> str:
    """Empty."""
    return ""


def reset_peak_memory_stats(device=None) -> None:
    """Nothing."""


reset_max_memory_allocated = reset_peak_memory_stats


def is_current_stream_capturing() -> bool:
    """False."""
    return False


class device:
    """A scope with another current device; only None and negative numbers, which mean none, work."""

    def __init__(self, device):
        self.idx = device

    def __enter__(self):
        if self.idx is not None and not (isinstance(self.idx, int) and self.idx < 0):
            _unavailable()

    def __exit__(self, *exception):
        return False


class Stream:
    """Raises AssertionError when made: there is no CUDA."""

    def __init__(self, *args, **kwargs):
        _unavailable()


class Event(Stream):
    """Raises AssertionError when made: there is no CUDA."""


class CUDAGraph(Stream):
    """Raises AssertionError when made: there is no CUDA."""


@contextmanager
def stream(stream):
    """A scope whose work goes to a stream; None means none."""
    if stream is not None:
        _unavailable()
    yield


def _is_in_bad_fork() -> bool:
    return False
