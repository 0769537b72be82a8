"""Programs ahead of time: exported, compiled to shared libraries, run through the C interface of torchc/model.h."""

from __future__ import annotations

import _ctypes
import ctypes as c
import inspect
import os
import pathlib
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from oracle.dtypes import Arr, DType

from .backends import Backend
from .program import Outcome, Program, backward

ABI = 1
TRAP = 4
_CODES = {DType.Bool: 6, DType.U8: 1, DType.BF16: 4}  # DLPack: float 2, signed 0 otherwise


class _Tensor(c.Structure):
    """DLTensor."""

    _fields_ = (
        ("data", c.c_void_p),
        ("device_type", c.c_int32),
        ("device_id", c.c_int32),
        ("ndim", c.c_int32),
        ("code", c.c_uint8),
        ("bits", c.c_uint8),
        ("lanes", c.c_uint16),
        ("shape", c.POINTER(c.c_int64)),
        ("strides", c.POINTER(c.c_int64)),
        ("byte_offset", c.c_uint64),
    )


class _Value(c.Structure):
    """torchc_value of kind tensor."""

    _fields_ = (("kind", c.c_uint32), ("reserved", c.c_uint32), ("tensor", c.POINTER(_Tensor)))


class _Description(c.Structure):
    """torchc_io_desc."""

    _fields_ = (
        ("name", c.c_char_p),
        ("dims", c.POINTER(c.c_int64)),
        ("dtype", c.c_uint32),
        ("rank", c.c_uint32),
    )


class _Table(c.Structure):
    """torchc_model_table."""

    _fields_ = (
        ("abi", c.c_uint32),
        ("bytes", c.c_uint32),
        ("name", c.c_char_p),
        ("signature_json", c.c_char_p),
        ("create", c.CFUNCTYPE(c.c_int, c.c_void_p, c.POINTER(c.c_void_p))),
        (
            "run",
            c.CFUNCTYPE(
                c.c_int, c.c_void_p, c.POINTER(_Value), c.c_size_t, c.POINTER(_Value), c.c_size_t
            ),
        ),
        ("message", c.CFUNCTYPE(c.c_char_p, c.c_void_p)),
        ("destroy", c.CFUNCTYPE(None, c.c_void_p)),
        ("input_count", c.c_uint32),
        ("output_count", c.c_uint32),
        ("symbol_count", c.c_uint32),
        ("test_count", c.c_uint32),
        ("inputs", c.POINTER(_Description)),
        ("outputs", c.POINTER(_Description)),
        ("symbols", c.POINTER(c.c_char_p)),
        ("self_test", c.CFUNCTYPE(c.c_int, c.c_void_p)),
        ("written", c.POINTER(c.c_uint8)),
    )


def _described(found: _Description) -> tuple[str, DType, tuple[int, ...]]:
    return found.name.decode(), DType(found.dtype), tuple(found.dims[: found.rank])


class _Values:
    """An array of torchc_value over NumPy memory, which it keeps alive."""

    def __init__(self, arrays: list[Arr]) -> None:
        self.arrays = arrays
        self.values = (_Value * max(1, len(arrays)))()
        self.keep = []
        for at, arr in enumerate(arrays):
            shape = (c.c_int64 * max(1, arr.data.ndim))(*arr.shape)
            code = _CODES.get(arr.dtype, 2 if arr.dtype.is_float else 0)
            bits = 8 * arr.dtype.storage.itemsize
            tensor = _Tensor(
                arr.data.ctypes.data, 1, 0, arr.data.ndim, code, bits, 1, shape, None, 0
            )
            self.keep.append((shape, tensor))
            self.values[at] = _Value(1, 0, c.pointer(tensor))


