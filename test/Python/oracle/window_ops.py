"""torch.nn.functional's convolutions and pools over `Tensor`, with their derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import grad, index, ops, window, window_checks
from .dtypes import Arr, DType, from_compute, to_compute
from .tensor import Node, Tensor, make

Ints = tuple[int, ...]
Given = int | Sequence[int]


def _per_dim(value: Given, dims: int) -> Ints:
    return (value,) * dims if isinstance(value, int) else tuple(value)


def _computed(
    name: str,
    fn: Callable[..., np.ndarray],
    inputs: Sequence[Tensor],
    args: tuple[Any, ...],
    **saved: Any,
) -> Tensor:
    """fn in the op-math type, rounded once."""
    values = fn(*(to_compute(t.arr) for t in inputs), *args)
    return make(from_compute(values, inputs[0].dtype), name, inputs, args=args, **saved)


# ---- convolution and its two gradients, closed under differentiation -----------------------------


def conv(x: Tensor, w: Tensor, *options: Any) -> Tensor:
    """options: stride, padding, dilation, groups."""
    return _computed("conv", window.conv, [x, w], options, x=x, w=w)


def conv_input(y: Tensor, w: Tensor, size: Ints, *options: Any) -> Tensor:
    """The convolution's gradient for its input, of spatial size `size`."""
    return _computed("conv_input", window.conv_input, [y, w], (size, *options), y_=y, w=w)


def conv_weight(x: Tensor, y: Tensor, size: Ints, *options: Any) -> Tensor:
    """The convolution's gradient for its weight, of spatial size `size`."""
    return _computed("conv_weight", window.conv_weight, [x, y], (size, *options), x=x, y_=y)


def _up_to(y: Tensor, shape: Ints) -> Tensor:
    if y.shape == shape:
        return y
    return ops.getitem(y, tuple(slice(0, n) for n in shape))


def _conv_vjp(n: Node, g: Tensor) -> grad.Cotangents:
    x = conv_input(g, n.w, n.metas[0][1][2:], *n.args) if n.needs(0) else None
    return [x, conv_weight(n.x, g, n.metas[1][1][2:], *n.args) if n.needs(1) else None]


def _conv_input_vjp(n: Node, g: Tensor) -> grad.Cotangents:
    options = n.args[1:]
    y = _up_to(conv(g, n.w, *options), n.metas[0][1]) if n.needs(0) else None
    return [y, conv_weight(g, n.y_, n.metas[1][1][2:], *options) if n.needs(1) else None]


def _conv_weight_vjp(n: Node, g: Tensor) -> grad.Cotangents:
    options = n.args[1:]
    x = conv_input(n.y_, g, n.metas[0][1][2:], *options) if n.needs(0) else None
    return [x, _up_to(conv(n.x, g, *options), n.metas[1][1]) if n.needs(1) else None]


def _with_bias(
    x: Tensor, w: Tensor, bias: Tensor | None, fn: Callable[..., Tensor], dims: int
) -> Tensor:
    """The bias is added once, in the op-math type, before the rounding; unbatched input gets a batch of one."""
    batched = x.ndim == dims + 2
    if not batched:
        x = ops.reshape(x, (1, *x.shape))
    if bias is None:
        y = fn(x, w)
    else:
        compute = x.dtype.compute
        y = fn(ops.to(x, compute), ops.to(w, compute))
        column = ops.reshape(ops.to(bias, compute), (bias.numel(), *[1] * dims))
        y = ops.to(ops.add(y, column), x.dtype)
    return y if batched else ops.reshape(y, y.shape[1:])


