"""Products with weights that aren't functions of the extension module already (conv1d ... conv_transpose3d are)."""

from __future__ import annotations

from torchc import _C
from torchc._autocast import lower

__all__ = ["conv_tbc", "linear"]


def linear(input, weight, bias=None, *, out=None):
    """`input` times the transposed `weight`, plus `bias`.

    Shapes: input (*, in), weight (out, in) or (in), bias (out) or (); result (*, out) or (*). One dtype for all.
    """
    result = _C.linear(input, weight, bias)
    return result if out is None else out.copy_(result)


@lower
def conv_tbc(input, weight, bias, pad=0):
    """conv1d over (time, batch, channel); weight (K, in, out)."""
    result = _C.conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad)
    return result.permute(2, 0, 1)