class Library:
    """A model that was opened: `with Library(path) as model: model.run({...})`."""

    def __init__(self, path: pathlib.Path) -> None:
        self._library = c.CDLL(str(path))
        self._library.torchc_model.restype = c.POINTER(_Table)
        self._table = self._library.torchc_model(ABI).contents
        self._instance = c.c_void_p()
        if self._table.create(None, c.byref(self._instance)):
            raise RuntimeError(f"{path}: create failed")
        self.inputs = [_described(self._table.inputs[i]) for i in range(self._table.input_count)]
        self.outputs = [_described(self._table.outputs[i]) for i in range(self._table.output_count)]

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self._table.destroy(self._instance)
        _ctypes.dlclose(self._library._handle)

    def run(self, inputs: dict[str, Arr]) -> tuple[int, str, list[Arr]]:
        """(status, message, outputs). Inputs that the model writes are written in place."""
        given = _Values([inputs[name] for name, _, _ in self.inputs])
        made = _Values([_filled(dtype, dims) for _, dtype, dims in self.outputs])
        status = self._table.run(
            self._instance, given.values, len(given.arrays), made.values, len(made.arrays)
        )
        return status, self._table.message(self._instance).decode(), made.arrays


def _filled(dtype: DType, dims: tuple[int, ...]) -> Arr:
    """Memory for an output, full of a pattern that no program computes throughout."""
    arr = Arr(dtype, np.empty(dims, dtype.storage))
    arr.data.view("u1" if dtype == DType.Bool else f"u{dtype.storage.itemsize}").fill(0x5B)
    return arr


def named(function: Callable[..., Any], names: list[str]) -> Callable[..., Any]:
    """`function` with these names for its arguments, which a model's inputs take."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature([inspect.Parameter(name, kind) for name in names])
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def _whole(program: Program, namespace: Any, missing: list[str]) -> Callable[..., Any]:
    """The program and its backward pass as one function; gradients follow the outputs, and what has none is named in
    `missing`."""

    function = program.function(namespace)

    def run(*tensors: Any) -> tuple[Any, ...]:
        results = function(*tensors)
        if program.grads:
            backward(program, namespace, results)
        inputs = dict(zip(program.inputs, tensors))
        grads = {name: inputs[name].grad for name in program.grads}
        missing[:] = [name for name, grad in grads.items() if grad is None]
        # The bits of a result, not its history.
        return (*(t.detach() for t in results), *(g for g in grads.values() if g is not None))

    return named(run, list(program.inputs))


def library_of(path: pathlib.Path) -> pathlib.Path:
    """Where the command line puts the shared library of a saved program."""
    return path.with_name(f"lib{path.stem}.so")


class Exported:
    """A program that was saved as PATH, to be compiled beside it."""

    def __init__(self, program: Program, backend: Backend, folder: pathlib.Path) -> None:
        self.program = program
        self.path = folder / f"p{program.seed}.tcz"
        self.missing: list[str] = []
        export = backend.F.export
        tensors = [
            backend.tensor(arr, name in program.grads) for name, arr in program.inputs.items()
        ]
        whole = _whole(program, backend.F, self.missing)
        export.save(export.export(whole, tuple(tensors)), self.path)

    @property
    def library(self) -> pathlib.Path:
        """Where the compiler puts the shared library."""
        return library_of(self.path)

    def run(self, inputs: dict[str, Arr] | None = None) -> Outcome:
        """Everything the library leaves behind, as `program.run` gives it."""
        program = self.program
        values = {
            name: Arr(arr.dtype, np.array(arr.data, order="C"))
            for name, arr in (inputs or program.inputs).items()
        }
        generator = Arr(DType.I64, np.array([program.seed, 0], np.int64))
        with Library(self.library) as model:
            status, message, made = model.run({**values, "generator": generator})
        if status:
            kind = "IndexError" if status == TRAP else "status"
            return {"error": f"{kind}: {status} {message}"}
        out: Outcome = dict(zip(program.outputs, made))
        out.update({f"{name} after": arr for name, arr in values.items()})
        grads = iter(made[len(program.outputs) :])
        for name in program.grads:
            out[f"{name}.grad"] = None if name in self.missing else next(grads)
        return out


def compile_all(torchc: str, paths: list[pathlib.Path], *options: str, batch: int = 25) -> str:
    """Compiles saved programs of one folder, some in each process; "" or what was complained about."""

    def some(first: int) -> str:
        names = [path.name for path in paths[first : first + batch]]
        command = [torchc, "compile", "--emit=so", *options, *names]
        done = subprocess.run(command, cwd=paths[0].parent, text=True, capture_output=True)
        crash = f"{names[0]}...: exit code {done.returncode}\n" if done.returncode < 0 else ""
        return done.stderr + crash

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return "".join(pool.map(some, range(0, len(paths), batch)))
