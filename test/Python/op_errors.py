"""Bad calls: what each op refuses, with PyTorch's exception class. `F` is a torch-like
namespace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Call = Callable[[Any], Any]
ERRORS: dict[str, tuple[type[Exception], Call]] = {
    "add shapes": (RuntimeError, lambda F: F.ones(3) + F.ones(4)),
    "mul shapes": (RuntimeError, lambda F: F.mul(F.ones(2, 3), F.ones(2, 4))),
    "sub of bools": (
        RuntimeError,
        lambda F: F.sub(F.eq(F.ones(2), 1), F.eq(F.ones(2), 1)),
    ),
    "sub of bool and float": (RuntimeError, lambda F: F.eq(F.ones(2), 1) - F.ones(2)),
    "number sub bool": (RuntimeError, lambda F: 1 - F.eq(F.ones(2), 1)),
    "neg of bool": (RuntimeError, lambda F: F.neg(F.eq(F.ones(2), 1))),
    "where shapes": (RuntimeError, lambda F: F.where(F.eq(F.ones(2), 1), F.ones(3), F.ones(2))),
    "matmul inner": (RuntimeError, lambda F: F.matmul(F.ones(2, 3), F.ones(4, 2))),
    "matmul 0-d": (RuntimeError, lambda F: F.matmul(F.ones(()), F.ones(3))),
    "dot lengths": (RuntimeError, lambda F: F.dot(F.ones(3), F.ones(4))),
    "linear dtypes": (
        RuntimeError,
        lambda F: F.nn.functional.linear(F.ones(2, 2), F.ones(2, 2, dtype=F.float64)),
    ),
    "matmul dtypes": (
        RuntimeError,
        lambda F: F.matmul(F.ones(2, 2), F.ones(2, 2, dtype=F.float64)),
    ),
    "matmul batch": (RuntimeError, lambda F: F.matmul(F.ones(2, 3, 4), F.ones(5, 4, 3))),
    "sum dim": (IndexError, lambda F: F.sum(F.ones(2, 3), 2)),
    "sum dim twice": (RuntimeError, lambda F: F.sum(F.ones(2, 3), [0, 0])),
    "max of nothing": (RuntimeError, lambda F: F.max(F.zeros(0))),
    "max along nothing": (IndexError, lambda F: F.max(F.zeros(2, 0), 1)),
    "argmax along nothing": (IndexError, lambda F: F.argmax(F.zeros(2, 0), 1)),
    "amax of nothing": (RuntimeError, lambda F: F.amax(F.zeros(2, 0), ())),
    "amax along nothing": (IndexError, lambda F: F.amax(F.zeros(2, 0), 1)),
    "reshape count": (RuntimeError, lambda F: F.reshape(F.ones(6), (4, 2))),
    "reshape ambiguous": (RuntimeError, lambda F: F.reshape(F.zeros(0), (-1, 0))),
    "transpose dim": (IndexError, lambda F: F.transpose(F.ones(2, 3), 0, 2)),
    "expand size": (RuntimeError, lambda F: F.ones(2, 3).expand(2, 4)),
    "expand rank": (RuntimeError, lambda F: F.ones(2, 3).expand(3)),
    "select index": (IndexError, lambda F: F.ones(3)[3]),
    "too many indices": (IndexError, lambda F: F.ones(3)[0, 0]),
    "negative step": (ValueError, lambda F: F.ones(3)[::-1]),
    "index_select range": (
        IndexError,
        lambda F: F.index_select(F.ones(3, 2), 0, F.tensor([0, 3])),
    ),
    "index_select dtype": (RuntimeError, lambda F: F.index_select(F.ones(3), 0, F.ones(2))),
    "index_add dtype": (
        RuntimeError,
        lambda F: F.index_add(F.ones(3), 0, F.tensor([0]), F.ones(1, dtype=F.float64)),
    ),
    "scatter range": (
        RuntimeError,
        lambda F: F.scatter(F.ones(2), 0, F.tensor([5]), F.ones(1)),
    ),
    "gather range": (RuntimeError, lambda F: F.gather(F.ones(2), 0, F.tensor([2]))),
    "scatter dtype": (
        RuntimeError,
        lambda F: F.scatter(F.ones(2), 0, F.tensor([0]), F.ones(1, dtype=F.float64)),
    ),
    "cat sizes": (RuntimeError, lambda F: F.cat([F.ones(2, 3), F.ones(2, 4)], 0)),
    "cat ranks": (RuntimeError, lambda F: F.cat([F.ones(2, 3), F.ones(2)], 0)),
    "cat of nothing": (ValueError, lambda F: F.cat([], 0)),
    "one_hot range": (RuntimeError, lambda F: F.nn.functional.one_hot(F.tensor([0, 4]), 3)),
    "one_hot negative": (RuntimeError, lambda F: F.nn.functional.one_hot(F.tensor([-1]), 3)),
    "one_hot dtype": (RuntimeError, lambda F: F.nn.functional.one_hot(F.ones(2), 3)),
    "cross_entropy range": (
        IndexError,
        lambda F: F.nn.functional.cross_entropy(F.ones(2, 3), F.tensor([0, 3])),
    ),
    "cross_entropy rows": (
        ValueError,
        lambda F: F.nn.functional.cross_entropy(F.ones(2, 3), F.tensor([0, 1, 2])),
    ),
    "conv2d channels": (RuntimeError, lambda F: F.conv2d(F.ones(1, 2, 6, 6), F.ones(4, 3, 3, 3))),
    "conv2d groups": (
        RuntimeError,
        lambda F: F.conv2d(F.ones(1, 2, 6, 6), F.ones(4, 1, 3, 3), groups=3),
    ),
    "conv2d no groups": (
        RuntimeError,
        lambda F: F.conv2d(F.ones(1, 2, 6, 6), F.ones(4, 2, 3, 3), groups=0),
    ),
    "conv2d padding": (
        RuntimeError,
        lambda F: F.conv2d(F.ones(1, 2, 6, 6), F.ones(4, 2, 3, 3), padding=-1),
    ),
    "conv2d padding name": (
        RuntimeError,
        lambda F: F.conv2d(F.ones(1, 2, 6, 6), F.ones(4, 2, 3, 3), padding="full"),
    ),
    "conv2d same with stride": (
        RuntimeError,
        lambda F: F.conv2d(F.ones(1, 2, 6, 6), F.ones(4, 2, 3, 3), stride=2, padding="same"),
    ),
    "conv2d stride": (
        RuntimeError,
        lambda F: F.conv2d(F.ones(1, 2, 6, 6), F.ones(4, 2, 3, 3), stride=0),
    ),
    "conv2d strides": (
        RuntimeError,
        lambda F: F.conv2d(F.ones(1, 2, 6, 6), F.ones(4, 2, 3, 3), stride=[1, 1, 1]),
    ),
    "conv2d stride type": (
        TypeError,
        lambda F: F.conv2d(F.ones(1, 2, 6, 6), F.ones(4, 2, 3, 3), stride=1.5),
    ),
    "conv2d kernel": (RuntimeError, lambda F: F.conv2d(F.ones(1, 2, 6, 6), F.ones(4, 2, 9, 9))),
    "conv2d dtypes": (
        RuntimeError,
        lambda F: F.conv2d(F.ones(1, 2, 6, 6), F.ones(4, 2, 3, 3, dtype=F.float64)),
    ),
    "conv2d bias": (
        RuntimeError,
        lambda F: F.conv2d(F.ones(1, 2, 6, 6), F.ones(4, 2, 3, 3), F.ones(3)),
    ),
    "conv2d rank": (RuntimeError, lambda F: F.conv2d(F.ones(2, 2), F.ones(4, 2, 3, 3))),
    "conv2d no outputs": (
        RuntimeError,
        lambda F: F.conv2d(F.ones(1, 2, 6, 6), F.ones(0, 2, 3, 3)),
    ),
    "conv2d of bools": (
        NotImplementedError,
        lambda F: F.conv2d(F.eq(F.ones(1, 1, 3, 3), 1), F.eq(F.ones(1, 1, 3, 3), 1)),
    ),
    "conv_transpose2d output_padding": (
        RuntimeError,
        lambda F: F.conv_transpose2d(F.ones(1, 2, 6, 6), F.ones(2, 3, 3, 3), output_padding=1),
    ),
    "conv_transpose2d channels": (
        RuntimeError,
        lambda F: F.conv_transpose2d(F.ones(1, 2, 6, 6), F.ones(3, 3, 3, 3)),
    ),
    "conv_transpose2d size": (
        RuntimeError,
        lambda F: F.conv_transpose2d(F.ones(1, 2, 6, 6), F.ones(2, 3, 3, 3), padding=5),
    ),
    "max_pool2d stride": (RuntimeError, lambda F: F.max_pool2d(F.ones(1, 2, 6, 6), 2, 0)),
    "max_pool2d padding": (RuntimeError, lambda F: F.max_pool2d(F.ones(1, 2, 6, 6), 2, padding=2)),
    "max_pool2d kernel": (RuntimeError, lambda F: F.max_pool2d(F.ones(1, 2, 6, 6), 9)),
    "max_pool2d kernels": (RuntimeError, lambda F: F.max_pool2d(F.ones(1, 2, 6, 6), [2, 2, 2])),
    "max_pool2d dilation": (
        RuntimeError,
        lambda F: F.max_pool2d(F.ones(1, 2, 6, 6), 2, dilation=0),
    ),
    "max_pool2d rank": (RuntimeError, lambda F: F.max_pool2d(F.ones(3, 3), 2)),
    "max_pool2d of nothing": (RuntimeError, lambda F: F.max_pool2d(F.zeros(1, 0, 6, 6), 2)),
    "max_pool2d of bools": (
        NotImplementedError,
        lambda F: F.max_pool2d(F.eq(F.ones(1, 1, 2, 2), 1), 2),
    ),
    "avg_pool2d divisor": (
        RuntimeError,
        lambda F: F.avg_pool2d(F.ones(1, 2, 6, 6), 2, divisor_override=0),
    ),
    "avg_pool2d of bytes": (
        NotImplementedError,
        lambda F: F.avg_pool2d(F.ones(1, 2, 6, 6, dtype=F.uint8), 2),
    ),
    "adaptive_avg_pool2d size": (
        RuntimeError,
        lambda F: F.adaptive_avg_pool2d(F.ones(1, 2, 6, 6), -1),
    ),
    "in-place dtype": (RuntimeError, lambda F: F.tensor([1, 2]).add_(0.5)),
    "in-place shape": (RuntimeError, lambda F: F.ones(1).add_(F.ones(3))),
    "in-place leaf": (RuntimeError, lambda F: F.ones(2).requires_grad_().add_(1)),
    "copy shape": (RuntimeError, lambda F: F.ones(2).copy_(F.ones(3))),
    "saved then written": (RuntimeError, lambda F: _saved_then_written(F)),
    "backward of many": (RuntimeError, lambda F: (F.ones(2).requires_grad_() * 2).backward()),
    "backward of nothing": (RuntimeError, lambda F: F.ones(()).backward()),
    "integer gradient": (RuntimeError, lambda F: F.tensor([1]).requires_grad_()),
    "item of many": (RuntimeError, lambda F: F.ones(2).item()),
    "truth of many": (RuntimeError, lambda F: bool(F.ones(2))),
    "floor division by zero": (RuntimeError, lambda F: F.tensor([1, 2]) // F.tensor([0, 1])),
    "remainder by zero": (RuntimeError, lambda F: F.tensor([1, 2]) % 0),
    "fmod by zero": (RuntimeError, lambda F: F.fmod(F.tensor([5]), F.tensor([0]))),
    "negative power": (RuntimeError, lambda F: F.tensor([2]) ** -1),
    "power of bools": (
        NotImplementedError,
        lambda F: F.pow(F.eq(F.ones(2), 1), F.eq(F.ones(2), 1)),
    ),
    "remainder of bools": (
        NotImplementedError,
        lambda F: F.remainder(F.eq(F.ones(2), 1), F.eq(F.ones(2), 1)),
    ),
    "bits of floats": (NotImplementedError, lambda F: F.bitwise_and(F.ones(2), F.ones(2))),
    "shift of floats": (NotImplementedError, lambda F: F.bitwise_left_shift(F.ones(2), F.ones(2))),
    "hypot of integers": (NotImplementedError, lambda F: F.hypot(F.tensor([1]), F.tensor([2]))),
    "clamp without limits": (RuntimeError, lambda F: F.clamp(F.ones(2))),
    "cumsum dim": (IndexError, lambda F: F.cumsum(F.ones(2), 1)),
    "prod dim": (IndexError, lambda F: F.prod(F.ones(2), 1)),
}


def _saved_then_written(F: Any) -> None:
    x = F.ones(3).requires_grad_()
    y = x * 2
    z = F.sum(y * y)
    y.add_(1)
    z.backward()
