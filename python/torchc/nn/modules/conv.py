"""Convolutions."""

from __future__ import annotations

import math

from torchc import _C
from torchc.nn import functional as F
from torchc.nn import init
from torchc.nn.modules.lazy import LazyModuleMixin
from torchc.nn.modules.module import Module, factory_options
from torchc.nn.modules.utils import _ntuple
from torchc.nn.parameter import Parameter, UninitializedParameter

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
]

_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """What all convolutions share; `_rank` is the number of spatial dimensions."""

    _rank = 0
    transposed = False

    def _setup(
        self, in_channels, out_channels, kernel_size, stride, padding, dilation, output_padding, groups, bias,
        padding_mode, device, dtype,
    ):  # fmt: skip
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        for what, channels in (("in", in_channels), ("out", out_channels)):
            if channels % groups != 0:
                raise ValueError(f"{what}_channels must be divisible by groups")
        many = _ntuple(self._rank)
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride, self.dilation = (
            many(kernel_size),
            many(stride),
            many(dilation),
        )
        self.padding = padding if isinstance(padding, str) else many(padding)
        self._check_padding(padding_mode)
        self.output_padding, self.groups = many(output_padding), groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = self._border()
        shape = (
            (in_channels, out_channels // groups)
            if self.transposed
            else (out_channels, in_channels // groups)
        )
        options = factory_options(device, dtype)
        self.weight = Parameter(_C.empty(*shape, *self.kernel_size, **options))
        if bias:
            self.bias = Parameter(_C.empty(out_channels, **options))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _check_padding(self, padding_mode):
        if isinstance(self.padding, str):
            if self.padding not in ("same", "valid"):
                raise ValueError(
                    f"Invalid padding string {self.padding!r}, should be one of {{'same', 'valid'}}"
                )
            if self.padding == "same" and any(s != 1 for s in self.stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in _MODES:
            raise ValueError(
                f"padding_mode must be one of {set(_MODES)}, but got padding_mode='{padding_mode}'"
            )

    def _border(self) -> list[int]:
        """The padding as `functional.pad` takes it."""
        if not isinstance(self.padding, str):
            return [p for p in reversed(self.padding) for _ in range(2)]
        border = [0] * (2 * self._rank)
        if self.padding == "same":
            for i, (d, k) in enumerate(zip(reversed(self.dilation), reversed(self.kernel_size))):
                total = d * (k - 1)
                border[2 * i : 2 * i + 2] = [total // 2, total - total // 2]
        return border

    def reset_parameters(self):
        """Draws the starting values again: uniform within 1 / sqrt(in_channels / groups * kernel)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                init.uniform_(self.bias, -1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in))

    def extra_repr(self):
        """Channels, sizes, and what isn't the default."""
        none = (0,) * self._rank
        parts = [
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        ]
        if self.padding != none:
            parts.append(f"padding={self.padding}")
        if self.dilation != (1,) * self._rank:
            parts.append(f"dilation={self.dilation}")
        if self.output_padding != none:
            parts.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)

    def __setstate__(self, state):
        state.setdefault("padding_mode", "zeros")
        super().__setstate__(state)


class _Conv(_ConvNd):
    """A convolution; the function of `_rank` dimensions."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device=None,
        dtype=None,
    ):
        super().__init__()
        self._setup(
            in_channels, out_channels, kernel_size, stride, padding, dilation, 0, groups, bias, padding_mode, device,
            dtype,
        )  # fmt: skip

    def _conv_forward(self, input, weight, bias):
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = 0
        return getattr(F, f"conv{self._rank}d")(
            input, weight, bias, self.stride, padding, self.dilation, self.groups
        )

    def forward(self, input):
        """See `functional.conv1d`."""
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Conv):
    """Cross-correlation over (N, C, L) or (C, L); see `functional.conv1d`. Weight (out, in / groups, K)."""

    _rank = 1


class Conv2d(_Conv):
    """Cross-correlation over (N, C, H, W) or (C, H, W); see `functional.conv2d`. Weight (out, in / groups, KH, KW)."""

    _rank = 2


class Conv3d(_Conv):
    """Cross-correlation over (N, C, D, H, W) or (C, D, H, W); see `functional.conv3d`."""

    _rank = 3


class _ConvTransposeNd(_ConvNd):
    """A transposed convolution."""

    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups: int = 1,
        bias: bool = True,
        dilation=1,
        padding_mode: str = "zeros",
        device=None,
        dtype=None,
    ):
        super().__init__()
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        self._setup(
            in_channels, out_channels, kernel_size, stride, padding, dilation, output_padding, groups, bias,
            padding_mode, device, dtype,
        )  # fmt: skip

    def _output_padding(self, input, output_size):
        """What must be added at the end for this output size. Raises ValueError when it can't be reached."""
        if output_size is None:
            return self.output_padding
        n = self._rank
        goal = list(output_size)
        goal = goal[input.dim() - n :] if len(goal) == input.dim() else goal
        if len(goal) != n:
            raise ValueError(
                f"ConvTranspose{n}D: for {input.dim()}D input, output_size must have {n} or {input.dim()} elements "
                f"(got {len(goal)})"
            )
        least = [
            (input.size(i - n) - 1) * self.stride[i]
            - 2 * self.padding[i]
            + self.dilation[i] * (self.kernel_size[i] - 1)
            + 1
            for i in range(n)
        ]
        most = [low + self.stride[i] - 1 for i, low in enumerate(least)]
        if any(not low <= size <= high for size, low, high in zip(goal, least, most)):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {least} to {most} "
                f"(for an input of {list(input.size()[2:])})"
            )
        return [size - low for size, low in zip(goal, least)]

    def forward(self, input, output_size=None):
        """See `functional.conv_transpose1d`; `output_size` chooses among the sizes that the stride allows."""
        return getattr(F, f"conv_transpose{self._rank}d")(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self._output_padding(input, output_size),
            self.groups,
            self.dilation,
        )


class ConvTranspose1d(_ConvTransposeNd):
    """The gradient of Conv1d as a layer; weight (in, out / groups, K)."""

    _rank = 1


class ConvTranspose2d(_ConvTransposeNd):
    """The gradient of Conv2d as a layer; weight (in, out / groups, KH, KW)."""

    _rank = 2


class ConvTranspose3d(_ConvTransposeNd):
    """The gradient of Conv3d as a layer; weight (in, out / groups, KD, KH, KW)."""

    _rank = 3


class _LazyConv(LazyModuleMixin):
    """A convolution that learns `in_channels` from its first input."""

    _rank: int
    groups: int
    transposed: bool
    kernel_size: tuple

    def __init__(self, out_channels: int, kernel_size, *args, **kwargs):
        options = factory_options(kwargs.get("device"), kwargs.get("dtype"))
        names = ("stride", "padding", *self._order)
        given = {**dict(zip(names, args)), **kwargs}
        bias = given.pop("bias", True)
        super().__init__(0, 0, kernel_size, bias=False, **given)
        self.weight = UninitializedParameter(**options)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(**options)

    _order: tuple = ("dilation", "groups", "bias", "padding_mode", "device", "dtype")

    def reset_parameters(self):
        """Draws starting values when the sizes are known."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input, *args, **kwargs):
        """Takes the channels from the input and draws starting values."""
        if not self.has_uninitialized_params():
            return
        if input.dim() not in (self._rank + 1, self._rank + 2):
            raise RuntimeError(
                f"Expected {self._rank + 1}D (unbatched) or {self._rank + 2}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {input.shape}"
            )
        self.in_channels = input.shape[-self._rank - 1]
        if self.in_channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        pair = (self.in_channels, self.out_channels // self.groups)
        if not self.transposed:
            pair = (self.out_channels, self.in_channels // self.groups)
        self.weight.materialize((*pair, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


class _LazyConvTranspose(_LazyConv):
    _order = ("output_padding", "groups", "bias", "dilation", "padding_mode", "device", "dtype")


class LazyConv1d(_LazyConv, Conv1d):
    """A Conv1d that learns `in_channels` from its first input."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """A Conv2d that learns `in_channels` from its first input."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """A Conv3d that learns `in_channels` from its first input."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """A ConvTranspose1d that learns `in_channels` from its first input."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """A ConvTranspose2d that learns `in_channels` from its first input."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """A ConvTranspose3d that learns `in_channels` from its first input."""

    cls_to_become = ConvTranspose3d
