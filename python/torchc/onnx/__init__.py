"""torchc.onnx: ONNX models as functions of tensors, and programs as ONNX models.

model = torchc.onnx.load("model.onnx")        # opsets 1 to the newest
y = model(x)                                  # eager: differentiable, compilable, exportable
torchc.onnx.export(net, (x,), "net.onnx")
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping, Sequence

from torchc import _C
from torchc.errors import Unsupported

__all__ = ["ONNXModel", "ONNXProgram", "export", "load"]

_DEFAULT_OPSET = 21


class ONNXModel:
    """A loaded model. Calling it runs its operators by the eager API.

    Attributes:
        input_names, output_names: lists of str, in the model's order. Inputs that have an initializer are not counted.
        opset: the version of the default operator set that the file names.
    """

    def __init__(self, program) -> None:
        self._program = program
        inputs, outputs, self.opset = _C._onnx_info(program)
        self.input_names = [name for name, _, _ in inputs]
        self.output_names = [name for name, _, _ in outputs]
        self._shapes = {name: shape for name, _, shape in inputs}

    def __repr__(self) -> str:
        inputs = ", ".join(f"{n}{self._shapes[n] or ''}" for n in self.input_names)
        return f"ONNXModel({inputs} -> {', '.join(self.output_names)}; opset {self.opset})"

    def state_dict(self) -> dict[str, _C.Tensor]:
        """The initializers by name. They are the tensors that the model uses: writing to one changes the model."""
        return dict(_C._onnx_weights(self._program))

    def __call__(self, *args, **kwargs):
        """Runs the model.

        Args: tensors in the order of `input_names` or by name, or one dict from names to tensors. An array of NumPy
            is taken as a tensor, and then results are arrays, too. Lists stand for sequences.

        Returns the result, a tuple of results, or for a dict of inputs a dict by `output_names`.

        Raises ValueError for missing or unknown inputs and sizes that don't fit, TypeError for an element type
        that the model doesn't take.
        """
        by_name = len(args) == 1 and isinstance(args[0], Mapping) and not kwargs
        given = dict(args[0]) if by_name else self._bind(args, kwargs)
        unknown = [n for n in given if n not in self._shapes]
        if unknown:
            raise ValueError(f"ONNX: no input named {unknown[0]!r}; inputs are {self.input_names}")
        arrays = False
        values = []
        for name in self.input_names:
            value, foreign = _tensors(given.get(name))
            arrays = arrays or foreign
            values.append(value)
        results = _C._onnx_run(self._program, values)
        if arrays:
            results = [_arrays(r) for r in results]
        if by_name:
            return dict(zip(self.output_names, results, strict=True))
        return results[0] if len(results) == 1 else tuple(results)

    def _bind(self, args, kwargs) -> dict:
        if len(args) > len(self.input_names):
            raise ValueError(
                f"ONNX: the model takes {len(self.input_names)} inputs, got {len(args)}"
            )
        given = dict(zip(self.input_names, args, strict=False))
        for name, value in kwargs.items():
            if name in given:
                raise ValueError(f"ONNX: input {name!r} is given twice")
            given[name] = value
        return given


def _tensors(value):
    """(tensors for the arrays in value, whether there were any)."""
    if value is None or isinstance(value, _C.Tensor):
        return value, False
    numbers = isinstance(value, (list, tuple)) and all(isinstance(v, (int, float)) for v in value)
    if isinstance(value, (list, tuple)) and not (numbers and value):
        pairs = [_tensors(v) for v in value]
        return [v for v, _ in pairs], any(f for _, f in pairs)
    return _C.tensor(value), hasattr(value, "__array__")


def _arrays(value):
    if isinstance(value, _C.Tensor):
        return value.detach().numpy()
    return [_arrays(v) for v in value] if isinstance(value, list) else value


def load(f: str | os.PathLike | bytes) -> ONNXModel:
    """Loads a model: a path, or the file's bytes (then without external data).

    Raises ValueError for a file that is no valid ONNX model, NotImplementedError for an operator or element type that
    torchc lacks, OSError for a file that can't be read; each names the node or tensor.
    """
    return ONNXModel(_C._onnx_load(f if isinstance(f, bytes) else os.fspath(f)))


class ONNXProgram:
    """An exported model. `model_bytes` is the file; calling the program runs it."""

    def __init__(self, model_bytes: bytes) -> None:
        self.model_bytes = model_bytes

    def save(self, destination: str | os.PathLike) -> None:
        """Writes the model: whole, or not at all."""
        from torchc.serialization._write import write_file

        path = os.fspath(destination)
        if not os.path.isdir(os.path.dirname(path) or "."):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        write_file(path, lambda file: file.write(self.model_bytes))

    def __call__(self, *args, **kwargs):
        return load(self.model_bytes)(*args, **kwargs)


def export(
    model: Callable,
    args: Sequence = (),
    f: str | os.PathLike | None = None,
    *,
    kwargs: Mapping | None = None,
    verbose: bool | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    opset_version: int | None = None,
    dynamic_axes=None,
    dynamic_shapes=None,
    training=None,
    export_params: bool = True,
    keep_initializers_as_inputs: bool = False,
    do_constant_folding: bool = True,
    dynamo: bool = True,
    external_data: bool = False,
) -> ONNXProgram:
    """Records `model(*args, **kwargs)` and writes it as an ONNX model.

    Args:
        model: a module or a function of tensors.
        args, kwargs: example inputs; sizes are constants of the exported model.
        f: where to write; None only returns the program.
        input_names, output_names: for the first inputs and outputs; others keep the function's parameter names and
            `output` or `output0`, `output1`, ...
        opset_version: 13 to the newest, 21 by default.
        dynamic_axes, dynamic_shapes: None; sizes that vary raise Unsupported.
        verbose: True prints the recorded program.
        training, do_constant_folding, dynamo, keep_initializers_as_inputs, export_params, external_data: accepted at
            their defaults; weights are always stored in the model.

    Parameters and buffers become initializers under their names. Each node's doc_string is the line it comes from.

    Raises Unsupported for what one graph can't hold, NotImplementedError for what ONNX can't say, naming op and line,
    ValueError for an opset out of range, OSError when `f` can't be written.
    """
    from torchc.export import export as record

    if dynamic_axes or dynamic_shapes:
        raise Unsupported("onnx.export(dynamic_axes=...): sizes that vary; export once per size")
    if keep_initializers_as_inputs or external_data or not export_params:
        raise Unsupported("onnx.export(): weights are always initializers inside the model")
    if isinstance(args, _C.Tensor):
        args = (args,)
    program = record(model, tuple(args), kwargs)
    if verbose:
        print(program)
    opset = _DEFAULT_OPSET if opset_version is None else opset_version
    names = [list(input_names or ()), list(output_names or ())]
    data = _C._onnx_export(program.trace, list(program.state_dict.items()), opset, *names)
    result = ONNXProgram(data)
    if f is not None:
        result.save(f)
    return result
