"""custom_op and what is registered for its operators."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from torchc import _C
from torchc import ops as _ops
from torchc.autograd.function import Function
from torchc.library._infer import infer_schema

__all__ = ["CustomOpDef", "custom_op", "register_autograd", "register_fake", "register_kernel"]

_definitions: weakref.WeakValueDictionary[str, CustomOpDef] = weakref.WeakValueDictionary()
_KEYS = {"cpu": "CPU", "cuda": "CUDA", "meta": "Meta", None: "CompositeExplicitAutograd"}


def _overload_of(op) -> _ops.OpOverload:
    """An operator given as "ns::name", as torch.ops.ns.name(.default) or as a CustomOpDef."""
    if isinstance(op, CustomOpDef):
        return op._opoverload
    if isinstance(op, _ops.OpOverloadPacket):
        return op.default
    if isinstance(op, _ops.OpOverload):
        return op
    if not isinstance(op, str):
        raise ValueError(
            f"expected an operator or a name such as 'ns::name', got {type(op).__name__}"
        )
    space, name = _split(op)
    name, _, overload = name.partition(".")
    return getattr(getattr(getattr(_ops, space), name), overload or "default")


def _split(qualified: str) -> tuple[str, str]:
    space, mark, name = qualified.partition("::")
    if not (mark and space and name):
        raise ValueError(
            f"Expected `torch.library` to get a name of the form 'namespace::name', got {qualified!r}"
        )
    return space, name


def _keys(device_types) -> list[str]:
    if device_types is None or isinstance(device_types, str):
        device_types = [device_types]
    unknown = [d for d in device_types if d not in _KEYS]
    if unknown:
        raise ValueError(f"unknown device type {unknown[0]!r}; expected 'cpu', 'cuda' or 'meta'")
    return [_KEYS[d] for d in device_types]


# ---- gradients


def _flatten(values) -> tuple[list, list]:
    """Tensors and other values in one flat list; lists of tensors count one by one."""
    flat: list = []
    shape: list = []
    for v in values:
        if isinstance(v, (list, tuple)) and any(isinstance(t, _C.Tensor) for t in v):
            shape.append(len(v))
            flat.extend(v)
        else:
            shape.append(None)
            flat.append(v)
    return flat, shape


def _unflatten(flat, shape) -> list:
    values, rest = [], iter(flat)
    for n in shape:
        values.append(next(rest) if n is None else [next(rest) for _ in range(n)])
    return values


def _flat_gradients(gradients, shape, name: str) -> tuple:
    gradients = gradients if isinstance(gradients, tuple) else (gradients,)
    if len(gradients) != len(shape):
        raise RuntimeError(
            f"{name}: the backward function returned an incorrect number of gradients (expected {len(shape)}, "
            f"got {len(gradients)})"
        )
    flat: list = []
    for i, (g, n) in enumerate(zip(gradients, shape, strict=True)):
        if n is None:
            flat.append(g)
        elif g is None:
            flat.extend([None] * n)
        elif isinstance(g, (list, tuple)) and len(g) == n:
            flat.extend(g)
        else:
            raise RuntimeError(
                f"{name}: expected a list of {n} gradients for argument {i}, which is a list of tensors, got {g!r}"
            )
    return tuple(flat)


def _autograd_kernel(overload: _ops.OpOverload, backward: Callable, setup_context) -> Callable:
    """What runs where a gradient is wanted: the kernel inside an autograd.Function."""
    schema = overload._schema
    keyword = [a.name for a in schema.arguments if a.kwarg_only]

    def forward(ctx, shape, kwargs, *flat):
        args = tuple(_unflatten(flat, shape))
        result = overload.redispatch(*args, **kwargs)
        single = not isinstance(result, tuple)
        outputs, ctx._out_shape = _flatten((result,) if single else result)
        ctx._in_shape = shape
        given = iter(ctx.needs_input_grad[2:])
        ctx.needs_input_grad = tuple(
            next(given) if n is None else [next(given) for _ in range(n)] for n in shape
        )
        if setup_context is not None:
            shown = {"keyword_only_inputs": kwargs} if keyword else {}
            setup_context(ctx=ctx, inputs=args, output=result, **shown)
        ctx._single = single and ctx._out_shape == [None]
        return outputs[0] if ctx._single else tuple(outputs)

    def run_backward(ctx, *grads):
        result = backward(ctx, *_unflatten(grads, ctx._out_shape))
        flat = _flat_gradients(result, ctx._in_shape, schema.name)
        return (None, None, *flat)

    name = f"GeneratedBackwardFor_{overload.namespace}_{overload._overloadpacket.__name__}_{overload._overloadname}"
    generated: Any = type(
        name,
        (Function,),
        {"forward": staticmethod(forward), "backward": staticmethod(run_backward)},
    )

    def kernel(*args, **kwargs):
        flat, shape = _flatten(args)
        outputs = generated.apply(shape, kwargs, *flat)
        if not isinstance(outputs, tuple):
            return outputs
        results = _unflatten(outputs, _shape_of(schema, outputs))
        return results[0] if len(schema.returns) == 1 else tuple(results)

    return kernel


def _shape_of(schema, outputs) -> list:
    """How a flat tuple of outputs is cut into the schema's results; one list at most has any length."""
    lists = [r.type.endswith("[]") for r in schema.returns]
    if sum(lists) > 1:
        raise NotImplementedError(f"{schema.name}: gradients of more than one list of results")
    left = len(outputs) - (len(lists) - sum(lists))
    return [left if is_list else None for is_list in lists]


