"""Computation again in backward instead of keeping its intermediate tensors."""

from __future__ import annotations

import warnings

from torchc import _C
from torchc.autograd.grad_mode import enable_grad
from torchc.errors import Unsupported

__all__ = ["checkpoint", "checkpoint_sequential"]


class _Frame:
    """One call whose saved tensors are numbers until backward asks for one: then the function runs again."""

    def __init__(self, function, args, kwargs, preserve_rng_state: bool):
        self.function, self.args, self.kwargs = function, args, kwargs
        self.state = _C.get_rng_state() if preserve_rng_state else None
        self.autocast = {
            "enabled": _C._is_autocast_enabled(),
            "dtype": _C._get_autocast_dtype(0),
            "cache_enabled": _C.is_autocast_cache_enabled(),
        }
        self.count = 0
        self.again: dict[int, _C.Tensor] = {}

    def pack(self, tensor):
        """Keeps the number of a saved tensor instead of it."""
        number = self.count
        self.count += 1
        return number

    def unpack(self, number):
        """The saved tensor. Raises RuntimeError when the second run saved less than the first."""
        if number not in self.again:
            self._run_again()
        if number not in self.again:
            raise RuntimeError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation. Number of tensors saved during forward: {self.count}. Number of tensors saved during "
                f"recomputation: {len(self.again)}."
            )
        return self.again.pop(number)

    def _run_again(self):
        from torchc.amp import autocast
        from torchc.autograd.graph import saved_tensors_hooks

        self.again = {}

        def keep(tensor):
            self.again[len(self.again)] = tensor.detach()
            return tensor

        now = _C.get_rng_state()
        if self.state is not None:
            _C.set_rng_state(self.state)
        try:
            hooks = saved_tensors_hooks(keep, lambda tensor: tensor)
            with enable_grad(), autocast("cpu", **self.autocast), hooks:
                self.function(*self.args, **self.kwargs)
        finally:
            _C.set_rng_state(now)


def checkpoint(
    function,
    *args,
    use_reentrant=None,
    preserve_rng_state=True,
    context_fn=None,
    determinism_check="default",
    debug=False,
    **kwargs,
):
    """function(*args, **kwargs) whose intermediate tensors aren't kept: backward runs it again.

    Args:
        use_reentrant: accepted; the way that needs no second backward pass is always taken.
        preserve_rng_state: the second run draws the same random numbers.

    The values are the function's own. Raises RuntimeError in backward when the second run differs.
    """
    from torchc.autograd.graph import saved_tensors_hooks

    if context_fn is not None:
        raise Unsupported("utils.checkpoint.checkpoint(context_fn=...)")
    if not _C.is_grad_enabled():
        return function(*args, **kwargs)
    frame = _Frame(function, args, kwargs, preserve_rng_state)
    with saved_tensors_hooks(frame.pack, frame.unpack):
        return function(*args, **kwargs)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """The functions (or modules of a Sequential) one after the other, in `segments` checkpoints; the last is kept."""
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly.",
            stacklevel=2,
        )
    functions = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(functions) // segments

    def run(part):
        def forward(value):
            for function in part:
                value = function(value)
            return value

        return forward

    for i in range(segments - 1):
        part = run(functions[i * size : (i + 1) * size])
        input = checkpoint(part, input, use_reentrant=use_reentrant, **kwargs)
    return run(functions[(segments - 1) * size :])(input)
