"""Library: operators defined by schemas, with kernels for dispatch keys."""

from __future__ import annotations

from collections.abc import Callable

from torchc import _C
from torchc.library._custom import _keys, _overload_of, _split, register_fake

__all__ = [
    "Library", "define", "fallthrough_kernel", "get_ctx", "impl", "impl_abstract", "register_autocast",
    "register_torch_dispatch", "register_vmap",
]  # fmt: skip

_KINDS = ("DEF", "IMPL", "FRAGMENT")
_COMPOSITE = "CompositeImplicitAutograd"
_spaces: set[str] = set()  # of libraries that define them


class Library:
    """Operators of a namespace. Kept until it is garbage; then its definitions are gone.

    Args:
        ns: the namespace.
        kind: "DEF" (one per namespace), "FRAGMENT" (more definitions), "IMPL" (kernels only).
        dispatch_key: default for `impl`.
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = ""):
        if kind not in _KINDS:
            raise ValueError(f"Unsupported library type: {kind}")
        if ns in ("prim", "aten") and kind == "DEF":
            raise ValueError(
                f"{ns} is a reserved namespace. Please try creating a library with another name."
            )
        if kind == "DEF" and ns in _spaces:
            raise RuntimeError(
                f"Only a single TORCH_LIBRARY can be used to register the namespace {ns}; use kind 'FRAGMENT'"
            )
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._defined: list[int] = []
        if kind == "DEF":
            _spaces.add(ns)

    def define(self, schema: str, alias_analysis: str = "", *, tags=()) -> str:
        """Defines `"name(Tensor x) -> Tensor"`; returns the name. RuntimeError if it is taken or malformed."""
        if self.kind == "IMPL":
            raise ValueError("define() is not for a library of kind 'IMPL'")
        if alias_analysis not in ("", "FROM_SCHEMA", "CONSERVATIVE"):
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        schema = schema.strip()
        head = schema.split("(")[0]
        if "::" in head and head.split("::")[0] != self.ns:
            raise ValueError(f"define(): {head} is not in the library's namespace {self.ns}")
        self._defined.append(_C._custom_define(schema if "::" in head else f"{self.ns}::{schema}"))
        return head.split("::")[-1]

    def impl(
        self,
        op_name,
        fn: Callable,
        dispatch_key: str = "",
        *,
        with_keyset=False,
        allow_override=False,
    ) -> None:
        """Registers `fn` for a dispatch key: CPU, CUDA, Meta, Autograd, CompositeExplicitAutograd or (the default)
        CompositeImplicitAutograd: a function of other operators, which are recorded and differentiated.

        NotImplementedError for other keys.
        """
        if not callable(fn):
            raise TypeError(
                f"Input function is required to be a callable but found type {type(fn)}"
            )
        if with_keyset:
            raise NotImplementedError("Library.impl(with_keyset=True)")
        name = op_name if isinstance(op_name, str) else op_name.name()
        if "::" in name and name.split("::")[0] != self.ns:
            raise ValueError(f"impl(): {name} is not in the library's namespace {self.ns}")
        key = dispatch_key or self.dispatch_key or _COMPOSITE
        qualified = name if "::" in name else f"{self.ns}::{name}"
        _C._custom_impl(_overload_of(qualified)._number, key, fn, False)

    def fallback(self, fn, dispatch_key="", *, with_keyset=False):
        """Raises NotImplementedError: operators have no fallback kernels."""
        raise NotImplementedError("Library.fallback: kernels for all operators of a dispatch key")

    def _register_fake(self, op_name, fn, _stacklevel=1):
        register_fake(op_name if "::" in op_name else f"{self.ns}::{op_name}", fn)

    def _destroy(self) -> None:
        for number in self._defined:
            _C._custom_remove(number)
        self._defined = []
        if self.kind == "DEF":
            _spaces.discard(self.ns)

    def __del__(self):
        # At the interpreter's exit the module's names are None, and the table of operators ends with the process.
        if _C is not None and hasattr(self, "_defined"):
            self._destroy()

    def __repr__(self):
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"


_kept: list[Library] = []


def define(qualname: str, schema, *, lib: Library | None = None, tags=()):
    """Defines the operator "ns::name" with the schema "(Tensor x) -> Tensor".

    With a function in the schema's place (or as a decorator): its schema is inferred and it is the implementation.
    """
    space, name = _split(qualname)
    if not isinstance(schema, str):
        raise ValueError(
            f"define(qualname, schema): expected schema to be of type str, got type {type(schema)}"
        )
    library = lib
    if library is None:
        library = Library(space, "FRAGMENT")
        _kept.append(library)
    library.define(name + schema)

    def implement(function):
        library.impl(name, function, _COMPOSITE)
        return function

    return implement


def impl(qualname: str, types, func: Callable | None = None, *, lib: Library | None = None):
    """Registers `func` for "cpu", "cuda", "default" (all devices), or for dispatch keys by name. Also a decorator."""
    names = [types] if isinstance(types, str) else list(types)
    keys: list[str] = []
    for name in names:
        if name == "default":
            keys.append("CompositeExplicitAutograd")
        elif name in ("cpu", "cuda", "meta"):
            keys.extend(_keys(name))
        else:
            keys.append(name)
    overload = _overload_of(qualname)

    def register(function):
        for key in keys:
            _C._custom_impl(overload._number, key, function, False)
        return function

    return register if func is None else register(func)


def impl_abstract(qualname, func=None, *, lib=None, _stacklevel=1):
    """The old name of register_fake."""
    return register_fake(qualname, func, lib=lib)


def fallthrough_kernel():
    """A marker for Library.fallback; calling it raises NotImplementedError."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


def get_ctx():
    """Raises NotImplementedError: fake kernels can't make sizes that depend on data."""
    raise NotImplementedError("torch.library.get_ctx(): sizes that depend on data in fake kernels")


def register_vmap(op, func=None, /, *, lib=None):
    """Raises NotImplementedError: torchc has no vmap."""
    raise NotImplementedError("torch.library.register_vmap: vmap")


def register_torch_dispatch(op, torch_dispatch_class, func=None, /, *, lib=None):
    """Raises NotImplementedError: torchc has no __torch_dispatch__ classes."""
    raise NotImplementedError("torch.library.register_torch_dispatch: __torch_dispatch__ classes")


def register_autocast(op, device_type, cast_inputs, /, *, lib=None):
    """Raises NotImplementedError: autocast does not cast for operators of one's own."""
    raise NotImplementedError("torch.library.register_autocast: autocast of custom operators")
