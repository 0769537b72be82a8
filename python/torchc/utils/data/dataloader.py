"""Batches of a data set, made in this process or in workers."""

from __future__ import annotations

import functools
import itertools
import multiprocessing
import queue
import time
import warnings

from torchc.utils.data._utils import worker
from torchc.utils.data._utils.collate import default_collate, default_convert
from torchc.utils.data._utils.random import seed_from
from torchc.utils.data._utils.worker import get_worker_info
from torchc.utils.data.dataset import IterableDataset
from torchc.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

__all__ = ["DataLoader", "default_collate", "get_worker_info"]


class _Endless(Sampler):
    """None again and again: the order of an iterable data set is its own."""

    def __iter__(self):
        return itertools.repeat(None)


def _iterable_job(auto_collation: bool, drop_last: bool, collate_fn, dataset):
    """The function that takes the next batch (or sample) of an iterable data set; indices only count."""
    samples = iter(dataset)

    def compute(indices):
        if not auto_collation:
            return collate_fn(next(samples))
        batch = list(itertools.islice(samples, len(indices)))
        if not batch or (drop_last and len(batch) < len(indices)):
            raise StopIteration
        return collate_fn(batch)

    return compute


def _map_job(auto_collation: bool, collate_fn, dataset):
    return functools.partial(_fetch, dataset, auto_collation, collate_fn)


def _fetch(dataset, auto_collation, collate_fn, indices):
    return worker.fetch(dataset, indices, auto_collation, collate_fn)


class DataLoader:
    """Iterates over batches of a data set.

    Args:
        batch_size: samples of a batch; None gives single samples.
        shuffle: a new random order at each pass.
        sampler, batch_sampler: an own order of samples, or of batches, instead.
        num_workers: processes that make batches ahead, `prefetch_factor` each; 0: this process makes them.
        collate_fn: list of samples to batch; default `default_collate`.
        drop_last: leave out the last batch when it is shorter.
        timeout: seconds to wait for a worker's batch; 0: for ever.
        worker_init_fn: called with the worker's number in each worker.
        generator: for the order and the workers' seeds.
        persistent_workers: keep the workers from one pass to the next.
        in_order: False gives batches as workers finish them.
        pin_memory: accepted; there is no device that would need it.

    Raises ValueError, TypeError for arguments that exclude each other.
    """

    def __init__(
        self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None,
        pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None, multiprocessing_context=None,
        generator=None, *, prefetch_factor=None, persistent_workers=False, pin_memory_device="", in_order=True,
    ):  # fmt: skip
        if num_workers < 0:
            raise ValueError(
                "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing."
            )
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError(
                "prefetch_factor option could only be specified in multiprocessing. let num_workers > 0 to enable "
                "multiprocessing, otherwise set prefetch_factor to None."
            )
        if num_workers > 0 and prefetch_factor is not None and prefetch_factor < 0:
            raise ValueError("prefetch_factor option should be non-negative")
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
        self.dataset, self.num_workers, self.timeout = dataset, num_workers, timeout
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.worker_init_fn, self.generator = worker_init_fn, generator
        self.multiprocessing_context = multiprocessing_context
        self.persistent_workers, self.in_order = persistent_workers, in_order
        self._is_iterable = isinstance(dataset, IterableDataset)
        self._choose_order(batch_size, bool(shuffle), sampler, batch_sampler, drop_last)
        auto = self.batch_sampler is not None
        self.collate_fn = collate_fn or (default_collate if auto else default_convert)
        self._workers: _Workers | None = None

    def __class_getitem__(cls, item):
        return cls

    def _choose_order(self, batch_size, shuffle, sampler, batch_sampler, drop_last):
        if self._is_iterable:
            for name, value in (
                ("shuffle", shuffle),
                ("sampler", sampler),
                ("batch_sampler", batch_sampler),
            ):
                if value not in (None, False):
                    raise ValueError(
                        f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
                    )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
            )
        if sampler is None:
            if self._is_iterable:
                sampler = _Endless()
            elif shuffle:
                sampler = RandomSampler(self.dataset, generator=self.generator)
            else:
                sampler = SequentialSampler(self.dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler, self.batch_sampler = sampler, batch_sampler

    @property
    def _index_sampler(self):
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    @property
    def _job(self):
        """Makes, from the data set, the function from indices to a batch."""
        auto = self.batch_sampler is not None
        if self._is_iterable:
            return functools.partial(_iterable_job, auto, self.drop_last, self.collate_fn)
        return functools.partial(_map_job, auto, self.collate_fn)

    def __len__(self):
        if not self._is_iterable:
            return len(self._index_sampler)
        length = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)

    def __iter__(self):
        if self.num_workers > 0 and not self.prefetch_factor:
            raise AssertionError(
                "prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter"
            )
        seed = seed_from(self.generator)
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        if self.persistent_workers:
            if self._workers is None:
                self._workers = _Workers(self, seed)
            else:
                self._workers.restart()
            return _MultiProcessingDataLoaderIter(self, self._workers)
        return _MultiProcessingDataLoaderIter(self, _Workers(self, seed))

    def check_worker_number_rationality(self):
        """Nothing: the number of workers is the caller's choice."""


