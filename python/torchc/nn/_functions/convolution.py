"""Products with weights that aren't functions of the extension module already (conv1d ... conv_transpose3d are)."""

from __future__ import annotations

from torchc import _C

__all__ = ["bilinear", "conv_tbc", "linear"]


def linear(input, weight, bias=None):
    """`input` times the transposed `weight`, plus `bias`.

    Shapes: input (*, in), weight (out, in) or (in), bias (out) or (); result (*, out) or (*). One dtype for all.
    """
    return _C.linear(input, weight, bias)


def bilinear(input1, input2, weight, bias=None):
    """x1 · weight[o] · x2 + bias[o]; input1 (*, in1), input2 (*, in2), weight (out, in1, in2), result (*, out)."""
    if input1.shape[:-1] != input2.shape[:-1]:
        raise RuntimeError(
            f"bilinear(): input batch dimensions do not match: got {list(input1.shape)} and {list(input2.shape)}"
        )
    outputs, in1, in2 = weight.shape
    if input1.size(-1) != in1 or input2.size(-1) != in2:
        raise RuntimeError(
            f"bilinear(): input sizes {input1.size(-1)} and {input2.size(-1)} do not match weight sizes {in1} and {in2}"
        )
    first, second = input1.reshape(-1, in1), input2.reshape(-1, in2)
    left = first @ weight.permute(1, 0, 2).reshape(in1, outputs * in2)
    result = (left.reshape(-1, outputs, in2) * second.unsqueeze(1)).sum(-1)
    result = result.reshape(*input1.shape[:-1], outputs)
    return result if bias is None else result + bias


def conv_tbc(input, weight, bias, pad=0):
    """conv1d over (time, batch, channel); weight (K, in, out)."""
    result = _C.conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad)
    return result.permute(2, 0, 1)
