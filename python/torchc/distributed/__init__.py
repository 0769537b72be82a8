"""Several processes: not available, and it says so."""

from __future__ import annotations

__all__ = ["get_rank", "get_world_size", "init_process_group", "is_available", "is_initialized"]


def is_available() -> bool:
    """False."""
    return False


def is_initialized() -> bool:
    """False."""
    return False


def is_nccl_available() -> bool:
    """False."""
    return False


is_mpi_available = is_gloo_available = is_torchelastic_launched = is_nccl_available


def init_process_group(backend=None, init_method=None, **kwargs):
    """Raises NotImplementedError: several processes don't work together yet."""
    raise NotImplementedError("distributed.init_process_group: training in several processes")


def get_rank(group=None) -> int:
    """Raises ValueError: there is no process group."""
    raise ValueError(
        "Default process group has not been initialized, please make sure to call init_process_group."
    )


def get_world_size(group=None) -> int:
    """Raises ValueError: there is no process group."""
    return get_rank(group)
