"""The default generator's seed and state. Names and defaults as torch.random."""

from contextlib import contextmanager

from torchc import _C

__all__ = [
    "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state",
]  # fmt: skip

get_rng_state = _C.get_rng_state
initial_seed = _C.initial_seed
manual_seed = _C.manual_seed
seed = _C.seed
set_rng_state = _C.set_rng_state


@contextmanager
def fork_rng(
    devices=None, enabled=True, _caller="fork_rng", _devices_kw="devices", device_type="cpu"
):
    """A scope whose random numbers leave the default generator as it was before.

    Args:
        devices: only the CPU's generator exists; other devices raise NotImplementedError.
        enabled: False makes it do nothing.
    """
    if devices and any(str(_C.device(d)) != "cpu" for d in devices):
        raise NotImplementedError(f"fork_rng(): no generators for the devices {list(devices)}")
    if not enabled:
        yield
        return
    state = _C.get_rng_state()
    try:
        yield
    finally:
        _C.set_rng_state(state)
