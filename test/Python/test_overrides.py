"""__torch_function__: subclasses, classes that are no tensors, modes. The rules are PyTorch's protocol."""

from __future__ import annotations

import copy
import inspect
import pickle
import threading
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
F = torch.nn.functional
overrides = torch.overrides


class Plain(torch.Tensor):
    """A subclass with the default behaviour."""


class Logged(torch.Tensor):
    """Writes down the name of each function."""

    calls: list[str] = []

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.calls.append(overrides.resolve_name(func))
        return super().__torch_function__(func, types, args, kwargs or {})


HANDLED: dict[Any, Any] = {}


class Diagonal:
    """n times the identity: no tensor, by duck typing alone."""

    def __init__(self, n: int, value: float):
        self.n, self.value = n, value

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func not in HANDLED or not all(issubclass(t, (torch.Tensor, cls)) for t in types):
            return NotImplemented
        return HANDLED[func](*args, **(kwargs or {}))


HANDLED[torch.mean] = lambda d: d.value / d.n
HANDLED[torch.add] = lambda a, b: ("add", type(a).__name__, type(b).__name__)
HANDLED[torch.Tensor.add] = lambda a, b: ("method", type(a).__name__, type(b).__name__)
HANDLED[torch.Tensor.__rsub__] = lambda a, b: ("reflected", type(a).__name__, type(b).__name__)
HANDLED[torch.cat] = lambda items, dim=0: ("cat", len(items), dim)
HANDLED[F.relu] = lambda d: Diagonal(d.n, max(d.value, 0.0))
HANDLED[torch.linalg.det] = lambda d: d.value**d.n


def plain(*values: float) -> Any:
    return torch.tensor(values or (1.0, -2.0, 3.0)).as_subclass(Plain)


def logged(*values: float) -> Any:
    x = torch.tensor(values or (1.0, -2.0, 3.0)).as_subclass(Logged)
    Logged.calls.clear()
    return x


KEPT: dict[str, Callable[[Any], Any]] = {
    "add": lambda x: x + 1,
    "radd": lambda x: 1 + x,
    "rsub": lambda x: 1 - x,
    "pow": lambda x: x**2,
    "rpow": lambda x: 2**x,
    "matmul": lambda x: x @ x,
    "compare": lambda x: x < 2,
    "negative": lambda x: -x,
    "index": lambda x: x[1:],
    "item index": lambda x: x[0],
    "method": lambda x: x.exp(),
    "function": lambda x: torch.exp(x),
    "right operand": lambda x: torch.add(torch.ones(3), x),
    "keyword": lambda x: torch.mul(input=torch.ones(3), other=x),
    "list": lambda x: torch.cat([torch.ones(3), x]),
    "in python": lambda x: F.softmax(x, 0),
    "method in python": lambda x: x.norm(),
    "linalg": lambda x: torch.linalg.vector_norm(x),
    "fft": lambda x: torch.fft.fft(x),
    "special": lambda x: torch.special.i0e(x),
    "property": lambda x: x.T,
    "data": lambda x: x.data,
    "clone": lambda x: x.clone(),
    "detach": lambda x: x.detach(),
    "to": lambda x: x.to(torch.float64),
    "view": lambda x: x.view(3, 1),
    "in place": lambda x: x.add_(1),
    "augmented": lambda x: x.__iadd__(1),
    "new": lambda x: x.new_zeros(2),
    "like": lambda x: torch.zeros_like(x),
}


@pytest.mark.parametrize("name", KEPT)
def test_results_are_of_the_subclass(name: str) -> None:
    made = KEPT[name](plain())
    assert type(made) is Plain
    expected = KEPT[name](torch.tensor([1.0, -2.0, 3.0]))
    assert torch.equal(made.as_subclass(torch.Tensor), expected)


def test_tuples_keep_their_class() -> None:
    values, indices = plain().sort()
    assert type(values) is Plain and type(indices) is Plain
    assert type(plain().sort()).__name__ == "sort"
    assert [type(t) for t in plain().split(2)] == [Plain, Plain]
    assert [type(t) for t in plain()] == [Plain] * 3


