"""The differentiate pass against the tape, bit for bit: first and second order, of ops and of random programs."""

from __future__ import annotations

import pathlib
import re
from typing import Any

import pytest

from differential.artefact import compile_all, library_of
from differential.backends import TorchcBackend
from differential.generate import programs
from differential.gradient import ORDER, Differentiated
from op_db import ROWS, Row
from op_samples import Input, Sample
from oracle.dtypes import Arr, DType

torchc = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from compiled import COMPILER, needs_compiler  # noqa: E402

pytestmark = needs_compiler


def _of_sample(row: Row, sample: Sample, name: str, folder: pathlib.Path) -> Differentiated:
    """The call of a row on a sample, as a function of the sample's tensors."""
    backend = TorchcBackend(torchc)

    def function(*bases: Any) -> list[Any]:
        rest = iter(bases)
        args = [
            item.build(next(rest))
            if isinstance(item, Input)
            else backend.dtype(item)
            if isinstance(item, DType)
            else item
            for item in sample.args
        ]
        results = row.call(torchc, *args)
        return list(results) if isinstance(results, (tuple, list)) else [results]

    inputs = [item.arr for item in sample.args if isinstance(item, Input)]
    return Differentiated(name, function, inputs, backend, folder)


def _check(made: list[Differentiated]) -> int:
    """Compiles and compares; the number of functions that the compiler took."""
    complaints = compile_all(COMPILER, [m.path for m in made], ORDER)
    taken = [m for m in made if library_of(m.path).exists()]
    found = [text for m in taken for text in m.differences()]
    assert not found, f"{len(found)} differences:\n" + "\n".join(found[:12])
    assert len(taken) > 0.95 * len(made), complaints
    return len(taken)


@pytest.mark.parametrize("dtype", [DType.F32, DType.BF16], ids=lambda d: d.torch_name)
def test_ops(dtype: DType, tmp_path: pathlib.Path) -> None:
    made = []
    for row in ROWS:
        if not row.grad or dtype not in row.dtypes:
            continue
        samples = [s for s in row.sample(dtype) if s.grad]
        for at in range(int(dtype) % 5, len(samples), 5):
            try:
                made.append(_of_sample(row, samples[at], f"{row.name}_{at}", tmp_path))
            except NotImplementedError as error:  # such as a cast to the same type
                assert "computes nothing" in str(error)
    assert _check(made) > 90


def _repeats_a_view(program: str) -> bool:
    """Whether two values are the same view of the same memory. A trace calls them by one name, where the tape has a
    node for each: three cotangents may then be added in another order."""
    values = re.findall(r"^  %\d+ = (?!.* writes s\d).* : (.*? @.*?)(?:  //.*)?$", program, re.M)
    return len(values) != len(set(values))


def test_programs(tmp_path: pathlib.Path) -> None:
    made = []
    for program in (p for p in programs(450, 0) if p.grads and len(p.steps) > 1):
        inputs: list[Arr] = list(program.inputs.values())
        function = program.function(torchc)
        made.append(
            Differentiated(f"p{program.seed}", function, inputs, TorchcBackend(torchc), tmp_path)
        )
    comparable = [m for m in made if not _repeats_a_view(m.text)]
    assert _check(comparable) > 70
