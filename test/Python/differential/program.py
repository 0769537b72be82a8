"""Programs as a small list of instructions, printed as straight-line Python and run on any
torch-like namespace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from oracle.dtypes import Arr

from .backends import Backend

Operand = str | bool | int | float


@dataclass(frozen=True)
class Step:
    """One statement: a template over operands and the name it assigns ("" for a statement without
    result)."""

    out: str
    template: str  # "torch.add({0}, {1})"
    operands: tuple[Operand, ...]
    writes: str = ""  # the variable an in-place statement writes to

    def text(self) -> str:
        """As Python."""
        expression = self.template.format(*(_literal(o) for o in self.operands))
        return f"{self.out} = {expression}" if self.out else expression

    def reads(self) -> set[str]:
        """Variables this statement needs."""
        return {o for o in self.operands if isinstance(o, str)}


def _literal(operand: Operand) -> str:
    """A variable by name, a number as Python writes it; inf and nan through float()."""
    if isinstance(operand, float) and (
        operand != operand or operand in (float("inf"), -float("inf"))
    ):
        return f"float('{operand}')"
    return operand if isinstance(operand, str) else repr(operand)


@dataclass
class Program:
    """Inputs by name and value, steps, and what is returned. `grads`: inputs that need gradients of `loss`, or of
    the sum of all results where no step makes a loss."""

    seed: int
    inputs: dict[str, Arr] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    grads: list[str] = field(default_factory=list)

    def source(self) -> str:
        """The program as a function `program(inputs…)` over a global `torch`."""
        lines = [f"def program({', '.join(self.inputs)}):"]
        lines += [f"    {step.text()}" for step in self.steps]
        lines.append(
            f"    return ({', '.join(self.outputs)},)" if self.outputs else "    return ()"
        )
        return "\n".join(lines) + "\n"

    def function(self, namespace: Any) -> Callable[..., tuple[Any, ...]]:
        """The compiled Python function with `torch` bound to `namespace`."""
        scope: dict[str, Any] = {"torch": namespace}
        exec(compile(self.source(), f"<program {self.seed}>", "exec"), scope)  # noqa: S102
        return scope["program"]

    def slice_for(self, name: str) -> Program:
        """The steps that `name` depends on, writes through aliases kept: a smaller program for a
        report."""
        needed, kept = {name}, []
        for step in reversed(self.steps):
            if step.out in needed or step.writes:
                kept.append(step)
                needed |= step.reads()
        steps = kept[::-1]
        inputs = {
            k: v
            for k, v in self.inputs.items()
            if k in needed or any(k in s.reads() for s in steps)
        }
        return Program(self.seed, inputs, steps, [name], [g for g in self.grads if g in inputs])


def backward(program: Program, namespace: Any, results: Sequence[Any]) -> None:
    """Runs the backward pass from the loss, or from the sum of what needs a gradient."""
    found = dict(zip(program.outputs, results))
    if "loss" in found:
        total = found["loss"]
    else:
        terms = [namespace.sum(t).to(namespace.float64) for t in found.values() if t.requires_grad]
        total = sum(terms[1:], terms[0]) if terms else None
    if total is not None and total.requires_grad:
        total.backward()


Outcome = dict[str, Arr | None | str]


def run(
    program: Program,
    backend: Backend,
    function: Callable[..., Any] | None = None,
    inputs: dict[str, Arr] | None = None,
) -> Outcome:
    """Everything the program leaves behind: outputs, inputs after it, gradients; or the class of
    its error."""
    function = function or program.function(backend.F)
    values = inputs or program.inputs
    tensors = {name: backend.tensor(arr, name in program.grads) for name, arr in values.items()}
    backend.F.manual_seed(program.seed)
    try:
        results: Sequence[Any] = function(*tensors.values())
        out: Outcome = {name: backend.arr(t) for name, t in zip(program.outputs, results)}
        if program.grads:
            backward(program, backend.F, results)
    except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError) as error:
        return {"error": f"{type(error).__name__}: {error}"}
    out.update({f"{name} after": backend.arr(t) for name, t in tensors.items()})
    for name in program.grads:
        grad = tensors[name].grad
        out[f"{name}.grad"] = None if grad is None else backend.arr(grad)
    return out
