"""The base class of optimizers: parameter groups, per-parameter state, hooks, saving and loading."""

from __future__ import annotations

import copy
import functools
from collections import OrderedDict, defaultdict

from torchc import _C
from torchc.autograd.grad_mode import enable_grad, no_grad
from torchc.errors import Unsupported
from torchc.utils.hooks import RemovableHandle

__all__ = [
    "Optimizer",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
]


class _Required:
    def __repr__(self):
        return "<required parameter>"


required = _Required()
_global_pre_hooks: OrderedDict = OrderedDict()
_global_post_hooks: OrderedDict = OrderedDict()
_HOOKS = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)


def _register(hooks: OrderedDict, hook, prepend: bool = False) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def register_optimizer_step_pre_hook(hook) -> RemovableHandle:
    """Calls `hook(optimizer, args, kwargs)` before every step of every optimizer."""
    return _register(_global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook) -> RemovableHandle:
    """Calls `hook(optimizer, args, kwargs)` after every step of every optimizer."""
    return _register(_global_post_hooks, hook)


def _with_hooks(step):
    """`step` between the hooks; without hooks it costs one look at each dictionary."""

    @functools.wraps(step)
    def hooked(self, *args, **kwargs):
        if self._optimizer_step_pre_hooks or _global_pre_hooks:
            for hook in (*_global_pre_hooks.values(), *self._optimizer_step_pre_hooks.values()):
                changed = hook(self, args, kwargs)
                if changed is not None:
                    if not (isinstance(changed, tuple) and len(changed) == 2):
                        raise RuntimeError(
                            f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                        )
                    args, kwargs = changed
        result = step(self, *args, **kwargs)
        if self._optimizer_step_post_hooks or _global_post_hooks:
            for hook in (*self._optimizer_step_post_hooks.values(), *_global_post_hooks.values()):
                hook(self, args, kwargs)
        return result

    hooked.hooked = True  # type: ignore[attr-defined]
    return hooked


