"""Automatic differentiation: gradients of tensors, and the modes that switch recording on and off."""

from torchc import _C
from torchc.autograd.grad_mode import enable_grad, no_grad, set_grad_enabled

__all__ = ["backward", "enable_grad", "grad", "no_grad", "set_grad_enabled"]


def _tuple(value, what: str) -> tuple:
    """`value` as a tuple of tensors; one tensor stands for a tuple of one."""
    items = (value,) if isinstance(value, _C.Tensor) else tuple(value)
    for item in items:
        if item is not None and not isinstance(item, _C.Tensor):
            raise TypeError(f"{what} must be tensors or None, got {type(item).__name__}")
    return items


def _pair(outputs, grads, what: str) -> tuple[tuple, tuple]:
    """Outputs and their cotangents; an absent cotangent (None) means one, for outputs of one element."""
    outputs = _tuple(outputs, "outputs")
    grads = (None,) * len(outputs) if grads is None else _tuple(grads, what)
    if len(outputs) != len(grads):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(grads)} {what}")
    return outputs, grads


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None):
    """Adds the gradients of `tensors` with respect to the leaves of the graph to the leaves' `.grad`.

    Args:
        tensors: a tensor or a sequence of tensors.
        grad_tensors: the cotangent of each; None for a tensor of one element.
        retain_graph: keep the graph for another call; default: the value of `create_graph`.
        create_graph: record the gradients' own graph, for higher derivatives.
        inputs: only these leaves get a gradient; default: all.

    Raises:
        RuntimeError: a tensor needs no gradient, has more than one element and no cotangent, or the graph was freed.
    """
    outputs, grads = _pair(tensors, grad_tensors, "grad_tensors")
    wanted = () if inputs is None else _tuple(inputs, "inputs")
    if inputs is not None and not wanted:
        raise RuntimeError("'inputs' argument to backward cannot be empty")
    retain = create_graph if retain_graph is None else retain_graph
    _C._run_backward(outputs, grads, retain, create_graph, wanted, True, True)


def grad(
    outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, allow_unused=None
):
    """The gradients of `outputs` with respect to `inputs`, as a tuple; no tensor's `.grad` changes.

    Args:
        outputs, inputs: a tensor or a sequence of tensors.
        grad_outputs: the cotangent of each output; None for an output of one element.
        retain_graph, create_graph: as in `backward`.
        allow_unused: give None for an input that the outputs don't depend on, instead of an error.

    Raises:
        RuntimeError: as `backward`, and for an unused input unless `allow_unused`.
    """
    results, grads = _pair(outputs, grad_outputs, "grad_outputs")
    retain = create_graph if retain_graph is None else retain_graph
    return _C._run_backward(
        results, grads, retain, create_graph, _tuple(inputs, "inputs"), bool(allow_unused), False
    )
