"""What programs ask about compilation; see torchc.compile."""

from __future__ import annotations

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "list_backends",
    "reset",
]


def is_compiling() -> bool:
    """False: the program's own Python code always runs."""
    return False


is_dynamo_compiling = is_compiling


def is_exporting() -> bool:
    """False, as is_compiling."""
    return False


def _itself(fn=None, *args, **kwargs):
    """`fn` itself; also usable as a decorator with arguments."""
    return (lambda f: f) if fn is None else fn


def disable(fn=None, recursive=True, *, reason=None):
    """`fn` itself: nothing is compiled by its source, so that nothing has to be left out."""
    return _itself(fn)


def allow_in_graph(fn):
    """`fn` itself."""
    return fn


def assume_constant_result(fn):
    """`fn` itself."""
    return fn


def reset() -> None:
    """Nothing: compiled functions notice every change by themselves."""


def list_backends(exclude_tags=()) -> list[str]:
    """The one there is."""
    return ["torchc"]
