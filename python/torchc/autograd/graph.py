"""Tools around the recorded graph: `Node`, and hooks on what it saves."""

import contextlib

from torchc import _C

__all__ = ["Node", "disable_saved_tensors_hooks", "save_on_cpu", "saved_tensors_hooks"]

Node = _C._Node

_disabled: list[str] = []


class saved_tensors_hooks:
    """A block whose operations pass each tensor they save for backward through `pack_hook`; backward gets it back from
    `unpack_hook`.

    Args:
        pack_hook: called with a tensor that is saved; returns anything.
        unpack_hook: called with what `pack_hook` returned; returns a tensor of the same values.
    """

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self):
        if _disabled:
            raise RuntimeError(_disabled[-1])
        _C._push_saved_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *exception):
        _C._pop_saved_hooks()


class save_on_cpu(saved_tensors_hooks):
    """Keeps saved tensors as copies in the memory of the CPU."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        def pack(tensor):
            return tensor.device, tensor.detach().clone()

        def unpack(packed):
            device, tensor = packed
            return tensor.to(device=device)

        super().__init__(pack, unpack)


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str):
    """A block in which `saved_tensors_hooks` raises RuntimeError with `error_message`."""
    _disabled.append(error_message)
    try:
        yield
    finally:
        _disabled.pop()