class _BaseDataLoaderIter:
    """One pass over a loader."""

    def __init__(self, loader: DataLoader):
        self._loader, self._dataset = loader, loader.dataset
        self._indices = iter(loader._index_sampler)

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._loader)

    def __next__(self):
        raise NotImplementedError(f"{type(self).__name__} does not define __next__")


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    def __init__(self, loader):
        super().__init__(loader)
        self._compute = loader._job(loader.dataset)

    def __next__(self):
        return self._compute(next(self._indices))


class _Workers:
    """The processes, their task queues and the queue of results."""

    def __init__(self, loader: DataLoader, seed: int):
        context = loader.multiprocessing_context
        if context is None or isinstance(context, str):
            context = multiprocessing.get_context(context)
        self.results = context.Queue()
        self.tasks = [context.Queue() for _ in range(loader.num_workers)]
        self.ended = context.Event()
        self.processes = []
        for i, tasks in enumerate(self.tasks):
            arguments = (
                loader.dataset, i, loader.num_workers, seed, tasks, self.results, self.ended,
                loader.worker_init_fn, loader._job,
            )  # fmt: skip
            process = context.Process(target=worker.run, args=arguments, daemon=True)
            with warnings.catch_warnings():
                # Python warns of forks in programs with threads; the child only uses its own pool.
                warnings.simplefilter("ignore", DeprecationWarning)
                process.start()
            self.processes.append(process)
        self.number = 0

    def restart(self):
        """New iterators of the data set, and no results of the last pass."""
        waiting = {(self.number + i, i) for i in range(len(self.tasks))}
        for number, i in waiting:
            self.tasks[i].put((number, "restart"))
        self.number += len(self.tasks)
        while waiting:
            number, i, _ = self.take(0)
            waiting.discard((number, i))

    def take(self, timeout: float):
        """The next result. Raises RuntimeError when a worker died or the time is over."""
        waited = 0.0
        while True:
            try:
                return self.results.get(timeout=1.0 if not timeout else min(1.0, timeout))
            except queue.Empty:
                waited += 1.0
                dead = [str(p.pid) for p in self.processes if not p.is_alive()]
                if dead:
                    raise RuntimeError(
                        f"DataLoader worker (pid(s) {', '.join(dead)}) exited unexpectedly"
                    ) from None
                if timeout and waited >= timeout:
                    raise RuntimeError(f"DataLoader timed out after {timeout} seconds") from None

    def stop(self):
        """Ends the processes: what they are busy with is left after two seconds for all of them."""
        self.ended.set()
        for tasks in self.tasks:
            tasks.put(None)
        deadline = time.monotonic() + 2
        for process in self.processes:
            process.join(timeout=max(0.0, deadline - time.monotonic()))
        for end in ("terminate", "kill"):
            running = [process for process in self.processes if process.is_alive()]
            for process in running:
                getattr(process, end)()
            deadline = time.monotonic() + 2
            for process in running:
                process.join(timeout=max(0.0, deadline - time.monotonic()))
        for q in (*self.tasks, self.results):
            q.cancel_join_thread()
            q.close()
        self.processes = []

    def __del__(self):
        if self.processes:
            self.stop()


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Batches in the order of their indices, made ahead by workers in turn."""

    def __init__(self, loader, workers: _Workers):
        super().__init__(loader)
        self._workers = workers
        self._arrived: dict = {}  # results that came before their turn
        self._pending: dict[int, int] = {}  # task -> worker, in the order in which batches are due
        self._active = list(range(loader.num_workers))
        self._turn = 0
        for _ in range(loader.prefetch_factor * loader.num_workers):
            self._send()

    def _send(self):
        if not self._active:
            return
        try:
            indices = next(self._indices)
        except StopIteration:
            return
        which = self._active[self._turn % len(self._active)]
        self._turn += 1
        number = self._workers.number
        self._workers.number += 1
        self._workers.tasks[which].put((number, indices))
        self._pending[number] = which

    def _result(self):
        """(worker, result) of the batch that is due."""
        first = next(iter(self._pending))
        while first not in self._arrived:
            number, which, result = self._workers.take(self._loader.timeout)
            if number not in self._pending:
                continue  # of a pass that was left
            if not self._loader.in_order:
                self._pending.pop(number)
                return which, result
            self._arrived[number] = (which, result)
        self._pending.pop(first)
        return self._arrived.pop(first)

    def __next__(self):
        while self._pending:
            which, result = self._result()
            if isinstance(result, worker.IterableEnded):
                if which in self._active:
                    self._active.remove(which)
                self._send()
                continue
            self._send()
            if isinstance(result, worker.Failure):
                result.reraise()
            return result
        if not self._loader.persistent_workers and self._workers.processes:
            self._workers.stop()
        raise StopIteration
