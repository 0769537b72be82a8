"""Modules that only change the shape, resample, or measure distances."""

from __future__ import annotations

from torchc.nn import functional as F
from torchc.nn.modules.module import Module

__all__ = [
    "ChannelShuffle",
    "CosineSimilarity",
    "Flatten",
    "Fold",
    "PairwiseDistance",
    "PixelShuffle",
    "PixelUnshuffle",
    "Unflatten",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
]


class Flatten(Module):
    """Joins the dimensions start_dim to end_dim."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input):
        """See `torchc.flatten`."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self):
        """The dimensions."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Cuts dimension `dim` into dimensions of these sizes. Raises TypeError for what is no tuple of ints."""

    def __init__(self, dim: int, unflattened_size):
        super().__init__()
        if not isinstance(dim, int):
            raise TypeError("invalid argument type for dim parameter")
        if not isinstance(unflattened_size, (tuple, list)):
            raise TypeError(
                f"unflattened_size must be a tuple of ints, but found type {type(unflattened_size).__name__}"
            )
        for i, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise TypeError(
                    f"unflattened_size must be tuple of ints, but found element of type {type(size).__name__} at "
                    f"pos {i}"
                )
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input):
        """The input with dimension `dim` cut."""
        dim, sizes = self.dim % input.dim(), list(self.unflattened_size)
        return input.reshape(
            *input.shape[:dim], *_filled(sizes, input.size(dim)), *input.shape[dim + 1 :]
        )

    def extra_repr(self):
        """Dimension and sizes."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


def _filled(sizes: list[int], total: int) -> list[int]:
    """`sizes` with the one -1 in it computed. Raises RuntimeError when the product isn't `total`."""
    known = 1
    for size in sizes:
        known *= size if size != -1 else 1
    filled = [total // known if size == -1 and known else size for size in sizes]
    product = 1
    for size in filled:
        product *= size
    if product != total:
        raise RuntimeError(
            f"unflatten: Provided sizes {sizes} don't multiply up to the size of dim ({total}) in the input tensor"
        )
    return filled


class Unfold(Module):
    """The sliding blocks of an image as columns; see `functional.unfold`."""

    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = (
            kernel_size,
            dilation,
            padding,
            stride,
        )

    def forward(self, input):
        """See `functional.unfold`."""
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self):
        """The windows."""
        return f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, stride={self.stride}"


class Fold(Module):
    """The sum of blocks at their places; see `functional.fold`."""

    def __init__(self, output_size, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def forward(self, input):
        """See `functional.fold`."""
        return F.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )

    def extra_repr(self):
        """Size and windows."""
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, dilation={self.dilation}, "
            f"padding={self.padding}, stride={self.stride}"
        )


class Upsample(Module):
    """Resamples; see `functional.interpolate`."""

    def __init__(
        self,
        size=None,
        scale_factor=None,
        mode="nearest",
        align_corners=None,
        recompute_scale_factor=None,
    ):
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        self.scale_factor: object
        if isinstance(scale_factor, tuple):
            self.scale_factor = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode, self.align_corners = mode, align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input):
        """See `functional.interpolate`."""
        return F.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self):
        """Size or factor, and the mode."""
        what = "size" if self.scale_factor is None else "scale_factor"
        return f"{what}={getattr(self, what)!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Resamples images, nearest neighbour."""

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Resamples images, bilinear with aligned corners."""

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class PixelShuffle(Module):
    """(*, C r^2, H, W) -> (*, C, H r, W r)."""

    def __init__(self, upscale_factor: int):
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input):
        """See the class."""
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self):
        """The factor."""
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """(*, C, H r, W r) -> (*, C r^2, H, W)."""

    def __init__(self, downscale_factor: int):
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input):
        """See the class."""
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self):
        """The factor."""
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """Channels dealt out to `groups` in turn."""

    def __init__(self, groups: int):
        super().__init__()
        self.groups = groups

    def forward(self, input):
        """See the class."""
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self):
        """The groups."""
        return f"groups={self.groups}"


class PairwiseDistance(Module):
    """See `functional.pairwise_distance`."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False):
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1, x2):
        """See `functional.pairwise_distance`."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """See `functional.cosine_similarity`."""

    def __init__(self, dim: int = 1, eps: float = 1e-8):
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1, x2):
        """See `functional.cosine_similarity`."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
