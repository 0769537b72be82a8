"""Every row of op_db: torchc's bits against the oracle's, with one and two threads, compiled, and
gradients."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from differential.backends import OracleBackend, TorchcBackend, difference
from op_db import ROWS, Row
from op_errors import ERRORS
from op_samples import Input, Sample, values
from oracle import body
from oracle.dtypes import Arr, DType

torchc = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
ORACLE = OracleBackend()
CASES = [(row, dtype) for row in ROWS for dtype in row.dtypes]
IDS = [f"{row.name}-{dtype.torch_name}" for row, dtype in CASES]


@functools.lru_cache(maxsize=1)
def _torchc() -> TorchcBackend:
    return TorchcBackend(torchc)


def _need_bodies(row: Row) -> None:
    missing = [name for name in row.bodies if not _has_body(name)]
    if missing:
        pytest.skip(f"the table has no body for {missing}")


def _has_body(name: str) -> bool:
    try:
        return bool(body.get_body(name, DType.F32))
    except body.BodiesMissing:
        return False


def _prepare(backend: Any, sample: Sample, grads: bool) -> tuple[list[Any], list[Any]]:
    """(arguments, base tensors of the Inputs)."""
    args, bases = [], []
    for item in sample.args:
        if isinstance(item, Input):
            bases.append(backend.tensor(item.arr, grads))
            args.append(item.build(bases[-1]))
        else:
            args.append(backend.dtype(item) if isinstance(item, DType) else item)
    return args, bases


def _tensors(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def _cotangent(sample: Sample, slot: int, like: Arr) -> Arr:
    rng = np.random.default_rng([zlib.crc32(sample.label.encode()), slot])
    return values(rng, like.shape, like.dtype)


def _evaluate(
    backend: Any, row: Row, sample: Sample, grads: bool, wrap: Any = None
) -> dict[str, Arr | None]:
    """Everything a call leaves behind: results, bases (in-place writes show there), gradients of
    the bases."""
    args, bases = _prepare(backend, sample, grads)
    call = functools.partial(row.call, backend.F)
    results = _tensors((wrap(call) if wrap else call)(*args))
    out: dict[str, Arr | None] = {f"result {i}": backend.arr(t) for i, t in enumerate(results)}
    if not grads:
        out.update({f"argument {i}": backend.arr(b) for i, b in enumerate(bases)})
        return out
    for slot, t in enumerate(results):
        if t.requires_grad:
            t.backward(backend.tensor(_cotangent(sample, slot, backend.arr(t))))
    for i, b in enumerate(bases):
        out[f"gradient {i}"] = None if b.grad is None else backend.arr(b.grad)
    return out


def _compare(want: dict[str, Arr | None], got: dict[str, Arr | None]) -> list[str]:
    found = []
    for key, reference in want.items():
        actual = got[key]
        if reference is None or actual is None:
            if reference is not actual:
                found.append(f"{key}: expected {'none' if reference is None else 'a tensor'}")
            continue
        text = difference(reference, actual)
        if text:
            found.append(f"{key}: {text}")
    return found


def _check(
    row: Row, dtype: DType, grads: bool, wrap: Any = None, settings: tuple[int, ...] = (1,)
) -> None:
    """Every sample, once per number of threads in `settings`."""
    failures = []
    for sample in row.sample(dtype):
        if grads and not sample.grad:
            continue
        want = _evaluate(ORACLE, row, sample, grads)
        for threads in settings:
            torchc.set_num_threads(threads)
            try:
                got = _evaluate(_torchc(), row, sample, grads, wrap)
            except Exception as error:
                failures.append(f"{sample.label}: {type(error).__name__}: {error}")
                break
            failures += [
                f"{sample.label}, {threads} threads: {text}" for text in _compare(want, got)
            ]
    assert not failures, f"{len(failures)} differences:\n" + "\n".join(failures[:12])


@pytest.fixture(autouse=True)
def _threads() -> Iterator[None]:
    """Leave the number of threads as it was."""
    before = torchc.get_num_threads()
    yield
    torchc.set_num_threads(before)


@pytest.mark.parametrize(("row", "dtype"), CASES, ids=IDS)
def test_eager_bits(row: Row, dtype: DType) -> None:
    _need_bodies(row)
    _check(row, dtype, False, settings=(1, 2))


GRADS = [(row, dtype) for row, dtype in CASES if row.grad and dtype.is_float]


@pytest.mark.parametrize(
    ("row", "dtype"), GRADS, ids=[f"{r.name}-{d.torch_name}" for r, d in GRADS]
)
def test_gradient_bits(row: Row, dtype: DType) -> None:
    _need_bodies(row)
    _check(row, dtype, True)


COMPILED = (DType.F32, DType.BF16, DType.I32)


@pytest.mark.parametrize(
    ("row", "dtype"),
    [c for c in CASES if c[1] in COMPILED],
    ids=[i for c, i in zip(CASES, IDS) if c[1] in COMPILED],
)
def test_compiled_bits(row: Row, dtype: DType) -> None:
    _need_bodies(row)
    if not hasattr(torchc, "compile"):
        pytest.skip("torchc.compile is not there")
    compiled: dict[Any, Any] = {}

    def wrap(call: Any) -> Any:
        # One compiled function per row, so that samples also exercise its guards.
        return compiled.setdefault(row.name, torchc.compile(call, background=False))

    _check(row, dtype, False, wrap, settings=(1, 2))


@pytest.mark.parametrize("name", list(ERRORS))
def test_bad_input_is_refused(name: str) -> None:
    kind, call = ERRORS[name]
    with pytest.raises(kind) as caught:
        call(torchc)
    assert len(str(caught.value)) > 10
