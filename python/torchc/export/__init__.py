"""torchc.export: a program without Python, as one recorded graph with its weights.

    program = torchc.export.export(model, (x,))
    torchc.export.save(program, "model.tcz")      # then: torchc compile model.tcz --emit=exe

What the function does with its tensors for these example inputs is what the graph does: sizes and Python numbers are
constants of it, and a function that looks at values (`item()`, `if x > 0`) is refused with the line that does.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from torchc import _C, jit
from torchc.errors import Unsupported

__all__ = ["ExportedProgram", "export", "save"]

_PARAMETER, _BUFFER = 2, 3  # kinds of inputs in a trace


@dataclass(frozen=True)
class ExportedProgram:
    """A recorded graph and what it needs; `str(program)` prints it, one operation per line with its source."""

    trace: bytes = field(repr=False)
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    state_dict: Mapping[str, _C.Tensor] = field(repr=False)

    def __str__(self) -> str:
        return _C._export_print(self.trace)


def _flatten(value, name: str, found: list[tuple[str, _C.Tensor]]) -> None:
    """Collects the tensors of nested tuples, lists and dicts in order, with names from their places."""
    if isinstance(value, _C.Tensor):
        found.append((name, value))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            _flatten(item, f"{name}.{key}", found)
    elif isinstance(value, (tuple, list)):
        for i, item in enumerate(value):
            _flatten(item, f"{name}.{i}", found)


def _arguments(fn: Callable, args: tuple, kwargs: Mapping) -> dict[str, object]:
    """The arguments by the names that the function gives them."""
    try:
        bound = inspect.signature(fn).bind(*args, **kwargs)
    except ValueError:  # a callable without a signature
        return {**{f"arg{i}": value for i, value in enumerate(args)}, **kwargs}
    named = {}
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            named.update({f"{name}{i}": item for i, item in enumerate(value)})
        elif kind is inspect.Parameter.VAR_KEYWORD:
            named.update(value)
        else:
            named[name] = value
    return named


def _state(fn) -> list[tuple[str, _C.Tensor, int]]:
    """Parameters and buffers of the module that is exported, or whose method is."""
    module = fn if hasattr(fn, "named_parameters") else getattr(fn, "__self__", None)
    if module is None or not hasattr(module, "named_parameters"):
        return []
    found = [(name, tensor, _PARAMETER) for name, tensor in module.named_parameters()]
    return found + [(name, tensor, _BUFFER) for name, tensor in module.named_buffers()]


def _private(value):
    """`value` with its tensors copied: recording runs the program, which may write to them, and their memory may be
    shared with NumPy. A tensor that occurs twice becomes two inputs."""
    if isinstance(value, _C.Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_private(v) for v in value))
    if type(value) in (tuple, list):
        return type(value)(_private(v) for v in value)
    if type(value) is dict:
        return {k: _private(v) for k, v in value.items()}
    return value


def export(
    mod: Callable,
    args: Sequence = (),
    kwargs: Mapping | None = None,
    *,
    dynamic_shapes=None,
    strict: bool = False,
) -> ExportedProgram:
    """Runs `mod` (a module or any function) on example inputs and records it.

    Args:
        mod: called as mod(*args, **kwargs); tensors may lie in nested tuples, lists and dicts. Its result: a tensor,
            or tensors nested the same way.
        args, kwargs: example inputs, which are copied first, each by itself. Tensors become inputs under the names
            of the function's parameters; numbers and strings are constants.
        dynamic_shapes: None; sizes that vary raise Unsupported.
        strict: accepted and without effect.

    Parameters and buffers of a module, and other tensors that the function uses, become weights. Memory of inputs and
    weights that the function writes to is written by the exported program, too.

    Raises TypeError for a result that isn't made of tensors, Unsupported for what one graph can't hold, naming it.
    """
    if dynamic_shapes is not None:
        raise Unsupported("export(dynamic_shapes=...): sizes that vary; export once per size")
    if not callable(mod):
        raise TypeError(f"export() expects a module or a function, got {type(mod).__name__}")
    if not isinstance(args, (tuple, list)):
        raise TypeError(
            f"export(): args must be a tuple of example inputs, got {type(args).__name__}"
        )
    jit._configure()  # nodes get the program's source lines
    args, kwargs = _private(tuple(args)), _private(dict(kwargs or {}))
    signature_of = getattr(mod, "forward", mod) if hasattr(mod, "named_parameters") else mod
    found: list[tuple[str, _C.Tensor]] = []
    for name, value in _arguments(signature_of, tuple(args), kwargs).items():
        _flatten(value, name, found)
    results: list[tuple[str, _C.Tensor]] = []

    def run() -> list[_C.Tensor]:
        value = mod(*args, **kwargs)
        _flatten(value, "output", results)
        if not results:
            raise TypeError(f"export(): expected a result of tensors, got {type(value).__name__}")
        return [tensor for _, tensor in results]

    trace, inputs, weights = _C._export_record(run, found, _state(mod))
    outputs = ("output",) if len(results) == 1 else tuple(f"output{i}" for i in range(len(results)))
    return ExportedProgram(trace, tuple(inputs), outputs, dict(weights))


def save(program: ExportedProgram, path: str | os.PathLike) -> None:
    """Writes `program` as a .tcz archive: program.tctrace, weights.safetensors, meta.json. Whole or not at all."""
    if not isinstance(program, ExportedProgram):
        raise TypeError(f"save() expects an ExportedProgram, got {type(program).__name__}")
    meta = json.dumps({"inputs": program.inputs, "outputs": program.outputs})
    _C._export_save(os.fspath(path), program.trace, list(program.state_dict.items()), meta)
