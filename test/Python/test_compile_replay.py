"""Replay: only what provably depends on the tensor arguments alone skips Python, and every guard is seen."""

import sys

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from compiled import bits, needs_compiler  # noqa: E402

SCALE = 2.0


def double(x, y):
    return x * 2.0 + y


def pair(x, y):
    z = x @ y
    return z, -z / 3


@needs_compiler
@pytest.mark.parametrize("fn", [double, pair])
def test_replay(fn):
    other = torch.compile(fn, background=False)
    makes = [
        lambda: (torch.rand(3, 3), torch.rand(3, 3)),
        lambda: (torch.rand(4, 4), torch.rand(4, 4)),
        lambda: (torch.rand(3, 3).t(), torch.rand(3, 3)),
        lambda: (torch.arange(4).reshape(2, 2), torch.arange(4).reshape(2, 2)),
        lambda: (lambda a: (a, a))(torch.rand(3, 3)),
        lambda: (lambda a: (a, a.detach()))(torch.rand(3, 3)),
        lambda: (torch.rand(3, 3, requires_grad=True), torch.rand(3, 3)),
        lambda: (torch.rand(3, 3, requires_grad=True)[:], torch.rand(3, 3)),
    ]
    for _ in range(3):
        for make in makes:
            args = make()
            want, got = fn(*args), other(*args)
            assert bits(want) == bits(got), other.report()
    assert other.counts()["replayed"] >= 6, other.report()
    with torch.no_grad():
        args = makes[6]()
        assert bits(fn(*args)) == bits(other(*args))
    with pytest.raises(RuntimeError):
        other(torch.rand(2, 3), torch.rand(2, 2))
    with pytest.raises(TypeError):
        other(torch.rand(2, 3))


@needs_compiler
def test_replay_guards():
    def f(x):
        return x / 2

    other = torch.compile(f, background=False)
    for _ in range(3):
        other(torch.arange(4))
    assert other.tier()[0] == "replay", other.report()
    torch.set_default_dtype(torch.float64)
    try:
        assert other(torch.arange(4)).dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    replayed, lines = other.counts()["replayed"], []
    sys.settrace(lambda frame, event, arg: lines.append(frame.f_code.co_name))
    try:
        other(torch.arange(4))
    finally:
        sys.settrace(None)
    assert "f" in lines and other.counts()["replayed"] == replayed

    def g(x):
        return x * 5

    f.__code__ = g.__code__
    assert other(torch.arange(4)).tolist() == [0, 5, 10, 15]


def test_replay_is_refused():
    k = 3.0
    for fn in (
        lambda x: x * SCALE,
        lambda x: x * k,
        lambda x: x.exp(),
        lambda x: x + 1 if x is not None else 0,
        lambda *x: x[0] + 1,
        lambda x: print(x),
    ):
        assert "replay: no" in torch.compile(fn).report()
