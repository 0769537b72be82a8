"""Every row of op_db on the cuda device against the CPU: the same bits, or an error naming op and device."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from differential.backends import TorchcBackend
from op_db import Row
from oracle.dtypes import DType
from test_ops_bits import CASES, IDS, _compare, _evaluate

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
pytestmark = pytest.mark.usefixtures("cuda")


class CudaBackend(TorchcBackend):
    """torchc with every tensor on the cuda device."""

    def tensor(self, arr: Any, requires_grad: bool = False) -> Any:
        return (
            super().tensor(arr, False).cuda().requires_grad_(requires_grad and arr.dtype.is_float)
        )

    def arr(self, t: Any) -> Any:
        return super().arr(t.cpu())


@functools.cache
def _backends() -> tuple[TorchcBackend, CudaBackend]:
    return TorchcBackend(torch), CudaBackend(torch)


def _run(row: Row, dtype: DType, grads: bool) -> tuple[list[str], list[str]]:
    """(differences, what has no kernel) of a row's samples."""
    differences, missing = [], []
    cpu, cuda = _backends()
    for sample in row.sample(dtype):
        if grads and not sample.grad:
            continue
        want = _evaluate(cpu, row, sample, grads)
        try:
            got = _evaluate(cuda, row, sample, grads)
        except NotImplementedError as error:
            assert "cuda" in str(error), error
            missing.append(str(error))
            continue
        differences += [f"{sample.label}: {text}" for text in _compare(want, got)]
    return differences, missing


# Ops without kernels on the device, by what they say.
MISSING = (
    "avg_pool max_pool conv conv_input conv_weight scatter_reduce "
    "cumsum cumprod cummax_index cummin_index argsort searchsorted mode as_strided_update nonzero isin"
).split()
DTYPES = (DType.Bool, DType.U8, DType.I8, DType.I64, DType.BF16, DType.F32, DType.F64)
SOME = [(row, dtype) for row, dtype in CASES if dtype in DTYPES]
SOME_IDS = [name for (row, dtype), name in zip(CASES, IDS) if dtype in DTYPES]


def _check(row: Row, dtype: DType, grads: bool) -> None:
    differences, missing = _run(row, dtype, grads)
    assert not differences, "\n".join(differences[:12])
    unexpected = [text for text in missing if text.split("(")[0] not in MISSING]
    assert not [t for t in unexpected if not t.startswith("random numbers")], unexpected[:3]


@pytest.mark.parametrize(("row", "dtype"), SOME, ids=SOME_IDS)
def test_cuda_bits(row: Row, dtype: DType) -> None:
    _check(row, dtype, False)


GRADS = [(row, dtype) for row, dtype in SOME if row.grad and dtype in (DType.F32, DType.BF16)]


@pytest.mark.parametrize(
    ("row", "dtype"), GRADS, ids=[f"{r.name}-{d.torch_name}" for r, d in GRADS]
)
def test_cuda_gradient_bits(row: Row, dtype: DType) -> None:
    _check(row, dtype, True)


if __name__ == "__main__":  # which rows run, for a person
    import collections

    found = collections.Counter()
    for row, dtype in CASES:
        for grads in (False, True) if row.grad and dtype.is_float else (False,):
            try:
                d, m = _run(row, dtype, grads)
            except Exception as error:
                d, m = [f"{type(error).__name__}: {error}"], []
            for text in d[:1]:
                print("DIFF", row.name, dtype, grads, text[:200])
            found[(row.name, m[0] if m else "runs")] += 1
    for (name, text), n in sorted(found.items()):
        print(name, n, text)
