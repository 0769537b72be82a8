"""Images: sliding blocks, resampling."""

from __future__ import annotations

import math
import warnings
from typing import Any

from torchc import _C
from torchc.errors import Unsupported
from torchc.nn._functions.padding import pad
from torchc.nn._functions.pooling import _many

__all__ = [
    "fold",
    "interpolate",
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]


def _block_indices(size, kernel, dilation, padding, stride) -> tuple[list[list[int]], list[int]]:
    """[tap][block]: places in the padded plane; and the number of blocks along each dimension."""
    full = [s + 2 * p for s, p in zip(size, padding)]
    counts = [(f - d * (k - 1) - 1) // s + 1 for f, k, d, s in zip(full, kernel, dilation, stride)]
    taps: list[list[int]] = [[]]
    for k, d in zip(kernel, dilation):
        taps = [tap + [i * d] for tap in taps for i in range(k)]
    blocks: list[list[int]] = [[]]
    for n, s in zip(counts, stride):
        blocks = [block + [i * s] for block in blocks for i in range(n)]
    rows = []
    for tap in taps:
        row = []
        for block in blocks:
            place = 0
            for f, a, b in zip(full, block, tap):
                place = place * f + a + b
            row.append(place)
        rows.append(row)
    return rows, counts


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """The sliding blocks of (N, C, H, W) or (C, H, W) as columns: (N, C * kernel, blocks)."""
    if input.dim() not in (3, 4):
        raise RuntimeError(
            f"Expected 3D or 4D (batch mode) tensor for input, but got: {list(input.shape)}"
        )
    kernel, dilation, padding, stride = (
        _many(v, 2) for v in (kernel_size, dilation, padding, stride)
    )
    single = input.dim() == 3
    x = input.unsqueeze(0) if single else input
    rows, counts = _block_indices(x.shape[2:], kernel, dilation, padding, stride)
    if min(counts) < 1:
        raise RuntimeError(
            f"Given input with spatial size {tuple(x.shape[2:])}, kernel_size={tuple(kernel)}, the array of sliding "
            f"blocks has the shape {tuple(counts)}, but its components must be at least one."
        )
    x = pad(x, (padding[1], padding[1], padding[0], padding[0])).flatten(2)
    index = _C.tensor(rows, dtype=_C.int64)
    result = x.index_select(2, index.reshape(-1)).reshape(x.size(0), -1, index.size(1))
    return result.squeeze(0) if single else result


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Adds the columns of `unfold` back into an image of `output_size`: (N, C * kernel, blocks) -> (N, C, H, W)."""
    kernel, dilation, padding, stride, goal = (
        _many(v, 2) for v in (kernel_size, dilation, padding, stride, output_size)
    )
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"Expected 2D or 3D (batch mode) tensor for input, but got: {list(input.shape)}"
        )
    single = input.dim() == 2
    x = input.unsqueeze(0) if single else input
    rows, counts = _block_indices(goal, kernel, dilation, padding, stride)
    taps = kernel[0] * kernel[1]
    if x.size(1) % taps:
        raise RuntimeError(
            f"Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={x.size(1)} and kernel_size={tuple(kernel)}."
        )
    if x.size(2) != counts[0] * counts[1]:
        raise RuntimeError(
            f"Given output_size={tuple(goal)}, kernel_size={tuple(kernel)}, dilation={tuple(dilation)}, "
            f"padding={tuple(padding)}, stride={tuple(stride)}, expected size of input's dimension 2 to match the "
            f"calculated number of sliding blocks {counts[0]} * {counts[1]} = {counts[0] * counts[1]}, but got "
            f"input.size(2)={x.size(2)}."
        )
    height, width = (g + 2 * p for g, p in zip(goal, padding))
    channels = x.size(1) // taps
    index = _C.tensor(rows, dtype=_C.int64).reshape(-1)
    flat = x.new_zeros(x.size(0), channels, height * width)
    flat = flat.index_add(2, index, x.reshape(x.size(0), channels, -1))
    image = flat.reshape(x.size(0), channels, height, width)
    image = image[:, :, padding[0] : height - padding[0], padding[1] : width - padding[1]]
    return image.squeeze(0) if single else image


def _scale(size: int, goal: int, align: bool, factor) -> float:
    if align:
        return (size - 1) / (goal - 1) if goal > 1 else 0.0
    return 1.0 / factor if factor else size / goal


def _source(i: int, scale: float, align: bool, cubic: bool) -> float:
    if align:
        return i * scale
    place = (i + 0.5) * scale - 0.5
    return place if cubic else max(place, 0.0)


def _nearest_rows(size, goal, factor, exact):
    scale = 1.0 / factor if factor else size / goal
    shift = 0.5 if exact else 0.0
    return [[(min(int((i + shift) * scale), size - 1), 1.0)] for i in range(goal)]


def _linear_rows(size, goal, align, factor):
    scale, rows = _scale(size, goal, align, factor), []
    for i in range(goal):
        place = _source(i, scale, align, False)
        low = min(int(place), size - 1)
        part = place - low
        rows.append([(low, 1.0 - part), (min(low + 1, size - 1), part)])
    return rows


def _cubic_rows(size, goal, align, factor):
    scale, rows, a = _scale(size, goal, align, factor), [], -0.75

    def near(x):
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x):
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    for i in range(goal):
        place = _source(i, scale, align, True)
        low = math.floor(place)
        t = place - low
        weights = (far(t + 1), near(t), near(1 - t), far(2 - t))
        rows.append([(min(max(low - 1 + j, 0), size - 1), w) for j, w in enumerate(weights)])
    return rows


def _resample(x, dim: int, rows):
    """Each output place along `dim` as the weighted sum of the input places of its row."""
    taps = len(rows[0])
    result: Any = None
    for tap in range(taps):
        index = _C.tensor([row[tap][0] for row in rows], dtype=_C.int64)
        part = x.index_select(dim, index)
        if taps > 1:
            shape = [1] * x.dim()
            shape[dim] = len(rows)
            dtype = x.dtype if x.dtype.itemsize > 2 else _C.float32
            part = part * _C.tensor([row[tap][1] for row in rows], dtype=dtype).reshape(shape)
        result = part if result is None else result + part
    return result.to(x.dtype)


_RANKS = {"nearest": (1, 2, 3), "nearest-exact": (1, 2, 3), "area": (1, 2, 3), "linear": (1,)}
_RANKS.update(bilinear=(2,), bicubic=(2,), trilinear=(3,))


def _sizes(input, n: int, size, scale_factor, recompute):
    """Output sizes, and the factors that the coordinates use (None: by the sizes)."""
    if (size is None) == (scale_factor is None):
        raise ValueError(
            "only one of size or scale_factor should be defined"
            if size is not None
            else "either size or scale_factor should be defined"
        )
    if size is not None:
        goal = _many(size, n)
        if len(goal) != n:
            raise ValueError(
                f"Input and output must have the same number of spatial dimensions, but got input with spatial "
                f"dimensions of {list(input.shape[2:])} and output size of {size}."
            )
        return [int(g) for g in goal], [None] * n
    factors = _many(scale_factor, n)
    if len(factors) != n:
        raise ValueError(
            f"Input and scale_factor must have the same number of spatial dimensions, but got input with spatial "
            f"dimensions of {list(input.shape[2:])} and scale_factor of shape {scale_factor}."
        )
    goal = [int(math.floor(s * f)) for s, f in zip(input.shape[2:], factors)]
    return goal, [None] * n if recompute else factors


def interpolate(
    input,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    antialias=False,
):
    """Resamples (N, C, ...) to `size` or by `scale_factor`.

    Args:
        mode: "nearest", "nearest-exact", "area", "linear" (3-d input), "bilinear", "bicubic" (4-d), "trilinear" (5-d).
        align_corners: for the linear and cubic modes: whether the corners' centres are aligned.
        recompute_scale_factor: take the factors from the sizes.

    Raises ValueError for sizes, NotImplementedError for a mode that doesn't fit the rank.
    """
    if mode not in _RANKS:
        raise NotImplementedError(f"interpolate(): unknown mode {mode!r}")
    n = input.dim() - 2
    if n not in _RANKS[mode]:
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D) for the modes: nearest | "
            f"linear | bilinear | bicubic | trilinear | area | nearest-exact (got {mode})"
        )
    smooth = mode not in ("nearest", "nearest-exact", "area")
    if align_corners is not None and not smooth:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    if antialias:
        raise Unsupported("interpolate(antialias=True)")
    goal, factors = _sizes(input, n, size, scale_factor, recompute_scale_factor)
    if min(goal) < 1:
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input {list(input.shape)}, output {goal}"
        )
    if mode == "area":
        return getattr(_C, f"adaptive_avg_pool{n}d")(input, goal)
    result = input
    for i in range(n):
        old, new, factor = input.size(i + 2), goal[i], factors[i]
        if not smooth:
            rows = _nearest_rows(old, new, factor, mode == "nearest-exact")
        elif mode == "bicubic":
            rows = _cubic_rows(old, new, bool(align_corners), factor)
        else:
            rows = _linear_rows(old, new, bool(align_corners), factor)
        result = _resample(result, i + 2, rows)
    return result


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """The old name of `interpolate`."""
    warnings.warn(
        "`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """`interpolate` with mode="nearest"."""
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """`interpolate` with mode="bilinear" and aligned corners."""
    return interpolate(input, size, scale_factor, "bilinear", True)
