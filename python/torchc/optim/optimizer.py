"""The base class of optimizers: parameter groups, per-parameter state, saving and loading."""

from __future__ import annotations

import copy
from collections import defaultdict

from torchc import _C
from torchc.autograd.grad_mode import enable_grad, no_grad

__all__ = ["Optimizer"]


class _Required:
    def __repr__(self):
        return "<required parameter>"


required = _Required()


class Optimizer:
    """What all optimizers share; a subclass defines `step`.

    Args:
        params: tensors, (name, tensor) pairs, or dicts with `params` and options of their own.
        defaults: the options of groups that don't set them.
    """

    def __init__(self, params, defaults: dict):
        if isinstance(params, _C.Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {type(params).__name__}"
            )
        self.defaults = defaults
        self.state: defaultdict = defaultdict(dict)
        self.param_groups: list[dict] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(dict(group))

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
        if params and all(isinstance(entry, tuple) for entry in params):
            param_group["param_names"] = [name for name, _ in params]
            params = [param for _, param in params]
        for param in params:
            if not isinstance(param, _C.Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is {type(param).__name__}"
                )
            if not (param.is_leaf or param.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization parameter {name}"
                )
            param_group.setdefault(name, default)
        ids = [id(param) for param in params]
        if len(ids) != len(set(ids)):
            raise ValueError("a parameter group contains the same parameter twice")
        taken = {id(param) for group in self.param_groups for param in group["params"]}
        if not taken.isdisjoint(ids):
            raise ValueError("some parameters appear in more than one parameter group")
        param_group["params"] = params
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none: bool = True):
        """Drops the gradients of all parameters, or fills them with 0."""
        for group in self.param_groups:
            for param in group["params"]:
                if set_to_none:
                    param.grad = None
                elif param.grad is not None:
                    with no_grad():
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

    def _indices(self) -> dict[int, int]:
        """The number of each parameter, by identity, in the order of the groups."""
        order: dict[int, int] = {}
        for group in self.param_groups:
            for param in group["params"]:
                order.setdefault(id(param), len(order))
        return order

    def state_dict(self) -> dict:
        """The state by parameter number, and the groups with numbers instead of parameters."""
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
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict):
        """Takes over a state that `state_dict` of the same kind of optimizer gave.

        Raises ValueError when the number of groups or the size of a group differs.
        """
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
            options = {
                name: copy.deepcopy(value) for name, value in other.items() if name != "params"
            }
            groups.append({**options, "params": own["params"]})
        self.state = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in by_number:
                self.state[by_number[key]] = self._restored(by_number[key], value)
            else:
                self.state[key] = copy.deepcopy(value)
        self.param_groups = groups

    @classmethod
    def _restored(cls, param, value, key=None):
        """A copy of a saved value, with tensors in the parameter's dtype; `step` counts keep theirs."""
        if isinstance(value, _C.Tensor):
            return value.clone() if key == "step" else value.to(dtype=param.dtype, copy=True)
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
