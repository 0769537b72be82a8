"""Compiled modules: as the module is at each call, and compiled whatever their methods return."""

import copy
import pickle

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from compiled import bits, needs_compiler  # noqa: E402
from torchc import nn  # noqa: E402
from torchc.jit._module import CompiledModule  # noqa: E402


class Scale(nn.Module):
    def __init__(self, by=2.0):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([by, by]))

    def forward(self, x):
        return x * self.weight + 1

    def again(self):
        return self

    def twice(self, x):
        return self(self(x))


X = torch.tensor([1.0, 2.0])


def results(module, expected, calls=4):
    for _ in range(calls):
        assert module(X).tolist() == expected, module.report()


def test_forward_replaced_in_the_module():
    model = Scale()
    fast = torch.compile(model, background=False)
    results(fast, [3, 5])
    model.forward = lambda x: x - 1
    results(fast, [0, 1])
    fast.forward = lambda x: x + 3
    results(fast, [4, 5])
    del model.forward
    results(fast, [3, 5])


def test_forward_replaced_in_the_class():
    class Mine(Scale):
        pass

    model = Mine()
    fast = torch.compile(model, background=False)
    results(fast, [3, 5])
    Mine.forward = lambda self, x: x * self.weight - 1
    results(fast, [1, 3])
    model.__class__ = Scale
    results(fast, [3, 5])


def test_overridden_call():
    class Mine(Scale):
        def __call__(self, x):
            return super().__call__(x) * 10

    results(torch.compile(Mine(), background=False), [30, 50])


@needs_compiler
def test_calls_are_launched():
    fast = torch.compile(Scale(), background=False)
    for i in range(30):
        x = X + i
        assert bits(fast(x)) == bits(fast._module(x))
    assert fast._forward.counts()["recordings"] == 1, fast.report()
    assert "Scale: tier" in fast.report()
    assert fast._forward.counts()["ready"] == 1, fast.report()


@pytest.mark.parametrize(
    "method",
    [
        lambda m: m.to(torch.float32),
        lambda m: m.eval(),
        lambda m: m.train(),
        lambda m: m.float(),
        lambda m: m.cpu(),
        lambda m: m.requires_grad_(False),
        lambda m: m.apply(lambda part: None),
        lambda m: m.again(),
    ],
)
def test_methods_that_return_the_module(method):
    fast = torch.compile(Scale())
    assert method(fast) is fast
    results(fast, [3, 5])


def test_other_methods_are_the_modules():
    model = Scale()
    fast = torch.compile(model)
    assert fast.twice(X).tolist() == [7, 11]
    assert fast.twice.__name__ == "twice" and fast.eval.__doc__ == model.eval.__doc__
    assert list(fast.parameters())[0] is model.weight
    fast.eval()
    assert not model.training
    assert fast.double() is fast and model.weight.dtype == torch.float64


@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), lambda m: copy.deepcopy([m])[0]],
)
def test_copies_are_compiled_and_their_own(copied):
    fast = torch.compile(Scale(), background=False)
    results(fast, [3, 5])
    other = copied(fast)
    assert type(other) is CompiledModule and other._options == fast._options
    with torch.no_grad():
        other.weight.mul_(2)
    results(other, [5, 9])
    results(fast, [3, 5])


def test_shallow_copy():
    fast = torch.compile(Scale())
    other = copy.copy(fast)
    assert type(other) is CompiledModule and other._module is not fast._module
    assert other.weight is fast.weight
    results(other, [3, 5])


def test_copies_of_a_module_compiled_in_place():
    model = Scale()
    model.compile(background=False)
    results_of = lambda m: [m(X).tolist() for _ in range(4)]  # noqa: E731
    assert results_of(model) == [[3, 5]] * 4
    for copied in (copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))):
        other = copied(model)
        with torch.no_grad():
            other.weight.mul_(2)
        assert results_of(other) == [[5, 9]] * 4
        assert results_of(model) == [[3, 5]] * 4
    assert "tier" in copy.deepcopy(model).forward.report()


def test_copies_of_compiled_functions():
    fn = torch.compile(lambda x: x + 1)
    assert copy.copy(fn) is fn and copy.deepcopy(fn) is fn
    method = torch.compile(Scale().forward)
    assert copy.copy(method) is method
