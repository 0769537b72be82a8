"""Times of the ranges that a program marks. Single operations aren't recorded.

with torch.profiler.profile() as prof:
    with torch.profiler.record_function("forward"):
        model(x)
print(prof.key_averages().table())
"""

from __future__ import annotations

import enum
import functools
import json
import os
import threading
import time

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "record_function",
    "schedule",
    "tensorboard_trace_handler",
]

_active: list[profile] = []


class ProfilerActivity(enum.Enum):
    """What PyTorch can record. Here there are only ranges on the CPU."""

    CPU = 0
    CUDA = 2
    XPU = 1


class ProfilerAction(enum.Enum):
    """What a schedule says about a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, **options
):
    """The action of each step: skip_first, then `repeat` times (0: for ever) wait, warmup and active ones."""
    if wait < 0 or warmup < 0 or active <= 0 or repeat < 0 or skip_first < 0:
        raise AssertionError("Invalid profiler schedule arguments")

    def action(step: int) -> ProfilerAction:
        step -= skip_first
        cycle = wait + warmup + active
        if step < 0 or (repeat > 0 and step // cycle >= repeat):
            return ProfilerAction.NONE
        place = step % cycle
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if place == cycle - 1 else ProfilerAction.RECORD

    return action


class record_function:
    """A named range: a context manager and a decorator."""

    def __init__(self, name: str, args: str | None = None):
        self.name, self.args = name, args

    def __enter__(self):
        self._begin = time.perf_counter_ns()
        return self

    def __exit__(self, *exception):
        end = time.perf_counter_ns()
        for profiler in _active:
            profiler._add(self.name, self._begin, end)

    def __call__(self, function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with record_function(self.name, self.args):
                return function(*args, **kwargs)

        return wrapped


class FunctionEventAvg:
    """All ranges of one name: `count` of them, `cpu_time_total` in microseconds."""

    def __init__(self, key: str, count: int, cpu_time_total: float):
        self.key, self.count, self.cpu_time_total = key, count, cpu_time_total

    @property
    def cpu_time(self) -> float:
        """The mean in microseconds."""
        return self.cpu_time_total / self.count


class EventList(list):
    """Averages by name."""

    def table(self, sort_by: str | None = None, row_limit: int = 100, **options) -> str:
        """The averages as text, by total time or "count"."""
        key = (lambda e: e.count) if sort_by == "count" else (lambda e: e.cpu_time_total)
        rows = [f"{'Name':40} {'Total us':>14} {'Mean us':>14} {'Calls':>8}"]
        for event in sorted(self, key=key, reverse=True)[:row_limit]:
            rows.append(
                f"{event.key:40} {event.cpu_time_total:14.1f} {event.cpu_time:14.1f} {event.count:8d}"
            )
        return "\n".join(rows)


class profile:
    """Records the ranges of `record_function` while it is entered, or in the steps that a schedule chooses.

    Args:
        activities, record_shapes, profile_memory, with_stack, with_flops, with_modules: accepted; operations aren't
            recorded, so that there is nothing more to know about them.
        schedule: the action of each step; `step()` goes to the next.
        on_trace_ready: called with the profiler when a schedule's active steps end, or at the end.
    """

    def __init__(
        self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False,
        with_stack=False, with_flops=False, with_modules=False, experimental_config=None, **options,
    ):  # fmt: skip
        self._schedule, self._ready = schedule, on_trace_ready
        self.step_num = 0
        self._events: list[tuple[str, int, int, int]] = []

    def _action(self) -> ProfilerAction:
        return ProfilerAction.RECORD if self._schedule is None else self._schedule(self.step_num)

    def _add(self, name: str, begin: int, end: int):
        if self._action() in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            self._events.append((name, begin, end, threading.get_ident()))

    def start(self):
        """Begins to record."""
        _active.append(self)

    def stop(self):
        """Ends; calls on_trace_ready unless a schedule has."""
        _active.remove(self)
        if self._ready is not None and self._schedule is None:
            self._ready(self)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exception):
        self.stop()

    def step(self):
        """The next step of the schedule."""
        if self._action() is ProfilerAction.RECORD_AND_SAVE and self._schedule is not None:
            if self._ready is not None:
                self._ready(self)
            self._events = []
        self.step_num += 1

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0
    ) -> EventList:
        """The recorded ranges by name."""
        totals: dict[str, list] = {}
        for name, begin, end, _ in self._events:
            entry = totals.setdefault(name, [0, 0.0])
            entry[0] += 1
            entry[1] += (end - begin) / 1e3
        return EventList(
            FunctionEventAvg(name, count, total) for name, (count, total) in totals.items()
        )

    def export_chrome_trace(self, path: str) -> None:
        """Writes the ranges as a file for chrome://tracing."""
        events = [
            {
                "name": name,
                "ph": "X",
                "ts": begin / 1e3,
                "dur": (end - begin) / 1e3,
                "pid": os.getpid(),
                "tid": thread,
            }
            for name, begin, end, thread in self._events
        ]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": events}, file)


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
):
    """An on_trace_ready that writes a chrome trace into a folder."""

    def handler(profiler):
        os.makedirs(dir_name, exist_ok=True)
        name = f"{worker_name or os.getpid()}.{time.time_ns()}.pt.trace.json"
        profiler.export_chrome_trace(os.path.join(dir_name, name))

    return handler
