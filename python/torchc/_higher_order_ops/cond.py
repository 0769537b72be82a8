"""torch.cond: one of two functions, chosen by a tensor, as one operation of a graph."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from torchc import _C
from torchc._higher_order_ops._common import Recorded
from torchc.utils._pytree import tree_leaves, tree_unflatten

__all__ = ["cond"]


def _validate(pred, true_fn, false_fn, operands) -> None:
    if not isinstance(pred, (bool, int, _C.Tensor)):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if isinstance(pred, _C.Tensor) and pred.numel() != 1:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("Expect both branches to be callable.")
    if not isinstance(operands, (tuple, list)) or not all(
        isinstance(t, _C.Tensor) for t in tree_leaves(operands)
    ):
        raise RuntimeError(
            "Expect operands to be a tuple of possibly nested dict/list/tuple that only consists of tensor leaves, "
            f"but got {operands}."
        )


def cond(
    pred: bool | int | _C.Tensor,
    true_fn: Callable,
    false_fn: Callable,
    operands: tuple | list = (),
) -> Any:
    """`true_fn(*operands)` if `pred` else `false_fn(*operands)`, as one operation: compiled and exported graphs hold
    both branches.

    Args:
        pred: a tensor of one element; a Python bool only calls the branch, with a warning.
        true_fn, false_fn: functions of the operands (nested dicts, lists and tuples of tensors) that return nested
            tensors. Both are recorded, neither runs as Python. They may read tensors from outside, and must not write
            to any of them, look at values or call custom operators. Results are new, row-major tensors.
        operands: what the functions are called with.

    Gradients reach operands and tensors from outside; the gradient of a cond is a cond. RuntimeError for wrong
    arguments and where the branches' results differ in structure, dtype or shape, naming both. Random functions take
    as many ordinals as the chosen branch draws.
    """
    _validate(pred, true_fn, false_fn, operands)
    if not isinstance(pred, _C.Tensor):
        warnings.warn(
            "Pred is a Python constant. When used with torch.cond, it specializes on one of the branches. If you want "
            "torch.cond to preserve two branches, please make the predicate a boolean tensor or a SymBool.",
            UserWarning,
            stacklevel=2,
        )
        return true_fn(*operands) if pred else false_fn(*operands)
    operands = tuple(operands)
    yes = Recorded(true_fn, operands, "true_fn of torch.cond")
    no = Recorded(false_fn, operands, "false_fn of torch.cond")
    if yes.spec != no.spec:
        raise RuntimeError(
            f"Unmatched output spec from torch.cond branches: true branch tree_spec {yes.spec} vs false branch "
            f"tree_spec {no.spec}."
        )
    chosen = pred.detach()
    if chosen.dtype != _C.bool:
        chosen = chosen != 0
    return tree_unflatten(
        list(_C._cond(chosen, yes.graph, no.graph, tree_leaves(operands))), yes.spec
    )