def test_what_is_no_tensor_stays() -> None:
    x = plain()
    assert type(x.shape) is torch.Size and x.tolist() == [1.0, -2.0, 3.0]
    assert x.size() == (3,) and len(x) == 3 and x[0].item() == 1.0 and bool(x[0]) is True
    assert float(x[0]) == 1.0 and 3.0 in x and x.numpy().tolist() == [1.0, -2.0, 3.0]


def test_gradients_pass_through() -> None:
    leaf = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
    y = (leaf.as_subclass(Plain) ** 2).sum()
    assert type(y) is Plain
    y.backward()
    assert leaf.grad.tolist() == [2.0, -4.0, 6.0]
    x = plain().requires_grad_()
    (x * 2).sum().backward()
    assert type(x.grad) in (torch.Tensor, Plain) and x.grad.tolist() == [2.0] * 3


def test_of_two_classes_the_subclass_comes_first() -> None:
    class Below(Plain):
        pass

    x, y = plain(), torch.ones(3).as_subclass(Below)
    assert type(x + y) is Below and type(y + x) is Below

    class Other(torch.Tensor):
        pass

    with pytest.raises(TypeError, match="no implementation found for 'torch.Tensor.add'"):
        x + torch.ones(3).as_subclass(Other)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("torch.Tensor.add", lambda x: x + 1),
        ("torch.Tensor.add", lambda x: 1 + x),
        ("torch.Tensor.__rsub__", lambda x: 1 - x),
        ("torch.Tensor.sub_", lambda x: x.__isub__(1)),
        ("torch.Tensor.div", lambda x: x / 2),
        ("torch.Tensor.eq", lambda x: x == 1),
        ("torch.Tensor.__getitem__", lambda x: x[0]),
        ("torch.Tensor.__setitem__", lambda x: x.__setitem__(0, 5.0)),
        ("torch.Tensor.__len__", lambda x: len(x)),
        ("torch.Tensor.shape.__get__", lambda x: x.shape),
        ("torch.Tensor.requires_grad.__set__", lambda x: setattr(x, "requires_grad", True)),
        ("torch.Tensor.sum", lambda x: x.sum()),
        ("torch.Tensor.numpy", lambda x: x.numpy()),
        ("torch.sum", lambda x: torch.sum(x)),
        ("torch.stack", lambda x: torch.stack([x, x])),
        ("torch.where", lambda x: torch.where(torch.ones(3) > 0, 1.0, x)),
        ("torch.nn.functional.gelu", lambda x: F.gelu(x)),
        ("torch.nn.functional.linear", lambda x: F.linear(x, torch.ones(2, 3))),
        ("torch.nn.functional.relu", lambda x: torch.nn.ReLU()(x)),
        ("torch.einsum", lambda x: torch.einsum("i,i", x, x)),
        ("torch.linalg.norm", lambda x: torch.linalg.norm(x)),
        ("torch.Tensor.norm", lambda x: x.norm()),
    ],
)
def test_names_of_functions(name: str, call: Callable[[Any], Any]) -> None:
    x = logged()
    call(x)
    assert Logged.calls == [name]


def test_classes_that_are_no_tensors() -> None:
    d = Diagonal(5, 2.0)
    assert torch.mean(d) == 0.4
    assert torch.add(d, torch.ones(2)) == ("add", "Diagonal", "Tensor")
    assert torch.add(torch.ones(2), d) == ("add", "Tensor", "Diagonal")
    assert torch.ones(2) + d == ("method", "Tensor", "Diagonal")
    assert torch.cat([torch.ones(2), d], dim=1) == ("cat", 2, 1)
    assert F.relu(Diagonal(2, -1.0)).value == 0.0
    assert torch.linalg.det(d) == 32.0
    with pytest.raises(TypeError, match=r"no implementation found for 'torch.sum'.*Diagonal"):
        torch.sum(d)
    with pytest.raises(TypeError):
        torch.sum("text")


