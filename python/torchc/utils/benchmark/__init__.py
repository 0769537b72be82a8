"""Times of statements."""

from __future__ import annotations

import statistics
import timeit
from dataclasses import dataclass

from torchc import _C

__all__ = ["Measurement", "Timer"]


@dataclass
class Measurement:
    """Seconds of several runs of `number_per_run` executions each."""

    number_per_run: int
    raw_times: list[float]
    label: str | None = None

    @property
    def times(self) -> list[float]:
        """Seconds of one execution, by run."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def median(self) -> float:
        """The median of `times`."""
        return statistics.median(self.times)

    @property
    def mean(self) -> float:
        """The mean of `times`."""
        return statistics.fmean(self.times)

    @property
    def iqr(self) -> float:
        """The distance of the quartiles; 0 for fewer than two runs."""
        if len(self.times) < 2:
            return 0.0
        first, _, third = statistics.quantiles(self.times, n=4)
        return third - first

    def __repr__(self):
        unit, factor = next(
            ((u, f) for u, f in (("s", 1), ("ms", 1e3), ("us", 1e6)) if self.median * f >= 1),
            ("ns", 1e9),
        )
        return f"{self.label or 'Measurement'}: median {self.median * factor:.2f} {unit} of {len(self.times)} runs"


class Timer:
    """Times a statement on `num_threads` threads, as timeit does."""

    def __init__(
        self, stmt="pass", setup="pass", global_setup="", timer=timeit.default_timer, globals=None, label=None,
        sub_label=None, description=None, env=None, num_threads=1, language="python",
    ):  # fmt: skip
        self._timer = timeit.Timer(stmt, setup, timer, globals if globals is not None else {})
        self._label = " ".join(part for part in (label, sub_label, description) if part) or str(
            stmt
        )
        self._threads = num_threads

    def _run(self, number: int) -> float:
        before = _C.get_num_threads()
        _C.set_num_threads(self._threads)
        try:
            return self._timer.timeit(number)
        finally:
            _C.set_num_threads(before)

    def timeit(self, number: int = 1000000) -> Measurement:
        """One run of `number` executions, after a short one to warm up."""
        self._run(max(number // 100, 2))
        return Measurement(number, [self._run(number)], self._label)

    def blocked_autorange(self, callback=None, min_run_time: float = 0.2) -> Measurement:
        """Runs, long enough that the timer doesn't matter, for `min_run_time` seconds in all."""
        number = 1
        while self._run(number) < min_run_time / 1000 and number < 10**9:
            number *= 10
        runs: list[float] = []
        while sum(runs) < min_run_time:
            runs.append(self._run(number))
            if callback is not None:
                callback(number, runs[-1])
        return Measurement(number, runs, self._label)

    adaptive_autorange = blocked_autorange
