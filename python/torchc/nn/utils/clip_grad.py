"""Gradients made smaller. Nothing is read back from a tensor unless an error was asked for."""

from __future__ import annotations

import warnings

from torchc import _C
from torchc.autograd.grad_mode import no_grad
from torchc.nn._functions.distance import vector_norm

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
]


def _list(tensors) -> list:
    return [tensors] if isinstance(tensors, _C.Tensor) else list(tensors)


@no_grad()
def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of the norms of all tensors, 0-d; 0 for none. Raises RuntimeError for inf and NaN when asked to."""
    norm_type = float(norm_type)
    norms = [vector_norm(t.reshape(-1), norm_type, 0) for t in _list(tensors)]
    if not norms:
        return _C.tensor(0.0)
    total = vector_norm(_C.stack(norms), norm_type, 0)
    if error_if_nonfinite and not (total - total == 0).item():
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be "
            "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return total


@no_grad()
def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Multiplies the gradients by max_norm / (total_norm + 1e-6) where that is less than 1, in place."""
    factor = (max_norm / (total_norm + 1e-6)).clamp(max=1.0)
    for parameter in _list(parameters):
        if parameter.grad is not None:
            parameter.grad.mul_(factor)


@no_grad()
def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scales the gradients, in place, so that their norm together is at most `max_norm`; returns the norm before.

    Args:
        parameters: one tensor or several; those without a gradient don't count.
        norm_type: of each gradient and of the norms; "inf" for the largest element.
        error_if_nonfinite: RuntimeError when the norm is inf or NaN; this reads the value.
        foreach: accepted; there is one implementation.
    """
    parameters = _list(parameters)
    grads = [p.grad for p in parameters if p.grad is not None]
    total = get_total_norm(grads, norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The old name of `clip_grad_norm_`."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


@no_grad()
def clip_grad_value_(parameters, clip_value, foreach=None):
    """Limits each element of the gradients to [-clip_value, clip_value], in place."""
    clip_value = float(clip_value)
    for parameter in _list(parameters):
        if parameter.grad is not None:
            parameter.grad.clamp_(-clip_value, clip_value)
