"""Automatic differentiation: gradients of tensors, and the modes that switch recording on and off."""

from torchc import _C
from torchc.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled

_SUBMODULES = frozenset("anomaly_mode function functional grad_mode graph variable".split())
_LAZY = {
    "Function": "function",
    "Variable": "variable",
    "detect_anomaly": "anomaly_mode",
    "gradcheck": "gradcheck",
    "gradgradcheck": "gradcheck",
    "set_detect_anomaly": "anomaly_mode",
}

__all__ = [
    "backward", "enable_grad", "grad", "inference_mode", "no_grad", "set_grad_enabled", *sorted(_LAZY)
]  # fmt: skip


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


def _unused(allow_unused, materialize_grads) -> bool:
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    return bool(materialize_grads if allow_unused is None else allow_unused)


def grad(
    outputs,
    inputs,
    grad_outputs=None,
    retain_graph=None,
    create_graph=False,
    only_inputs=True,
    allow_unused=None,
    is_grads_batched=False,
    materialize_grads=False,
):
    """The gradients of `outputs` with respect to `inputs`, as a tuple; no tensor's `.grad` changes.

    Args:
        outputs, inputs: a tensor or a sequence of tensors.
        grad_outputs: the cotangent of each output; None for an output of one element.
        retain_graph, create_graph: as in `backward`.
        only_inputs: True; other values are accepted and mean the same.
        allow_unused: give None for an input that the outputs don't depend on, instead of an error.
        is_grads_batched: the cotangents have a leading dimension, and so have the results, one backward pass each.
        materialize_grads: zeros instead of None.

    Raises:
        RuntimeError: as `backward`, and for an unused input unless `allow_unused`.
    """
    results, grads = _pair(outputs, grad_outputs, "grad_outputs")
    wanted = _tuple(inputs, "inputs")
    retain = create_graph if retain_graph is None else retain_graph
    unused = _unused(allow_unused, materialize_grads)
    if is_grads_batched:
        found = _batched(results, grads, retain, create_graph, wanted, unused)
    else:
        found = _C._run_backward(results, grads, retain, create_graph, wanted, unused, False)
    if not materialize_grads:
        return found
    return tuple(_C.zeros_like(x) if g is None else g for g, x in zip(found, wanted, strict=True))


def _batched(results, grads, retain, create_graph, wanted, unused) -> tuple:
    """One backward pass for each index of the cotangents' leading dimension, stacked."""
    sizes = {g.shape[0] for g in grads if g is not None and g.dim()}
    if len(sizes) != 1:
        raise RuntimeError(
            "is_grads_batched: the cotangents must have one leading dimension of equal size"
        )
    count = sizes.pop()
    rows = [
        _C._run_backward(
            results,
            tuple(None if g is None else g[i] for g in grads),
            retain or i + 1 < count,
            create_graph,
            wanted,
            unused,
            False,
        )
        for i in range(count)
    ]
    return tuple(
        None if column[0] is None else _C.stack(list(column)) for column in zip(*rows, strict=True)
    )


def __getattr__(name):
    """Loads the parts that few programs need when they are first used."""
    from importlib import import_module

    home = _LAZY.get(name, name if name in _SUBMODULES else None)
    if home is None:
        raise AttributeError(f"module 'torchc.autograd' has no attribute '{name}'")
    module = import_module(f"torchc.autograd.{home}")
    value = module if home == name and name not in _LAZY else getattr(module, name)
    globals()[name] = value
    return value
