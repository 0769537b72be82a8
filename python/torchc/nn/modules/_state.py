"""Saving and loading a module's values by name."""

from __future__ import annotations

import warnings
from collections import OrderedDict, namedtuple

from torchc import _C
from torchc.autograd.grad_mode import no_grad
from torchc.nn.parameter import Parameter

__all__ = ["IncompatibleKeys", "StateDict"]

_EXTRA = "_extra_state"


class IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What `load_state_dict` found missing and what it could not place."""

    __slots__ = ()

    def __repr__(self):
        return super().__repr__() if any(self) else "<All keys matched successfully>"

    __str__ = __repr__


def _loses_parts(new, current) -> bool:
    return new.dtype.is_complex and not current.dtype.is_complex and new.device.type == "cpu"


def _real_part(value):
    """The real parts of a complex tensor: every other number of its memory."""
    warnings.warn(
        "Casting complex values to real discards the imaginary part", UserWarning, stacklevel=6
    )
    dtype = _C.float64 if value.dtype is _C.complex128 else _C.float32
    strides = tuple(2 * stride for stride in value.stride())
    return _C._storage_view(
        value.detach(), dtype, 2 * value.storage_offset(), tuple(value.shape), strides
    )


class StateDict:
    """The part of `Module` that reads and writes state_dicts."""

    _version = 1
    dump_patches = False
    _parameters: dict
    _buffers: dict
    _modules: dict
    _non_persistent_buffers_set: set

    def _persistent(self):
        """(name, tensor or None) of everything that is saved."""
        yield from self._parameters.items()
        for name, buffer in self._buffers.items():
            if name not in self._non_persistent_buffers_set:
                yield name, buffer

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        """Writes this module's own values; a module with other state overrides it."""
        for name, value in self._persistent():
            if value is not None:
                destination[prefix + name] = value if keep_vars else value.detach()
        if self._keeps_extra():
            destination[prefix + _EXTRA] = self.get_extra_state()  # type: ignore[attr-defined]

    def _keeps_extra(self) -> bool:
        """Whether the class has an extra state of its own."""
        from torchc.nn.modules.module import Module

        return type(self).get_extra_state is not Module.get_extra_state  # type: ignore[attr-defined]

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        """All parameters and persistent buffers by their dotted names, sharing memory with the module.

        Args:
            destination: an ordered dict to add to; default: a new one.
            prefix: put before each name.
            keep_vars: give the parameters themselves instead of detached tensors.
        """
        if args:  # the order of the arguments before they were keywords
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and prefix == "" else prefix
            keep_vars = args[2] if len(args) > 2 else keep_vars
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in self._state_dict_pre_hooks.values():  # type: ignore[attr-defined]
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook in self._state_dict_hooks.values():  # type: ignore[attr-defined]
            changed = hook(self, destination, prefix, local_metadata)
            if changed is None:
                continue
            if getattr(hook, "_from_public_api", False):
                raise RuntimeError("state_dict post-hook must return None")
            destination = changed
        return destination

    def _load_one(self, name, key, current, new, assign, errors):
        """Puts `new` into the parameter or buffer `name`, or adds what is wrong to `errors`."""
        if not isinstance(new, _C.Tensor):
            errors.append(
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                f"checkpoint but received {type(new)}"
            )
            return
        if current.dim() == 0 and tuple(new.shape) == (1,):  # files of PyTorch before 0.4
            new = new[0]
        if tuple(new.shape) != tuple(current.shape):
            errors.append(
                f"size mismatch for {key}: copying a param with shape {new.shape} from checkpoint, the shape in "
                f"current model is {current.shape}."
            )
        elif assign:
            if name in self._parameters and not isinstance(new, Parameter):
                new = Parameter(new, requires_grad=current.requires_grad)
            setattr(self, name, new)
        else:
            try:
                with no_grad():
                    current.copy_(_real_part(new) if _loses_parts(new, current) else new)
            except Exception as error:
                errors.append(
                    f'While copying the parameter named "{key}", whose dimensions in the model are {current.size()} '
                    f"and whose dimensions in the checkpoint are {new.size()}, an exception occurred : {error.args}."
                )

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        """Reads this module's own values; a module whose layout changed overrides it."""
        for hook in self._load_state_dict_pre_hooks.values():  # type: ignore[attr-defined]
            hook(
                state_dict,
                prefix,
                local_metadata,
                strict,
                missing_keys,
                unexpected_keys,
                error_msgs,
            )
        assign = local_metadata.get("assign_to_params_buffers", False)
        own = {name: value for name, value in self._persistent() if value is not None}
        for name, current in own.items():
            key = prefix + name
            if key in state_dict:
                self._load_one(name, key, current, state_dict[key], assign, error_msgs)
            elif strict:
                missing_keys.append(key)
        extra = prefix + _EXTRA
        if self._keeps_extra():
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])  # type: ignore[attr-defined]
            elif strict:
                missing_keys.append(extra)
        if strict:
            for key in state_dict:
                parts = key.removeprefix(prefix).split(".") if key.startswith(prefix) else None
                if parts is None or (key == extra and self._keeps_extra()):
                    continue
                if not (parts[0] in self._modules if len(parts) > 1 else parts[0] in own):
                    unexpected_keys.append(key)

    def _load_tree(self, state_dict, prefix, metadata, assign, missing, unexpected, errors):
        local = dict(metadata.get(prefix[:-1], {}))
        if assign:
            local["assign_to_params_buffers"] = True
        self._load_from_state_dict(state_dict, prefix, local, True, missing, unexpected, errors)
        for name, child in self._modules.items():
            if child is not None:
                below = f"{prefix}{name}."
                part = {key: value for key, value in state_dict.items() if key.startswith(below)}
                child._load_tree(part, below, metadata, assign, missing, unexpected, errors)
        incompatible = IncompatibleKeys(missing, unexpected)
        for hook in self._load_state_dict_post_hooks.values():  # type: ignore[attr-defined]
            if hook(self, incompatible) is not None:
                raise RuntimeError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new "
                    "values, if incompatible_keys need to be modified, it should be done inplace."
                )

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copies values by name into the parameters and buffers; returns the missing and the unexpected names.

        Args:
            state_dict: a mapping from dotted names to tensors.
            strict: a missing or unexpected name is an error.
            assign: take the tensors themselves instead of copying.

        Raises:
            TypeError: `state_dict` is no mapping.
            RuntimeError: shapes differ or, when strict, names do; names all of them.
        """
        if not hasattr(state_dict, "keys"):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        metadata = getattr(state_dict, "_metadata", None) or {}
        self._load_tree(dict(state_dict), "", metadata, assign, missing, unexpected, errors)
        if strict:
            for what, keys in (("Unexpected", unexpected), ("Missing", missing)):
                if keys:
                    errors.insert(
                        0,
                        f"{what} key(s) in state_dict: "
                        + ", ".join(f'"{key}"' for key in keys)
                        + ".",
                    )
        if errors:
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t"
                + "\n\t".join(errors)
            )
        return IncompatibleKeys(missing, unexpected)
