"""TorchScript's names. Scripting is not done: a scripted function is the function, and saving one is refused."""

from __future__ import annotations

from torchc.errors import Unsupported

__all__ = [
    "Final",
    "TracerWarning",
    "annotate",
    "export",
    "freeze",
    "ignore",
    "interface",
    "is_scripting",
    "is_tracing",
    "load",
    "script",
    "script_if_tracing",
    "trace",
    "unused",
]

Final = None


class TracerWarning(Warning):
    """PyTorch's warning of its tracer. Never raised here."""


def is_scripting() -> bool:
    """False: Python runs the program."""
    return False


is_tracing = is_scripting


def script(obj=None, *args, **kwargs):
    """`obj` itself, a function, class or module: Python runs it. `torchc.compile` makes it fast."""
    return (lambda f: f) if obj is None else obj


def _itself(fn=None, **kwargs):
    """`fn` itself."""
    return (lambda f: f) if fn is None or isinstance(fn, bool) else fn


export = interface = script_if_tracing = unused = _itself


def ignore(drop=False, **kwargs):
    """`drop` itself when it is a function, else a decorator that changes nothing."""
    return drop if callable(drop) else (lambda f: f)


def annotate(the_type, the_value):
    """`the_value` itself."""
    return the_value


def freeze(mod, *args, **kwargs):
    """`mod` itself, which must be in evaluation mode. Raises RuntimeError otherwise."""
    if mod.training:
        raise RuntimeError("Freezing is currently only implemented for modules in eval mode.")
    return mod


def trace(func, example_inputs=None, *args, **kwargs):
    """`func` itself: `torchc.export.export` records a program with example inputs."""
    return func


def load(f, *args, **kwargs):
    """Raises Unsupported: TorchScript archives hold code of another language."""
    raise Unsupported("jit.load: TorchScript archives; torchc.load reads checkpoints")
