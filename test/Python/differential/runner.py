"""Runs programs every way and reports the first difference with a minimal program text.

Ways: `eager`; `retrace` and `replay`, compiled functions called again and again, the last time with other values;
`sizes`, one compiled function called with inputs of other sizes, which one compiled graph serves where it can;
`artefact`, a shared library made ahead of time. The oracle is what each is compared with.
"""

from __future__ import annotations

import pathlib
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from op_samples import salted
from oracle.dtypes import Arr

from .artefact import Exported, compile_all
from .backends import OracleBackend, TorchcBackend, difference
from .program import Outcome, Program, run

ORACLE = OracleBackend()
WAYS = ("eager", "retrace", "replay", "sizes", "artefact")


@dataclass
class Report:
    """What happened over many programs. `runs`: programs per way; `fell_back`: why some ran eagerly, or not at all."""

    programs: int = 0
    runs: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    fell_back: list[str] = field(default_factory=list)

    def count(self, way: str) -> None:
        """One more program that ran this way."""
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


def check(program: Program, torchc: Any, report: Report, ways: Iterable[str] = ("eager",)) -> bool:
    """Oracle against eager, and against compiled functions. False after a difference."""
    backend = TorchcBackend(torchc)
    report.programs += 1
    want = run(program, ORACLE)
    if "eager" in ways:
        report.count("eager")
        if not _same(program, want, run(program, backend), "eager", report):
            return False
    if "sizes" in ways and not _check_sizes(program, backend, report):
        return False
    return all(
        _check_compiled(program, backend, want, way, report)
        for way in ("retrace", "replay")
        if way in ways
    )


def other_sizes(program: Program, old: int, new: int) -> dict[str, Arr]:
    """Inputs with `new` in the place of each dimension of size `old`; integers are repeated: they may be indices."""
    rng = np.random.default_rng([program.seed, old, new])
    out = {}
    for name, arr in program.inputs.items():
        shape = tuple(new if n == old else n for n in arr.shape)
        if shape == arr.shape:
            out[name] = arr
        elif arr.dtype.is_float:
            out[name] = salted(rng, shape, arr.dtype)
        else:
            count = int(np.prod(shape, dtype=int))
            flat = np.resize(arr.data.reshape(-1), count) if arr.data.size else np.zeros(count)
            out[name] = Arr(arr.dtype, flat.astype(arr.data.dtype).reshape(shape))
    return out


def _check_sizes(program: Program, backend: TorchcBackend, report: Report) -> bool:
    """One compiled function with one size of its inputs changing. Sizes that its text can't take must raise."""
    from torchc.jit import _compiled

    sizes = [n for arr in program.inputs.values() for n in arr.shape if n > 1]
    if not sizes:
        return True
    old = max(sorted(set(sizes)), key=sizes.count)
    function = _compiled(program.function(backend.F), background=False, measure=False)
    for new in (old, old + 3, old + 3, old, 2 * old + 1, 1, 0, old + 3):
        inputs = other_sizes(program, old, new)
        reference = run(program, backend, inputs=inputs)  # the oracle takes sizes that fit only
        got = run(program, backend, function, inputs)
        if not _same(program, reference, got, f"sizes {old} -> {new}", report):
            report.failures[-1] += "\n" + function.report()
            return False
    if function.counts()["dynamic"]:
        report.count("sizes")
    return True


def _check_compiled(
    program: Program, backend: TorchcBackend, want: Outcome, way: str, report: Report
) -> bool:
    """One compiled function called four times; the last time with other values."""
    from torchc.jit import _compiled

    function = _compiled(program.function(backend.F), background=False, replay=way == "replay")
    for turn in range(4):
        inputs = other_values(program, turn) if turn == 3 else program.inputs
        reference = want if turn < 3 else run(program, ORACLE, inputs=inputs)
        got = run(program, backend, function, inputs)
        if not _same(program, reference, got, f"{way} call {turn + 1}", report):
            return False
    if function.counts()["replayed" if way == "replay" else "launches"]:
        report.count(way)
    else:
        report.fell_back.append(f"seed {program.seed}, {way}: {function.report()}")
    return True


def check_artefacts(programs: Iterable[Program], torchc: Any, report: Report) -> None:
    """Oracle against shared libraries, run twice, the second time with other values."""
    from torchc.jit import _helper

    backend = TorchcBackend(torchc)
    with tempfile.TemporaryDirectory() as folder:
        exported = list(_exported(programs, backend, pathlib.Path(folder), report))
        report.fell_back += compile_all(_helper()[0], [e.path for e in exported]).splitlines()
        for item in exported:
            if item.library.exists() and not _check_artefact(item, report):
                return


def _exported(
    programs: Iterable[Program], backend: TorchcBackend, folder: pathlib.Path, report: Report
) -> Iterator[Exported]:
    """The programs that compute something and raise nothing."""
    for program in programs:
        if not program.steps or "error" in run(program, ORACLE):
            continue
        try:
            yield Exported(program, backend, folder)
        except NotImplementedError as error:
            report.fell_back.append(f"seed {program.seed}: {error}")


def _check_artefact(item: Exported, report: Report) -> bool:
    report.count("artefact")
    for turn in range(2):
        inputs = other_values(item.program, turn) if turn else item.program.inputs
        want = run(item.program, ORACLE, inputs=inputs)
        way = f"artefact run {turn + 1}"
        if not _same(item.program, want, item.run(inputs), way, report):
            return False
    return True


def _same(program: Program, want: Outcome, got: Outcome, way: str, report: Report) -> bool:
    found = compare(want, got)
    if found is None:
        return True
    name, text = found
    # The slice that explains an output, the whole program for anything else.
    small = program.slice_for(name) if name in program.outputs else program
    again = f"python -m differential --seed {program.seed} --count 1 --ways {way.split()[0]}"
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
