"""opcheck: does an operator keep what it was registered with?"""

from __future__ import annotations

from torchc import _C
from torchc.library._custom import _overload_of
from torchc.testing import assert_close
from torchc.utils._pytree import tree_leaves, tree_map

__all__ = ["OpCheckError", "opcheck"]

_ALL = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")


class OpCheckError(Exception):
    """What opcheck raises: the operator doesn't do what its registration says."""


def _copied(value):
    def copy(v):
        return v.detach().clone().requires_grad_(v.requires_grad) if isinstance(v, _C.Tensor) else v

    return tree_map(copy, value)


def _tensors(value) -> list:
    return [v for v in tree_leaves(value) if isinstance(v, _C.Tensor)]


def _same(a, b) -> bool:
    return (
        a.shape == b.shape
        and a.dtype == b.dtype
        and _C._to_bytes(a.detach()) == _C._to_bytes(b.detach())
    )


def _test_schema(op, args, kwargs) -> None:
    """Writes and aliases are those of the schema."""
    args, kwargs = _copied((args, kwargs))
    args = tree_map(lambda v: v.detach() if isinstance(v, _C.Tensor) else v, args)
    before = _copied((args, kwargs))
    result = op(*args, **kwargs)
    for i, declared in enumerate(op._schema.arguments):
        now = args[i] if i < len(args) else kwargs.get(declared.name)
        old = before[0][i] if i < len(args) else before[1].get(declared.name)
        changed = not all(_same(a, b) for a, b in zip(_tensors(now), _tensors(old)))
        if changed and not declared.is_write:
            raise OpCheckError(
                f"Argument {declared.name} is not defined as mutable but was mutated ({op._schema})"
            )
    if any(r.is_alias for r in op._schema.returns):
        return
    inputs = {t.untyped_storage().data_ptr() for t in _tensors((args, kwargs)) if t.numel()}
    for t in _tensors(result):
        if t.numel() and t.untyped_storage().data_ptr() in inputs:
            raise OpCheckError(
                f"A result aliases an argument, which the schema doesn't say ({op._schema})"
            )


def _test_autograd_registration(op, args, kwargs) -> None:
    """Where arguments require gradients, floating results do, and can be differentiated."""
    args, kwargs = _copied((args, kwargs))
    if not any(t.requires_grad for t in _tensors((args, kwargs))):
        return
    results = [t for t in _tensors(op(*args, **kwargs)) if t.is_floating_point()]
    if results and not any(t.requires_grad for t in results):
        raise OpCheckError(
            f"{op}: an argument requires grad but no result does: register_autograd is missing"
        )
    from torchc import autograd

    wanted = [t for t in _tensors((args, kwargs)) if t.requires_grad]
    given = [t for t in results if t.requires_grad]
    autograd.grad(given, wanted, [_C.ones_like(t) for t in given], allow_unused=True)


def _test_faketensor(op, args, kwargs) -> None:
    """The fake kernel gives the shapes and types of the real one."""

    def meta(value):
        return tree_map(lambda v: v.detach().to("meta") if isinstance(v, _C.Tensor) else v, value)

    fake = _tensors(op(*meta(args), **meta(kwargs)))
    real = _tensors(op(*_copied(args), **_copied(kwargs)))
    if len(fake) != len(real):
        raise OpCheckError(
            f"{op}: the fake kernel gives {len(fake)} tensors, the real one {len(real)}"
        )
    for i, (f, r) in enumerate(zip(fake, real)):
        if f.shape != r.shape or f.dtype != r.dtype:
            raise OpCheckError(
                f"{op}: result {i} is {f.dtype} {tuple(f.shape)} by the fake kernel, {r.dtype} {tuple(r.shape)} by "
                "the real one"
            )


def _test_compiled(op, args, kwargs) -> None:
    """A compiled function around the operator gives what eager gives."""
    from torchc import jit

    compiled = jit._compiled(lambda a, k: op(*a, **k), background=False, name=str(op), replay=False)
    for _ in range(3):
        want, got = op(*_copied(args), **_copied(kwargs)), compiled(_copied(args), _copied(kwargs))
        for w, g in zip(_tensors(want), _tensors(got), strict=True):
            assert_close(g, w, rtol=0, atol=0, equal_nan=True)


_TESTS = {
    "test_schema": _test_schema,
    "test_autograd_registration": _test_autograd_registration,
    "test_faketensor": _test_faketensor,
    "test_aot_dispatch_dynamic": _test_compiled,
}


def opcheck(
    op, args, kwargs=None, *, test_utils=_ALL, raise_exception: bool = True, atol=None, rtol=None
) -> dict[str, str]:
    """Checks an operator on example arguments: writes and aliases, gradients, fake kernel, compiled calls.

    Args:
        op: an operator, its CustomOpDef or its name.
        args, kwargs: example arguments.
        test_utils: names of the tests, or one name.
        raise_exception: False gives the failures as values.
        atol, rtol: accepted and without effect; compiled calls give eager's bits.

    Returns {test: "SUCCESS"}. Raises OpCheckError naming the first test that failed.
    """
    overload = _overload_of(op)
    names = [test_utils] if isinstance(test_utils, str) else list(test_utils)
    results: dict[str, str] = {}
    for name in names:
        if name not in _TESTS:
            raise ValueError(f"opcheck(): unknown test {name!r}; expected {', '.join(_ALL)}")
        try:
            _TESTS[name](overload, tuple(args), dict(kwargs or {}))
            results[name] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise OpCheckError(
                    f"opcheck(op, ...): {name} failed with {error} (scroll up for stack trace)"
                ) from error
            results[name] = error  # type: ignore[assignment]
    return results
