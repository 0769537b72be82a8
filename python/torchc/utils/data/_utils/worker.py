"""What runs in a loader's worker processes."""

from __future__ import annotations

import os
import queue
import random
import sys
import traceback
from dataclasses import dataclass
from typing import Any

from torchc import _C

__all__ = ["Failure", "IterableEnded", "WorkerInfo", "fetch", "get_worker_info", "run"]


@dataclass(frozen=True)
class WorkerInfo:
    """Which worker this process is: id, num_workers, seed, dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """Which worker this process is; None in the main process."""
    return _info


class Failure:
    """An exception of a worker, sent as text and class."""

    def __init__(self, error: BaseException, where: str):
        self.kind = type(error)
        self.text = f"Caught {type(error).__name__} {where}.\nOriginal {traceback.format_exc()}"

    def reraise(self):
        """Raises the same class with the worker's traceback as its text."""
        try:
            error = self.kind(self.text)
        except Exception:  # a class with other arguments
            raise RuntimeError(self.text) from None
        raise error


class IterableEnded:
    """A worker's part of an iterable data set is over."""


def fetch(dataset, indices, auto_collation: bool, collate_fn):
    """The batch (or the sample) at `indices`."""
    if not auto_collation:
        return collate_fn(dataset[indices])
    batch = getattr(dataset, "__getitems__", None)
    samples = batch(indices) if callable(batch) else [dataset[i] for i in indices]
    return collate_fn(samples)


def _seed(base_seed: int, worker_id: int) -> int:
    seed = base_seed + worker_id
    random.seed(seed)
    _C.manual_seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2**32)
    return seed


def run(dataset, worker_id, num_workers, base_seed, tasks, results, ended, init, job):
    """The worker's loop: takes (number, indices) until None or `ended` is set, puts (number, worker, result).

    `job` makes the function that computes a result from indices; for iterable data sets the indices don't matter.
    """
    global _info
    _C.set_num_threads(1)
    _info = WorkerInfo(worker_id, num_workers, _seed(base_seed, worker_id), dataset)
    where = f"in DataLoader worker process {worker_id}"
    compute = None
    failure = None
    try:
        if init is not None:
            init(worker_id)
        compute = job(dataset)
    except Exception as error:
        failure = Failure(error, where)
    parent = os.getppid()
    while True:
        try:
            task = tasks.get(timeout=5)
        except queue.Empty:
            if os.getppid() != parent:
                return  # the main process is gone
            continue
        if task is None or ended.is_set():
            # Nobody reads the results that are left: waiting until they are would be for ever.
            results.cancel_join_thread()
            return
        number, indices = task
        if indices == "restart":
            compute, failure = job(dataset), None
            results.put((number, worker_id, "restarted"))
            continue
        try:
            result = failure if compute is None else compute(indices)
        except StopIteration:
            result = IterableEnded()
        except Exception as error:
            result = Failure(error, where)
        failure = None if compute is not None else failure
        results.put((number, worker_id, result))
