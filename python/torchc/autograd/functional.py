"""Derivatives of functions of tensors: Jacobians, Hessians, and their products with vectors."""

import torchc
from torchc import _C

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def _tuple(value, name: str) -> tuple[bool, tuple]:
    """Whether `value` was a tuple, and its tensors."""
    many = isinstance(value, (tuple, list))
    items = tuple(value) if many else (value,)
    for i, item in enumerate(items):
        if not isinstance(item, _C.Tensor):
            where = f"the value at index {i} of the {name}" if many else f"the {name}"
            raise TypeError(
                f"{where} must be either a Tensor or a tuple of Tensors, got {type(item).__name__}"
            )
    return many, items


def _inputs(tensors: tuple, create_graph: bool) -> tuple:
    """Tensors to differentiate by, apart from the caller's graph unless the result is to have one."""
    if create_graph:
        return tuple(
            t.view_as(t) if t.requires_grad else t.detach().requires_grad_() for t in tensors
        )
    return tuple(t.detach().requires_grad_() for t in tensors)


def _same_shapes(v: tuple, other: tuple, names: tuple[str, str]):
    if len(v) != len(other):
        raise RuntimeError(
            f"{names[0]} is a tuple of invalid length: should be {len(other)} but got {len(v)}."
        )
    for i, (a, b) in enumerate(zip(v, other, strict=True)):
        if a.shape != b.shape:
            raise RuntimeError(
                f"Entry {i} in {names[0]} has invalid size: should be {tuple(b.shape)} but got {tuple(a.shape)}."
            )


def _default_vector(v, like: tuple, names: tuple[str, str]) -> tuple:
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                f"The vector {names[0]} can only be None if the {names[1]} contain a single Tensor with a single "
                "element."
            )
        return (torchc.ones_like(like[0]),)
    vectors = _tuple(v, names[0])[1]
    _same_shapes(vectors, like, names)
    return vectors


def _grad(outputs, inputs, vectors=None, create_graph=False) -> tuple:
    """Gradients; None where there is none. Outputs without history have none at all."""
    used = [i for i, o in enumerate(outputs) if o.requires_grad]
    if not used:
        return (None,) * len(inputs)
    return torchc.autograd.grad(
        [outputs[i] for i in used],
        inputs,
        None if vectors is None else [vectors[i] for i in used],
        retain_graph=True,
        create_graph=create_graph,
        allow_unused=True,
    )


def _fill(grads: tuple, refs: tuple, strict: bool, what: str) -> tuple:
    if strict and any(g is None for g in grads):
        index = next(i for i, g in enumerate(grads) if g is None)
        raise RuntimeError(
            f"The output of the user-provided function is independent of input {index}: {what}"
        )
    return tuple(torchc.zeros_like(r) if g is None else g for g, r in zip(grads, refs, strict=True))


def _result(tensors: tuple, many: bool, create_graph: bool):
    if not create_graph:
        tensors = tuple(t.detach() for t in tensors)
    return tensors if many else tensors[0]


def _call(func, inputs, what: str) -> tuple[bool, tuple]:
    return _tuple(func(*inputs), f"outputs of the user-provided function given to {what}")


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """The outputs of `func(*inputs)`, and `v` times its Jacobian.

    Args:
        func: takes and returns tensors or tuples of them.
        inputs: a tensor or a tuple.
        v: of the outputs' shapes; None for one output of one element.
        create_graph: the results can be differentiated again.
        strict: an input that the outputs don't depend on is an error rather than zeros.
    """
    with torchc.enable_grad():
        many, given = _tuple(inputs, "inputs given to vjp")
        args = _inputs(given, create_graph)
        many_out, outputs = _call(func, args, "vjp")
        vectors = _default_vector(v, outputs, ("v", "user-provided function's outputs"))
        grads = _fill(
            _grad(outputs, args, vectors, create_graph), args, strict, "vjp in strict mode"
        )
    return _result(outputs, many_out, create_graph), _result(grads, many, create_graph)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """The outputs of `func(*inputs)`, and its Jacobian times `v` (of the inputs' shapes), by two backward passes.

    Arguments as `vjp`.
    """
    with torchc.enable_grad():
        _, given = _tuple(inputs, "inputs given to jvp")
        args = _inputs(given, create_graph)
        vectors = _default_vector(v, args, ("v", "input"))
        many_out, outputs = _call(func, args, "jvp")
        dummies = tuple(torchc.zeros_like(o, requires_grad=True) for o in outputs)
        grads = _fill(_grad(outputs, args, dummies, True), args, strict, "jvp in strict mode")
        products = _fill(_grad(grads, dummies, vectors, create_graph), outputs, False, "")
    return _result(outputs, many_out, create_graph), _result(products, many_out, create_graph)


