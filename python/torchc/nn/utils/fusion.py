"""Batch norms in evaluation mode taken into the layer before them."""

from __future__ import annotations

import copy

from torchc import _C
from torchc.nn.parameter import Parameter

__all__ = [
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
]


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    """(weight, bias) of the convolution that does both."""
    conv_b = _C.zeros_like(bn_rm) if conv_b is None else conv_b
    bn_w = _C.ones_like(bn_rm) if bn_w is None else bn_w
    bn_b = _C.zeros_like(bn_rm) if bn_b is None else bn_b
    factor = bn_w / (bn_rv + bn_eps).sqrt()
    shape = [1, -1] if transpose else [-1, 1]
    weight = conv_w * factor.reshape(*shape, *[1] * (conv_w.dim() - 2))
    bias = (conv_b - bn_rm) * factor + bn_b
    return Parameter(weight.detach(), conv_w.requires_grad), Parameter(
        bias.detach(), conv_b.requires_grad
    )


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    """(weight, bias) of the linear layer that does both."""
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def _fused(layer, bn, transpose):
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    made = copy.deepcopy(layer)
    made.weight, made.bias = fuse_conv_bn_weights(
        made.weight,
        made.bias,
        bn.running_mean,
        bn.running_var,
        bn.eps,
        bn.weight,
        bn.bias,
        transpose,
    )
    return made


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """A copy of `conv` that does `bn`, too. Raises AssertionError unless both are in evaluation mode."""
    return _fused(conv, bn, transpose)


def fuse_linear_bn_eval(linear, bn):
    """A copy of `linear` that does `bn`, too. Raises AssertionError unless both are in evaluation mode."""
    return _fused(linear, bn, False)
