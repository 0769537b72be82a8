"""torchc.compile: the same program as native code, without waiting and without changing what it computes.

The first call runs eagerly and is recorded; a helper process compiles in the background; later calls run the Python
code with its operations matched against the recording and launched together. Whatever isn't recorded runs eagerly and
is recorded next time. `fn.report()` tells what happens and why.
"""

from __future__ import annotations

import atexit
import functools
import pathlib
import sys

from torchc import _C, knobs
from torchc.errors import Unsupported

__all__ = ["compile", "records"]


def _helper() -> tuple[str, str]:
    """The compiler's executable and, where there is none, the reason."""
    package = pathlib.Path(_C.__file__).resolve().parent
    places = [
        package / "bin/torchc",  # a wheel
        package.parents[1] / "bin/torchc",  # a build folder: build/dev/python/torchc
        pathlib.Path(sys.executable).parent / "torchc",
    ]
    for place in places:
        if place.is_file():
            return str(place), ""
    return "", f"there is no compiler: expected the executable {places[0]} or {places[1]}"


def _write_log(path: str) -> None:
    """Appends the process's records to the file that TORCHC_LOG names; says so in one line where that fails."""
    try:
        with open(path, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(records())
    except OSError as error:
        print(
            f"torchc: warning: TORCHC_LOG: cannot write {path}: {error.strerror}", file=sys.stderr
        )


@functools.cache
def _configure() -> None:
    """Tells the core once where compiler, cache and package lie."""
    path, why = _helper()
    if knobs.log:
        atexit.register(_write_log, str(knobs.log))
    _C._jit_configure(
        path, knobs.cache_dir or "", str(pathlib.Path(__file__).parents[1]) + "/", why
    )


_MODES = ("exact", "default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs", None)


def compile(  # noqa: A001 - the name is PyTorch's
    fn=None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    mode: str | None = "exact",
    background: bool = True,
    backend: str = "inductor",
    options: dict | None = None,
    disable: bool = False,
):
    """A callable that computes what `fn` does, bit for bit, as compiled code once that is ready. Also a decorator.

    Args:
        fn: a function, or a module: then calls of it are compiled, as its class and `forward` are at each call, and
            all else passes through. Methods that return the module return the compiled one.
        fullgraph: a call that isn't one graph (it looks at the numbers of a tensor, or runs what can't be compiled)
            raises CompileError with the source line, after the function has run. With background=True the compiler's
            own refusal comes at a later call.
        dynamic: None and True: a size of the inputs that comes with a second value becomes dynamic; one compiled
            graph then serves all its values, and the report names the sizes that can't and why. False: each shape is
            compiled by itself.
        mode: "exact", which computes eager's bits. PyTorch's modes ("default", "reduce-overhead", "max-autotune", ...)
            ask for speed only and mean the same here; others raise Unsupported.
        backend: a name of one of PyTorch's: all mean torchc's compiler. A function raises Unsupported.
        options: None or empty: a backend's options raise Unsupported.
        disable: True gives `fn` back.
        background: False waits for the compiler after each recorded call, a minute at most: then the call goes on,
            and the report says so.

    Raises TypeError when `fn` is not callable; calls raise what `fn` raises.
    """
    if mode not in _MODES:
        raise Unsupported(f"compile(mode={mode!r}): expected one of {', '.join(map(str, _MODES))}")
    if not isinstance(backend, str):
        raise Unsupported("compile(backend=a function): graphs as Python objects; give a name")
    if options:
        raise Unsupported(f"compile(options={options!r}): options of PyTorch's backends")
    if fn is None:
        return functools.partial(
            compile, fullgraph=fullgraph, background=background, dynamic=dynamic, disable=disable
        )
    if disable:
        return fn
    if not callable(fn):
        raise TypeError(f"compile() expects a function or a module, got {type(fn).__name__}")
    nn = sys.modules.get("torchc.nn")
    options = {"dynamic": dynamic is not False, "fullgraph": fullgraph}
    if nn is not None and isinstance(fn, nn.Module):
        from torchc.jit._module import CompiledModule

        return CompiledModule(fn, background=background, **options)
    return _compiled(fn, background, **options)


def _compiled(
    fn, background: bool, name: str | None = None, replay: bool = True, source=None, **options
):
    """`fn` compiled. `source`: what to name as the program's function in its place."""
    _configure()
    source = source or fn
    code = getattr(getattr(source, "__func__", source), "__code__", None)
    compiled = _C._CompiledFunction(
        fn,
        name or getattr(fn, "__qualname__", type(fn).__name__),
        code.co_filename if code else "",
        code.co_firstlineno if code else 0,
        compile=knobs.compile != "off",
        background=background,
        **options,
    )
    if replay:
        from torchc.jit._analysis import reads_more_than_arguments

        compiled._allow_replay(reads_more_than_arguments(fn))
    return functools.update_wrapper(compiled, source)


def records() -> str:
    """What the process's compiled functions did that one may want to know, one line each."""
    return _C._jit_records()


def __getattr__(name):
    """TorchScript's names, on first use."""
    from importlib import import_module

    _script = import_module("torchc.jit._script")
    if name in _script.__all__:
        return getattr(_script, name)
    raise AttributeError(f"module 'torchc.jit' has no attribute '{name}'")
