"""__torch_dispatch__: modes and classes that take ops below autograd."""

from __future__ import annotations

import threading
from typing import Any

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
aten = torch.ops.aten
from torchc.utils._python_dispatch import (  # noqa: E402
    TorchDispatchMode,
    _disable_current_modes,
    _get_current_dispatch_mode,
)


class Log(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Any] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls.append(func)
        return func(*args, **(kwargs or {}))

    @property
    def names(self) -> list[str]:
        return [str(f) for f in self.calls]


def test_a_mode_sees_forward_and_backward() -> None:
    x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
    with Log() as log:
        y = (x * 2).sum()
        assert log.names == ["aten.mul.Tensor", "aten.sum.default"]
        assert y.requires_grad and y.item() == 4.0
        y.backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]
    assert "aten.expand.default" in log.names[2:] and "aten.mul.Tensor" in log.names[2:]
    count = len(log.calls)
    x * 2
    assert len(log.calls) == count


def test_names_and_identity() -> None:
    a, b = torch.rand(2, 3), torch.rand(3, 4)
    with Log() as log:
        a @ b
        torch.bmm(a[None], b[None])
        torch.gt(a, 0.5)
        torch.gt(a, a)
        torch.exp(a)
        a.to(torch.float64)
        a.add_(1)
        torch.exp(a, out=torch.empty(2, 3))
        torch.cat([a, a])
    assert log.calls[0] is aten.mm.default and log.calls[0] == aten.mm.default
    names = [n for n in log.names if not n.startswith(("aten.slice", "aten.view", "aten.full"))]
    assert names == [
        "aten.mm.default",
        "aten.bmm.default",
        "aten.gt.Scalar",
        "aten.gt.Tensor",
        "aten.exp.default",
        "aten._to_copy.default",
        "aten.add_.Tensor",
        "aten.exp.out",
        "aten.cat.default",
    ]
    assert (
        aten.add.Tensor.overloadpacket is aten.add and aten.add.Tensor.name() == "aten::add.Tensor"
    )
    assert repr(aten.add.Tensor) == "<OpOverload(op='aten.add', overload='Tensor')>"


def test_results_have_the_bits_of_plain_calls() -> None:
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.GELU(), torch.nn.Flatten(),
        torch.nn.Linear(144, 10), torch.nn.LayerNorm(10),
    )  # fmt: skip
    x, t = torch.rand(5, 1, 8, 8), torch.arange(5)

    def step() -> list[Any]:
        net.zero_grad()
        y = torch.nn.functional.cross_entropy(net(x), t)
        y.backward()
        return [y.detach(), *(p.grad.clone() for p in net.parameters())]

    state = {k: v.clone() for k, v in net.state_dict().items()}
    want = step()
    net.load_state_dict(state)
    with Log() as log:
        got = step()
    assert len(log.calls) > 20
    assert all(torch.equal(a, b) for a, b in zip(want, got))


