"""Python's multiprocessing; tensors are sent as copies."""

from __future__ import annotations

import multiprocessing as _base
from multiprocessing import *  # noqa: F403

__all__ = [
    *_base.__all__,
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    "spawn",
]


def get_all_sharing_strategies() -> set[str]:
    """Empty: memory isn't shared."""
    return set()


def get_sharing_strategy() -> str:
    """The text "copy"."""
    return "copy"


def set_sharing_strategy(new_strategy) -> None:
    """Nothing: tensors are sent as copies."""


def _call(fn, i, args):
    fn(i, *args)


def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Starts fn(i, *args) in `nprocs` processes; with `join` waits. Raises RuntimeError when one fails."""
    context = _base.get_context(start_method)
    processes = [
        context.Process(target=_call, args=(fn, i, args), daemon=daemon) for i in range(nprocs)
    ]
    for process in processes:
        process.start()
    if not join:
        return processes
    for i, process in enumerate(processes):
        process.join()
        if process.exitcode != 0:
            for other in processes:
                other.terminate()
            raise RuntimeError(f"process {i} terminated with exit code {process.exitcode}")
    return None


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """`start_processes` with new interpreters."""
    return start_processes(fn, args, nprocs, join, daemon, start_method)
