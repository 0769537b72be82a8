"""The cuda device: NVIDIA GPUs by the driver that is opened when they are first asked for.

Without a driver `is_available()` is False and what needs a device raises RuntimeError; calls that a program makes on
every machine (seeds, caches, memory counters) do nothing then. `TORCHC_PTX_EMULATOR=library` names a stand-in for the
driver that interprets kernels on the CPU.
"""

from __future__ import annotations

from torchc import _C
from torchc.cuda import amp, memory
from torchc.cuda.memory import *  # noqa: F403 - all that is listed there
from torchc.cuda.streams import (
    CUDAGraph,
    Event,
    Stream,
    current_stream,
    default_stream,
    is_current_stream_capturing,
    set_stream,
    stream,
    synchronize,
)

__all__ = [
    *memory.__all__,
    "CUDAGraph",
    "Event",
    "Stream",
    "amp",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "get_device_name",
    "get_device_properties",
    "init",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "seed",
    "seed_all",
    "set_device",
    "set_stream",
    "stream",
    "synchronize",
]


class DeferredCudaCallError(Exception):
    """PyTorch's error of a late initialisation. Never raised here."""


class _DeviceProperties:
    """What get_device_properties gives: name, total_memory, major, minor, multi_processor_count and more."""

    name: str
    total_memory: int
    major: int
    minor: int
    multi_processor_count: int
    warp_size: int
    max_threads_per_multi_processor: int

    def __init__(self, values: dict):
        self.__dict__.update(values)

    def __repr__(self):
        return f"_CudaDeviceProperties({', '.join(f'{k}={v!r}' for k, v in self.__dict__.items())})"


def _index(device=None) -> int:
    """The number that an argument `device` means; -1 is the current device."""
    if device is None:
        return -1
    if isinstance(device, int):
        return device
    d = _C.device(device)
    if d.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {d}")
    return -1 if d.index is None else d.index


def is_available() -> bool:
    """Is there a driver with a device?"""
    return _C._cuda_device_count() > 0


def is_initialized() -> bool:
    """True where there is a device: asking opens it."""
    return is_available()


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """True where there is a device: kernels compute bfloat16 in float32."""
    return is_available()


def device_count() -> int:
    """The number of devices; 0 without a driver."""
    return _C._cuda_device_count()


def init() -> None:
    """Opens the driver. Raises RuntimeError where there is none."""
    if not is_available():
        raise RuntimeError(_C._cuda_problem())


def current_device() -> int:
    """The number of the device that new tensors go to. Raises RuntimeError without a driver."""
    init()
    return _C._cuda_current_device()


def set_device(device) -> None:
    """Makes `device` the current one of this thread; negative numbers change nothing."""
    index = _index(device)
    if index >= 0:
        _C._cuda_set_device(index)


def get_device_properties(device=None) -> _DeviceProperties:
    """Name, memory, compute capability and more of a device. Raises RuntimeError where there is no such device."""
    return _DeviceProperties(_C._cuda_properties(_index(device)))


def get_device_name(device=None) -> str:
    """What the device is called. Raises RuntimeError where there is no such device."""
    return get_device_properties(device).name


def get_device_capability(device=None) -> tuple[int, int]:
    """The compute capability, (8, 0) for sm_80. Raises RuntimeError where there is no such device."""
    p = get_device_properties(device)
    return p.major, p.minor


class device:
    """A scope with another current device; None and negative numbers change nothing."""

    def __init__(self, device):
        self.idx = -1 if device is None else _index(device)
        self.previous = -1

    def __enter__(self):
        if self.idx >= 0:
            self.previous = current_device()
            set_device(self.idx)

    def __exit__(self, *exception):
        if self.previous >= 0:
            set_device(self.previous)
        return False


def ipc_collect() -> None:
    """Nothing: memory isn't shared with other processes."""


def get_rng_state(device="cuda"):
    """Raises NotImplementedError: no random numbers are made on the device."""
    raise NotImplementedError("cuda.get_rng_state(): random numbers on device cuda")


def set_rng_state(new_state, device="cuda"):
    """Raises NotImplementedError: no random numbers are made on the device."""
    raise NotImplementedError("cuda.set_rng_state(): random numbers on device cuda")


def get_rng_state_all() -> list:
    """An empty list: no device has a generator."""
    return []


def set_rng_state_all(new_states) -> None:
    """Nothing for an empty list; NotImplementedError for states of devices."""
    for state in new_states:
        set_rng_state(state)


def manual_seed(seed: int) -> None:
    """Nothing: no device has a generator."""


manual_seed_all = manual_seed


def seed() -> None:
    """Nothing: no device has a generator."""


seed_all = seed


def _is_in_bad_fork() -> bool:
    return False
