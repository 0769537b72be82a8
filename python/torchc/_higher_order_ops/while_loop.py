"""torch.while_loop: a loop whose end depends on tensors, as one operation of a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchc import _C
from torchc._higher_order_ops._common import Recorded
from torchc.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

__all__ = ["while_loop"]


def _validate(cond_fn, body_fn, carried_inputs) -> None:
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("Expect cond_fn and body_fn to be callable.")
    if not isinstance(carried_inputs, (tuple, list)) or not all(
        isinstance(t, _C.Tensor) for t in tree_leaves(carried_inputs)
    ):
        raise RuntimeError(
            "Expect carried_inputs to be a tuple of possibly nested dict/list/tuple that only consists of tensor "
            f"leaves, but got {carried_inputs}."
        )
    if not tree_leaves(carried_inputs):
        raise RuntimeError("Expect carried_inputs to have at least one tensor.")


def while_loop(cond_fn: Callable, body_fn: Callable, carried_inputs: tuple | list) -> Any:
    """`while cond_fn(*v): v = body_fn(*v)`, beginning with `carried_inputs`; returns the last v as a tuple.

    Args:
        cond_fn: gives a bool tensor of one element.
        body_fn: gives a tuple of tensors of the same structure, dtypes and shapes as carried_inputs.
        carried_inputs: a tuple of tensors, or of nested tensors.

    Both functions are recorded once, see `cond` for what they may do. Where gradients are wanted the loop is run round
    by round on the tape, and a graph can't hold it. RuntimeError for wrong arguments and results, naming both types;
    NotImplementedError for random functions in cond_fn.
    """
    _validate(cond_fn, body_fn, carried_inputs)
    carried = tuple(carried_inputs)
    goes_on = Recorded(cond_fn, carried, "cond_fn of torch.while_loop")

    def body(*args):
        result = body_fn(*args)
        return tuple(result) if isinstance(result, (tuple, list)) else (result,)

    step = Recorded(body, carried, "body_fn of torch.while_loop")
    if step.spec != tree_flatten(carried)[1]:
        raise RuntimeError(
            "torch.while_loop: Expected carried_inputs and body outputs to have the same structure, but got "
            f"{tree_flatten(carried)[1]} and {step.spec}."
        )
    results = _C._while_loop(goes_on.graph, step.graph, tree_leaves(carried), [])
    return tree_unflatten(list(results), step.spec)
