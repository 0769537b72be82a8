"""A module called with other parameters."""

from __future__ import annotations

from contextlib import contextmanager

__all__ = ["functional_call"]


def _place(module, name: str):
    path, _, leaf = name.rpartition(".")
    owner = module.get_submodule(path)
    for registry in (owner._parameters, owner._buffers):
        if leaf in registry:
            return registry, leaf
    raise ValueError(
        f"Unexpected key(s): {name} is no parameter or buffer of {type(module).__name__}"
    )


@contextmanager
def _swapped(module, values: dict, tie_weights: bool):
    """The module with these tensors in place of its own; a tensor that it has under two names is replaced at both."""
    places = {name: _place(module, name) for name in values}
    if tie_weights:
        given = {id(registry[leaf]): values[name] for name, (registry, leaf) in places.items()}
        members = (module.named_parameters, module.named_buffers)
        for named in members:
            for name, value in named(remove_duplicate=False):
                if id(value) in given and name not in values:
                    values = {**values, name: given[id(value)]}
                    places[name] = _place(module, name)
    old = {name: registry[leaf] for name, (registry, leaf) in places.items()}
    try:
        for name, (registry, leaf) in places.items():
            registry[leaf] = values[name]
        yield
    finally:
        for name, (registry, leaf) in places.items():
            # What forward wrote into a buffer's place goes to the caller's dict, the module keeps its own.
            registry[leaf] = old[name]


def functional_call(
    module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False
):
    """module(*args, **kwargs) with tensors, by name, instead of its parameters and buffers.

    Args:
        parameters_and_buffers: a dict, or a sequence of dicts without common names.
        tie_weights: a tensor known under two names is replaced at both.
        strict: every parameter and buffer must be given. Raises RuntimeError.
    """
    values: dict = {}
    dicts = parameters_and_buffers
    for part in [dicts] if isinstance(dicts, dict) else dicts:
        if not values.keys().isdisjoint(part):
            raise ValueError(
                f"{sorted(values.keys() & part.keys())} appear in more than one dictionary"
            )
        values.update(part)
    if strict:
        own = {name for name, _ in module.named_parameters()} | {
            name for name, _ in module.named_buffers()
        }
        if own != set(values):
            raise RuntimeError(
                f"Missing key(s): {sorted(own - set(values))}. Unexpected key(s): {sorted(set(values) - own)}."
            )
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    with _swapped(module, values, tie_weights):
        return module(*args, **(kwargs or {}))
