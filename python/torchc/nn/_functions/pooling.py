"""Windows: maxima with their indices, norms, and the inverse of max pooling. Means are the extension module's."""

from __future__ import annotations

from torchc import _C
from torchc._autocast import single

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]


def _many(value, n: int) -> list:
    """`value` as a list of n numbers; one number (or a list of one) stands for all."""
    if isinstance(value, (list, tuple)):
        return list(value) * n if len(value) == 1 else list(value)
    return [value] * n


def _max_pool(n, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices):
    name = f"max_pool{n}d" + ("_with_indices" if return_indices else "")
    # PyTorch's rule: no stride means the kernel's size.
    stride = [] if stride is None else stride
    return getattr(_C, name)(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool1d(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    """The largest element of each window of (N, C, L) or (C, L); with `return_indices` (values, indices)."""
    return _max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool2d(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    """The largest element of each window of (N, C, H, W) or (C, H, W); with `return_indices` (values, indices)."""
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool3d(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    """The largest element of each window of (N, C, D, H, W) or (C, D, H, W), or (values, indices)."""
    return _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    """The mean of each window of (N, C, L) or (C, L)."""
    stride = [] if stride is None else stride
    return _C.avg_pool1d(input, kernel_size, stride, padding, ceil_mode, count_include_pad)


def avg_pool2d(
    input,
    kernel_size,
    stride=None,
    padding=0,
    ceil_mode=False,
    count_include_pad=True,
    divisor_override=None,
    *,
    out=None,
):
    """The mean of each window of (N, C, H, W) or (C, H, W); `divisor_override` replaces the count."""
    stride = [] if stride is None else stride
    return _C.avg_pool2d(
        input,
        kernel_size,
        stride,
        padding,
        ceil_mode,
        count_include_pad,
        divisor_override,
        out=out,
    )


def avg_pool3d(
    input,
    kernel_size,
    stride=None,
    padding=0,
    ceil_mode=False,
    count_include_pad=True,
    divisor_override=None,
    *,
    out=None,
):
    """The mean of each window of (N, C, D, H, W) or (C, D, H, W); `divisor_override` replaces the count."""
    stride = [] if stride is None else stride
    return _C.avg_pool3d(
        input,
        kernel_size,
        stride,
        padding,
        ceil_mode,
        count_include_pad,
        divisor_override,
        out=out,
    )


def _goal(input, output_size, n: int) -> list[int]:
    """The output's size; None stands for the input's."""
    goal = _many(output_size, n)
    if input.dim() <= n:
        raise (RuntimeError if n == 1 or isinstance(output_size, int) else ValueError)(
            f"adaptive pooling: expected an input of at least {n + 1} dimensions, got {input.dim()}"
        )
    if len(goal) != n:
        raise RuntimeError(f"adaptive pooling: expected {n} output sizes, got {output_size}")
    return [input.size(i - n) if size is None else size for i, size in enumerate(goal)]


def adaptive_avg_pool1d(input, output_size):
    """Means over windows that cut the length into `output_size` parts."""
    return _C.adaptive_avg_pool1d(input, _goal(input, output_size, 1))


def adaptive_avg_pool2d(input, output_size):
    """Means over windows that cut height and width into `output_size` parts; None keeps a size."""
    return _C.adaptive_avg_pool2d(input, _goal(input, output_size, 2))


def adaptive_avg_pool3d(input, output_size):
    """Means over windows that cut depth, height and width into `output_size` parts; None keeps a size."""
    return _C.adaptive_avg_pool3d(input, _goal(input, output_size, 3))


def _adaptive_max(n, input, output_size, return_indices):
    values, indices = getattr(_C, f"adaptive_max_pool{n}d")(input, _goal(input, output_size, n))
    return (values, indices) if return_indices else values


def adaptive_max_pool1d(input, output_size, return_indices=False):
    """Maxima over windows that cut the length into `output_size` parts; with `return_indices` (values, indices)."""
    return _adaptive_max(1, input, output_size, return_indices)


def adaptive_max_pool2d(input, output_size, return_indices=False):
    """Maxima over windows that cut height and width into parts; with `return_indices` (values, indices)."""
    return _adaptive_max(2, input, output_size, return_indices)


def adaptive_max_pool3d(input, output_size, return_indices=False):
    """Maxima over windows that cut depth, height and width into parts; with `return_indices` (values, indices)."""
    return _adaptive_max(3, input, output_size, return_indices)


def _lp(n, input, norm_type, kernel_size, stride, ceil_mode):
    kernel, pool = _many(kernel_size, n), getattr(_C, f"avg_pool{n}d")
    stride = [] if stride is None else stride
    mean = pool(input**norm_type, kernel_size, stride, 0, ceil_mode)
    count = 1
    for k in kernel:
        count *= k
    positive = mean.abs().relu() if norm_type == 2 else mean.sign() * mean.abs().relu()
    return (positive * count) ** (1.0 / norm_type)


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The root of the sum of powers of each window: (sum of x^p)^(1/p)."""
    return _lp(1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The root of the sum of powers of each window: (sum of x^p)^(1/p)."""
    return _lp(2, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The root of the sum of powers of each window: (sum of x^p)^(1/p)."""
    return _lp(3, input, norm_type, kernel_size, stride, ceil_mode)


def _unpool(n, input, indices, kernel_size, stride, padding, output_size):
    kernel, padding = _many(kernel_size, n), _many(padding, n)
    stride = kernel if stride is None else _many(stride, n)
    sizes = [(input.size(i - n) - 1) * stride[i] - 2 * padding[i] + kernel[i] for i in range(n)]
    if output_size is not None:
        given = list(output_size)[-n:]
        for i, (size, own) in enumerate(zip(given, sizes)):
            if not own - stride[i] < size < own + stride[i]:
                raise ValueError(
                    f"invalid output_size {given} (dim {i} must be between {own - stride[i]} and {own + stride[i]})"
                )
        sizes = given
    if indices.shape != input.shape:
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(input.shape)}) but got "
            f"indices tensor with shape: {list(indices.shape)}"
        )
    if input.dim() not in (n + 1, n + 2):
        raise RuntimeError(
            f"max_unpool{n}d(): expected an input of {n + 1} or {n + 2} dimensions, got {list(input.shape)}"
        )
    lead = list(input.shape[:-n])
    count = 1
    for size in sizes:
        count *= size
    flat = input.new_zeros(*lead, count)
    result = flat.scatter(-1, indices.flatten(-n), input.flatten(-n))
    return result.reshape(*lead, *sizes)


@single
def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Zeros with each element of `input` at its index: what `max_pool1d(..., return_indices=True)` took."""
    return _unpool(1, input, indices, kernel_size, stride, padding, output_size)


@single
def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Zeros with each element of `input` at its index in the plane."""
    return _unpool(2, input, indices, kernel_size, stride, padding, output_size)


@single
def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Zeros with each element of `input` at its index in the volume."""
    return _unpool(3, input, indices, kernel_size, stride, padding, output_size)


def _starts(sample: float, size: int, outputs: int, kernel: int) -> list[int]:
    """Where the windows of one dimension begin, from one random number of [0, 1)."""
    if outputs == 1:
        return [size - kernel]
    alpha = (size - kernel) / (outputs - 1)
    begin = [int((i + sample) * alpha) - int(sample * alpha) for i in range(outputs - 1)]
    return [*begin, size - kernel]


def _fractional(n, input, kernel_size, output_size, output_ratio, return_indices, samples):
    if output_size is None and output_ratio is None:
        raise ValueError(
            f"fractional_max_pool{n}d requires specifying either an output_size or an output_ratio"
        )
    kernel = _many(kernel_size, n)
    spatial = list(input.shape[-n:])
    if output_size is None:
        output_size = [int(s * r) for s, r in zip(spatial, _many(output_ratio, n))]
    goal = _many(output_size, n)
    if min(kernel) < 1 or min(goal) < 1:
        raise RuntimeError(
            f"fractional_max_pool{n}d(): expected kernel and output sizes above zero, got {kernel} and {goal}"
        )
    for size, out, k in zip(spatial, goal, kernel):
        if out + k - 1 > size:
            raise RuntimeError(
                f"fractional_max_pool{n}d(): pool size ({k}) too large relative to input size ({size})"
            )
    planes = input.reshape(-1, *spatial)
    if samples is None:
        lead = (1, input.size(0)) if input.dim() == n + 1 else tuple(input.shape[:2])
        samples = _C.rand(*lead, n, dtype=input.dtype, device=input.device)
    # An input without batch dimension takes the first sample's numbers.
    draws = samples.reshape(-1, n)[: planes.size(0)].tolist()
    index = [_window_indices(draw, spatial, goal, kernel) for draw in draws]
    places = _C.tensor(index, dtype=_C.int64, device="cpu")  # [plane, window, tap]
    windows = planes.flatten(1).gather(1, places.flatten(1)).reshape(places.shape)
    values, taps = windows.max(2)
    shape = (*input.shape[:-n], *goal)
    if not return_indices:
        return values.reshape(shape)
    chosen = places.gather(2, taps.unsqueeze(2)).squeeze(2)
    return values.reshape(shape), chosen.reshape(shape)


def _window_indices(draw, spatial, goal, kernel):
    """[window][tap]: the places in the plane that each window takes."""
    n = len(spatial)
    # PyTorch draws the last dimension's number first.
    order = range(n) if n == 3 else reversed(range(n))
    starts = [_starts(draw[d], spatial[i], goal[i], kernel[i]) for i, d in enumerate(order)]
    rows: list[list[int]] = [[]]
    for begin in starts:
        rows = [row + [b] for row in rows for b in begin]
    result = []
    for corner in rows:
        places = [0]
        for size, first, k in zip(spatial, corner, kernel):
            places = [p * size + first + j for p in places for j in range(k)]
        result.append(places)
    return result


@single
def fractional_max_pool2d(
    input,
    kernel_size,
    output_size=None,
    output_ratio=None,
    return_indices=False,
    _random_samples=None,
):
    """Maxima of windows at pseudo-random places that make the output of any size (Graham, 2014)."""
    return _fractional(
        2, input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )


@single
def fractional_max_pool3d(
    input,
    kernel_size,
    output_size=None,
    output_ratio=None,
    return_indices=False,
    _random_samples=None,
):
    """Maxima of windows at pseudo-random places that make the output of any size (Graham, 2014)."""
    return _fractional(
        3, input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )
