"""Modules whose sizes come from their first input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchc.nn.parameter import UninitializedTensorMixin

if TYPE_CHECKING:  # what the other base is
    from torchc.nn.modules.module import Module as _Other
else:
    _Other = object

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin(_Other):
    """Beside a Module in the bases: `initialize_parameters` runs before the first forward.

    After it the module's class becomes `cls_to_become`.
    """

    cls_to_become: type | None = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._initialize_hook = self.register_forward_pre_hook(
            LazyModuleMixin._infer_parameters, with_kwargs=True
        )

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer has no size yet."""
        places = (*self._parameters.values(), *self._buffers.values())
        return any(isinstance(value, UninitializedTensorMixin) for value in places)

    def initialize_parameters(self, *args, **kwargs):
        """Gives the parameters their sizes from the input; each subclass defines it."""
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

    def _infer_parameters(self, args, kwargs=None):
        self.initialize_parameters(*args, **(kwargs or {}))
        if self.has_uninitialized_params():
            raise RuntimeError(
                f"module {type(self).__name__} has not been fully initialized after its first input"
            )
        self._initialize_hook.remove()
        delattr(self, "_initialize_hook")
        if self.cls_to_become is not None:
            self.__class__ = self.cls_to_become

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for name, value in self._persistent():
            if value is not None:
                keep = keep_vars or isinstance(value, UninitializedTensorMixin)
                destination[prefix + name] = value if keep else value.detach()

    def _load_from_state_dict(self, state_dict, prefix, *args):
        for name, own in list(self._persistent()):
            new = state_dict.get(prefix + name)
            if isinstance(own, UninitializedTensorMixin) and new is not None:
                if not isinstance(new, UninitializedTensorMixin):
                    own.materialize(new.shape)
        super()._load_from_state_dict(state_dict, prefix, *args)