def _convolution(dims: int) -> Callable[..., Tensor]:
    def function(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Given = 1,
        padding: Given | str = 0,
        dilation: Given = 1,
        groups: int = 1,
    ) -> Tensor:
        steps, spread = _per_dim(stride, dims), _per_dim(dilation, dims)
        if isinstance(padding, str):
            reach = [
                d * (k - 1) if padding == "same" else 0 for d, k in zip(spread, weight.shape[2:])
            ]
            pads = tuple(r // 2 for r in reach)
            lead = input.ndim - dims
            for i, r in enumerate(reach):
                if r % 2:  # one more +0 behind
                    shape = tuple(1 if d == lead + i else n for d, n in enumerate(input.shape))
                    input = ops.cat([input, ops.zeros(shape, dtype=input.dtype)], lead + i)
        else:
            pads = _per_dim(padding, dims)
        return _with_bias(
            input, weight, bias, lambda x, w: conv(x, w, steps, pads, spread, groups), dims
        )

    return function


def _transposed(dims: int) -> Callable[..., Tensor]:
    def function(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Given = 1,
        padding: Given = 0,
        output_padding: Given = 0,
        groups: int = 1,
        dilation: Given = 1,
    ) -> Tensor:
        steps, pads, spread = (_per_dim(v, dims) for v in (stride, padding, dilation))
        size = tuple(
            (n - 1) * s - 2 * p + d * (k - 1) + e + 1
            for n, s, p, d, k, e in zip(
                input.shape[-dims:],
                steps,
                pads,
                spread,
                weight.shape[2:],
                _per_dim(output_padding, dims),
            )
        )
        return _with_bias(
            input,
            weight,
            bias,
            lambda x, w: conv_input(x, w, size, steps, pads, spread, groups),
            dims,
        )

    return function


conv1d, conv2d, conv3d = (
    window_checks.checked(window_checks.convolution(n, False), _convolution(n)) for n in (1, 2, 3)
)
conv_transpose1d, conv_transpose2d, conv_transpose3d = (
    window_checks.checked(window_checks.convolution(n, True), _transposed(n)) for n in (1, 2, 3)
)


# ---- pools ---------------------------------------------------------------------------------------


def _extent(n: int, k: int, s: int, p: int, d: int, ceil: bool) -> int:
    room = n + 2 * p - d * (k - 1) - 1
    out = (math.ceil(room / s) if ceil else room // s) + 1
    return out - 1 if ceil and (out - 1) * s >= n + p else out


def _windows(
    x: Tensor, dims: int, kernel: Given, stride: Given | None, padding: Given, dilation: Given, ceil: bool,
    count_padding: bool = False,
) -> window.Windows:  # fmt: skip
    k = _per_dim(kernel, dims)
    s = k if stride is None else _per_dim(stride, dims)
    p, d = _per_dim(padding, dims), _per_dim(dilation, dims)
    source = x.shape[x.ndim - dims :]
    size = tuple(_extent(*v, ceil) for v in zip(source, k, s, p, d))
    return window.Windows(source, size, k, s, p, d, count_padding)


def _adaptive(x: Tensor, dims: int, size: Given) -> window.Windows:
    return window.Windows(x.shape[x.ndim - dims :], _per_dim(size, dims), (), (), (), ())


def _max(x: Tensor, windows: window.Windows) -> Tensor:
    values = window.max_pool(to_compute(x.arr), windows)
    return make(
        from_compute(values, x.dtype),
        "max_pool",
        [x],
        x=x,
        indices=_indices(x, windows),
        dims=len(windows.size),
    )


def _indices(x: Tensor, windows: window.Windows) -> Tensor:
    return make(Arr(DType.I64, window.max_pool_index(to_compute(x.arr), windows)))


def _rows(shape: Sequence[int], dims: int) -> Ints:
    """Planes as rows."""
    return math.prod(shape[: len(shape) - dims]), math.prod(shape[len(shape) - dims :])


def _max_input(g: Tensor, x: Tensor, indices: Tensor, dims: int) -> Tensor:
    """Zeros with g added at the indices, in ascending order: that of gather in each plane."""
    rows = _rows(g.shape, dims)
    sums = index.scatter_add(
        ops.zeros(_rows(x.shape, dims), dtype=g.dtype).arr,
        1,
        Arr(DType.I64, indices.arr.data.reshape(rows)),
        Arr(g.dtype, g.arr.data.reshape(rows)),
    )
    out = Arr(g.dtype, sums.data.reshape(x.shape))
    return make(out, "max_pool_input", [g, x], indices=indices, dims=dims)


def _max_vjp(n: Node, g: Tensor) -> grad.Cotangents:
    return [_max_input(g, n.x, n.indices, n.dims)]


def _max_input_vjp(n: Node, g: Tensor) -> grad.Cotangents:
    """What lies at the indices; x itself changes nothing."""
    dtype, shape = n.metas[0]
    rows = ops.reshape(g, _rows(g.shape, n.dims))
    picked = ops.gather(rows, 1, ops.reshape(n.indices, _rows(shape, n.dims)))
    zero = ops.zeros(n.metas[1][1], dtype=dtype) if n.needs(1) else None
    return [ops.reshape(picked, shape) if n.needs(0) else None, zero]


def _avg(x: Tensor, windows: window.Windows, divisor: int = 0) -> Tensor:
    return _computed("avg_pool", window.avg_pool, [x], (windows, divisor))


def _avg_input(g: Tensor, windows: window.Windows, divisor: int) -> Tensor:
    return _computed("avg_pool_input", window.avg_pool_input, [g], (windows, divisor))


def _max_pool(dims: int) -> Callable[..., Any]:
    def function(
        input: Tensor,
        kernel_size: Given,
        stride: Given | None = None,
        padding: Given = 0,
        dilation: Given = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        windows = _windows(input, dims, kernel_size, stride, padding, dilation, ceil_mode)
        y = _max(input, windows)
        return (y, _indices(input, windows)) if return_indices else y

    return function


def _avg_pool(dims: int) -> Callable[..., Tensor]:
    def function(
        input: Tensor,
        kernel_size: Given,
        stride: Given | None = None,
        padding: Given = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor:
        windows = _windows(
            input, dims, kernel_size, stride, padding, 1, ceil_mode, count_include_pad
        )
        return _avg(input, windows, divisor_override or 0)

    return function


def _adaptive_max(dims: int) -> Callable[..., Any]:
    def function(input: Tensor, output_size: Given, return_indices: bool = False) -> Any:
        windows = _adaptive(input, dims, output_size)
        y = _max(input, windows)
        return (y, _indices(input, windows)) if return_indices else y

    return function


def _adaptive_avg(dims: int) -> Callable[..., Tensor]:
    return lambda input, output_size: _avg(input, _adaptive(input, dims, output_size))


max_pool1d, max_pool2d, max_pool3d = (
    window_checks.checked(window_checks.pool(n, False), _max_pool(n)) for n in (1, 2, 3)
)
avg_pool1d, avg_pool2d, avg_pool3d = (
    window_checks.checked(window_checks.pool(n, True), _avg_pool(n)) for n in (1, 2, 3)
)
adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = (
    window_checks.checked(window_checks.adaptive(n), _adaptive_max(n)) for n in (1, 2, 3)
)
adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = (
    window_checks.checked(window_checks.adaptive(n), _adaptive_avg(n)) for n in (1, 2, 3)
)

grad.VJPS.update(
    {
        "conv": _conv_vjp,
        "conv_input": _conv_input_vjp,
        "conv_weight": _conv_weight_vjp,
        "max_pool": _max_vjp,
        "max_pool_input": _max_input_vjp,
        "avg_pool": lambda n, g: [_avg_input(g, *n.args)],
        "avg_pool_input": lambda n, g: [_avg(g, *n.args)],
    }
)


def _with_indices(fn: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **options: fn(*args, **options, return_indices=True)


# torch.nn.functional's functions, and those of the package's top level where they differ.
FUNCTIONS = {
    name: value
    for name, value in list(globals().items())
    if name[-2:] in ("1d", "2d", "3d") and not name.startswith("_")
}
TOP_LEVEL = (
    FUNCTIONS
    | {f"max_pool{n}d_with_indices": _with_indices(FUNCTIONS[f"max_pool{n}d"]) for n in (1, 2, 3)}
    | {
        f"adaptive_max_pool{n}d": _with_indices(FUNCTIONS[f"adaptive_max_pool{n}d"])
        for n in (1, 2, 3)
    }
)
