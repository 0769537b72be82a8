"""Random programs on the oracle and on torchc, eager and compiled; `python -m differential` runs
many more."""

from __future__ import annotations

import pytest

from differential.generate import generate, programs
from differential.program import run
from differential.runner import ORACLE, Report, check, compare
from oracle.dtypes import DType

EAGER, COMPILED = 500, 60


def test_programs_are_reproducible() -> None:
    for seed in range(20):
        first, second = generate(seed), generate(seed)
        assert first.source() == second.source()
        assert compare(run(first, ORACLE), run(second, ORACLE)) is None


def test_programs_are_varied() -> None:
    """Views, in-place writes, gradients, sizes 0 and 1, most ops and dtypes occur."""
    texts, grads = "", 0
    dtypes: set[DType] = set()
    sizes: set[int] = set()
    for program in programs(300, 0):
        texts += program.source()
        grads += bool(program.grads)
        for arr in program.inputs.values():
            dtypes.add(arr.dtype)
            sizes.update(arr.shape)
    for word in (
        "add mul div neg relu exp log tanh maximum where eq lt sum max argmax matmul log_softmax reshape "
        "transpose expand cat index_select index_add scatter one_hot rand add_ mul_ copy_ fill_ sub_ ["
    ).split():
        assert word in texts, word
    assert len(dtypes) >= 8 and {0, 1, 17} <= sizes and grads > 60


def test_most_programs_run_through() -> None:
    errors = [p.seed for p in programs(100, 0) if "error" in run(p, ORACLE)]
    assert len(errors) < 10, errors


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_torchc_agrees(compiled: bool) -> None:
    torchc = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
    report = Report()
    for program in programs(COMPILED if compiled else EAGER, 0):
        check(program, torchc, report, compiled)
    assert not report.failures, "\n\n".join(report.failures[:3])
