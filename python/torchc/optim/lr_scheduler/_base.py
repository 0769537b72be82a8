"""What all schedules share: where the rates are kept, when they change, saving and loading."""

from __future__ import annotations

import functools
import types
import warnings
import weakref
from typing import Any

from torchc import _C
from torchc.optim.optimizer import Optimizer

__all__ = ["LRScheduler"]

_EPOCH_TEXT = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. "
    "Please use `scheduler.step()` to step the scheduler."
)


def check_optimizer(optimizer) -> Optimizer:
    """`optimizer` itself. Raises TypeError when it is none."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
    return optimizer


def value_of(rate):
    """A rate of its own: a tensor's clone, a number itself."""
    return rate.clone() if isinstance(rate, _C.Tensor) else rate


def set_value(group: dict, key: str, value):
    """Writes a rate into a group; a tensor there is filled, so that who holds it sees the change."""
    if isinstance(group[key], _C.Tensor):
        group[key].fill_(value.item() if isinstance(value, _C.Tensor) else value)
    else:
        group[key] = value


def _mark_steps(optimizer):
    """Makes `optimizer.step` note that it ran, for the warning about the order of the two steps."""
    if getattr(optimizer.step, "_wrapped_by_lr_sched", False):
        return
    function, this = type(optimizer).step, weakref.ref(optimizer)

    @functools.wraps(function)
    def step(*args, **kwargs):
        self: Any = this()
        self._opt_called = True
        return function(self, *args, **kwargs)

    step._wrapped_by_lr_sched = True  # type: ignore[attr-defined]
    optimizer.step = step


class LRScheduler:
    """A subclass defines `get_lr`, and optionally `_get_closed_form_lr` for `step(epoch)`.

    Args:
        optimizer: whose groups' "lr" is set; "initial_lr" is added to each group.
        last_epoch: -1 for a new schedule, else the number of the last epoch of a resumed one.

    Raises TypeError for what is no optimizer, KeyError when a resumed group lacks "initial_lr".
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer, last_epoch: int = -1):
        self.optimizer = check_optimizer(optimizer)
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", value_of(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming an optimizer"
                )
        self.base_lrs = [value_of(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        _mark_steps(optimizer)
        self._initial_step()

    def _initial_step(self):
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    @staticmethod
    def _function_state(function):
        """What a state_dict holds of a callable: an object's attributes, None of a function."""
        if function is None or isinstance(function, types.FunctionType):
            return None
        attributes = getattr(function, "__dict__", None)
        return None if attributes is None else attributes.copy()

    def state_dict(self) -> dict:
        """Everything but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict):
        """Takes over what `state_dict` gave."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list:
        """The rates that the last step set, one per group."""
        return self._last_lr

    def get_lr(self) -> list:
        """The rates for `last_epoch`, one per group; each subclass defines it."""
        raise NotImplementedError(f"{type(self).__name__} does not define get_lr")

    def _rates(self) -> list:
        return [group["lr"] for group in self.optimizer.param_groups]

    def _warn_outside_step(self):
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )

    def step(self, epoch=None):
        """Sets the next epoch's rates (or those of `epoch`)."""
        if self._step_count == 1 and not getattr(self.optimizer, "_opt_called", False):
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`: call them in the opposite order, "
                "or the first value of the schedule is skipped.",
                UserWarning,
                stacklevel=2,
            )
        self._step_count += 1
        if epoch is not None:
            warnings.warn(_EPOCH_TEXT, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch=None):
        self._get_lr_called_within_step = True
        try:
            self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
            closed = epoch is not None and hasattr(self, "_get_closed_form_lr")
            values = self._get_closed_form_lr() if closed else self.get_lr()  # type: ignore[attr-defined]
        finally:
            self._get_lr_called_within_step = False
        self._set(values)

    def _set(self, values):
        for group, value in zip(self.optimizer.param_groups, values):
            set_value(group, "lr", value)
        self._last_lr = [value_of(rate) for rate in self._rates()]


class _LRScheduler(LRScheduler):
    """The old name of the class."""
