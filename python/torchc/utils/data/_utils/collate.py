"""Samples to batches."""

from __future__ import annotations

import collections.abc
import copy
from typing import Any

from torchc import _C

__all__ = ["collate", "default_collate", "default_collate_fn_map", "default_convert"]

default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)


def _is_array(value) -> bool:
    return type(value).__module__ == "numpy" and hasattr(value, "__array_interface__")


def default_convert(data):
    """NumPy arrays in nested containers as tensors; everything else is kept."""
    if isinstance(data, _C.Tensor):
        return data
    if _is_array(data):
        return _C.as_tensor(data) if data.dtype.kind not in "SUO" else data
    if isinstance(data, collections.abc.Mapping):
        kind: Any = type(data)
        return kind({key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(value) for value in data))
    if isinstance(data, (tuple, list)):
        return [default_convert(value) for value in data]
    return data


def _stack(batch, *, collate_fn_map=None):
    return _C.stack(list(batch), 0)


def _stack_arrays(batch, *, collate_fn_map=None):
    first = batch[0]
    if first.dtype.kind in "SUO":
        raise TypeError(default_collate_err_msg_format.format(first.dtype))
    return (
        _C.as_tensor(batch)
        if first.shape == ()
        else _C.stack([_C.as_tensor(entry) for entry in batch], 0)
    )


def _floats(batch, *, collate_fn_map=None):
    return _C.tensor(batch, dtype=_C.float64)


def _ints(batch, *, collate_fn_map=None):
    return _C.tensor(batch)


def _strings(batch, *, collate_fn_map=None):
    return batch


default_collate_fn_map: dict = {
    _C.Tensor: _stack,
    bool: _ints,
    float: _floats,
    int: _ints,
    str: _strings,
    bytes: _strings,
}


def _rule(value, rules):
    """The rule for a value's class, or for a class above it."""
    if type(value) in rules:
        return rules[type(value)]
    for kind, rule in rules.items():
        if isinstance(value, kind):
            return rule
    return _stack_arrays if _is_array(value) else None


def _like(example, values):
    """A mutable sequence of the example's class where that can be copied, else a list."""
    try:
        made = copy.copy(example)
        for i, value in enumerate(values):
            made[i] = value
        return made
    except TypeError:
        return list(values)


def collate(batch, *, collate_fn_map=None):
    """A batch of samples as one of their kind; `collate_fn_map` maps classes to functions of a batch.

    Raises RuntimeError for sequences of different length, TypeError for classes without a rule.
    """
    first, rules = batch[0], collate_fn_map or {}
    rule = _rule(first, rules)
    if rule is not None:
        return rule(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, collections.abc.Mapping):
        merged = {
            key: collate([entry[key] for entry in batch], collate_fn_map=collate_fn_map)
            for key in first
        }
        try:
            kind: Any = type(first)
            return kind(merged)
        except TypeError:
            return merged
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(
            *(collate(entries, collate_fn_map=collate_fn_map) for entries in zip(*batch))
        )
    if isinstance(first, collections.abc.Sequence):
        if any(len(entry) != len(first) for entry in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        values = [collate(entries, collate_fn_map=collate_fn_map) for entries in zip(*batch)]
        return values if isinstance(first, tuple) else _like(first, values)
    raise TypeError(default_collate_err_msg_format.format(type(first)))


def default_collate(batch):
    """Stacks tensors, makes tensors of numbers (floats float64), and goes through dicts, tuples and lists."""
    return collate(batch, collate_fn_map=default_collate_fn_map)
