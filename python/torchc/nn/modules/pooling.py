"""Windows over space: maxima, means and norms."""

from __future__ import annotations

from torchc.nn import functional as F
from torchc.nn.modules.module import Module
from torchc.nn.modules.utils import _ntuple

__all__ = [
    f"{kind}{n}d"
    for kind in ("MaxPool", "MaxUnpool", "AvgPool", "LPPool", "AdaptiveAvgPool", "AdaptiveMaxPool")
    for n in (1, 2, 3)
] + ["FractionalMaxPool2d", "FractionalMaxPool3d"]


class _MaxPoolNd(Module):
    """The largest element of each window; a subclass has the function."""

    _function = ""

    def __init__(
        self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False
    ):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input):
        """See `functional.max_pool1d`."""
        return getattr(F, self._function)(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )

    def extra_repr(self):
        """The windows."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """The largest element of each window of (N, C, L) or (C, L)."""

    _function = "max_pool1d"


class MaxPool2d(_MaxPoolNd):
    """The largest element of each window of (N, C, H, W) or (C, H, W)."""

    _function = "max_pool2d"


class MaxPool3d(_MaxPoolNd):
    """The largest element of each window of (N, C, D, H, W) or (C, D, H, W)."""

    _function = "max_pool3d"


class _MaxUnpoolNd(Module):
    """Zeros with each element where max pooling took it."""

    _rank = 0

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        many = _ntuple(self._rank)
        self.kernel_size = many(kernel_size)
        self.stride = many(kernel_size if stride is None else stride)
        self.padding = many(padding)

    def forward(self, input, indices, output_size=None):
        """See `functional.max_unpool1d`."""
        function = getattr(F, f"max_unpool{self._rank}d")
        return function(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self):
        """The windows."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """The inverse of MaxPool1d, zeros elsewhere."""

    _rank = 1


class MaxUnpool2d(_MaxUnpoolNd):
    """The inverse of MaxPool2d, zeros elsewhere."""

    _rank = 2


class MaxUnpool3d(_MaxUnpoolNd):
    """The inverse of MaxPool3d, zeros elsewhere."""

    _rank = 3


class AvgPool1d(Module):
    """The mean of each window of (N, C, L) or (C, L)."""

    def __init__(
        self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True
    ):
        super().__init__()
        many = _ntuple(1)
        self.kernel_size = many(kernel_size)
        self.stride = many(kernel_size if stride is None else stride)
        self.padding = many(padding)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input):
        """See `functional.avg_pool1d`."""
        return F.avg_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
        )

    def extra_repr(self):
        """The windows."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(Module):
    """The mean of each window of (N, C, H, W) or (C, H, W)."""

    _function = "avg_pool2d"

    def __init__(
        self,
        kernel_size,
        stride=None,
        padding=0,
        ceil_mode=False,
        count_include_pad=True,
        divisor_override=None,
    ):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input):
        """See `functional.avg_pool2d`."""
        return getattr(F, self._function)(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )

    def extra_repr(self):
        """The windows."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool3d(AvgPool2d):
    """The mean of each window of (N, C, D, H, W) or (C, D, H, W)."""

    _function = "avg_pool3d"


class _LPPoolNd(Module):
    """The p-norm of each window."""

    _function = ""

    def __init__(self, norm_type: float, kernel_size, stride=None, ceil_mode: bool = False):
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = (
            norm_type,
            kernel_size,
            stride,
            ceil_mode,
        )

    def forward(self, input):
        """See `functional.lp_pool1d`."""
        function = getattr(F, self._function)
        return function(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self):
        """Norm and windows."""
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    """The p-norm of each window of (N, C, L) or (C, L)."""

    _function = "lp_pool1d"


class LPPool2d(_LPPoolNd):
    """The p-norm of each window of (N, C, H, W) or (C, H, W)."""

    _function = "lp_pool2d"


class LPPool3d(_LPPoolNd):
    """The p-norm of each window of (N, C, D, H, W) or (C, D, H, W)."""

    _function = "lp_pool3d"


class _AdaptiveAvgPoolNd(Module):
    """Means over windows that make an output of this size."""

    _function = ""

    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def forward(self, input):
        """See `functional.adaptive_avg_pool1d`."""
        return getattr(F, self._function)(input, self.output_size)

    def extra_repr(self):
        """The size."""
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Means over windows that make a length of `output_size`."""

    _function = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Means over windows that make an image of `output_size`."""

    _function = "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Means over windows that make a volume of `output_size`."""

    _function = "adaptive_avg_pool3d"


class _AdaptiveMaxPoolNd(Module):
    """Maxima over windows that make an output of this size."""

    _function = ""

    def __init__(self, output_size, return_indices: bool = False):
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def forward(self, input):
        """See `functional.adaptive_max_pool1d`."""
        return getattr(F, self._function)(input, self.output_size, self.return_indices)

    def extra_repr(self):
        """The size."""
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """Maxima over windows that make a length of `output_size`."""

    _function = "adaptive_max_pool1d"


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Maxima over windows that make an image of `output_size`."""

    _function = "adaptive_max_pool2d"


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """Maxima over windows that make a volume of `output_size`."""

    _function = "adaptive_max_pool3d"


class _FractionalMaxPoolNd(Module):
    """Maxima of windows at random places. Raises ValueError unless exactly one of size and ratio is given."""

    _rank = 0

    def __init__(
        self,
        kernel_size,
        output_size=None,
        output_ratio=None,
        return_indices=False,
        _random_samples=None,
    ):
        super().__init__()
        many, name = _ntuple(self._rank), type(self).__name__
        self.kernel_size = many(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else many(output_size)
        self.output_ratio = None if output_ratio is None else many(output_ratio)
        if output_size is None and output_ratio is None:
            raise ValueError(
                f"{name} requires specifying either an output size, or a pooling ratio"
            )
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input):
        """See `functional.fractional_max_pool2d`."""
        return getattr(F, f"fractional_max_pool{self._rank}d")(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """Maxima of windows at random places of (N, C, H, W) or (C, H, W)."""

    _rank = 2


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """Maxima of windows at random places of (N, C, D, H, W) or (C, D, H, W)."""

    _rank = 3
