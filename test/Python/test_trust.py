"""Random programs on the oracle and on torchc: eagerly, compiled both ways, and ahead of time; `python -m differential`
runs many more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from differential.generate import generate, programs
from differential.program import run
from differential.runner import ORACLE, Report, check, check_artefacts, compare
from oracle.dtypes import DType

COUNT = 500


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


@pytest.fixture
def report() -> Iterator[Report]:
    """Fails afterwards when a program differed."""
    made = Report()
    yield made
    assert not made.failures, "\n\n".join(made.failures[:3])


def test_eager_and_retrace(torchc: Any, report: Report) -> None:
    for program in programs(COUNT, 0):
        check(program, torchc, report, ("eager", "retrace"))
    assert report.runs["eager"] == COUNT
    # The rest computes nothing or raises, which runs eagerly.
    assert report.runs["retrace"] > 0.95 * COUNT, report.fell_back[:3]


def test_gradients_come_by_ascending_slot(torchc: Any, report: Report) -> None:
    """x - 3 * x in bfloat16 gives x the gradient of its first use before that of its second (N10)."""
    (program,) = programs(1, 777390)
    assert "alpha=3" in program.source()
    check(program, torchc, report, ("eager", "retrace"))


def test_other_sizes(torchc: Any, report: Report) -> None:
    """Eager against one compiled graph that serves sizes as they come."""
    for program in programs(60, 0):
        check(program, torchc, report, ("sizes",))
    assert report.runs["sizes"] > 30


def test_replay(torchc: Any, report: Report) -> None:
    for program in programs(COUNT, 0, arithmetic=True):
        check(program, torchc, report, ("replay",))
    assert report.runs["replay"] > 0.9 * COUNT, report.fell_back[:3]


def test_artefacts(torchc: Any, report: Report) -> None:
    check_artefacts(programs(COUNT, 0), torchc, report)
    assert report.runs["artefact"] > 0.95 * COUNT, report.fell_back[:3]
