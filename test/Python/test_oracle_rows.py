"""Every sample of op_db runs on the oracle and agrees with plain NumPy where that has the op. No
torchc needed."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

from differential.backends import OracleBackend
from op_db import ROWS, Row
from op_errors import ERRORS
from op_samples import Input, Sample
from oracle import api, body
from oracle.dtypes import Arr, DType, cast

ORACLE = OracleBackend()
WANTED = """add sub mul div neg exp log tanh relu maximum where eq lt cast copy_ slice index_add
scatter
matmul sum max argmax reshape transpose expand cat index_select one_hot uniform fill_ full
log_softmax cross_entropy""".split()


def _run(row: Row, sample: Sample, grads: bool) -> tuple[Any, list[Any]]:
    bases, args = [], []
    for item in sample.args:
        if isinstance(item, Input):
            bases.append(ORACLE.tensor(item.arr, grads))
            args.append(item.build(bases[-1]))
        else:
            args.append(item)
    return row.call(api, *args), bases


def _wide(t: Any) -> np.ndarray:
    return cast(t.arr, DType.F64).data


NUMPY: dict[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "relu": lambda x: np.where(np.isnan(x), x, np.maximum(x, 0)),
    "maximum": np.maximum,
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "where": lambda c, x, y: np.where(c != 0, x, y),
    "matmul": np.matmul,
    "reshape": np.reshape,
    "transpose": np.swapaxes,
    "expand": None,
}


def test_every_op_has_a_row() -> None:
    names = {row.name for row in ROWS}
    assert len(names) == len(ROWS) and set(WANTED) <= names


# Ops without a spelling of their own: covered by the row they are a part of.
PART_OF = {
    "as_strided_update": "as_strided",
    "slice_update": "slice",
    "arange": "uniform",
    "fma": "layer_norm",
}
PART_OF |= {"trigamma": "digamma", "cummax_index": "cummax", "cummin_index": "cummin"}
PART_OF |= {"conv_input": "conv", "conv_weight": "conv", "avg_pool_input": "avg_pool"}
PART_OF |= {"max_pool_input": "max_pool", "max_pool_index": "max_pool_with_indices"}
PART_OF |= {"attention": "sdpa", "attention_masked": "sdpa", "matmul_from": "sdpa"}
# Ops that a test file of their own compares with NumPy or with the oracle.
ELSEWHERE = {
    "argsort": "test_sorting.py",
    "argmode": "test_sorting.py",
    "search_sorted": "test_sorting.py",
    "scatter_reduce": "test_index_functions.py",
    "conj": "test_complex.py",
    "view_as_real": "test_complex.py",
    "view_as_complex": "test_complex.py",
    "randint": "test_random_numbers.py",
    "randint_wide": "test_random_numbers.py",
}


def test_every_op_of_the_table_has_a_row() -> None:
    if body.find_bodies() is None:
        pytest.skip("bodies.json is not built")
    names = {row.name for row in ROWS}
    missing = [n for n in body.load_bodies() if n not in names and PART_OF.get(n) not in names]
    folder = pathlib.Path(__file__).parent
    missing = [n for n in missing if not (folder / ELSEWHERE.get(n, "none")).is_file()]
    assert not missing, f"op_db.py has no row for {missing}"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_samples_run(row: Row) -> None:
    for dtype in row.dtypes:
        for sample in row.sample(dtype):
            try:
                result, bases = _run(row, sample, row.grad and sample.grad and dtype.is_float)
            except body.BodiesMissing as error:
                pytest.skip(str(error))
            except Exception as error:
                raise AssertionError(f"{dtype.name} {sample.label}: {error!r}") from error
            out = result[0] if isinstance(result, tuple) else result
            if out.requires_grad:
                out.backward(api.ones(out.shape, dtype=out.dtype))
                for b in bases:
                    assert b.grad is None or (b.grad.shape, b.grad.dtype) == (
                        b.shape,
                        b.dtype,
                    )


@pytest.mark.parametrize("name", [n for n in NUMPY if NUMPY[n]])
def test_f64_rows_match_numpy(name: str) -> None:
    row = next(r for r in ROWS if r.name == name)
    for sample in row.sample(DType.F64):
        tensors = [
            i.build(ORACLE.tensor(i.arr)) if isinstance(i, Input) else i for i in sample.args
        ]
        plain = [_wide(t) if isinstance(t, api.Tensor) else t for t in tensors]
        try:
            got = row.call(api, *tensors)
        except body.BodiesMissing as error:
            pytest.skip(str(error))
        if got.dtype != DType.F64 or any(
            isinstance(t, api.Tensor) and t.dtype.is_float and t.dtype != DType.F64 for t in tensors
        ):
            continue
        with np.errstate(all="ignore"):
            want = NUMPY[name](*plain)
        tolerance = 0 if name not in ("exp", "log", "tanh", "matmul") else 1e-12
        np.testing.assert_allclose(
            got.arr.data, want, rtol=tolerance, atol=tolerance, err_msg=sample.label
        )


def test_casts_match_numpy_inside_the_range() -> None:
    x = np.random.default_rng(1).uniform(-100, 100, 500)
    for target in (DType.I8, DType.I16, DType.I32, DType.I64, DType.F32):
        got = cast(Arr(DType.F64, x), target).data
        assert np.array_equal(got, x.astype(target.storage))


@pytest.mark.parametrize("name", list(ERRORS))
def test_oracle_refuses(name: str) -> None:
    kind, call = ERRORS[name]
    with pytest.raises(kind):
        call(api)
