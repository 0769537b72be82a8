"""Writes one random program: every statement is tried on the oracle first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from op_samples import salted, values
from oracle import api
from oracle.body import BodiesMissing
from oracle.dtypes import DType

from .backends import OracleBackend
from .program import Operand, Program, Step

SIZES = (0, 1, 1, 2, 3, 4, 5, 8, 17)
NUMBERS: tuple[int | float, ...] = (0, 1, 2, -1, 3, 0.5, -0.0, 0.1, 1.5, float("inf"), float("nan"))
_KINDS = (
    DType.F32,
    DType.F32,
    DType.F32,
    DType.BF16,
    DType.F16,
    DType.F64,
    DType.I64,
    DType.I32,
    DType.U8,
    DType.Bool,
)
_SKIP = (
    RuntimeError,
    IndexError,
    ValueError,
    TypeError,
    NotImplementedError,
    BodiesMissing,
    ZeroDivisionError,
)


class Writer:
    """Writes one program, holding the oracle's value of every variable so far."""

    def __init__(
        self,
        rng: np.random.Generator,
        seed: int,
        makers: Sequence[Callable[[Writer], bool]],
        differentiable: bool = False,
        numbers: Sequence[int | float] = NUMBERS,
    ) -> None:
        """`makers` write one statement each, or return False."""
        self.rng = rng
        self.program = Program(seed)
        self.makers = makers
        self.differentiable = differentiable
        self.numbers = numbers
        self.live: dict[str, Any] = {}

    # -- choices

    def pick(self, items: Any) -> Any:
        """One of a sequence."""
        items = list(items)
        return items[int(self.rng.integers(len(items)))]

    def chance(self, p: float) -> bool:
        """True with probability p."""
        return bool(self.rng.random() < p)

    def names(self, test: Callable[[Any], bool] = lambda t: True) -> list[str]:
        """Variables whose tensors satisfy `test`."""
        return [n for n, t in self.live.items() if test(t)]

    def tensor(self, test: Callable[[Any], bool] = lambda t: True) -> str:
        """A variable, the later ones more likely."""
        found = self.names(test)
        if not found:
            raise LookupError
        weight = np.arange(1, len(found) + 1, dtype=float)
        return str(self.rng.choice(found, p=weight / weight.sum()))

    def float_tensor(self) -> str:
        """A floating variable."""
        return self.tensor(lambda t: t.dtype.is_float)

    def partner(self, name: str) -> Operand:
        """An operand that broadcasts with `name`, or a number."""
        if self.chance(0.25):
            return abs(self.number()) if self.live[name].dtype == DType.U8 else self.number()
        shape = self.live[name].shape
        fits = self.names(lambda t: broadcasts(shape, t.shape))
        return self.pick(fits) if fits else self.number()

    def number(self) -> bool | int | float:
        """A Python number."""
        return self.pick(self.numbers)

    # -- growth

    def add_input(self) -> None:
        """A new tensor argument."""
        dtype = self.pick(_KINDS)
        if self.differentiable and self.chance(0.7):
            dtype = self.pick((DType.F32, DType.F32, DType.F64, DType.BF16))
        base = [v.shape for v in self.live.values() if v.ndim]
        if base and self.chance(0.6):
            shape = tuple(1 if self.chance(0.25) else s for s in self.pick(base))
            shape = shape[int(self.rng.integers(0, len(shape))) :] if self.chance(0.3) else shape
        else:
            shape = tuple(self.pick(SIZES) for _ in range(self.pick((0, 1, 2, 2, 2, 3))))
        make = salted if self.chance(0.4) else values
        name = f"x{len(self.program.inputs)}"
        arr = make(self.rng, shape, dtype)
        self.program.inputs[name] = arr
        wants = self.differentiable and dtype.is_float and (name == "x0" or self.chance(0.6))
        if wants:
            self.program.grads.append(name)
        self.live[name] = OracleBackend().tensor(arr, wants)

    def attempt(
        self, template: str, *operands: Operand, out: bool = True, writes: str = ""
    ) -> bool:
        """Append a statement if the oracle accepts it."""
        name = f"v{len(self.program.steps)}" if out else ""
        step = Step(name, template, operands, writes)
        scope = {"torch": api, **self.live}
        expression = template.format(
            *(o if isinstance(o, str) else repr_number(o) for o in operands)
        )
        try:
            result = eval(expression, scope)  # noqa: S307
        except _SKIP:
            return False
        if out:
            if not isinstance(result, api.Tensor) or result.numel() > 4000:
                return False
            self.live[name] = result
        self.program.steps.append(step)
        return True

    def grow(self) -> bool:
        """One random statement; False when the choice did not fit."""
        try:
            return bool(self.pick(self.makers)(self))
        except LookupError:
            return False


def repr_number(value: Operand) -> str:
    """A number as an expression."""
    return f"float('{value}')" if isinstance(value, float) else repr(value)


def broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether two shapes go together."""
    return all(x == y or 1 in (x, y) for x, y in zip(a[::-1], b[::-1]))
