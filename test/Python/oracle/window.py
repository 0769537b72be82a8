"""Convolutions (N5) and pools (N4, N7) in any number of spatial dimensions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from . import body
from .fma import fma
from .reduce import BLOCK

Ints = Sequence[int]
CHANNELS = 16


def _channel_blocks(channels: int, taps: int) -> list[list[range]]:
    """Blocks of N3: lists of whole channel blocks of at most 1024 positions together."""
    blocks: list[list[range]] = []
    used = 0
    for start in range(0, channels, CHANNELS):
        part = range(start, min(start + CHANNELS, channels))
        size = len(part) * taps
        if not blocks or used + size > BLOCK:
            blocks.append([])
            used = 0
        blocks[-1].append(part)
        used += size
    return blocks


def _taps(kernel: Ints) -> Iterator[tuple[int, ...]]:
    return itertools.product(*(range(k) for k in kernel))


def _columns(values: np.ndarray, dims: int) -> np.ndarray:
    """[G, O] weights next to [N, G, O, positions...]."""
    return values.reshape((1, *values.shape, *[1] * dims))


def conv(
    x: np.ndarray, w: np.ndarray, stride: Ints, padding: Ints, dilation: Ints, groups: int
) -> np.ndarray:
    """k = (c / 16, taps, c mod 16); padding is +0 and takes part."""
    dims = x.ndim - 2
    kernel = w.shape[2:]
    pads = [(0, 0), (0, 0), *((p, p) for p in padding)]
    wide = np.pad(x, pads)
    channels = w.shape[1]
    wide = wide.reshape((x.shape[0], groups, channels, *wide.shape[2:]))
    weights = w.reshape((groups, w.shape[0] // groups, channels, *kernel))
    sizes = [
        (n - d * (k - 1) - 1) // s + 1
        for n, k, s, d in zip(wide.shape[3:], kernel, stride, dilation)
    ]
    shape = (x.shape[0], groups, w.shape[0] // groups, *sizes)
    total = np.zeros(shape, x.dtype)
    with np.errstate(all="ignore"):
        for number, block in enumerate(_channel_blocks(channels, math.prod(kernel))):
            acc = np.zeros(shape, x.dtype)
            for part in block:
                for tap in _taps(kernel):
                    at = tuple(
                        slice(t * d, t * d + (n - 1) * s + 1, s)
                        for t, d, n, s in zip(tap, dilation, sizes, stride)
                    )
                    for c in part:
                        acc = fma(
                            wide[(slice(None), slice(None), c, *at)][:, :, None],
                            _columns(weights[(slice(None), slice(None), c, *tap)], dims),
                            acc,
                        )
            total = acc if number == 0 else total + acc
    return np.ascontiguousarray(total.reshape((x.shape[0], w.shape[0], *sizes)))


def conv_input(
    y: np.ndarray,
    w: np.ndarray,
    size: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
) -> np.ndarray:
    """k = (o / 16, taps, o mod 16) over the taps that have an output."""
    dims = y.ndim - 2
    kernel = w.shape[2:]
    outputs = w.shape[0] // groups
    values = y.reshape((y.shape[0], groups, outputs, *y.shape[2:]))
    weights = w.reshape((groups, outputs, w.shape[1], *kernel))
    shape = (y.shape[0], groups, w.shape[1], *size)
    total = np.zeros(shape, y.dtype)
    with np.errstate(all="ignore"):
        for number, block in enumerate(_channel_blocks(outputs, math.prod(kernel))):
            acc = np.zeros(shape, y.dtype)
            for part in block:
                for tap in _taps(kernel):
                    # Output l meets input l * stride - padding + tap * dilation.
                    pairs = [
                        [(o, i) for o in range(n) if 0 <= (i := o * s - p + t * d) < m]
                        for n, m, s, p, t, d in zip(
                            y.shape[2:], size, stride, padding, tap, dilation
                        )
                    ]
                    if not all(pairs):
                        continue
                    from_ = np.ix_(*([o for o, _ in axis] for axis in pairs))
                    to = np.ix_(*([i for _, i in axis] for axis in pairs))
                    for o in part:
                        here = (slice(None), slice(None), slice(None), *to)
                        acc[here] = fma(
                            values[:, :, o][(slice(None), slice(None), *from_)][:, :, None],
                            _columns(weights[(slice(None), o, slice(None), *tap)], dims),
                            acc[here],
                        )
            total = acc if number == 0 else total + acc
    return np.ascontiguousarray(total.reshape((y.shape[0], w.shape[1] * groups, *size)))


def conv_weight(
    x: np.ndarray,
    y: np.ndarray,
    size: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
) -> np.ndarray:
    """k = (n, positions) row-major in blocks of 1024."""
    wide = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    channels, outputs = x.shape[1] // groups, y.shape[1] // groups
    wide = wide.reshape((x.shape[0], groups, 1, channels, *wide.shape[2:]))
    shape = (groups, outputs, channels, *size)
    total = np.zeros(shape, x.dtype)
    acc = total
    steps = list(itertools.product(range(x.shape[0]), *(range(n) for n in y.shape[2:])))
    with np.errstate(all="ignore"):
        for k, (n, *place) in enumerate(steps):
            if k % BLOCK == 0:
                total = total if k == 0 else (acc if k == BLOCK else total + acc)
                acc = np.zeros(shape, x.dtype)
            at = tuple(
                slice(o * s, o * s + (m - 1) * d + 1, d)
                for o, s, m, d in zip(place, stride, size, dilation)
            )
            g = y[(n, slice(None), *place)].reshape(groups, outputs, 1)
            acc = fma(
                wide[(n, slice(None), slice(None), slice(None), *at)], _trailing(g, shape), acc
            )
        total = acc if len(steps) <= BLOCK else total + acc
    return np.ascontiguousarray(total.reshape((y.shape[1], channels, *size)))


def _trailing(values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return values.reshape(values.shape + (1,) * (len(shape) - values.ndim))


# ---- pools ---------------------------------------------------------------------------------------


class Windows:
    """Per pooled dimension and output: the positions inside the input, and what it adds to a count."""

    def __init__(
        self,
        source: Ints,
        size: Ints,
        kernel: Ints,
        stride: Ints,
        padding: Ints,
        dilation: Ints,
        count_padding: bool = False,
    ) -> None:
        """An empty kernel means adaptive windows."""
        self.source, self.size = tuple(source), tuple(size)
        self.axes: list[list[tuple[list[int], int]]] = []
        for d, (n, m) in enumerate(zip(source, size)):
            axis = []
            for o in range(m):
                if not kernel:
                    positions = list(range(o * n // m, -((-(o + 1) * n) // m)))
                    axis.append((positions, len(positions)))
                    continue
                start = o * stride[d] - padding[d]
                positions = [i for t in range(kernel[d]) if 0 <= (i := start + t * dilation[d]) < n]
                padded = min(start + kernel[d], n + padding[d]) - start
                axis.append((positions, padded if count_padding else len(positions)))
            self.axes.append(axis)

    def each(self) -> Iterator[tuple[tuple[int, ...], list[tuple[int, ...]], int]]:
        """(output, its positions row-major, its count), outputs row-major."""
        for out in itertools.product(*(range(m) for m in self.size)):
            picked = [axis[o] for axis, o in zip(self.axes, out)]
            positions = list(itertools.product(*(p for p, _ in picked)))
            yield out, positions, math.prod(count for _, count in picked)


def max_pool(x: np.ndarray, windows: Windows) -> np.ndarray:
    """N7 maximum of each window."""
    lead = x.shape[: x.ndim - len(windows.size)]
    out = np.zeros(lead + windows.size, x.dtype)
    for at, positions, _ in windows.each():
        best = x[(..., *positions[0])]
        for p in positions[1:]:
            best = body.maximum(best, x[(..., *p)])
        out[(..., *at)] = best
    return out


def max_pool_index(x: np.ndarray, windows: Windows) -> np.ndarray:
    """Row-major index in the plane of the first element that is the window's maximum (first NaN)."""
    best = max_pool(x, windows)
    out = np.full(best.shape, -1, np.int64)
    for at, positions, _ in windows.each():
        extreme = best[(..., *at)]
        for p in positions:
            value = x[(..., *p)]
            same = value == extreme
            if x.dtype.kind == "f":
                same = (same & (np.signbit(value) == np.signbit(extreme))) | (
                    np.isnan(value) & np.isnan(extreme)
                )
            index = int(np.ravel_multi_index(p, windows.source))
            found = out[(..., *at)]
            out[(..., *at)] = np.where((found < 0) & same, index, found)
    return out


def avg_pool(x: np.ndarray, windows: Windows, divisor: int = 0) -> np.ndarray:
    """One chain from +0 in row-major order, then / count."""
    lead = x.shape[: x.ndim - len(windows.size)]
    out = np.zeros(lead + windows.size, x.dtype)
    with np.errstate(all="ignore"):
        for at, positions, count in windows.each():
            acc = np.zeros(lead, x.dtype)
            for p in positions:
                acc = acc + x[(..., *p)]
            out[(..., *at)] = acc / x.dtype.type(divisor or count)
    return out


def avg_pool_input(g: np.ndarray, windows: Windows, divisor: int = 0) -> np.ndarray:
    """Each input adds g / count of its windows in one chain from +0, windows in row-major order."""
    lead = g.shape[: g.ndim - len(windows.size)]
    out = np.zeros(lead + windows.source, g.dtype)
    with np.errstate(all="ignore"):
        for at, positions, count in windows.each():
            share = g[(..., *at)] / g.dtype.type(divisor or count)
            for p in positions:
                out[(..., *p)] = out[(..., *p)] + share
    return out
