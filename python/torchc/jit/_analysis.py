"""Which functions may be replayed without running their Python code (rule J4).

Conservative: straight-line arithmetic on the arguments and constant numbers. Such a function reads nothing but its
arguments and writes nothing, so that equal layouts of exact tensors mean equal operations.
"""

from __future__ import annotations

import dis
import inspect
import types

__all__ = ["reads_more_than_arguments"]

_PLAIN = frozenset(
    "RESUME NOP CACHE LOAD_FAST LOAD_CONST STORE_FAST BINARY_OP UNARY_NEGATIVE UNARY_POSITIVE BUILD_TUPLE RETURN_VALUE "
    "EXTENDED_ARG".split()
)
_OPERATORS = frozenset(["+", "-", "*", "/", "@"])
_FORBIDDEN = (
    inspect.CO_VARARGS
    | inspect.CO_VARKEYWORDS
    | inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
    | inspect.CO_ITERABLE_COROUTINE
)


def reads_more_than_arguments(fn) -> str:
    """Why the function can't be replayed; "" if it can."""
    if not isinstance(fn, types.FunctionType):
        return f"it is no plain function but {type(fn).__name__}"
    code = fn.__code__
    if code.co_flags & _FORBIDDEN or code.co_kwonlyargcount:
        return "it takes a variable number of arguments, or keywords alone, or is a generator or coroutine"
    if code.co_cellvars or code.co_freevars:
        return "it has or reads variables of an enclosing function"
    for at in dis.get_instructions(code):
        positions = getattr(at, "positions", None)
        where = f"line {positions.lineno}" if positions else "its code"
        if at.opname not in _PLAIN:
            return f"{where} does more than arithmetic ({at.opname} {at.argrepr})".replace(
                " )", ")"
            )
        if at.opname == "BINARY_OP" and at.argrepr not in _OPERATORS:
            return f"{where} uses the operator {at.argrepr}"
        if at.opname == "LOAD_CONST" and type(at.argval) not in (int, float):
            return f"{where} uses the constant {at.argrepr}"
    return ""
