"""What cond and while_loop share: functions of nested tensors as recorded graphs."""

from __future__ import annotations

from torchc import _C
from torchc.utils._pytree import tree_flatten, tree_unflatten

__all__ = ["Recorded"]


class Recorded:
    """A function recorded on the structure of its arguments; `spec` is the structure of its result."""

    def __init__(self, fn, args: tuple, what: str):
        leaves, spec = tree_flatten(args)

        def flat(*tensors):
            result = fn(*tree_unflatten(list(tensors), spec))
            out, self.spec = tree_flatten(result)
            for value in out:
                if not isinstance(value, _C.Tensor):
                    raise RuntimeError(
                        f"Expect outputs of {what} to only contains tensors, but got {type(value).__name__}: {value!r}"
                    )
            return out

        self.graph = _C._subgraph(flat, leaves, what)
