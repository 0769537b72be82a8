"""Averages of a model's weights over training: stochastic weight averaging and exponential moving averages."""

from __future__ import annotations

import copy
import itertools
import math

from torchc import _C
from torchc.autograd.grad_mode import no_grad
from torchc.nn.modules.batchnorm import _BatchNorm
from torchc.nn.modules.module import Module
from torchc.optim.lr_scheduler._base import LRScheduler, check_optimizer

__all__ = [
    "AveragedModel",
    "SWALR",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]


def get_ema_avg_fn(decay=0.999):
    """decay * average + (1 - decay) * current. Raises ValueError for a decay outside of [0, 1]."""
    if decay < 0.0 or decay > 1.0:
        raise ValueError(
            f"Invalid decay value {decay} provided. Please provide a value in [0,1] range."
        )

    @no_grad()
    def ema_update(averaged, current, num_averaged):
        return decay * averaged + (1 - decay) * current

    return ema_update


def get_swa_avg_fn():
    """The mean of all values so far: average + (current - average) / (n + 1)."""

    @no_grad()
    def swa_update(averaged, current, num_averaged):
        return averaged + (current - averaged) / (num_averaged + 1)

    return swa_update


def _multi(rule):
    @no_grad()
    def update(averaged_list, current_list, num_averaged):
        for averaged, current in zip(averaged_list, current_list):
            if averaged.is_floating_point():
                averaged.copy_(rule(averaged, current, num_averaged))
            else:
                averaged.copy_(current)

    return update


def get_ema_multi_avg_fn(decay=0.999):
    """`get_ema_avg_fn` for lists of tensors, in place."""
    return _multi(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn():
    """`get_swa_avg_fn` for lists of tensors, in place."""
    return _multi(get_swa_avg_fn())


class AveragedModel(Module):
    """A copy of `model`, in `module`, whose parameters are averages; `update_parameters(model)` takes new values in.

    Args:
        device: where the copy lives.
        avg_fn: average, current and count of one tensor to the new average; default: the mean.
        multi_avg_fn: the same for lists of tensors, in place.
        use_buffers: average the buffers too instead of copying them.
    """

    n_averaged: _C.Tensor

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", _C.tensor(0, dtype=_C.int64))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args, **kwargs):
        """The averaged model's result."""
        return self.module(*args, **kwargs)

    def _tensors(self, model):
        if self.use_buffers:
            return itertools.chain(model.parameters(), model.buffers())
        return model.parameters()

    @no_grad()
    def update_parameters(self, model):
        """Takes the values of `model` into the averages; the first time they are the averages."""
        own = [p.detach() for p in self._tensors(self.module)]
        new = [p.detach() for p in self._tensors(model)]
        if self.n_averaged == 0:
            for p, q in zip(own, new):
                p.copy_(q)
        elif self.multi_avg_fn is not None:
            self.multi_avg_fn(own, new, self.n_averaged)
        else:
            rule = self.avg_fn or get_swa_avg_fn()
            for p, q in zip(own, new):
                p.copy_(rule(p, q, self.n_averaged))
        if not self.use_buffers:
            for b, c in zip(self.module.buffers(), model.buffers()):
                b.detach().copy_(c.detach())
        self.n_averaged.add_(1)


@no_grad()
def update_bn(loader, model, device=None):
    """Computes the running statistics of the batch norms of `model` anew over the batches of `loader`."""
    momenta = {}
    for module in model.modules():
        if isinstance(module, _BatchNorm):
            module.reset_running_stats()
            momenta[module] = module.momentum
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.momentum = None
    for batch in loader:
        batch = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(batch if device is None else batch.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Anneals the rate of each group to `swa_lr` within `anneal_epochs` epochs ("cos" or "linear")."""

    def __init__(
        self, optimizer, swa_lr, anneal_epochs: int = 10, anneal_strategy="cos", last_epoch=-1
    ):
        groups = check_optimizer(optimizer).param_groups
        rates = swa_lr if isinstance(swa_lr, (list, tuple)) else [swa_lr] * len(groups)
        if len(rates) != len(groups):
            raise ValueError(
                f"swa_lr must have the same length as optimizer.param_groups: {len(rates)} and {len(groups)}"
            )
        for rate, group in zip(rates, groups):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, step) -> float:
        """How much of swa_lr is in the rate after `step` epochs."""
        part = max(0, min(1, step / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * part)) / 2 if self._anneal_strategy == "cos" else part

    def get_lr(self):
        """See the class."""
        self._warn_outside_step()
        step = max(1, self._step_count - 1) if self.anneal_epochs == 0 else self._step_count - 1
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            goal, rate = group["swa_lr"], group["lr"]
            # What the rate would be without this schedule; others may have changed it.
            own = goal if before == 1 else (rate - before * goal) / (1 - before)
            rates.append(goal * now + own * (1 - now))
        return rates