def _rows(output, inputs: tuple, create_graph: bool, strict: bool) -> list:
    """The Jacobian of one output: for each input a tensor of shape output.shape + input.shape."""
    rows: list = [[] for _ in inputs]
    for i in range(output.numel()):
        seed = torchc.zeros(output.numel(), dtype=output.dtype, device=output.device)
        seed[i] = 1
        grads = _grad((output,), inputs, (seed.reshape(output.shape),), create_graph)
        for row, g in zip(
            rows, _fill(grads, inputs, strict, "jacobian in strict mode"), strict=True
        ):
            row.append(g)
    return [
        (torchc.stack(row) if row else torchc.zeros((0, *x.shape), dtype=x.dtype)).reshape(
            tuple(output.shape) + tuple(x.shape)
        )
        for row, x in zip(rows, inputs, strict=True)
    ]


def jacobian(
    func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"
):
    """The Jacobian of `func` at `inputs`: for one input and one output a tensor of shape output.shape + input.shape,
    for tuples a tuple of outputs of a tuple of inputs of such.

    Args:
        create_graph, strict: as in `vjp`.
        vectorize: accepted; rows are computed one by one.
        strategy: "reverse-mode"; "forward-mode" is computed in reverse mode too.
    """
    if strategy not in ("reverse-mode", "forward-mode"):
        raise AssertionError(
            f'Expected strategy to be "reverse-mode" or "forward-mode", got {strategy!r}'
        )
    with torchc.enable_grad():
        many, given = _tuple(inputs, "inputs given to jacobian")
        args = _inputs(given, create_graph)
        many_out, outputs = _call(func, args, "jacobian")
        table = [_rows(o, args, create_graph, strict) for o in outputs]
    if not create_graph:
        table = [[x.detach() for x in row] for row in table]
    result = tuple(tuple(row) if many else row[0] for row in table)
    return result if many_out else result[0]


def _scalar_output(func, args, what: str):
    many, outputs = _call(func, args, what)
    if many or outputs[0].numel() != 1:
        raise RuntimeError(
            f"The function given to {what} should return a single Tensor with a single element."
        )
    return outputs[0].reshape(())


def hessian(
    func,
    inputs,
    create_graph=False,
    strict=False,
    vectorize=False,
    outer_jacobian_strategy="reverse-mode",
):
    """The second derivatives of `func`, which returns one element: a tensor of shape input.shape + input.shape for one
    input, a tuple of tuples for several. Arguments as `jacobian`."""
    many, _ = _tuple(inputs, "inputs given to hessian")

    def gradient(*args):
        output = _scalar_output(func, args, "hessian")
        grads = _fill(_grad((output,), args, None, True), args, strict, "hessian in strict mode")
        return grads if many else grads[0]

    return jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """The output of `func` (one element), and `v` (of the inputs' shapes) times its Hessian. Arguments as `vjp`."""
    with torchc.enable_grad():
        many, given = _tuple(inputs, "inputs given to vhp")
        args = _inputs(given, create_graph)
        vectors = _default_vector(v, args, ("v", "input"))
        output = _scalar_output(func, args, "vhp")
        grads = _fill(_grad((output,), args, None, True), args, strict, "vhp in strict mode")
        products = _fill(
            _grad(grads, args, vectors, create_graph), args, strict, "vhp in strict mode"
        )
    return _result((output,), False, create_graph), _result(products, many, create_graph)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """The output of `func` (one element), and its Hessian times `v`. Arguments as `vjp`."""
    with torchc.enable_grad():
        many, given = _tuple(inputs, "inputs given to hvp")
        args = _inputs(given, create_graph)
        vectors = _default_vector(v, args, ("v", "input"))
        output = _scalar_output(func, args, "hvp")
        grads = _fill(_grad((output,), args, None, True), args, strict, "hvp in strict mode")
        dummies = tuple(torchc.zeros_like(g, requires_grad=True) for g in grads)
        double = _fill(_grad(grads, args, dummies, True), args, strict, "hvp in strict mode")
        products = _fill(_grad(double, dummies, vectors, create_graph), args, False, "")
    return _result((output,), False, create_graph), _result(products, many, create_graph)
