"""Runs programs everywhere and reports the first difference with a minimal program text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from op_samples import salted
from oracle.dtypes import Arr

from .backends import OracleBackend, TorchcBackend, difference
from .program import Outcome, Program, run

ORACLE = OracleBackend()


@dataclass
class Report:
    """What happened over many programs."""

    programs: int = 0
    runs: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def count(self, way: str) -> None:
        """One more run of `way`."""
        self.runs[way] = self.runs.get(way, 0) + 1


def compare(want: Outcome, got: Outcome) -> tuple[str, str] | None:
    """(name, what) of the first difference. Errors must agree in their class."""
    if "error" in want or "error" in got:
        a, b = str(want.get("error", "none")), str(got.get("error", "none"))
        return None if a.split(":")[0] == b.split(":")[0] else ("error", f"expected {a}, got {b}")
    for name, reference in want.items():
        actual = got.get(name)
        if not isinstance(reference, Arr) or not isinstance(actual, Arr):
            if reference is not actual:
                return name, f"expected {_kind(reference)}, got {_kind(actual)}"
            continue
        text = difference(reference, actual)
        if text:
            return name, text
    return None


def _kind(value: Any) -> str:
    return "a tensor" if isinstance(value, Arr) else str(value)


def other_values(program: Program, turn: int) -> dict[str, Arr]:
    """Fresh values for the float and bool inputs; integer inputs keep theirs, for they may be
    indices."""
    rng = np.random.default_rng([program.seed, turn])
    return {
        name: salted(rng, arr.shape, arr.dtype) if arr.dtype.is_float else arr
        for name, arr in program.inputs.items()
    }


def check(program: Program, torchc: Any, report: Report, compiled: bool = True) -> None:
    """Oracle against eager, and against one compiled function called three times, the last with
    other values."""
    backend = TorchcBackend(torchc)
    report.programs += 1
    want = run(program, ORACLE)
    if not _same(program, want, run(program, backend), "eager", report) or not compiled:
        return
    if not hasattr(torchc, "compile"):
        return
    function = torchc.compile(program.function(torchc), background=False)
    for turn in range(3):
        inputs = other_values(program, turn) if turn == 2 else program.inputs
        reference = want if turn < 2 else run(program, ORACLE, inputs=inputs)
        got = run(program, backend, function, inputs)
        if not _same(program, reference, got, f"compiled call {turn + 1}", report):
            return


def _same(program: Program, want: Outcome, got: Outcome, way: str, report: Report) -> bool:
    report.count(way)
    found = compare(want, got)
    if found is None:
        return True
    name, text = found
    # The slice that explains an output, the whole program for anything else.
    small = program.slice_for(name) if name in program.outputs else program
    again = f"python -m differential --seed {program.seed} --count 1"
    report.failures.append(
        f"seed {program.seed}, {way}, {name}: {text}\n{small.source()}{_inputs(small)}\n  {again}"
    )
    return False


def _inputs(program: Program) -> str:
    lines = [
        f"  {name}: {arr.dtype.torch_name}{list(arr.shape)}{' grad' if name in program.grads else ''}"
        for name, arr in program.inputs.items()
    ]
    return "\n".join(lines)
