"""What convolutions and pools refuse, with PyTorch's exception classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .dtypes import FLOATS, DType

Sizes = tuple[int, ...]


def _list(value: Any, dims: int, name: str, least: int) -> Sizes:
    """One number for all dimensions, or one for each."""
    if isinstance(value, int):
        value = (value,)
    if not all(isinstance(v, int) for v in value):
        raise TypeError(f"{name} must be integers, got {value}")
    if len(value) not in (1, dims):
        raise RuntimeError(f"expected {dims} numbers of {name}, got {len(value)}")
    if any(v < least for v in value):
        raise RuntimeError(f"{name} must be at least {least}, got {value}")
    return tuple(value) * (dims // len(value))


def _rank(x: Any, dims: int) -> None:
    if x.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(f"expected {dims + 1} or {dims + 2} dimensions, got {x.ndim}")


def _extent(n: int, k: int, s: int, p: int, d: int) -> int:
    return (n + 2 * p - d * (k - 1) - 1) // s + 1


def convolution(dims: int, transposed: bool) -> Callable[..., None]:
    """The check of convNd or conv_transposeNd, called with its arguments."""

    def check(
        x: Any,
        w: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        *rest: Any,
        **named: Any,
    ) -> None:
        order = ("output_padding", "groups", "dilation") if transposed else ("dilation", "groups")
        options = dict(zip(order, rest, strict=False)) | named
        groups = options.get("groups", 1)
        steps = _list(stride, dims, "stride", 1)
        spread = _list(options.get("dilation", 1), dims, "dilation", 1)
        _rank(x, dims)
        if x.dtype != w.dtype:
            raise RuntimeError(f"input of {x.dtype}, weight of {w.dtype}")
        if x.dtype == DType.Bool:
            raise NotImplementedError("convolution of bool")
        if groups < 1 or w.ndim != dims + 2 or w.shape[0] == 0:
            raise RuntimeError(f"groups {groups}, weight of shape {w.shape}")
        channels = x.shape[-dims - 1]
        if channels != (w.shape[0] if transposed else w.shape[1] * groups) or w.shape[0] % groups:
            raise RuntimeError(
                f"{channels} channels for a weight of shape {w.shape} in {groups} groups"
            )
        outputs = w.shape[1] * groups if transposed else w.shape[0]
        if bias is not None and bias.shape != (outputs,):
            raise RuntimeError(f"bias of shape {bias.shape}, expected ({outputs},)")
        if isinstance(padding, str):
            if padding not in ("same", "valid") or (
                padding == "same" and any(s != 1 for s in steps)
            ):
                raise RuntimeError(f"padding {padding!r} with stride {steps}")
            return
        pads = _list(padding, dims, "padding", 0)
        sizes, kernel = x.shape[-dims:], w.shape[2:]
        if transposed:
            extra = _list(options.get("output_padding", 0), dims, "output_padding", 0)
            if any(e >= max(s, d) for e, s, d in zip(extra, steps, spread, strict=True)):
                raise RuntimeError(
                    f"output_padding {extra} must be smaller than stride or dilation"
                )
            out = [
                (n - 1) * s - 2 * p + d * (k - 1) + e + 1
                for n, s, p, d, k, e in zip(sizes, steps, pads, spread, kernel, extra, strict=True)
            ]
        else:
            out = [_extent(*v) for v in zip(sizes, kernel, steps, pads, spread, strict=True)]
        if any(n < 1 for n in out):
            raise RuntimeError(f"no output for input {sizes} and kernel {kernel}")

    return check


def pool(dims: int, average: bool) -> Callable[..., None]:
    """The check of max_poolNd or avg_poolNd."""

    def check(
        x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, *rest: Any, **named: Any
    ) -> None:
        order = ("ceil_mode", "count_include_pad", "divisor_override") if average else ("dilation",)
        options = dict(zip(order, rest, strict=False)) | named
        kernel = _list(kernel_size, dims, "kernel_size", 1)
        steps = kernel if stride is None or stride == () else _list(stride, dims, "stride", 1)
        pads = _list(padding, dims, "padding", 0)
        spread = _list(options.get("dilation", 1), dims, "dilation", 1)
        _rank(x, dims)
        if any(2 * p > k for p, k in zip(pads, kernel, strict=True)):
            raise RuntimeError(f"padding {pads} exceeds half of the kernel {kernel}")
        if any(n == 0 for n in x.shape[-dims - 1 :]):
            raise RuntimeError(f"nothing to pool in {x.shape}")
        if options.get("divisor_override") == 0:
            raise RuntimeError("divisor_override must not be 0")
        if x.dtype == DType.Bool or (average and x.dtype not in (*FLOATS, DType.I64)):
            raise NotImplementedError(f"pooling of {x.dtype}")
        sizes: Sequence[int] = x.shape[-dims:]
        if any(_extent(*v) < 1 for v in zip(sizes, kernel, steps, pads, spread, strict=True)):
            raise RuntimeError(f"no output for input {sizes} and kernel {kernel}")

    return check


def adaptive(dims: int) -> Callable[..., None]:
    """The check of the adaptive pools."""

    def check(x: Any, output_size: Any, **named: Any) -> None:
        _list(output_size, dims, "output_size", 0)
        _rank(x, dims)

    return check


def checked(check: Callable[..., None], fn: Callable[..., Any]) -> Callable[..., Any]:
    """fn, its arguments checked first."""

    def call(*args: Any, **named: Any) -> Any:
        check(*args, **named)
        return fn(*args, **named)

    return call
