"""Schedules made of schedules."""

from __future__ import annotations

from bisect import bisect_right

from torchc.optim.lr_scheduler._base import LRScheduler, set_value, value_of
from torchc.optim.lr_scheduler._plateau import ReduceLROnPlateau

__all__ = ["ChainedScheduler", "SequentialLR"]


class _Composed(LRScheduler):
    """A schedule of several; their states are saved under "_schedulers"."""

    _schedulers: list

    def _check(self, schedulers, optimizer):
        if len(schedulers) < 1:
            raise ValueError(
                f"{type(self).__name__} expects at least one scheduler to be chained, but got no scheduler."
            )
        for i, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(
                    f"{type(self).__name__} at index {i} should have `optimizer` as its attribute."
                )
            if isinstance(scheduler, ReduceLROnPlateau) and isinstance(self, SequentialLR):
                raise ValueError(
                    f"{type(self).__name__} does not support `ReduceLROnPlateau` scheduler: it needs a metric"
                )
            if scheduler.optimizer is not optimizer:
                raise ValueError(
                    f"{type(self).__name__} expects all schedulers to belong to the same optimizer, "
                    f"but scheduler {type(scheduler).__name__} at index {i} has another."
                )

    def state_dict(self):
        """Everything but the optimizer, with the states of the schedules."""
        skipped = ("optimizer", "_schedulers")
        state = {key: value for key, value in self.__dict__.items() if key not in skipped}
        state["_schedulers"] = [scheduler.state_dict() for scheduler in self._schedulers]
        return state

    def load_state_dict(self, state_dict):
        """Takes over what `state_dict` gave."""
        state = dict(state_dict)
        for scheduler, saved in zip(self._schedulers, state.pop("_schedulers")):
            scheduler.load_state_dict(saved)
        self.__dict__.update(state)


class SequentialLR(_Composed):
    """One schedule after the other; `milestones` are the epochs at which the next one begins.

    Raises ValueError when the numbers don't fit or a schedule belongs to another optimizer.
    """

    def __init__(self, optimizer, schedulers, milestones, last_epoch: int = -1):
        self._check(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                f"milestone points, but got number of schedulers {len(schedulers)} and the number of milestones "
                f"to be equal to {len(milestones)}"
            )
        self._schedulers = list(schedulers)
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # Each schedule has made its first step when it was built: undo those, then make the first one's.
        for group in optimizer.param_groups:
            set_value(group, "lr", group["initial_lr"])
        for scheduler in self._schedulers:
            scheduler.last_epoch -= 1
        self._schedulers[0]._initial_step()
        self._last_lr = self._schedulers[0].get_last_lr()

    def step(self, epoch=None):
        """One epoch further."""
        self.last_epoch += 1
        i = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[i]
        if i > 0 and self._milestones[i - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Composed):
    """All schedules at once: each step makes one of each, in order."""

    def __init__(self, schedulers, optimizer=None):
        if len(schedulers) < 1:
            raise ValueError(
                "ChainedScheduler expects at least one scheduler to be chained, but got no scheduler."
            )
        optimizer = optimizer or schedulers[0].optimizer
        self._check(schedulers, optimizer)
        self._schedulers = list(schedulers)
        self.optimizer = optimizer
        self._last_lr = [value_of(group["lr"]) for group in optimizer.param_groups]

    def step(self, epoch=None):
        """One step of each schedule."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = [value_of(rate) for rate in self._rates()]
