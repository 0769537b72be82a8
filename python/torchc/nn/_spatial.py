"""Functions of torch.nn.functional that move, pad and resize images. Names and defaults as there."""

from torchc import _C

__all__ = [
    "bilinear", "channel_shuffle", "fold", "interpolate", "pad", "pixel_shuffle", "pixel_unshuffle", "unfold",
]  # fmt: skip


def pad(input, pad, mode="constant", value=None):
    """A border around the last dimensions.

    Args:
        pad: sizes in pairs, the last dimension's first; negative ones cut (mode "constant").
        mode: "constant" with `value` (default 0); "reflect", "replicate" or "circular" for the last 1 to 3 dimensions
            of a tensor with one or two more.

    Raises RuntimeError for sizes that don't fit, NotImplementedError for another mode or rank.
    """
    return _C.pad(input, pad, mode, value)


def interpolate(
    input,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    antialias=False,
):
    """Batches of images (N, C, ...) of 1 to 3 dimensions in another size.

    Args:
        size: the new sizes, or one for all; or else
        scale_factor: the new size over the old, a number or one per dimension.
        mode: "nearest", "nearest-exact", "area", "linear" (1-d), "bilinear", "bicubic" (2-d), "trilinear" (3-d).
        align_corners: for the last four: whether corner pixels keep their places, or corners of pixels do.
        recompute_scale_factor: take the positions from the sizes rather than from `scale_factor`.
        antialias: average over all input that an output covers ("bilinear" and "bicubic").

    Raises ValueError for arguments that contradict each other, NotImplementedError for a mode of another rank.
    """
    return _C.interpolate(
        input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias
    )


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """Sliding windows of images (N, C, H, W) or (C, H, W) as columns (N, C * window, number of windows)."""
    return _C._im2col(input, kernel_size, dilation, padding, stride)


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """The sum of columns (N, C * window, number of windows) where `unfold` would read them: (N, C, *output_size)."""
    return _C._col2im(input, output_size, kernel_size, dilation, padding, stride)


pixel_shuffle = _C.pixel_shuffle
pixel_unshuffle = _C.pixel_unshuffle
channel_shuffle = _C.channel_shuffle
bilinear = _C.bilinear
