"""Schemas from the annotations of functions."""

from __future__ import annotations

import collections.abc
import inspect
import types
import typing

from torchc import _C

__all__ = ["infer_schema"]

_BASE = {
    _C.Tensor: "Tensor",
    int: "SymInt",
    float: "float",
    bool: "bool",
    str: "str",
    _C.dtype: "ScalarType",
    _C.device: "Device",
}
_LISTS = (list, collections.abc.Sequence, typing.List, typing.Sequence)  # noqa: UP006
_NUMBER = frozenset([int, float, bool])


def _type_of(annotation) -> str | None:
    """The schema's name for a type; None: there is none."""
    if annotation in _BASE:
        return _BASE[annotation]
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        if frozenset(args) == _NUMBER:
            return "Scalar"
        rest = [a for a in args if a is not type(None)]
        if len(rest) == len(args):
            return None
        inner = (
            "Scalar"
            if frozenset(rest) == _NUMBER
            else _type_of(rest[0])
            if len(rest) == 1
            else None
        )
        return inner and f"{inner}?"
    if origin in _LISTS and len(args) == 1:
        inner = _type_of(args[0])
        return inner and f"{inner}[]"
    return None


def _default_text(name: str, value) -> str:
    if value is None or isinstance(value, (bool, int)):
        return str(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (str, _C.device)):
        return f'"{value}"'
    if isinstance(value, _C.dtype):
        return str(value).split(".")[-1]
    raise ValueError(
        f"Parameter {name} has an unsupported default value type: {type(value).__name__}. "
        "Please file an issue or use a default of type int, float, bool, str, dtype, device or None."
    )


def _hints(function) -> dict:
    try:
        return typing.get_type_hints(function)
    except (NameError, TypeError) as error:
        raise ValueError(
            f"Unsupported type annotation in {function}: it can't be resolved ({error})."
        ) from error


def _returns(annotation, described) -> str:
    if annotation is inspect.Signature.empty:
        raise ValueError(f"{described}: No return type annotation was provided. Please add one.")
    if annotation in (None, type(None)):
        return "()"
    allowed = {"Tensor", "Tensor[]", "SymInt", "float", "bool", "Scalar"}
    if typing.get_origin(annotation) is tuple:
        items = typing.get_args(annotation)
        named = [_type_of(a) for a in items]
        if len(named) == 2 and items[1] is Ellipsis:
            named = [None]
    else:
        named = [_type_of(annotation)]
    if any(n not in allowed for n in named):
        raise ValueError(
            f"{described}: Return has unsupported type {annotation}. The valid types are: Tensor, list[Tensor], int, "
            "float, bool, Union[int, float, bool], None, and tuples of them."
        )
    return str(named[0]) if len(named) == 1 else f"({', '.join(map(str, named))})"


def infer_schema(prototype_function, /, *, mutates_args, op_name: str | None = None) -> str:
    """The schema of a function from its annotations: `(Tensor x, float by=2.0) -> Tensor`.

    Args:
        prototype_function: each parameter and the result have annotations: Tensor, int, float, bool, str, dtype,
            device, Union[int, float, bool], Optional and list or Sequence of those.
        mutates_args: names of the parameters that the function writes to; "unknown": of all that are tensors.
        op_name: put in front.

    Raises ValueError naming function and parameter for what a schema can't say.
    """
    described = f"infer_schema({getattr(prototype_function, '__name__', prototype_function)})"
    signature = inspect.signature(prototype_function)
    hints = _hints(prototype_function)
    if not isinstance(mutates_args, str):
        mutates_args = set(mutates_args)
    elif mutates_args != "unknown":
        raise ValueError(
            f'{described}: mutates_args must be a sequence of names or "unknown", got {mutates_args!r}'
        )
    texts: list[str] = []
    seen: set[str] = set()
    keyword = False
    for name, p in signature.parameters.items():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY):
            raise ValueError(
                f"{described}: We do not support positional-only args, varargs, or varkwargs (parameter {name})."
            )
        if name not in hints:
            raise ValueError(
                f"{described}: Parameter {name} must have a type annotation. Got {signature}."
            )
        kind = _type_of(hints[name])
        if kind is None:
            raise ValueError(
                f"{described}: Parameter {name} has unsupported type {hints[name]}. The valid types are: Tensor, int, "
                "float, bool, str, dtype, device, Union[int, float, bool], Optional and lists of them."
            )
        seen.add(name)
        if name in mutates_args if mutates_args != "unknown" else kind.startswith("Tensor"):
            if not kind.startswith("Tensor"):
                raise ValueError(
                    f"{described}: Parameter {name} is in mutable_args but only Tensors or collections of Tensors "
                    "can be mutated"
                )
            kind = f"Tensor(a{len(texts)}!){kind[len('Tensor') :]}"
        if p.kind is p.KEYWORD_ONLY and not keyword:
            keyword = True
            texts.append("*")
        default = "" if p.default is p.empty else f"={_default_text(name, p.default)}"
        texts.append(f"{kind} {name}{default}")
    if mutates_args != "unknown" and (unknown := sorted(mutates_args - seen)):
        raise ValueError(
            f"{described}: mutates_args should contain only names of parameters, got {', '.join(unknown)} too."
        )
    result = _returns(hints.get("return", signature.return_annotation), described)
    return f"{op_name or ''}({', '.join(texts)}) -> {result}"
