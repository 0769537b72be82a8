"""What the caching allocator of a cuda device holds. Without a driver every number is 0."""

from __future__ import annotations

from torchc import _C

__all__ = [
    "OutOfMemoryError",
    "empty_cache",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_memory_stats",
]

OutOfMemoryError = _C.OutOfMemoryError


def _index(device) -> int:
    from torchc import cuda

    return cuda._index(device)


def _number(device, name: str) -> int:
    return memory_stats(device).get(name, 0)


def memory_stats(device=None) -> dict:
    """The allocator's counts by PyTorch's names, such as "allocated_bytes.all.peak". Empty without a driver."""
    if not _C._cuda_device_count():
        return {}
    return _C._cuda_memory_stats(_index(device))


def memory_allocated(device=None) -> int:
    """Bytes that tensors have now, in blocks of 512."""
    return _number(device, "allocated_bytes.all.current")


def max_memory_allocated(device=None) -> int:
    """The most that memory_allocated was, since the start or reset_peak_memory_stats()."""
    return _number(device, "allocated_bytes.all.peak")


def memory_reserved(device=None) -> int:
    """Bytes that the allocator has of the driver."""
    return _number(device, "reserved_bytes.all.current")


def max_memory_reserved(device=None) -> int:
    """The most that memory_reserved was, since the start or reset_peak_memory_stats()."""
    return _number(device, "reserved_bytes.all.peak")


memory_cached, max_memory_cached = memory_reserved, max_memory_reserved


def reset_peak_memory_stats(device=None) -> None:
    """Peaks start again from what there is now."""
    if _C._cuda_device_count():
        _C._cuda_reset_peak(_index(device))


reset_max_memory_allocated = reset_max_memory_cached = reset_peak_memory_stats


def empty_cache() -> None:
    """Gives memory that no tensor uses back to the driver."""
    if _C._cuda_device_count():
        _C._cuda_empty_cache(-1)


def mem_get_info(device=None) -> tuple[int, int]:
    """Free and total bytes of the device. Raises RuntimeError where there is no such device."""
    return _C._cuda_mem_get_info(_index(device))


def memory_summary(device=None, abbreviated=False) -> str:
    """memory_stats as text, one number a line."""
    return "\n".join(f"{name:40} {value}" for name, value in memory_stats(device).items())
