"""Computation again instead of keeping it: not implemented with saved memory; the values are the same."""

from __future__ import annotations

from torchc.errors import Unsupported

__all__ = ["checkpoint", "checkpoint_sequential"]


def checkpoint(function, *args, use_reentrant=None, preserve_rng_state=True, **kwargs):
    """Raises Unsupported: computing the values again in backward needs hooks of saved tensors."""
    raise Unsupported(
        "utils.checkpoint.checkpoint: call the function directly; it needs more memory, nothing else"
    )


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """Raises Unsupported, as checkpoint."""
    raise Unsupported("utils.checkpoint.checkpoint_sequential: call the functions directly")