def _register_autograd(overload, backward, setup_context) -> None:
    schema = overload._schema
    if schema.is_mutable:
        raise RuntimeError(
            f"Cannot register autograd formula for non-functional operator {overload} with schema {schema}. Please "
            "create a functional operator and register an autograd formula for that."
        )
    if any(a.kwarg_only and a.type.startswith("Tensor") for a in schema.arguments):
        raise NotImplementedError(
            f"register_autograd with kwarg-only Tensor args. In the original definition of the op, please make "
            f"your tensors not kwarg-only. Got: {schema}"
        )
    kernel = _autograd_kernel(overload, backward, setup_context)
    _C._custom_impl(overload._number, "AutogradWanted", kernel, False)


# ---- custom_op


class CustomOpDef:
    """An operator made by `custom_op`: called like the function; `register_*` add what it lacks."""

    def __init__(self, namespace: str, name: str, schema: str, fn: Callable):
        self._namespace, self._name, self._init_fn = namespace, name, fn
        self._qualname = f"{namespace}::{name}"
        old = _C._custom_find(self._qualname)
        if old is not None:  # defined again, as in a notebook
            _C._custom_remove(old)
        _C._custom_define(self._qualname + schema)
        self._opoverload = getattr(getattr(_ops, namespace), name).default
        self._schema = str(self._opoverload._schema)
        self._kernels: dict[str | None, Callable] = {}
        self._off: set[str | None] = set()
        self.__doc__, self.__wrapped__ = fn.__doc__, fn
        _definitions[self._qualname] = self

    def __call__(self, *args, **kwargs):
        return self._opoverload(*args, **kwargs)

    def __repr__(self):
        return f"<CustomOpDef({self._qualname})>"

    def _install(self, device: str | None, fn: Callable) -> None:
        self._kernels[device] = fn

        def kernel(*args, **kwargs):
            chosen = self._init_fn if device in self._off else fn
            return chosen(*args, **kwargs)

        keys = ["CPU", "CUDA"] if device is None else _keys(device)
        for key in keys:
            if device is not None or not _C._custom_has(self._opoverload._number, key):
                _C._custom_impl(self._opoverload._number, key, kernel, True)

    def register_kernel(self, device_types, fn: Callable | None = None, /):
        """Registers `fn` as what computes on these devices ("cpu", "cuda", None: all). Also a decorator."""

        def register(function):
            devices = device_types
            if devices is None or isinstance(devices, str):
                devices = [devices]
            _keys(devices)
            for device in devices:
                self._install(device, function)
            return function

        return register if fn is None else register(fn)

    def register_fake(self, fn: Callable, /):
        """Registers what gives the shapes and types of results, from tensors on the meta device. Also a decorator."""
        _C._custom_impl(self._opoverload._number, "Meta", fn, False)
        return fn

    def register_autograd(self, backward: Callable, /, *, setup_context: Callable | None = None):
        """Registers a derivative: `setup_context(ctx, inputs, output)` saves, `backward(ctx, *grads)` gives one
        gradient per argument (None for what isn't a tensor, a list for a list of tensors).

        Raises RuntimeError for an operator that writes to arguments.
        """
        _register_autograd(self._opoverload, backward, setup_context)

    def register_torch_dispatch(self, torch_dispatch_class, fn=None, /):
        """Raises NotImplementedError: torchc has no __torch_dispatch__ classes."""
        raise NotImplementedError("CustomOpDef.register_torch_dispatch: __torch_dispatch__ classes")

    def register_vmap(self, func=None):
        """Raises NotImplementedError: torchc has no vmap."""
        raise NotImplementedError("CustomOpDef.register_vmap: vmap")

    @contextlib.contextmanager
    def set_kernel_enabled(self, device_type: str, enabled: bool = True):
        """Inside, the operator uses (or not) the kernel that was registered for `device_type`."""
        if device_type not in self._kernels:
            raise ValueError(f"{self!r} has no kernel for {device_type!r}")
        before = set(self._off)
        (self._off.discard if enabled else self._off.add)(device_type)
        try:
            yield
        finally:
            self._off = before


