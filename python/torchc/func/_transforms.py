"""Derivatives and batches of functions.

Derivatives are taken by the tape, nested as deep as wanted: forward mode is the derivative of the reverse one with
respect to its cotangents. `vmap` calls the function for each element of the batch and stacks what it returns.
"""

from torchc import _C
from torchc.autograd import grad as _tape_grad
from torchc.utils._pytree import tree_flatten, tree_map, tree_unflatten

# ---- inputs and outputs


def _leaves(value):
    return [x for x in tree_flatten(value)[0] if isinstance(x, _C.Tensor)]


def _fresh(value):
    """`value` with tensors that the tape follows from here, and on to where they came from."""

    def one(x):
        if not isinstance(x, _C.Tensor):
            return x
        return x.view_as(x) if x.requires_grad else x.detach().requires_grad_()

    return tree_map(one, value)


def _positions(argnums, count) -> tuple[bool, list[int]]:
    single = isinstance(argnums, int)
    found = [argnums] if single else list(argnums)
    for i in found:
        if not -count <= i < count:
            raise RuntimeError(
                f"Got argnum={i}, but only {count} positional inputs are available for the function"
            )
    return single, [i % count for i in found]


def _cotangents(outputs, inputs, vectors):
    """The inputs' gradients for the outputs' cotangents; zeros where there is no dependence."""
    used = [(o, v) for o, v in zip(outputs, vectors) if o.requires_grad]
    if not used:
        return [_C.zeros_like(x) for x in inputs]
    grads = _tape_grad(
        [o for o, _ in used],
        inputs,
        [v for _, v in used],
        create_graph=True,
        allow_unused=True,
    )
    return [_C.zeros_like(x) if g is None else g for g, x in zip(grads, inputs)]


def _detached(value, keep):
    """Results without a graph unless they depend on what the caller's graph holds (`_tracked`, `_reaches`)."""
    return (
        value if keep else tree_map(lambda x: x.detach() if isinstance(x, _C.Tensor) else x, value)
    )


def _tracked(value) -> bool:
    return any(x.requires_grad for x in _leaves(value))


def _reaches(value, inputs) -> bool:
    """Was `value` made of a leaf besides the `inputs`: of a tensor that the function closes over?"""
    own = {id(x) for x in inputs}
    todo = [x.grad_fn for x in _leaves(value) if x.grad_fn is not None]
    if any(x.requires_grad and x.grad_fn is None and id(x) not in own for x in _leaves(value)):
        return True
    seen = set()
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable") and id(node.variable) not in own:
            return True
        todo += [following for following, _ in node.next_functions if following is not None]
    return False


def _recording(f):
    """f with gradients recorded, whatever the mode outside; `kept`, its first argument, is that mode."""

    def inner(*args, **kwargs):
        from torchc.autograd.grad_mode import enable_grad

        kept = _C.is_grad_enabled()
        with enable_grad():
            return f(kept, *args, **kwargs)

    return inner


def _check_real(op, what, tensors):
    for i, x in enumerate(tensors):
        if x.is_complex():
            raise RuntimeError(
                f"{op}: Expected all {what} to be real but received complex tensor at flattened index {i}"
            )


