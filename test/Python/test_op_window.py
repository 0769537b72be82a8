"""Convolutions and pools past what op_db's rows drive: second derivatives, compiled gradients, threads."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

import op_window
from differential.backends import OracleBackend, TorchcBackend, difference
from op_samples import Input, Sample, values
from oracle.dtypes import Arr, DType

torchc = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
ORACLE, TORCHC = OracleBackend(), TorchcBackend(torchc)
CASES = [
    (row[0], row[1], sample)
    for row in op_window.ROWS
    if row[0] != "max_pool_with_indices"
    for sample in row[2](np.random.default_rng(zlib.crc32(row[0].encode())), DType.F32)
    if sample.label not in ("no samples", "salted")
]
IDS = [f"{name}-{sample.label}" for name, _, sample in CASES]


def _finite(arr: Arr) -> Arr:
    data = np.array(arr.data)
    data[~np.isfinite(data) | (np.abs(data) > 1e4)] = 1.5
    return Arr(arr.dtype, data)


def _arguments(backend: Any, sample: Sample, dtype: DType) -> tuple[list[Any], list[Any]]:
    args: list[Any] = []
    leaves: list[Any] = []
    for item in sample.args:
        if isinstance(item, Input):
            wide = _finite(item.arr)
            arr = wide if dtype == DType.F32 else Arr(dtype, wide.data.astype(dtype.storage))
            leaves.append(backend.tensor(arr, True))
            args.append(item.build(leaves[-1]))
        else:
            args.append(item)
    return args, leaves


def _first(result: Any) -> Any:
    return result[0] if isinstance(result, tuple) else result


def _orders(backend: Any, call: Any, sample: Sample, dtype: DType) -> list[Any]:
    """The result, its first derivatives, and the derivatives of the sum of their squares."""
    args, leaves = _arguments(backend, sample, dtype)
    y = _first(call(backend.F, *args))
    seed = values(np.random.default_rng(7), tuple(y.shape), dtype)
    first = backend.F.autograd.grad(y, leaves, backend.tensor(seed), create_graph=True)
    total = None
    for g in first:
        s = backend.F.sum(g * g)
        total = s if total is None else total + s
    out = [y, *first]
    if total.requires_grad:
        out += backend.F.autograd.grad(total, leaves, allow_unused=True)
    return [None if t is None else backend.arr(t) for t in out]


def _assert_equal(want: list[Any], got: list[Any]) -> None:
    assert len(want) == len(got)
    for i, (a, b) in enumerate(zip(want, got)):
        assert (a is None) == (b is None), f"tensor {i}"
        text = None if a is None else difference(a, b)
        assert text is None, f"tensor {i}: {text}"


@pytest.mark.parametrize("dtype", [DType.F32, DType.F64], ids=["f32", "f64"])
@pytest.mark.parametrize(("name", "call", "sample"), CASES, ids=IDS)
def test_second_order_bits(name: str, call: Any, sample: Sample, dtype: DType) -> None:
    want, got = _orders(ORACLE, call, sample, dtype), _orders(TORCHC, call, sample, dtype)
    # Derivatives that don't depend on the input have second ones of zeros, as PyTorch's; the oracle has none.
    assert not any(arr.data.any() for arr in got[len(want) :])
    _assert_equal(want, got[: len(want)])


@pytest.mark.parametrize(("name", "call", "sample"), CASES, ids=IDS)
def test_compiled_gradient_bits(name: str, call: Any, sample: Sample) -> None:
    """The forward and backward pass as one compiled function, called three times."""

    def step(*args: Any) -> Any:
        leaves = [a for a in args if isinstance(a, torchc.Tensor)]
        y = _first(call(torchc, *args))
        return [y, *torchc.autograd.grad(torchc.sum(y * y), leaves)]

    def run(fn: Any) -> list[Arr]:
        args, _ = _arguments(TORCHC, sample, DType.F32)
        return [TORCHC.arr(t) for t in fn(*args)]

    want = run(step)
    compiled = torchc.compile(step, background=False)
    for _ in range(3):
        _assert_equal(want, run(compiled))


def test_large_convolution_is_the_same_with_any_number_of_threads() -> None:
    """Cut by threads along samples, chunks of positions and panels of channels."""
    rng = np.random.default_rng(3)
    arrays = [
        Arr(DType.F32, rng.standard_normal(shape).astype(np.float32))
        for shape in ((5, 37, 33, 29), (70, 37, 3, 3))
    ]
    before = torchc.get_num_threads()
    found = []
    try:
        for threads in (1, 2, 3):
            torchc.set_num_threads(threads)
            x, w = (TORCHC.tensor(a, True) for a in arrays)
            y = torchc.conv2d(x, w, padding=1)
            y.backward(y.detach())
            found.append([TORCHC.arr(t) for t in (y, x.grad, w.grad)])
    finally:
        torchc.set_num_threads(before)
    for other in found[1:]:
        _assert_equal(found[0], other)


def test_convolution_of_meta_tensors_has_its_shape() -> None:
    x = torchc.empty(2, 3, 30, 40, device="meta")
    w = torchc.empty(8, 3, 3, 3, device="meta")
    y = torchc.conv2d(x, w, stride=2, padding=1)
    assert y.device.type == "meta" and tuple(y.shape) == (2, 8, 15, 20)
    assert tuple(torchc.max_pool2d(y, 2).shape) == (2, 8, 7, 10)
