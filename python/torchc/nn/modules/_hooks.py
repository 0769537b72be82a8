"""Hooks of modules: before and after forward, backward, and around state_dicts."""

from __future__ import annotations

import warnings

from torchc import _C
from torchc.autograd.function import Function
from torchc.nn.modules._registry import Registry
from torchc.utils.hooks import RemovableHandle

__all__ = [
    "Hooks",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

# Registries of each module; those that have "_with_kwargs" or "_always_called" beside them mark hooks by id.
OWN = (
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_backward_hooks",
    "_backward_pre_hooks",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


class _Global:
    """Hooks of all modules of the process."""

    forward = Registry()
    forward_with_kwargs = Registry()
    forward_always_called = Registry()
    forward_pre = Registry()
    backward = Registry()
    backward_pre = Registry()
    registration: dict[str, Registry] = {
        "parameter": Registry(),
        "buffer": Registry(),
        "module": Registry(),
    }


GLOBAL = _Global()
# The ids of those that a call of a module must look at: one look tells that there are none.
ACTIVE = Registry()


def _add(registry, hook, marks=(), prepend=False) -> RemovableHandle:
    handle = RemovableHandle(registry, extra_dict=list(marks))
    for mark in marks:
        mark[handle.id] = True
    if prepend:
        later = list(registry.items())
        registry.clear()
        registry[handle.id] = hook
        registry.update(later)
    else:
        registry[handle.id] = hook
    return handle


def register_module_forward_pre_hook(hook):
    """Calls `hook(module, args)` before the forward of every module."""
    return _add(GLOBAL.forward_pre, hook, [ACTIVE])


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """Calls `hook(module, args, result)` (or with kwargs) after the forward of every module."""
    marks = [ACTIVE, GLOBAL.forward_with_kwargs] if with_kwargs else [ACTIVE]
    marks += [GLOBAL.forward_always_called] if always_call else []
    return _add(GLOBAL.forward, hook, marks)


def register_module_full_backward_hook(hook):
    """Calls `hook(module, grad_input, grad_output)` in the backward of every module."""
    return _add(GLOBAL.backward, hook, [ACTIVE])


register_module_backward_hook = register_module_full_backward_hook


def register_module_full_backward_pre_hook(hook):
    """Calls `hook(module, grad_output)` before the backward of every module."""
    return _add(GLOBAL.backward_pre, hook, [ACTIVE])


def _register_registration(kind: str, hook):
    return _add(GLOBAL.registration[kind], hook)


def register_module_parameter_registration_hook(hook):
    """Calls `hook(module, name, parameter)` before a parameter is registered; what it returns is registered."""
    return _register_registration("parameter", hook)


def register_module_buffer_registration_hook(hook):
    """Calls `hook(module, name, buffer)` before a buffer is registered; what it returns is registered."""
    return _register_registration("buffer", hook)


def register_module_module_registration_hook(hook):
    """Calls `hook(module, name, child)` before a child is registered; what it returns is registered."""
    return _register_registration("module", hook)


def registered(module, kind: str, name: str, value):
    """`value`, or what a registration hook makes of it."""
    for hook in GLOBAL.registration[kind].values():
        changed = hook(module, name, value)
        value = value if changed is None else changed
    return value


class Hooks:
    """The part of `Module` that registers hooks."""

    _forward_hooks: dict
    _forward_hooks_with_kwargs: dict
    _forward_hooks_always_called: dict
    _forward_pre_hooks: dict
    _forward_pre_hooks_with_kwargs: dict
    _backward_hooks: dict
    _backward_pre_hooks: dict
    _state_dict_hooks: dict
    _state_dict_pre_hooks: dict
    _load_state_dict_pre_hooks: dict
    _load_state_dict_post_hooks: dict

    def _init_hooks(self):
        for name in OWN:
            self.__dict__[name] = Registry()

    def _has_hooks(self) -> bool:
        """Whether a call must go through hooks."""
        return bool(
            self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or ACTIVE
        )

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Calls `hook(module, args)` (or with kwargs) before each forward; what it returns replaces the arguments."""
        marks = [self._forward_pre_hooks_with_kwargs] if with_kwargs else []
        return _add(self._forward_pre_hooks, hook, marks, prepend)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Calls `hook(module, args, result)` (or with kwargs) after each forward; what it returns is the result.

        `always_call`: also when forward raises, with the result None.
        """
        marks = [self._forward_hooks_with_kwargs] if with_kwargs else []
        marks += [self._forward_hooks_always_called] if always_call else []
        return _add(self._forward_hooks, hook, marks, prepend)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """Calls `hook(module, grad_output)` before the module's backward; what it returns replaces grad_output."""
        return _add(self._backward_pre_hooks, hook, (), prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        """Calls `hook(module, grad_input, grad_output)` in the module's backward; what it returns replaces grad_input.

        The gradients are tuples: None for what isn't a tensor, and for an output that no gradient came to. Where no
        input needs a gradient the hook is called, with a warning, once those of the outputs are there.
        """
        return _add(self._backward_hooks, hook, (), prepend)

    def register_backward_hook(self, hook):
        """The old form of `register_full_backward_hook`, which sees the same as it."""
        return _add(self._backward_hooks, hook)

    def register_state_dict_pre_hook(self, hook):
        """Calls `hook(module, prefix, keep_vars)` before the module's part of a state_dict is written."""
        return _add(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook):
        """Calls `hook(module, state_dict, prefix, local_metadata)` after the module's state_dict is complete."""
        hook._from_public_api = True
        return _add(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook):
        """As the public one; what it returns replaces the state_dict."""
        return _add(self._state_dict_hooks, hook)

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        """Calls `hook(state_dict, prefix, ...)` (with the module first) before the module's part is loaded."""
        if with_module:
            original = hook

            def hook(*args):
                return original(self, *args)

        return _add(self._load_state_dict_pre_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook):
        """Calls `hook(module, state_dict, prefix, metadata, strict, missing, unexpected, errors)` before loading."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook):
        """Calls `hook(module, incompatible_keys)` after loading; it may change the two lists."""
        return _add(self._load_state_dict_post_hooks, hook)

    # Calling.

    def _call_with_hooks(self, args, kwargs):
        args, kwargs = self._before(args, kwargs)
        backward = None
        if (
            self._backward_hooks
            or self._backward_pre_hooks
            or GLOBAL.backward
            or GLOBAL.backward_pre
        ):
            backward = _Backward(self)
            args = backward.watch_inputs(args)
        try:
            result = self.forward(*args, **kwargs)  # type: ignore[attr-defined]
        except Exception:
            self._after_error(args, kwargs)
            raise
        result = self._after(args, kwargs, result)
        return result if backward is None else backward.watch_outputs(result)

    def _before(self, args, kwargs):
        for hook in list(GLOBAL.forward_pre.values()):
            args = _replaced(args, hook(self, args))
        for key, hook in list(self._forward_pre_hooks.items()):
            if key not in self._forward_pre_hooks_with_kwargs:
                args = _replaced(args, hook(self, args))
                continue
            changed = hook(self, args, kwargs)
            if changed is not None:
                if not (isinstance(changed, tuple) and len(changed) == 2):
                    raise RuntimeError(
                        f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                    )
                args, kwargs = changed
        return args, kwargs

    def _all_forward_hooks(self):
        """(hook, whether it takes kwargs, whether it is called after an error) in order."""
        for key, hook in list(GLOBAL.forward.items()):
            yield hook, key in GLOBAL.forward_with_kwargs, key in GLOBAL.forward_always_called
        for key, hook in list(self._forward_hooks.items()):
            yield (
                hook,
                key in self._forward_hooks_with_kwargs,
                key in self._forward_hooks_always_called,
            )

    def _after(self, args, kwargs, result):
        for hook, with_kwargs, _ in self._all_forward_hooks():
            changed = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
            result = result if changed is None else changed
        return result

    def _after_error(self, args, kwargs):
        for hook, with_kwargs, always in self._all_forward_hooks():
            if not always:
                continue
            try:
                hook(self, args, kwargs, None) if with_kwargs else hook(self, args, None)
            except Exception as error:
                warnings.warn(
                    f"module forward hook with ``always_call=True`` raised an exception that was silenced as another "
                    f"error was raised in forward: {error}",
                    stacklevel=3,
                )


def _replaced(args, changed):
    if changed is None:
        return args
    return changed if isinstance(changed, tuple) else (changed,)


class _Identity(Function):
    """Its arguments; their gradients go through `through`, all of a backward pass at once."""

    @staticmethod
    def forward(ctx, through, *tensors):
        """The tensors."""
        ctx.through = through
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*(t for t in tensors if not t.requires_grad))
        return tensors

    @staticmethod
    def backward(ctx, *grads):
        """What `through` makes of the gradients."""
        return None, *ctx.through(grads)


def _zeros_where_none(grads, kinds):
    return [
        _C.zeros(shape, dtype=dtype, device=device) if g is None else g
        for g, (shape, dtype, device) in zip(grads, kinds)
    ]


class _Backward:
    """The backward hooks of one call. Its inputs pass one identity and its outputs another, which call the hooks."""

    def __init__(self, module):
        self.module = module
        self.inputs = 0  # arguments of the call
        self.watches_inputs = False
        self.outputs: tuple | None = (
            None  # gradients that have come, until the hooks have seen them
        )

    def watch_inputs(self, args):
        self.inputs = len(args)
        watched, self.watches_inputs = _through(args, self._inputs_ready)
        return tuple(watched)

    def watch_outputs(self, result):
        if not isinstance(result, (_C.Tensor, tuple)):
            warnings.warn(
                f"For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
                f"received {type(result)}",
                stacklevel=4,
            )
            return result
        values = result if isinstance(result, tuple) else (result,)
        watched, _ = _through(values, self._outputs_ready)
        if not isinstance(result, tuple):
            return watched[0]
        # A named tuple takes its fields one by one.
        return tuple(watched) if type(result) is tuple else type(result)(*watched)

    def _outputs_ready(self, grads, places, kinds, count):
        hooks = (*GLOBAL.backward_pre.values(), *self.module._backward_pre_hooks.values())
        outputs = _placed(grads, places, count)
        for hook in hooks:
            changed = _tuple(hook(self.module, outputs))
            if changed is None:
                continue
            if len(changed) != count:
                raise RuntimeError(
                    f"Backward pre hook returned an invalid number of grad_output, got {len(changed)}, but expected "
                    f"{count}"
                )
            outputs = changed
        self.outputs = outputs
        if not self.watches_inputs:
            self._run_without_inputs()
        return _zeros_where_none((outputs[i] for i in places), kinds)

    def _run_without_inputs(self):
        warnings.warn(
            "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs "
            "require gradients.",
            stacklevel=2,
        )
        for hook in self._hooks():
            changed = hook(self.module, (None,) * self.inputs, self.outputs)
            if changed is not None and not (
                isinstance(changed, tuple) and all(g is None for g in changed)
            ):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None "
                    "for all gradients."
                )
        self.outputs = None

    def _hooks(self):
        return (*GLOBAL.backward.values(), *self.module._backward_hooks.values())

    def _inputs_ready(self, grads, places, kinds, count):
        grads = _zeros_where_none(grads, kinds)
        if self.outputs is None:
            return grads  # the gradient didn't come through the module's output
        inputs = _placed(grads, places, count)
        for hook in self._hooks():
            changed = _tuple(hook(self.module, inputs, self.outputs))
            if changed is None:
                continue
            if len(changed) != count:
                raise RuntimeError(
                    f"Backward hook returned an invalid number of grad_input, got {len(changed)}, but expected {count}"
                )
            inputs = changed
        self.outputs = None
        return [inputs[i] for i in places]


def _tuple(changed):
    """What a hook returned as a tuple; None stays."""
    if changed is None:
        return None
    return tuple(changed) if isinstance(changed, (tuple, list)) else (changed,)


def _placed(grads, places, count: int) -> tuple:
    """The gradients at the places of their tensors among `count` values, None at the others."""
    placed: list = [None] * count
    for i, grad in zip(places, grads):
        placed[i] = grad
    return tuple(placed)


def _through(values, ready):
    """(the values, tensors after an identity whose gradients `ready` sees, whether one needs a gradient)."""
    places = [i for i, value in enumerate(values) if isinstance(value, _C.Tensor)]
    tensors = [values[i] for i in places]
    if not (_C.is_grad_enabled() and any(t.requires_grad for t in tensors)):
        return list(values), False
    kinds = [(tuple(t.shape), t.dtype, t.device) for t in tensors]

    def through(grads):
        return ready(grads, places, kinds, len(values))

    watched = list(values)
    for i, tensor in zip(places, _Identity.apply(through, *tensors)):
        watched[i] = tensor
    return watched, True