# ---- derivatives


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that gives (the gradient, the value) of `func`, whose value has one element.

    Args:
        argnums: which positional arguments (trees of tensors) to differentiate by: a number or a tuple.
        has_aux: func returns (value, aux); then ((gradient), (value, aux)).

    Raises RuntimeError for a value of another shape than (), or a complex one.
    """

    @_recording
    def wrapper(kept, *args, **kwargs):
        single, where = _positions(argnums, len(args))
        followed = [_fresh(a) if i in where else a for i, a in enumerate(args)]
        output = func(*followed, **kwargs)
        value, aux = output if has_aux else (output, None)
        if not isinstance(value, _C.Tensor) or value.dim():
            shape = list(value.shape) if isinstance(value, _C.Tensor) else type(value).__name__
            raise RuntimeError(
                f"Expected f(*args) to return a scalar tensor, got {shape}. Did you forget to call .sum()?"
            )
        if value.is_complex():
            raise RuntimeError(
                f"grad can be implicitly created only for real scalar outputs but got {value.dtype}"
            )
        trees = [followed[i] for i in where]
        flat = _leaves(trees)
        keep = kept and (_tracked((args, kwargs)) or _reaches(value, flat))
        on = keep or (kept and has_aux and _reaches(aux, flat))
        grads = iter(_cotangents([value], flat, [_C.ones_like(value)]))
        result = tree_map(lambda x: next(grads) if isinstance(x, _C.Tensor) else x, trees)
        result = result[0] if single else tuple(result)
        result, value = _detached((result, value), keep)
        return result, (value, _detached(aux, on)) if has_aux else value

    return wrapper


def grad(func, argnums=0, has_aux=False):
    """A function that gives the gradient of `func`, whose value has one element; see `grad_and_value`."""
    both = grad_and_value(func, argnums, has_aux)

    def wrapper(*args, **kwargs):
        result, value = both(*args, **kwargs)
        return (result, value[1]) if has_aux else result

    return wrapper


def vjp(func, *primals, has_aux=False):
    """(func(*primals), f): f of cotangents like the output gives the gradients of the primals, always as a tuple."""
    from torchc.autograd.grad_mode import enable_grad

    kept = _C.is_grad_enabled()
    with enable_grad():
        inputs = [_fresh(p) for p in primals]
        output = func(*inputs)
    value, aux = output if has_aux else (output, None)
    flat = _leaves(inputs)
    depends = _tracked(primals) or _reaches(value, flat)

    @_recording
    def pull(kept, *cotangents, retain_graph=True, create_graph=None):
        wanted, given = _leaves(value), _leaves(cotangents)
        if [w.shape for w in wanted] != [g.shape for g in given]:
            raise RuntimeError(
                f"vjp: Expected cotangents of the output's shapes {[list(w.shape) for w in wanted]}, got "
                f"{[list(g.shape) for g in given]}"
            )
        on = kept and (depends or _tracked(cotangents))
        grads = iter(_cotangents(wanted, flat, given))
        result = tree_map(lambda x: next(grads) if isinstance(x, _C.Tensor) else x, inputs)
        return _detached(tuple(result), on)

    shown = _detached(value, kept and depends)
    if has_aux:
        aux = _detached(aux, kept and (_tracked(primals) or _reaches(aux, flat)))
    return (shown, pull, aux) if has_aux else (shown, pull)


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """(func(*primals), the derivative in the direction of the tangents).

    Raises RuntimeError for tangents of other shapes than the primals.
    """
    from torchc.autograd.grad_mode import enable_grad

    if [p.shape for p in _leaves(primals)] != [t.shape for t in _leaves(tangents)]:
        raise RuntimeError(
            "jvp: Expected primals and tangents to have the same structure and shapes"
        )
    kept = _C.is_grad_enabled()
    with enable_grad():
        inputs = [_fresh(p) for p in primals]
        output = func(*inputs)
        value, aux = output if has_aux else (output, None)
        leaves, spec = tree_flatten(value)
        flat = _leaves(inputs)
        probes = [_C.zeros_like(x).detach().requires_grad_() for x in leaves]
        pulled = _cotangents(leaves, flat, probes)
        pushed = _cotangents(pulled, probes, _leaves(tangents))
        direction = tree_unflatten(pushed, spec)
    tracked = _tracked((primals, tangents))
    result = _detached((value, direction), kept and (tracked or _reaches(value, flat)))
    if has_aux:
        aux = _detached(aux, kept and (tracked or _reaches(aux, flat)))
    return (*result, aux) if has_aux else result


def _basis(x):
    """The unit vectors of x's shape."""
    return _C.eye(x.numel(), dtype=x.dtype, device=x.device).reshape(x.numel(), *x.shape)


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None):
    """A function that gives the Jacobian of `func` in reverse mode: (*output.shape, *input.shape).

    For trees of outputs the same tree of Jacobians; for several argnums a tuple of them. Raises RuntimeError for
    complex inputs or outputs.
    """

    @_recording
    def wrapper(kept, *args, **kwargs):
        single, where = _positions(argnums, len(args))
        followed = [_fresh(a) if i in where else a for i, a in enumerate(args)]
        trees = [followed[i] for i in where]
        flat = _leaves(trees)
        _check_real("jacrev", "inputs", flat)
        output = func(*followed, **kwargs)
        value, aux = output if has_aux else (output, None)
        _check_real("jacrev", "outputs", _leaves(value))
        tracked = _tracked((args, kwargs))

        def rows(y):
            found = [_cotangents([y], flat, [v]) for v in _basis(y)]
            stacked = iter(
                _C.stack([row[i] for row in found]).reshape(*y.shape, *x.shape)
                if found
                else _C.zeros((*y.shape, *x.shape), dtype=x.dtype)
                for i, x in enumerate(flat)
            )
            result = tree_map(lambda x: next(stacked) if isinstance(x, _C.Tensor) else x, trees)
            return result[0] if single else tuple(result)

        result = _detached(tree_map(rows, value), kept and (tracked or _reaches(value, flat)))
        if has_aux:
            aux = _detached(aux, kept and (tracked or _reaches(aux, flat)))
        return (result, aux) if has_aux else result

    return wrapper


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """A function that gives the Jacobian of `func` in forward mode, one direction after the other; see `jacrev`."""

    @_recording
    def wrapper(kept, *args, **kwargs):
        single, where = _positions(argnums, len(args))

        def restricted(*chosen):
            full = list(args)
            for i, a in zip(where, chosen):
                full[i] = a
            return func(*full, **kwargs)

        primals = [args[i] for i in where]
        inputs = [_fresh(p) for p in primals]
        flat = _leaves(inputs)
        _check_real("jacfwd", "inputs", flat)
        output = restricted(*inputs)
        value, aux = output if has_aux else (output, None)
        leaves, spec = tree_flatten(value)
        _check_real("jacfwd", "outputs", leaves)
        tracked = _tracked((args, kwargs))
        probes = [_C.zeros_like(y).detach().requires_grad_() for y in leaves]
        pulled = _cotangents(leaves, flat, probes)

        def columns(k, x):
            """For each output its derivatives by x: (*output.shape, *x.shape)."""
            found = [_cotangents([pulled[k]], probes, [v]) for v in _basis(x)]
            return [
                _C.stack([c[i] for c in found], -1).reshape(*y.shape, *x.shape)
                if found
                else _C.zeros((*y.shape, *x.shape), dtype=y.dtype)
                for i, y in enumerate(leaves)
            ]

        parts = [columns(k, x) for k, x in enumerate(flat)]
        results = []
        for i in range(len(leaves)):
            place = iter(part[i] for part in parts)
            tree = tree_map(lambda x, p=place: next(p) if isinstance(x, _C.Tensor) else x, inputs)
            results.append(tree[0] if single else tuple(tree))
        result = _detached(
            tree_unflatten(results, spec), kept and (tracked or _reaches(value, flat))
        )
        if has_aux:
            aux = _detached(aux, kept and (tracked or _reaches(aux, flat)))
        return (result, aux) if has_aux else result

    return wrapper


