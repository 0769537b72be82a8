"""Python's multiprocessing; tensors are sent as copies."""

from __future__ import annotations

import multiprocessing as _base
import os
import signal
import sys
import tempfile
import time
import traceback
from multiprocessing import *  # noqa: F403
from multiprocessing import connection

__all__ = [
    *_base.__all__,
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    "spawn",
    "start_processes",
]


def get_all_sharing_strategies() -> set[str]:
    """Empty: memory isn't shared."""
    return set()


def get_sharing_strategy() -> str:
    """The text "copy"."""
    return "copy"


def set_sharing_strategy(new_strategy) -> None:
    """Nothing: tensors are sent as copies."""


class ProcessException(Exception):
    """A process failed: its index and its pid."""

    def __init__(self, msg: str, error_index: int, pid: int):
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """A process failed by an exception; the text has its traceback."""


class ProcessExitedException(ProcessException):
    """A process ended by a signal or with an exit code."""

    def __init__(
        self,
        msg: str,
        error_index: int,
        error_pid: int,
        exit_code: int,
        signal_name: str | None = None,
    ):
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self):
        return type(self), (
            self.msg,
            self.error_index,
            self.pid,
            self.exit_code,
            self.signal_name,
        )


def _call(fn, i, args, trace: str):
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass  # the parent got it, too
    except Exception:
        with open(trace, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(traceback.format_exc())
        sys.exit(1)


class ProcessContext:
    """Processes that run together: when one fails the others are ended."""

    def __init__(self, processes: list, traces: tempfile.TemporaryDirectory):
        self.processes = processes
        self._traces = traces
        self._running = {process.sentinel: i for i, process in enumerate(processes)}

    def pids(self) -> list:
        """The processes' ids."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Waits until a process ends, or `timeout` seconds; True once all have.

        When one failed the others are terminated, and killed after `grace_period` seconds (None: 30).

        Raises ProcessRaisedException, ProcessExitedException for the one that failed.
        """
        for sentinel in connection.wait(list(self._running), timeout) if self._running else ():
            i = self._running.pop(sentinel)
            self.processes[i].join()
            if self.processes[i].exitcode != 0:
                self._end(30.0 if grace_period is None else grace_period)
                raise self._failure(i)
        if self._running:
            return False
        self._traces.cleanup()
        return True

    def _end(self, seconds: float):
        running = [process for process in self.processes if process.is_alive()]
        for process in running:
            process.terminate()
        deadline = time.monotonic() + seconds
        for process in running:
            process.join(max(0.0, deadline - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()
        self._running.clear()

    def _failure(self, i: int) -> ProcessException:
        process = self.processes[i]
        path = os.path.join(self._traces.name, str(i))
        text = None
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                text = file.read()
        self._traces.cleanup()
        if text is not None:
            return ProcessRaisedException(
                f"\n\n-- Process {i} terminated with the following error:\n{text}", i, process.pid
            )
        code = process.exitcode
        if code >= 0:
            return ProcessExitedException(
                f"process {i} terminated with exit code {code}", i, process.pid, code
            )
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"<Unknown signal {-code}>"
        return ProcessExitedException(
            f"process {i} terminated with signal {name}", i, process.pid, code, name
        )


SpawnContext = ProcessContext


def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Starts fn(i, *args) in `nprocs` processes; with `join` waits, otherwise returns their ProcessContext.

    Raises ProcessRaisedException with the traceback, ProcessExitedException when one fails; the others are ended.
    """
    context = _base.get_context(start_method)
    traces = tempfile.TemporaryDirectory(prefix="torchc-")
    processes = []
    for i in range(nprocs):
        trace = os.path.join(traces.name, str(i))
        process = context.Process(target=_call, args=(fn, i, args, trace), daemon=daemon)
        process.start()
        processes.append(process)
    running = ProcessContext(processes, traces)
    if not join:
        return running
    while not running.join():
        pass
    return None


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """`start_processes` with new interpreters."""
    return start_processes(fn, args, nprocs, join, daemon, start_method)