class Optimizer:
    """What all optimizers share; a subclass defines `step`, or `_update` for one parameter.

    Args:
        params: tensors, (name, tensor) pairs, or dicts with `params` and options of their own.
        defaults: the options of groups that don't set them.
    """

    _optimizer_step_pre_hooks: OrderedDict
    _optimizer_step_post_hooks: OrderedDict
    _optimizer_state_dict_pre_hooks: OrderedDict
    _optimizer_state_dict_post_hooks: OrderedDict
    _optimizer_load_state_dict_pre_hooks: OrderedDict
    _optimizer_load_state_dict_post_hooks: OrderedDict

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        step = cls.__dict__.get("step")
        if step is not None and not getattr(step, "hooked", False):
            cls.step = _with_hooks(step)  # type: ignore[method-assign]

    def __init__(self, params, defaults: dict):
        if isinstance(params, _C.Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {type(params).__name__}"
            )
        self.defaults = defaults
        for name in _HOOKS:
            setattr(self, name, OrderedDict())
        self.state: defaultdict = defaultdict(dict)
        self.param_groups: list[dict] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(dict(group) if isinstance(group, dict) else group)

    def __getstate__(self):
        return {
            "defaults": self.defaults,
            "state": self.state,
            "param_groups": self.param_groups,
        }

    def __setstate__(self, state: dict):
        self.__dict__.update(state)
        for name in _HOOKS:
            self.__dict__.setdefault(name, OrderedDict())
        # A state of an older version lacks options, and counted steps in a Python number.
        for group in self.param_groups:
            for name, value in getattr(self, "defaults", {}).items():
                group.setdefault(name, value)
        for value in self.state.values():
            if isinstance(value, dict) and isinstance(value.get("step"), (int, float)):
                value["step"] = _C.tensor(float(value["step"]), dtype=scalar_dtype())

    # Hooks.

    def register_step_pre_hook(self, hook) -> RemovableHandle:
        """Calls `hook(optimizer, args, kwargs)` before each step; a returned (args, kwargs) replaces them."""
        return _register(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook) -> RemovableHandle:
        """Calls `hook(optimizer, args, kwargs)` after each step."""
        return _register(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook, prepend: bool = False) -> RemovableHandle:
        """Calls `hook(optimizer)` before each `state_dict`."""
        return _register(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend: bool = False) -> RemovableHandle:
        """Calls `hook(optimizer, state_dict)` after each `state_dict`; what it returns replaces the result."""
        return _register(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend: bool = False) -> RemovableHandle:
        """Calls `hook(optimizer, state_dict)` before each load; what it returns is loaded instead."""
        return _register(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend: bool = False) -> RemovableHandle:
        """Calls `hook(optimizer)` after each load."""
        return _register(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    # Groups.

    def add_param_group(self, param_group: dict):
        """Adds a group; options it doesn't set are the defaults.

        Raises TypeError for what is no tensor, ValueError for a non-leaf, a missing option or a tensor given twice.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but a set has no order"
            )
        params = [params] if isinstance(params, _C.Tensor) else list(params)
        named = [isinstance(entry, tuple) for entry in params]
        if any(named):
            if not all(named):
                raise ValueError("all optimizer params should be with/without names")
            param_group["param_names"] = [name for name, _ in params]
            params = [param for _, param in params]
        if self.param_groups and ("param_names" in param_group) != (
            "param_names" in self.param_groups[0]
        ):
            raise ValueError("all optimizer param groups should be with/without names")
        self._check_params(params)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization parameter {name}"
                )
            param_group.setdefault(name, default)
        param_group["params"] = params
        self.param_groups.append(param_group)

    def _check_params(self, params):
        for param in params:
            if not isinstance(param, _C.Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is {type(param).__name__}"
                )
            if not (param.is_leaf or param.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        ids = [id(param) for param in params]
        if len(ids) != len(set(ids)):
            raise ValueError("a parameter group contains the same parameter twice")
        taken = {id(param) for group in self.param_groups for param in group["params"]}
        if not taken.isdisjoint(ids):
            raise ValueError("some parameters appear in more than one parameter group")

    def zero_grad(self, set_to_none: bool = True):
        """Drops the gradients of all parameters, or fills them with 0."""
        for group in self.param_groups:
            for param in group["params"]:
                if set_to_none:
                    param.grad = None
                elif param.grad is not None:
                    with no_grad():
                        if param.grad.grad_fn is not None or param.grad.requires_grad:
                            param.grad = param.grad.detach()
                        param.grad.zero_()

    def step(self, closure=None):
        """Changes the parameters once; each subclass defines it."""
        raise NotImplementedError(f"{type(self).__name__} does not define step")

    @staticmethod
    def _evaluate(closure):
        """The loss that `closure` computes with recording on; None without one."""
        if closure is None:
            return None
        with enable_grad():
            return closure()

    # Saving and loading.

    def _indices(self) -> dict[int, int]:
        """The number of each parameter, by identity, in the order of the groups."""
        order: dict[int, int] = {}
        for group in self.param_groups:
            for param in group["params"]:
                order.setdefault(id(param), len(order))
        return order

    def state_dict(self) -> dict:
        """The state by parameter number, and the groups with numbers instead of parameters."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        order = self._indices()
        groups = []
        for group in self.param_groups:
            packed = {name: value for name, value in group.items() if name != "params"}
            packed["params"] = [order[id(param)] for param in group["params"]]
            groups.append(packed)
        state = {
            order[id(key)] if isinstance(key, _C.Tensor) else key: value
            for key, value in self.state.items()
        }
        result = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, result)
            result = result if changed is None else changed
        return result

    def load_state_dict(self, state_dict: dict):
        """Takes over a state that `state_dict` of the same kind of optimizer gave.

        Raises ValueError when the number of groups or the size of a group differs.
        """
        state_dict = dict(state_dict)
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(self.param_groups, saved)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        by_number: dict = {}
        groups = []
        for own, other in zip(self.param_groups, saved):
            by_number.update(zip(other["params"], own["params"]))
            group = {
                name: copy.deepcopy(value) for name, value in other.items() if name != "params"
            }
            if "param_names" in own and "param_names" not in group:
                group["param_names"] = own["param_names"]
            groups.append({**group, "params": own["params"]})
        state: defaultdict = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in by_number:
                state[by_number[key]] = self._restored(by_number[key], value)
            else:
                state[key] = copy.deepcopy(value)
        self.__setstate__({"state": state, "param_groups": groups})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    @classmethod
    def _restored(cls, param, value, key=None):
        """A copy of a saved value, with tensors in a floating parameter's dtype; `step` counts keep theirs."""
        if isinstance(value, _C.Tensor):
            if key == "step" or not param.is_floating_point():
                return value.detach().clone()
            return value.detach().to(dtype=param.dtype, device=param.device, copy=True)
        if isinstance(value, dict):
            return {name: cls._restored(param, item, name) for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(cls._restored(param, item, key) for item in value)
        return copy.deepcopy(value)

    def __repr__(self):
        lines = [type(self).__name__ + " ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join(lines) + "\n)"


def scalar_dtype():
    """The type of step counters: float64 when that is the default type, else float32."""
    return _C.float64 if _C.get_default_dtype() is _C.float64 else _C.float32


def not_negative(**values):
    """Raises ValueError for a value below 0 or NaN, TypeError for what can't be compared."""
    for name, value in values.items():
        if not 0.0 <= value:
            raise ValueError(f"Invalid {name} value: {value}")


def options(arguments: dict) -> dict:
    """The options of an optimizer from the locals() of its __init__."""
    return {k: v for k, v in arguments.items() if k not in ("self", "params", "__class__")}


class PerParameter(Optimizer):
    """An optimizer whose step treats each parameter by itself: a subclass defines `_update`.

    All of PyTorch's `foreach`, `fused` and `capturable` name other ways to compute the same values; torchc has one,
    which reads no value back from a tensor, so that a whole training step compiles. They are kept in the groups.
    """

    def __init__(self, params, defaults: dict):
        self._check_options(defaults)
        super().__init__(params, defaults)

    def _check_options(self, options: dict):
        if options.get("differentiable"):
            raise Unsupported(
                f"{type(self).__name__}(differentiable=True): a step that is itself differentiated; use autograd.grad"
            )
        if options.get("fused") and options.get("foreach"):
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
        lr = options.get("lr", 0.0)
        if isinstance(lr, _C.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        checks = (
            ("lr", "learning rate"),
            ("eps", "epsilon value"),
            ("weight_decay", "weight_decay value"),
        )
        for name, text in checks:
            value = options.get(name)
            if value is None or isinstance(value, tuple):
                continue
            if not 0.0 <= value:  # what can't be compared is a TypeError
                raise ValueError(f"Invalid {text}: {value}")
        for i, beta in enumerate(options.get("betas", ())):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")

    @no_grad()
    def step(self, closure=None):
        """Changes each parameter that has a gradient; returns the loss of `closure`, which may compute it again."""
        loss = self._evaluate(closure)
        for group in self.param_groups:
            for param in group["params"]:
                grad = param.grad
                if grad is None:
                    continue
                if group.get("maximize"):
                    grad = -grad
                self._update(param, grad, group, self.state[param])
        return loss

    def _update(self, param, grad, group, state):
        """Changes one parameter in place by its gradient; `state` is empty the first time."""
        raise NotImplementedError(f"{type(self).__name__} does not define _update")