def hessian(func, argnums=0):
    """A function that gives the second derivatives of `func`: jacfwd of jacrev."""
    return jacfwd(jacrev(func, argnums), argnums)


# ---- batches


def stack_module_state(models):
    """(parameters, buffers) of modules of one architecture, each stacked along a new first dimension, for `vmap`.

    The stacked parameters are leaves that require gradients as theirs do. Raises RuntimeError for no models, or for
    some in training and some in evaluation mode.
    """
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({m.training for m in models}) > 1 or len({type(m) for m in models}) > 1:
        raise RuntimeError(
            "stack_module_state: Expected all models to be of one class and in one mode"
        )

    def stacked(of, leaves):
        parts = [dict(of(m)) for m in models]
        found = {}
        for name, first in parts[0].items():
            both = _C.stack([p[name].detach() for p in parts])
            found[name] = both.requires_grad_(first.requires_grad) if leaves else both
        return found

    return (
        stacked(lambda m: m.named_parameters(), True),
        stacked(lambda m: m.named_buffers(), False),
    )


def _per_leaf(dims, tree):
    """A batch dimension (or None) for each leaf of an argument."""
    leaves, _ = tree_flatten(tree)
    if dims is None or isinstance(dims, int):
        return [dims] * len(leaves)
    if isinstance(dims, dict) and isinstance(tree, dict):
        if dims.keys() != tree.keys():
            raise ValueError(f"vmap: dimensions for {list(dims)}, but the keys are {list(tree)}")
        dims, tree = [dims[k] for k in tree], list(tree.values())
    sequences = isinstance(dims, (tuple, list)) and isinstance(tree, (tuple, list))
    if not sequences or len(dims) != len(tree):
        raise ValueError(
            f"vmap: dimensions {dims} don't fit the structure of {type(tree).__name__}"
        )
    return [d for part, sub in zip(dims, tree) for d in _per_leaf(part, sub)]


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that calls `func` for each element of a batch and stacks the results.

    Args:
        in_dims: the batch's dimension in all arguments, or one per argument (None: the same for all elements).
        out_dims: the batch's dimension in the results, one for all or one per result.
        randomness: accepted; each element draws its own numbers ("different").

    One call after the other: the values of a batched call, not its speed. A batch of 0 calls `func` once, with
    zeros. Raises ValueError for batches of different sizes.
    """

    def wrapper(*args, **kwargs):
        dims = in_dims if isinstance(in_dims, (tuple, list)) else (in_dims,) * len(args)
        if len(dims) != len(args):
            raise ValueError(
                f"vmap({getattr(func, '__name__', func)}, in_dims={in_dims}, ...): in_dims must have one entry per "
                f"positional argument, got {len(args)} arguments"
            )
        flat, spec = tree_flatten(args)
        places = [d for dim, a in zip(dims, args) for d in _per_leaf(dim, a)]
        sizes = []
        for x, d in zip(flat, places):
            if d is None:
                continue
            if not isinstance(x, _C.Tensor):
                raise ValueError(
                    f"vmap: Got in_dim={d} for an input of type {type(x)}; expected a Tensor, or in_dim None"
                )
            if not -x.dim() <= d < x.dim():
                raise ValueError(
                    f"vmap: Got in_dim={d} for some input, but that input is a Tensor of dimensionality {x.dim()}"
                )
            sizes.append(x.shape[d])
        if not sizes:
            raise ValueError("vmap: at least one input must have a batch dimension, got none")
        if len(set(sizes)) > 1:
            raise ValueError(
                f"vmap: Expected all tensors to have the same size in the mapped dimension, got {sizes}"
            )
        if not sizes[0]:  # one of zeros says what an element's result is like
            flat = [
                x
                if d is None
                else x.new_zeros([1 if i == d % x.dim() else n for i, n in enumerate(x.shape)])
                for x, d in zip(flat, places)
            ]
        results = []
        for i in range(max(sizes[0], 1)):
            element = [x if d is None else x.select(d, i) for x, d in zip(flat, places)]
            results.append(func(*tree_unflatten(element, spec), **kwargs))
        outputs = [tree_flatten(r) for r in results]
        targets = _per_leaf(out_dims, results[0])
        for leaf in outputs[0][0]:
            if not isinstance(leaf, _C.Tensor):
                raise ValueError(
                    f"vmap({getattr(func, '__name__', func)}, ...): must only return Tensors, got type {type(leaf)}"
                )
        stacked = [
            outputs[0][0][k] if d is None else _C.stack([o[0][k] for o in outputs], d)
            for k, d in enumerate(targets)
        ]
        if not sizes[0]:
            stacked = [x if d is None else x.narrow(d, 0, 0) for x, d in zip(stacked, targets)]
        return tree_unflatten(stacked, outputs[0][1])

    return wrapper