def test_a_mode_may_change_results() -> None:
    class Twice(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            out = func(*args, **(kwargs or {}))
            return out * 2 if func is aten.exp.default else out

    x = torch.tensor([0.0, 1.0], requires_grad=True)
    with Twice():
        y = torch.exp(x)
    assert torch.equal(y.detach(), torch.exp(x.detach()) * 2)
    (g,) = torch.autograd.grad(y.sum(), x)
    assert torch.equal(g, y.detach())  # the derivative of exp from the result that the mode gave


def test_modes_nest_and_belong_to_their_thread() -> None:
    x = torch.ones(2)
    with Log() as outer, Log() as inner:
        assert _get_current_dispatch_mode() is inner
        x + x
        thread = threading.Thread(target=lambda: x + x)
        thread.start()
        thread.join()
        with _disable_current_modes():
            x + x
    assert inner.names == outer.names == ["aten.add.Tensor"]
    assert _get_current_dispatch_mode() is None


def test_errors() -> None:
    class Bad(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return 3 if func is aten.exp.default else NotImplemented

    x = torch.ones(2)
    with Bad():
        with pytest.raises(TypeError, match="returned int for aten.exp.default; expected Tensor"):
            torch.exp(x)
        with pytest.raises(TypeError, match="Multiple dispatch failed for 'torch.ops.aten.add"):
            x + x
    with Log(), pytest.raises(RuntimeError, match="size of tensor|broadcast"):
        x + torch.ones(3)
    assert (x + x).tolist() == [2.0, 2.0]
    with pytest.raises(NotImplementedError, match="no_such_op"):
        aten.no_such_op.default(x)


def test_overloads_are_functions() -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert aten.add.Tensor(x, 1).tolist() == [[2.0, 3.0], [4.0, 5.0]]
    assert aten.sum.default(x).item() == 10.0
    assert aten.sum.dim_IntList(x, [0], True).tolist() == [[4.0, 6.0]]
    assert aten.mm.default(x, x).tolist() == [[7.0, 10.0], [15.0, 22.0]]
    assert aten.relu(-x).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert aten._to_copy.default(x, dtype=torch.int64).dtype == torch.int64
    assert aten.view.default(x, [4]).shape == (4,)
    y = x.clone()
    assert aten.mul_.Tensor(y, 2) is y and y[0, 0].item() == 2.0
    assert aten.mul_.Tensor._schema.is_mutable and not aten.mul.Tensor._schema.is_mutable


class Noted(torch.Tensor):
    """Has memory of its own; writes down what it sees."""

    seen: list[str] = []
    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.seen.append(str(func))
        return super().__torch_dispatch__(func, types, args, kwargs)


def test_a_class_with_memory() -> None:
    x = torch.tensor([1.0, 2.0]).as_subclass(Noted)
    Noted.seen.clear()
    y = torch.exp(x) + 1
    assert Noted.seen == ["aten.exp.default"] and type(y) is torch.Tensor
    assert torch.equal(y, torch.tensor([1.0, 2.0]).exp() + 1)


class Scaled(torch.Tensor):
    """A tensor and a factor: computes on plain tensors, gives objects of its class."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls: Any, inner: Any, requires_grad: bool = False) -> Any:
        return torch.Tensor._make_wrapper_subclass(
            cls, inner.shape, dtype=inner.dtype, device=inner.device, requires_grad=requires_grad
        )

    def __init__(self, inner: Any, requires_grad: bool = False):
        self.inner = inner

    def __repr__(self) -> str:
        return f"Scaled({self.inner})"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        def unwrap(o: Any) -> Any:
            if isinstance(o, (list, tuple)):
                return type(o)(unwrap(i) for i in o)
            return o.inner if isinstance(o, cls) else o

        out = func(*unwrap(args), **{k: unwrap(v) for k, v in (kwargs or {}).items()})
        if func._schema.is_mutable:
            return args[0]
        return cls(out) if isinstance(out, torch.Tensor) else out


def test_a_wrapper_computes_and_differentiates() -> None:
    data = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    x = Scaled(data, requires_grad=True)
    assert x.device.type == "cpu" and x.is_cpu and not x.is_meta and x.shape == (2, 2) and x.is_leaf
    y = (torch.tanh(x @ data) * x).sum()
    assert type(y) is Scaled and y.requires_grad
    y.backward()
    plain = data.clone().requires_grad_()
    (torch.tanh(plain @ data) * plain).sum().backward()
    assert type(x.grad) is Scaled and torch.equal(x.grad.inner, plain.grad)
    d = x.detach()
    assert type(d) is Scaled and not d.requires_grad and torch.equal(d.inner, data)
    z = Scaled(data.clone())
    z.add_(1)
    assert torch.equal(z.inner, data + 1)
    assert torch.equal(torch.cat([z, z]).inner, torch.cat([data + 1, data + 1]))
    assert torch.equal(z[0].inner, data[0] + 1)
    assert repr(Scaled(torch.ones(1))) == "Scaled(tensor([1.]))"


def test_a_wrapper_needs_a_handler() -> None:
    class Plain(torch.Tensor):
        pass

    with pytest.raises(TypeError, match="__torch_dispatch__"):
        torch.Tensor._make_wrapper_subclass(Plain, (2,))


def test_compiled_functions_run_such_ops_outside_of_their_graph() -> None:
    @torch.compile
    def f(x: Any) -> Any:
        return (torch.exp(x) + 1).sum()

    x = torch.rand(8)
    want = f(x)
    f(x)
    for _ in range(3):
        with Log() as log:
            assert torch.equal(f(x), want)
        assert log.names[:2] == ["aten.exp.default", "aten.add.Tensor"]
        assert torch.equal(f(x), want)