def custom_op(
    name: str,
    fn: Callable | None = None,
    /,
    *,
    mutates_args,
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags=None,
):
    """Makes an operator of a function. Also a decorator.

    Args:
        name: "namespace::name"; torch.ops.namespace.name calls it, too. A name that is taken is defined anew.
        fn: its parameters and result have annotations (see `infer_schema`). It must return no tensor that shares
            memory with an argument.
        mutates_args: names of the arguments that it writes to, or "unknown".
        device_types: the devices that `fn` can compute on; None: all.
        schema: instead of annotations, `"(Tensor x) -> Tensor"`.
        tags: accepted and without effect.

    Raises ValueError for a bad name or annotation, RuntimeError for a malformed schema.
    """

    def make(function):
        space, short = _split(name)
        if "." in short:
            raise ValueError(f"custom_op(): the name {name!r} must not contain a '.'")
        text = schema
        if text is None:
            text = infer_schema(function, mutates_args=mutates_args)
        elif not isinstance(mutates_args, str):
            parsed = _C._custom_schema(f"{space}::{short}{text}")[4]
            written = {a["name"] for a in parsed if a["is_write"]}
            if written != set(mutates_args):
                raise ValueError(
                    f"Attempted to create a custom op with `mutates_args={mutates_args}` and `schema={text}. "
                    f"The schema suggests that the op mutates {sorted(written)}, which is different from what was "
                    "provided in `mutates_args`. Please make these consistent."
                )
        made = CustomOpDef(space, short, text, function)
        devices = (
            [device_types]
            if device_types is None or isinstance(device_types, str)
            else device_types
        )
        _keys(devices)
        for device in devices:
            made._install(device, function)
        return made

    return make if fn is None else make(fn)


# ---- the same by name


def register_kernel(op, device_types, func: Callable | None = None, /, *, lib=None):
    """Registers `func` as what `op` computes on these devices. Also a decorator."""
    definition = op if isinstance(op, CustomOpDef) else _definitions.get(str(op))
    if definition is not None:
        return definition.register_kernel(device_types, func)
    overload = _overload_of(op)

    def register(function):
        for key in _keys(device_types):
            _C._custom_impl(overload._number, key, function, False)
        return function

    return register if func is None else register(func)


def register_fake(
    op, func: Callable | None = None, /, *, lib=None, _stacklevel=1, allow_override=False
):
    """Registers what gives the shapes and types of op's results, from tensors on the meta device. Also a decorator."""
    overload = _overload_of(op)

    def register(function):
        _C._custom_impl(overload._number, "Meta", function, False)
        return function

    return register if func is None else register(func)


def register_autograd(
    op, backward: Callable, /, *, setup_context: Callable | None = None, lib=None
) -> None:
    """Registers a derivative of `op`; see CustomOpDef.register_autograd."""
    _register_autograd(_overload_of(op), backward, setup_context)
