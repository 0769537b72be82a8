"""torch.ops.aten: the operations that `__torch_dispatch__` sees, under PyTorch's names.

torchc's ops are fewer than PyTorch's: a function is seen as the ops that it is made of, `nn.functional.linear` as a
product and a sum. An overload is called with the arguments that a handler gets, or as the public function of its name.
"""

from __future__ import annotations

from types import SimpleNamespace

from torchc import _C

__all__ = ["AtenOverload", "AtenPacket", "namespace", "of_call"]

_ARITHMETIC = frozenset(
    "add sub mul div remainder fmod bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift".split()
)
_COMPARISONS = frozenset("eq ne lt le gt ge".split())
# op: name and overload, where they aren't the op's own and "default".
_NAMES = {
    "cast": ("_to_copy", "default"),
    "reshape": ("view", "default"),
    "transpose": ("transpose", "int"),
    "slice": ("slice", "Tensor"),
    "contiguous": ("clone", "default"),
    "where": ("where", "self"),
    "conv": ("convolution", "default"),
    "sum": ("sum", "dim_IntList"),
    "prod": ("prod", "dim_int"),
    "uniform": ("rand", "default"),
    "arange": ("arange", "start_step"),
    "scatter": ("scatter", "src"),
    "scatter_reduce": ("scatter_reduce", "two"),
    "softmax": ("_softmax", "default"),
    "log_softmax": ("_log_softmax", "default"),
    "lerp": ("lerp", "Tensor"),
    "search_sorted": ("searchsorted", "Tensor"),
    "max_pool": ("max_pool", "default"),
    "conj": ("conj", "default"),
}
_OPS = {names: op for op, names in _NAMES.items()}


class AtenOverload:
    """One operation, such as `torch.ops.aten.add.Tensor`; the same object each time."""

    namespace = "aten"
    __module__ = "torchc.ops.aten"

    def __init__(self, packet: AtenPacket, overload: str):
        self.overloadpacket, self._overloadname = packet, overload
        self.__name__ = self.__qualname__ = f"{packet.__name__}.{overload}"
        self._overloadpacket = packet
        name = packet.__name__
        self._writes = name.endswith("_") and not name.endswith("__")
        self._base = name.removesuffix("_") if self._writes else name
        self._op = _op_of(self._base, overload)
        self._schema = SimpleNamespace(
            name=f"aten::{name}",
            overload_name="" if overload == "default" else overload,
            is_mutable=self._writes or overload == "out",
        )

    def name(self) -> str:
        """ "aten::add.Tensor"."""
        suffix = self._schema.overload_name
        return self._schema.name + (f".{suffix}" if suffix else "")

    def __call__(self, /, *args, **kwargs):
        op, plain = self._op, args
        if self._base == "_to_copy" and set(kwargs) == {"dtype"} and len(args) == 1:
            plain, kwargs = (*args, kwargs["dtype"]), {}
        target = (
            kwargs.get("out") if self._overloadname == "out" else args[0] if self._writes else None
        )
        rest = set(kwargs) - ({"out"} if self._overloadname == "out" else set())
        if op and not rest and len(plain) == _C._op_arguments(op):
            return _C._call_op(
                op, plain, 1 if self._writes else 2 if target is not None else 0, target
            )
        return self._function()(*args, **kwargs)

    def _function(self):
        """The public function of that name."""
        import torchc

        name = self.overloadpacket.__name__
        if name == "_to_copy":
            return lambda x, **kwargs: x.to(**kwargs, copy=True)
        places = (torchc, _C.Tensor, torchc.nn.functional, torchc.special, torchc.linalg)
        for place in (_C.Tensor,) if self._writes else places:
            for found in (name, name.lstrip("_")):
                if hasattr(place, found):
                    return getattr(place, found)
        raise NotImplementedError(f"torch.ops.{self}: torchc has no function of that name")

    def __repr__(self):
        name, overload = self.overloadpacket.__name__, self._overloadname
        return f"<OpOverload(op='aten.{name}', overload='{overload}')>"

    def __str__(self):
        return f"aten.{self.__name__}"

    def __reduce__(self):
        return _named, (self.overloadpacket.__name__, self._overloadname)


class AtenPacket:
    """All overloads of a name, `torch.ops.aten.add`; called like the public function."""

    def __init__(self, name: str):
        self.__name__ = name
        self._qualified_op_name = f"aten::{name}"

    def __getattr__(self, overload):
        if overload.startswith("__"):
            raise AttributeError(overload)
        found = self.__dict__[overload] = AtenOverload(self, overload)
        return found

    def __call__(self, /, *args, **kwargs):
        return self.default(*args, **kwargs)

    def __repr__(self):
        return f"<OpOverloadPacket(op='aten.{self.__name__}')>"

    def __str__(self):
        return f"aten.{self.__name__}"


class _Namespace:
    """torch.ops.aten."""

    def __getattr__(self, name):
        if name.startswith("__") and not name.endswith("__"):
            raise AttributeError(name)
        found = self.__dict__[name] = AtenPacket(name)
        return found

    def __repr__(self):
        return "<_OpNamespace 'aten'>"


namespace = _Namespace()


def _named(name, overload):
    return getattr(getattr(namespace, name), overload)


def _op_of(name: str, overload: str) -> str | None:
    if name in ("mm", "bmm", "mv", "dot"):
        name = "matmul"
    op = _OPS.get((name, overload), name)
    if overload == "out":
        op = next((o for o, names in _NAMES.items() if names[0] == name), name)
    return op if _C._op_arguments(op) is not None else None


def _matmul_name(args) -> str:
    ranks = tuple(a.dim() for a in args)
    return {(2, 2): "mm", (3, 3): "bmm", (2, 1): "mv", (1, 1): "dot"}.get(ranks, "matmul")


def _names_of(op: str, args) -> tuple[str, str]:
    tensors = [isinstance(a, _C.Tensor) for a in args]
    if op in _ARITHMETIC:
        return op, "Tensor"
    if op in _COMPARISONS:
        return op, "Tensor" if tensors[1] else "Scalar"
    if op == "pow":
        return op, "Scalar" if not tensors[0] else "Tensor_Tensor" if tensors[
            1
        ] else "Tensor_Scalar"
    if op == "matmul":
        return _matmul_name(args), "default"
    return _NAMES.get(op, (op, "default"))


def of_call(op: str, args: tuple, kind: int, target):
    """The overload of an op's call, and the arguments as its handler gets them."""
    name, overload = _names_of(op, args)
    kwargs = {}
    if kind == 1:
        name += "_"
    elif kind == 2:
        overload, kwargs = "out", {"out": target}
    if op == "cast" and kind == 0:
        args, kwargs = args[:1], {"dtype": args[1]}
    elif op == "sum" and kind == 0 and len(args[1]) == args[0].dim() and not args[2]:
        overload, args = "default", args[:1]
    return getattr(getattr(namespace, name), overload), args, kwargs
