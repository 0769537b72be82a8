"""torch.ops: operators by namespace and name, `torch.ops.mylib.scale(x)`; torchc.library registers them.

`torch.ops.ns.name` is called like the operator itself; `torch.ops.ns.name.default` is its overload without a name.
"""

from __future__ import annotations

from types import SimpleNamespace

from torchc import _C

__all__ = ["OpOverload", "OpOverloadPacket"]


class FunctionSchema:
    """The signature of an operator; `str` gives PyTorch's notation."""

    def __init__(self, text):
        space, name, overload, self._text, arguments, returns = _C._custom_schema(text)
        self.name = f"{space}::{name}"
        self.overload_name = overload
        self.arguments = [SimpleNamespace(**a) for a in arguments]
        self.returns = [SimpleNamespace(**a) for a in returns]

    @property
    def is_mutable(self) -> bool:
        """Does the operator write to arguments?"""
        return any(a.is_write for a in self.arguments)

    def __str__(self):
        return self._text

    __repr__ = __str__

    def __eq__(self, other):
        return isinstance(other, FunctionSchema) and str(self) == str(other)

    __hash__ = None  # type: ignore[assignment]


class OpOverload:
    """One operator; called with its arguments. RuntimeError names operator, argument, expected and given type."""

    def __init__(self, packet, number: int):
        self._overloadpacket, self._number = packet, number
        self._schema = FunctionSchema(number)
        self._overloadname = self._schema.overload_name or "default"
        self.namespace = self._schema.name.split("::")[0]
        self.__name__ = f"{packet.__name__}.{self._overloadname}"
        self.__qualname__ = self.__name__
        self.__module__ = packet.__module__

    def __call__(self, /, *args, **kwargs):
        return _C._custom_call(self._number, args, kwargs)

    def redispatch(self, /, *args, **kwargs):
        """The kernel alone, without gradients."""
        return _C._custom_kernel(self._number, args, kwargs)

    def name(self) -> str:
        """ "ns::name", with ".overload" if that has a name."""
        overload = self._schema.overload_name
        return self._schema.name + (f".{overload}" if overload else "")

    def has_kernel_for_dispatch_key(self, key: str) -> bool:
        """Is there a kernel for "CPU", "CUDA", "Meta" or "CompositeImplicitAutograd"?"""
        return _C._custom_has(self._number, key)

    def overloadpacket(self):
        """What `torch.ops.ns.name` is."""
        return self._overloadpacket

    def __repr__(self):
        return f"<OpOverload(op='{self.namespace}.{self._overloadpacket.__name__}', overload='{self._overloadname}')>"

    def __str__(self):
        return f"{self.namespace}.{self.__name__}"


class OpOverloadPacket:
    """All overloads of one name; a call takes the first whose arguments fit."""

    def __init__(self, space: str, name: str):
        self._qualified_op_name, self.__name__ = f"{space}::{name}", name
        self.__module__ = f"torchc.ops.{space}"
        self._known: dict[int, OpOverload] = {}

    def overloads(self) -> list[str]:
        """The names of the overloads in the order of their definition; "default" for the one without."""
        space, name = self._qualified_op_name.split("::")
        known = [n for n in _C._custom_names(space) if n.split(".")[0] == name]
        known.sort(key=lambda n: _C._custom_find(f"{space}::{n}"))
        return [n.partition(".")[2] or "default" for n in known]

    def _overload(self, overload: str):
        suffix = "" if overload == "default" else f".{overload}"
        number = _C._custom_find(self._qualified_op_name + suffix)
        if number is None:
            return None
        if number not in self._known:
            self._known = {number: OpOverload(self, number), **self._known}
        return self._known[number]

    def __getattr__(self, name):
        found = None if name.startswith("__") else self._overload(name)
        if found is None:
            raise AttributeError(
                f"The underlying op of '{self._qualified_op_name.replace('::', '.')}' has no overload name '{name}'"
            )
        return found

    def __call__(self, /, *args, **kwargs):
        default = self._overload("default")
        others = [] if default else self.overloads()
        if len(others) < 2:
            chosen = default or (self._overload(others[0]) if others else None)
            if chosen is None:
                raise RuntimeError(f"{self._qualified_op_name}: there is no such operator any more")
            return chosen(*args, **kwargs)
        reasons = []
        for name in others:
            overload = self._overload(name)
            try:
                return overload(*args, **kwargs)
            except RuntimeError as error:
                if "Declaration: " not in str(error) and "Schema: " not in str(error):
                    raise
                reasons.append(str(error))
        raise RuntimeError(
            f"No overload of {self._qualified_op_name} takes these arguments:\n"
            + "\n".join(reasons)
        )

    def __dir__(self):
        return [*super().__dir__(), *self.overloads()]

    def __repr__(self):
        return f"<OpOverloadPacket(op='{self._qualified_op_name.replace('::', '.')}')>"

    def __str__(self):
        return self._qualified_op_name.replace("::", ".")


class _OpNamespace:
    """The operators of a namespace, as attributes."""

    def __init__(self, name: str):
        self.name = name

    def __getattr__(self, op):
        if op.startswith("__") or not any(
            n.split(".")[0] == op for n in _C._custom_names(self.name)
        ):
            raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{op}'")
        packet = OpOverloadPacket(self.name, op)
        return packet

    def __dir__(self):
        return sorted({n.split(".")[0] for n in _C._custom_names(self.name)})

    def __repr__(self):
        return f"<_OpNamespace '{self.name}'>"


def load_library(path):
    """Raises NotImplementedError: libraries built against PyTorch don't fit; register operators with torchc.library."""
    raise NotImplementedError(
        f"torch.ops.load_library({str(path)!r}): shared libraries of operators; use torchc.library.custom_op"
    )


def __getattr__(name):
    """A namespace; it may be empty, then each of its attributes is an AttributeError."""
    if name.startswith("__"):
        raise AttributeError(f"module 'torchc.ops' has no attribute '{name}'")
    if name == "aten":
        from torchc._aten import namespace

        globals()[name] = namespace
    else:
        globals()[name] = _OpNamespace(name)
    return globals()[name]
