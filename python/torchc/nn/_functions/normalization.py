"""Normalisation by means and variances (rule N6 for the order of the sums)."""

from __future__ import annotations

from typing import Any

from torchc import _C
from torchc._type_info import finfo

__all__ = [
    "batch_norm",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "local_response_norm",
    "rms_norm",
]


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """(x - mean) / sqrt(var + eps) * weight + bias over the last dimensions, which are `normalized_shape`."""
    return _C.layer_norm(input, list(normalized_shape), weight, bias, eps)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """x / sqrt(mean(x^2) + eps) * weight over the last dimensions; eps defaults to the dtype's."""
    if eps is None:
        eps = finfo(input.dtype).eps if input.dtype.itemsize > 2 else finfo(_C.float32).eps
    return _C.rms_norm(input, list(normalized_shape), weight, eps)


def _check_batch(size):
    values = size[0]
    for n in size[2:]:
        values *= n
    if values == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {size}"
        )


def batch_norm(
    input,
    running_mean,
    running_var,
    weight=None,
    bias=None,
    training=False,
    momentum=0.1,
    eps=1e-5,
):
    """Normalises each channel (dimension 1) over batch and space, by own statistics or the running ones.

    When training the running tensors are updated in place: (1 - momentum) * running + momentum * new, the variance
    unbiased. Raises ValueError for a channel of one value when training.
    """
    if training:
        _check_batch(input.size())
    for running in (running_mean, running_var):
        if running is not None and running.requires_grad and _C.is_grad_enabled():
            raise RuntimeError("batch_norm(): running statistics have no derivative; detach them")
    return _C.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """Normalises each sample's groups of channels over channels of the group and space."""
    if input.dim() < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {input.dim()}"
        )
    if num_groups <= 0 or input.size(1) % num_groups != 0 or input.size(1) == 0:
        raise RuntimeError(
            f"Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.size())} and num_groups={num_groups}"
        )
    return _C.group_norm(input, num_groups, weight, bias, eps)


def instance_norm(
    input,
    running_mean=None,
    running_var=None,
    weight=None,
    bias=None,
    use_input_stats=True,
    momentum=0.1,
    eps=1e-5,
):
    """`batch_norm` of each sample by itself; the running statistics take the means over the batch."""
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    spatial = input.size()[2:]
    count = 1
    for n in spatial:
        count *= n
    if count == 1:
        raise ValueError(
            f"Expected more than 1 spatial element when training, got input size {input.size()}"
        )
    batch, channels = input.size(0), input.size(1)
    means: Any = None if running_mean is None else running_mean.repeat(batch)
    variances: Any = None if running_var is None else running_var.repeat(batch)
    result = _C.batch_norm(
        input.reshape(1, batch * channels, *spatial),
        None if weight is None else weight.repeat(batch),
        None if bias is None else bias.repeat(batch),
        means,
        variances,
        True,
        momentum,
        eps,
    )
    for running, new in ((running_mean, means), (running_var, variances)):
        if running is not None:
            running.copy_(new.reshape(batch, channels).mean(0))
    return result.reshape(input.shape)


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """x / (k + alpha * mean of x^2 over `size` neighbouring channels) ** beta. Raises ValueError below rank 3."""
    if input.dim() < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality input (got {input.dim()} dimensions)"
        )
    if input.numel() == 0:
        return input
    square = input * input
    before, after = size // 2, (size - 1) // 2
    channels = input.size(1)
    edge = list(input.shape)
    parts = [square]
    if before:
        edge[1] = before
        parts.insert(0, square.new_zeros(*edge))
    if after:
        edge[1] = after
        parts.append(square.new_zeros(*edge))
    padded = _C.cat(parts, 1)
    total = padded.narrow(1, 0, channels)
    for i in range(1, size):
        total = total + padded.narrow(1, i, channels)
    if input.is_floating_point():
        return input / (total / size * alpha + k) ** beta
    # The mean of integers is one, as that of avg_pool.
    return input / (_C.div(total, size, rounding_mode="trunc") * alpha + k) ** beta
