"""Streams and events of the cuda device."""

from __future__ import annotations

from contextlib import contextmanager

from torchc import _C

__all__ = [
    "CUDAGraph",
    "Event",
    "Stream",
    "current_stream",
    "default_stream",
    "is_current_stream_capturing",
    "set_stream",
    "stream",
    "synchronize",
]


def _index(device) -> int:
    from torchc import cuda

    return cuda._index(device)


class Stream:
    """A queue of work on a device. Raises RuntimeError where there is none.

    Args:
        device: whose; None is the current one.
        priority: has no effect.
    """

    def __init__(self, device=None, priority=0, *, _raw=None):
        self._raw = _C._cuda_new_stream(_index(device)) if _raw is None else _raw

    @property
    def device(self):
        """The device."""
        return _C.device("cuda", _C._cuda_stream_info(self._raw)[0])

    @property
    def stream_id(self) -> int:
        """A number of its own; 0 is the default stream's."""
        return _C._cuda_stream_info(self._raw)[1]

    @property
    def cuda_stream(self) -> int:
        """The driver's handle."""
        return _C._cuda_stream_info(self._raw)[2]

    def query(self) -> bool:
        """Is all work done?"""
        return _C._cuda_stream_query(self._raw)

    def synchronize(self) -> None:
        """Waits until all work is done. Raises RuntimeError with what failed."""
        _C._cuda_stream_synchronize(self._raw)

    def record_event(self, event=None) -> Event:
        """Records `event`, or a new one, behind the work there is."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event) -> None:
        """Later work waits for `event`."""
        event.wait(self)

    def wait_stream(self, stream) -> None:
        """Later work waits for what `stream` has now."""
        self.wait_event(stream.record_event())

    def __eq__(self, other):
        return isinstance(other, Stream) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def _key(self) -> tuple:
        return _C._cuda_stream_info(self._raw)

    def __repr__(self):
        return f"<torchc.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class Event:
    """A mark in a stream that the host and other streams can wait for.

    Args:
        enable_timing: elapsed_time works.
        blocking: has no effect.
        interprocess: must be False.
    """

    def __init__(self, enable_timing=False, blocking=False, interprocess=False):
        if interprocess:
            raise NotImplementedError("cuda.Event: events of other processes")
        self._raw = _C._cuda_new_event(bool(enable_timing))

    def record(self, stream=None) -> None:
        """Marks where `stream`, or the current one, is now."""
        _C._cuda_event_record(self._raw, (stream or current_stream())._raw)

    def wait(self, stream=None) -> None:
        """Later work of `stream`, or the current one, waits for the mark."""
        _C._cuda_event_wait(self._raw, (stream or current_stream())._raw)

    def query(self) -> bool:
        """Is everything before the mark done?"""
        return _C._cuda_event_query(self._raw)

    def synchronize(self) -> None:
        """Waits until everything before the mark is done."""
        _C._cuda_event_synchronize(self._raw)

    def elapsed_time(self, end_event) -> float:
        """Milliseconds from this mark to `end_event`. Raises ValueError where one isn't timed or recorded."""
        return _C._cuda_event_elapsed(self._raw, end_event._raw)


class CUDAGraph:
    """Raises NotImplementedError when made: graphs of launches."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("cuda.CUDAGraph: graphs of launches")


def current_stream(device=None) -> Stream:
    """The stream that this thread's work goes to. Raises RuntimeError without a driver."""
    return Stream(_raw=_C._cuda_current_stream(_index(device)))


def default_stream(device=None) -> Stream:
    """The stream that work goes to at first. Raises RuntimeError without a driver."""
    return Stream(_raw=_C._cuda_default_stream(_index(device)))


def set_stream(stream) -> None:
    """This thread's work goes to `stream` from now on; None changes nothing."""
    if stream is not None:
        _C._cuda_set_stream(stream._raw)


@contextmanager
def stream(stream):
    """A scope whose work goes to a stream; None means none."""
    if stream is None:
        yield
        return
    previous = current_stream(stream.device)
    set_stream(stream)
    try:
        yield
    finally:
        set_stream(previous)


def synchronize(device=None) -> None:
    """Waits until all work of the device is done; nothing without a driver. Raises RuntimeError with what failed."""
    if _C._cuda_device_count():
        _C._cuda_synchronize(_index(device))


def is_current_stream_capturing() -> bool:
    """False: see CUDAGraph."""
    return False
