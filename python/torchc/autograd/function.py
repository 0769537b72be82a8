"""Custom differentiable functions: `Function`, its `ctx`, and `once_differentiable`."""

import functools

from torchc import _C

__all__ = ["Function", "FunctionCtx", "NestedIOFunction", "InplaceFunction", "once_differentiable"]


class FunctionCtx:
    """What `forward` leaves for `backward`: saved tensors, marks, and any attribute."""

    _to_save: tuple = ()
    _dirty: tuple = ()
    _fixed: tuple = ()
    _saved = None
    _materialize = True
    needs_input_grad: tuple = ()

    def save_for_backward(self, *tensors):
        """Keeps input or output tensors (or None) for `saved_tensors`; call it once, in forward."""
        for i, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, _C.Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {i} is of type "
                    f"{type(tensor).__name__}"
                )
        self._to_save = tensors

    def save_for_forward(self, *tensors):
        """Accepted for functions that also define `jvp`; nothing reads the tensors."""

    def mark_dirty(self, *tensors):
        """Says that forward changed these inputs in place; each must be an output."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors):
        """Says that these outputs need no gradient."""
        self._fixed = tensors

    def set_materialize_grads(self, value: bool):
        """Whether backward gets zeros (the default) rather than None for outputs without a gradient."""
        self._materialize = bool(value)

    @property
    def saved_tensors(self) -> tuple:
        """The tensors of `save_for_backward`; RuntimeError if one was written to since, or the graph was freed."""
        return () if self._saved is None else self._saved.unpack()

    saved_variables = saved_tensors


class Function(FunctionCtx):
    """Base class of custom functions: static methods `forward` and `backward`, called through `apply`.

    `forward(ctx, *args)`, or `forward(*args)` with `setup_context(ctx, inputs, output)`, computes without recording;
    `backward(ctx, *grad_outputs)` returns one gradient (or None) per argument of forward. What backward computes is
    recorded under `create_graph`.
    """

    @staticmethod
    def forward(*args, **kwargs):
        """Computes the outputs."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Fills `ctx` where forward doesn't take it."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """Computes the gradients of the inputs."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it "
            "with backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx, *grad_inputs):
        """Forward mode is not implemented in torchc."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function."
        )

    @classmethod
    def apply(cls, *args, **kwargs):
        """Runs `forward` on the arguments and records the function."""
        split = cls.setup_context is not Function.setup_context
        if split:
            args = _bound(cls.forward, args, kwargs)
        elif kwargs:
            args = _bound(cls.forward, (None, *args), kwargs)[1:]
        ctx = _context_class(cls)()
        ctx.needs_input_grad = tuple(isinstance(a, _C.Tensor) and a.requires_grad for a in args)
        recording = _C.is_grad_enabled()
        previous = _C._set_grad_enabled(False)
        try:
            output = cls.forward(*args) if split else cls.forward(ctx, *args)
            if split:
                cls.setup_context(ctx, args, output)
        finally:
            _C._set_grad_enabled(previous)
        if not (recording and any(ctx.needs_input_grad)):
            return _unrecorded(ctx, args, output)
        return _finish(cls, ctx, args, output)


def _bound(forward, args, kwargs) -> tuple:
    import inspect

    bound = inspect.signature(forward).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args


def _unrecorded(ctx, args, output):
    """The outputs of a call that nothing needs the gradient of: an input that comes back is another tensor."""
    same = [a for a in args if isinstance(a, _C.Tensor) and not any(a is d for d in ctx._dirty)]

    def shown(o):
        return o.detach() if any(o is a for a in same) else o

    return tuple(shown(o) for o in output) if isinstance(output, tuple) else shown(output)


_contexts: dict = {}


def _context_class(cls: type) -> type:
    if cls not in _contexts:
        attributes = {"_forward_cls": cls, "__module__": __name__}
        _contexts[cls] = type(f"{cls.__name__}Backward", (FunctionCtx,), attributes)
    return _contexts[cls]


def _finish(cls, ctx, args, output):
    single = not isinstance(output, tuple)
    outputs = (output,) if single else output
    ctx._input_is_tensor = tuple(isinstance(a, _C.Tensor) for a in args)
    ctx._outputs = tuple(
        (tuple(o.shape), o.dtype, o.device) if isinstance(o, _C.Tensor) else None for o in outputs
    )
    results, ctx._saved = _C._finish_function(
        ctx, f"{cls.__name__}Backward", args, outputs, ctx._dirty, ctx._fixed, ctx._to_save
    )
    ctx._to_save = ctx._dirty = ctx._fixed = ()
    return results[0] if single else results


def _run_backward(ctx, grads) -> tuple:
    """What the engine calls: the gradients of the arguments of forward, None where there is none."""
    cls = ctx._forward_cls
    if ctx._materialize:
        grads = tuple(
            _C.zeros(meta[0], dtype=meta[1], device=meta[2])
            if g is None and meta is not None
            else g
            for g, meta in zip(grads, ctx._outputs, strict=True)
        )
    backward = cls.backward if cls.backward is not Function.backward else cls.vjp
    # torchc's own formulas compute in the dtype of what they are given, as those of the op table do.
    casts = _C._is_autocast_enabled() and cls.__module__.startswith("torchc.")
    if casts:
        _C._set_autocast_enabled(False)
    try:
        result = backward(ctx, *grads)
    finally:
        if casts:
            _C._set_autocast_enabled(True)
    result = result if isinstance(result, tuple) else (result,)
    name, expected = f"{cls.__name__}Backward", len(ctx._input_is_tensor)
    while len(result) > expected and result[-1] is None:
        result = result[:-1]
    if len(result) != expected:
        raise RuntimeError(
            f"function {name} returned an incorrect number of gradients (expected {expected}, got {len(result)})"
        )
    for i, (gradient, is_tensor) in enumerate(zip(result, ctx._input_is_tensor, strict=True)):
        if gradient is not None and not is_tensor:
            raise RuntimeError(
                f"function {name} returned a gradient different than None at position {i + 1}, but the "
                "corresponding forward input was not a Variable"
            )
        if gradient is not None and not isinstance(gradient, _C.Tensor):
            raise RuntimeError(f"expected Variable or None (got {type(gradient).__name__})")
    return result


class InplaceFunction(Function):
    """A Function with the old flag `inplace`."""

    def __init__(self, inplace=False):
        self.inplace = inplace


class NestedIOFunction(Function):
    """Old name for functions of nested structures; torchc flattens nothing."""


class _Refuse(Function):
    @staticmethod
    def forward(ctx, *tensors):
        """The gradients as they are."""
        outputs = tuple(t.detach() for t in tensors)
        return outputs if len(outputs) > 1 else outputs[0]

    @staticmethod
    def backward(ctx, *grads):
        """Raises RuntimeError."""
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )


def once_differentiable(fn):
    """Decorator of a `backward` that is not itself differentiable: differentiating its result raises RuntimeError."""

    @functools.wraps(fn)
    def wrapper(ctx, *args):
        with_history = _C.is_grad_enabled() and any(
            isinstance(a, _C.Tensor) and a.requires_grad for a in args
        )
        previous = _C._set_grad_enabled(False)
        try:
            result = fn(ctx, *args)
        finally:
            _C._set_grad_enabled(previous)
        if not with_history:
            return result
        items = result if isinstance(result, tuple) else (result,)
        marked = tuple(
            _Refuse.apply(item.detach().requires_grad_()) if isinstance(item, _C.Tensor) else item
            for item in items
        )
        return marked if isinstance(result, tuple) else marked[0]

    return wrapper
