"""Gradients that the differentiate pass makes from a program without backward, against those of the tape."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from op_samples import values
from oracle.dtypes import Arr

from .artefact import Library, library_of, named
from .backends import Backend, difference

ORDER = "--grad=2"  # of the compiler: gradients, and gradients of results and gradients


class Differentiated:
    """A function of tensors that gives a sequence of tensors, saved as PATH to be compiled beside it with ORDER."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Sequence[Any]],
        inputs: Sequence[Arr],
        backend: Backend,
        folder: pathlib.Path,
    ) -> None:
        self.name, self.function, self.inputs, self.backend = name, function, inputs, backend
        self.path = folder / f"{name}.tcz"
        export = backend.F.export
        names = [f"x{i}" for i in range(len(inputs))]
        tensors = tuple(backend.tensor(arr) for arr in inputs)
        whole = named(lambda *xs: tuple(self.function(*xs)), names)
        program = export.export(whole, tensors)
        self.text = str(program)
        export.save(program, self.path)

    def differences(self) -> list[str]:
        """What differs between the tape's bits and the library's, in results and gradients."""
        with Library(library_of(self.path)) as model:
            rng = np.random.default_rng(len(self.name))
            cotangents = [
                values(rng, dims, dtype) for _, dtype, dims in model.inputs[len(self.inputs) :]
            ]
            given = [Arr(a.dtype, np.array(a.data, order="C")) for a in self.inputs] + cotangents
            status, message, made = model.run(dict(zip((n for n, _, _ in model.inputs), given)))
            names = [name for name, _, _ in model.outputs]
        if status:
            return [f"status {status}: {message}"]
        found = []
        for name, want, got in zip(names, self._tape(cotangents), made, strict=True):
            if want is None:  # no path leads there: the pass gives zeros
                want = Arr(got.dtype, np.zeros_like(got.data))
            if text := difference(want, got):
                found.append(f"{self.name}: {name}: {text}")
        return found

    def _tape(self, cotangents: list[Arr]) -> list[Arr | None]:
        """Results, gradients, and gradients of both, in the library's order."""
        b = self.backend
        inputs = [b.tensor(arr, arr.dtype.is_float) for arr in self.inputs]
        results = list(self.function(*inputs))
        first = [t for t in inputs if t.dtype.is_floating_point]
        floats = [t for t in results if t.dtype.is_floating_point]
        given = [b.tensor(arr, True) for arr in cotangents]
        grads = self._gradients(floats, first, given[: len(floats)], True)
        outputs = [*floats, *grads]
        seconds = self._gradients(outputs, [*first, *given[: len(floats)]], given[len(floats) :])
        return [None if t is None else b.arr(t) for t in [*results, *grads, *seconds]]

    def _gradients(
        self, outputs: list[Any], inputs: list[Any], cotangents: list[Any], create: bool = False
    ) -> list[Any]:
        """autograd.grad over the outputs that have a history."""
        pairs = [(t, g) for t, g in zip(outputs, cotangents) if t is not None and t.requires_grad]
        if not pairs:
            return [None] * len(inputs)
        return list(
            self.backend.F.autograd.grad(
                [t for t, _ in pairs],
                inputs,
                [g.detach() if not create else g for _, g in pairs],
                create_graph=create,
                allow_unused=True,
            )
        )