def test_disabled() -> None:
    x = logged()
    with torch._C.DisableTorchFunctionSubclass():
        assert type(x + 1) is torch.Tensor and type(torch.exp(x)) is torch.Tensor
    assert Logged.calls == []

    class Silent(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl

    assert type(torch.ones(3).as_subclass(Silent) + 1) is torch.Tensor
    assert type(torch.nn.Parameter(torch.ones(3)) * 2) is torch.Tensor


def test_a_parameter_keeps_its_class() -> None:
    p = torch.nn.Parameter(plain())
    assert type(p) is Plain and isinstance(p, torch.nn.Parameter) and p.requires_grad and p.is_leaf
    assert not isinstance(plain(), torch.nn.Parameter)
    assert type(torch.nn.Parameter(torch.nn.Parameter(torch.ones(2)))) is torch.nn.Parameter
    m = torch.nn.Module()
    m.weight = p
    assert [n for n, _ in m.named_parameters()] == ["weight"]
    (m.weight * 2).sum().backward()
    assert p.grad.tolist() == [2.0] * 3
    torch.optim.SGD(m.parameters(), lr=0.5).step()
    assert m.weight.tolist() == [0.0, -3.0, 2.0] and type(m.weight) is Plain


def test_exceptions_leave_the_state() -> None:
    x = plain()
    with pytest.raises(RuntimeError):
        x + torch.ones(4)
    assert type(x + 1) is Plain


def test_attributes_and_super() -> None:
    class Meta(torch.Tensor):
        @staticmethod
        def __new__(cls: Any, data: Any, note: str) -> Any:
            return torch.as_tensor(data).as_subclass(cls)

        def __init__(self, data: Any, note: str):
            self.note = note

        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            out = super().__torch_function__(func, types, args, kwargs or {})
            if isinstance(out, cls):
                out.note = next(a.note for a in args if isinstance(a, cls) and hasattr(a, "note"))
            return out

        def sum(self, *args: Any) -> Any:
            return super().sum(*args) * 2

    x = Meta([1.0, 2.0], "kept")
    assert (x + 1).note == "kept" and torch.exp(x).note == "kept"
    assert x.sum().item() == 6.0
    assert copy.deepcopy(x).note == "kept"


class Log(overrides.TorchFunctionMode):
    def __init__(self) -> None:
        self.calls: list[Any] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls.append((overrides.resolve_name(func), kwargs))
        return func(*args, **(kwargs or {}))


def test_a_mode_sees_calls_of_plain_tensors() -> None:
    with Log() as log:
        a = torch.rand(10, requires_grad=True)
        b = a * 2
        b.sum().backward()
        F.relu(a)
        torch.tensor([1.0])
        _ = a.shape
        a[0]
    assert log.calls == [
        ("torch.rand", {"requires_grad": True}),
        ("torch.Tensor.mul", None),
        ("torch.Tensor.sum", None),
        ("torch.Tensor.backward", None),
        ("torch.nn.functional.relu", None),
        ("torch.tensor", None),
        ("torch.Tensor.shape.__get__", None),
        ("torch.Tensor.__getitem__", None),
    ]
    assert a.grad.tolist() == [2.0] * 10
    a * 2
    assert len(log.calls) == 8


def test_modes_nest_and_belong_to_their_thread() -> None:
    order = []

    class Named(overrides.TorchFunctionMode):
        def __init__(self, name: str):
            self.name = name

        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            order.append(self.name)
            return func(*args, **(kwargs or {}))

    x = torch.ones(2)
    with Named("outer"), Named("inner"):
        torch.add(x, x)
        assert order == ["inner", "outer"]
        thread = threading.Thread(target=lambda: torch.add(x, x))
        thread.start()
        thread.join()
        assert len(order) == 2
        with torch._C.DisableTorchFunction():
            torch.add(x, x)
        with torch._C.DisableTorchFunctionSubclass():
            torch.add(x, x)
        assert order == ["inner", "outer"] * 2
    with pytest.raises(ValueError), Named("left by an exception"):
        raise ValueError
    torch.add(x, x)
    assert len(order) == 4


def test_a_mode_may_answer_or_pass() -> None:
    class Answer(overrides.TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if func is torch.Tensor.add:
                return -1
            passed = func is torch.exp and (types or args[0].numel() == 1)
            return NotImplemented if passed else func(*args, **(kwargs or {}))

    with Answer():
        assert torch.ones(1) + 1 == -1
        with pytest.raises(TypeError, match="torch.exp"):
            torch.exp(torch.ones(1))
        assert type(torch.exp(plain())) is Plain

    class Twice(overrides.TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            with self:  # entered again by its own handler: still one level
                return func(*args, **(kwargs or {})) if func is not torch.sum else torch.add(1, 2)

    with pytest.raises((RecursionError, TypeError)), Twice():
        torch.exp(torch.ones(1))
    assert torch._C._len_torch_function_stack() == 0


def test_compiled_code_follows_modes() -> None:
    @torch.compile
    def f(x: Any) -> Any:
        return torch.exp(x) * 2

    x = torch.ones(3)
    want = f(x)
    f(x)

    class Double(overrides.TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            out = func(*args, **(kwargs or {}))
            return out * 2 if func is torch.exp else out

    for _ in range(3):
        with Double():
            assert torch.equal(f(x), want * 2)
        assert torch.equal(f(x), want)


def test_helpers_for_functions_in_python() -> None:
    def scale(x: Any, factor: float = 2.0) -> Any:
        if overrides.has_torch_function((x,)):
            return overrides.handle_torch_function(scale, (x,), x, factor=factor)
        return x * factor

    HANDLED[scale] = lambda d, factor: ("scaled", d.value * factor)
    assert scale(Diagonal(2, 3.0), 4.0) == ("scaled", 12.0)
    assert scale(torch.ones(2)).tolist() == [2.0, 2.0]

    @overrides.wrap_torch_function(lambda x: (x,))
    def half(x: Any) -> Any:
        return x / 2

    HANDLED[half] = lambda d: "half"
    assert half(Diagonal(1, 1.0)) == "half" and half(torch.ones(1)).item() == 0.5
    assert overrides.is_tensor_like(Diagonal(1, 1.0)) and overrides.is_tensor_like(torch.ones(1))
    assert not overrides.is_tensor_like([1.0])
    assert overrides.has_torch_function_unary(plain())
    assert not overrides.has_torch_function_variadic(torch.ones(1), 3)
    assert overrides.is_tensor_method_or_property(torch.Tensor.add)
    assert overrides.is_tensor_method_or_property(torch.Tensor.shape.__get__)
    assert not overrides.is_tensor_method_or_property(torch.add)


def test_every_listed_function_can_be_overridden() -> None:
    """Each gets an object whose class takes all calls as its first argument."""

    class All:
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return func, types

    o, missed = All(), []
    functions = overrides.get_overridable_functions()
    assert len(functions[torch.Tensor]) > 500 and len(functions[torch]) > 350
    for module, names in functions.items():
        if module is torch.Tensor:
            continue
        for function in names:
            try:
                got = function(o)
            except Exception as error:
                got = error
            if got != (function, (All,)):
                missed.append((overrides.resolve_name(function), got))
    assert not missed
    assert set(overrides.get_testing_overrides().values()).pop()(1, x=2) == -1


def test_every_method_can_be_overridden() -> None:
    class All(torch.Tensor):
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return func, len(args)

    x, missed = torch.ones(2).as_subclass(All), []
    for function in overrides.get_overridable_functions()[torch.Tensor]:
        name = overrides.resolve_name(function).removeprefix("torch.Tensor.")
        part = name.rpartition(".")[2]
        if part == "__get__":
            got = getattr(x, name.removesuffix(".__get__"))
        elif part.startswith("__"):
            continue  # operators have other names; Python drops what a setter returns
        else:
            method = getattr(x, name)
            try:
                got = method()
            except TypeError:  # written in C with one argument
                got = method(1)
        if not isinstance(got, tuple) or got[0] != function:
            missed.append((name, got))
    assert not missed


def test_functions_in_python_look_like_functions() -> None:
    for function, name in [(F.softmax, "softmax"), (torch.einsum, "einsum"), (torch.norm, "norm")]:
        assert function.__name__ == name and function.__doc__
        assert inspect.signature(function).parameters
        assert pickle.loads(pickle.dumps(function)) is function
    assert copy.deepcopy(F.softmax) is F.softmax
    assert torch.Tensor.norm(torch.tensor([3.0, 4.0])).item() == 5.0


def test_uninitialized_parameters_refuse() -> None:
    p = torch.nn.parameter.UninitializedParameter()
    with pytest.raises(ValueError, match="uninitialized parameter"):
        p + 1
    with pytest.raises(ValueError, match="uninitialized parameter"):
        torch.exp(p)
