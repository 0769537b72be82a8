"""python3 -m torchc._capture FILE.py FUNCTION OUT.tcz NAME=DTYPE[SIZE,...] ...

What `torchc compile FILE.py:FUNCTION` starts: imports the file, records the function (or module) on example inputs of
the given types and sizes, and saves the program. Errors go to stderr as one line; the exit code is 0 or 1.
"""

from __future__ import annotations

import importlib.util
import inspect
import pathlib
import sys
import traceback

import torchc
from torchc import export

_DTYPES = {
    "bool": "bool",
    "u8": "uint8",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
}


class _UserError(Exception):
    """Ends the program with its text."""


def _load(path: pathlib.Path, name: str):
    """The object called `name` (dots allowed) of a Python file."""
    if not path.is_file():
        raise _UserError(f"{path}: no such file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise _UserError(f"{path}: expected a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent.resolve()))
    spec.loader.exec_module(module)
    found = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise _UserError(f"{path}: it has no '{name}'")
        found = getattr(found, part)
    if not callable(found):
        raise _UserError(f"{path}: '{name}' is no function or module, but {type(found).__name__}")
    return found


def _example(spec: str) -> tuple[str, torchc.Tensor]:
    """NAME=DTYPE[SIZES] as a name and zeros."""
    name, _, kind = spec.partition("=")
    dtype, _, sizes = kind.partition("[")
    dtype = _DTYPES.get(dtype, dtype)
    if dtype not in _DTYPES.values() or not sizes.endswith("]"):
        raise _UserError(f"--input {spec}: expected NAME=DTYPE[SIZE,...]")
    shape = [int(size) for size in sizes[:-1].split(",") if size.strip()]
    return name, torchc.zeros(shape, dtype=getattr(torchc, dtype))


def _check_inputs(called: str, function, inputs) -> None:
    """Raises _UserError unless each argument without a default has an --input, and each --input an argument."""
    try:
        known = list(inspect.signature(getattr(function, "forward", function)).parameters.values())
    except ValueError:  # a callable without a signature
        return
    single = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    missing = [
        p.name for p in known if p.kind in single and p.default is p.empty and p.name not in inputs
    ]
    if missing:
        options = " ".join(f"--input {name}=DTYPE[SIZE,...]" for name in missing)
        raise _UserError(f"{called} takes more arguments: add {options}")
    names = [p.name for p in known if p.kind in single]
    for name in inputs:
        if name not in names and not any(p.kind is p.VAR_KEYWORD for p in known):
            takes = f"it takes {', '.join(names)}" if names else "it takes none"
            raise _UserError(f"--input: {called} has no argument named '{name}'; {takes}")


def _source_line(error: BaseException, path: pathlib.Path) -> str:
    """The deepest line of the user's file that the error passed, "FILE:LINE: "."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if pathlib.Path(frame.filename).resolve() == path.resolve()
    ]
    return f"{path}:{lines[-1]}: " if lines else f"{path}: "


def main(argv: list[str]) -> int:
    """Records and saves; 0, or 1 after a message."""
    if len(argv) < 3:
        print(__doc__, file=sys.stderr)
        return 1
    path, name, out = pathlib.Path(argv[0]), argv[1], argv[2]
    try:
        inputs = dict(_example(spec) for spec in argv[3:])
        if len(inputs) != len(argv) - 3:
            raise _UserError("--input: a name is given twice")
        function = _load(path, name)
        _check_inputs(f"{path}: {name}()", function, inputs)
        export.save(export.export(function, (), inputs), out)
    except _UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except Exception as error:  # whatever the user's file raises
        print(f"error: {_source_line(error, path)}{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
