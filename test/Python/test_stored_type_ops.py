"""What computes in uint16, uint32, uint64 and the float8 types, and what refuses to."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from test_stored_types import (  # noqa: E402
    FLOAT8,
    STORED,
    UNSIGNED,
    assert_codes,
    decoded,
    encoded,
    every,
)


@pytest.mark.parametrize("name", STORED)
def test_equality(name: str) -> None:
    t = getattr(torch, name)
    a = torch.arange(12, dtype=torch.float32).fmod(5)
    x, y = a.to(t), a.flip(0).to(t)
    for op in (operator.eq, operator.ne):
        assert op(x, y).tolist() == op(a, a.flip(0)).tolist() and op(x, y).dtype is torch.bool
        assert op(x.reshape(3, 4).t(), 3).tolist() == op(a.reshape(3, 4).t(), 3).tolist()
        assert op(x, y[3]).tolist() == op(a, a.flip(0)[3]).tolist()
    assert torch.equal(x, x.clone()) and not torch.equal(x, y)
    assert x.any().item() and not x.all().item() and x.any().dtype is torch.bool
    assert torch.isnan(x).sum().item() == 0 and torch.isfinite(x).all().item()
    if name in FLOAT8:
        every_ = every(name)
        numbers = decoded(name)
        np.testing.assert_array_equal((every_ == every_).numpy(), ~np.isnan(numbers))
        np.testing.assert_array_equal(torch.isnan(every_).numpy(), np.isnan(numbers))
        np.testing.assert_array_equal(torch.isinf(every_).numpy(), np.isinf(numbers))
        np.testing.assert_array_equal(torch.isfinite(every_).numpy(), np.isfinite(numbers))
        assert (
            torch.tensor([0.3]).to(t) == 0.3
        ).item()  # numbers are rounded first, as PyTorch does it
        zeros = torch.tensor([0.0, -0.0]).to(t)
        assert (zeros == zeros.flip(0)).all().item() and not zeros.any().item()
    torch.testing.assert_close(x, x.clone())
    with pytest.raises(AssertionError):
        torch.testing.assert_close(x, y)


@pytest.mark.parametrize("name", UNSIGNED)
def test_unsigned_arithmetic(name: str) -> None:
    rng = np.random.default_rng(4)
    limits = np.iinfo(name)
    a, b = (rng.integers(0, limits.max, 60, dtype=name, endpoint=True) for _ in range(2))
    x, y = torch.from_numpy(a), torch.from_numpy(b)
    with np.errstate(over="ignore"):
        for op in (
            np.multiply,
            np.bitwise_and,
            np.bitwise_or,
            np.bitwise_xor,
            np.maximum,
            np.minimum,
        ):
            mine = {"multiply": "mul"}.get(op.__name__, op.__name__)
            got = getattr(torch, mine)(x, y)
            assert got.dtype is x.dtype
            np.testing.assert_array_equal(got.numpy(), op(a, b))
            z = x[::2].reshape(5, 6).t()
            got = getattr(torch, mine)(z, y[:5])
            np.testing.assert_array_equal(got.numpy(), op(a[::2].reshape(5, 6).T, b[:5]))
        np.testing.assert_array_equal((x * 7).numpy(), a * a.dtype.type(7))
    np.testing.assert_array_equal((x & 255).numpy(), a & a.dtype.type(255))
    np.testing.assert_array_equal(x.clamp(5, 60000).numpy(), a.clip(5, 60000))
    low = np.sort(a)[30]
    np.testing.assert_array_equal(x.clamp(min=-3, max=int(low)).numpy(), a.clip(None, low))
    z = x.clone()
    z *= 3
    z.bitwise_and_(y)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(z.numpy(), (a * a.dtype.type(3)) & b)
    small = torch.arange(6).to(x.dtype)
    assert small.sum().item() == 15 and small.sum().dtype is torch.int64
    assert small[1:].prod().item() == 120 and small.cumsum(0).tolist() == [0, 1, 3, 6, 10, 15]
    assert (small / 2).tolist() == [0, 0.5, 1, 1.5, 2, 2.5] and (small / 2).dtype is torch.float32
    assert (small + 0.5).dtype is torch.float32 and torch.exp(small).dtype is torch.float32
    np.testing.assert_array_equal((x + torch.ones(60)).numpy(), a.astype("float32") + np.float32(1))
    assert torch.mul(small, small, out=torch.empty(0, dtype=x.dtype)).tolist() == [
        0,
        1,
        4,
        9,
        16,
        25,
    ]
    drawn = torch.randint(3, (99,), dtype=x.dtype)
    assert drawn.dtype is x.dtype and set(drawn.tolist()) == {0, 1, 2}


@pytest.mark.parametrize("name", list(FLOAT8))
def test_float8_arithmetic(name: str) -> None:
    t = getattr(torch, name)
    x = every(name)
    numbers = decoded(name).astype("float32")
    for shift in (1, 77, 200):
        got = x * x.roll(shift)
        assert got.dtype is t
        with np.errstate(all="ignore"):
            assert_codes(name, got, encoded(name, numbers * np.roll(numbers, shift)))
    assert_codes(name, x.abs(), encoded(name, np.abs(numbers)))


@pytest.mark.parametrize("name", STORED)
def test_what_is_refused(name: str) -> None:
    t = getattr(torch, name)
    x = torch.ones(4, dtype=t)
    square = x.reshape(2, 2)
    calls: list[Any] = [
        lambda: x + x,
        lambda: x + 1,
        lambda: x - x,
        lambda: 1 - x,
        lambda: x // x,
        lambda: x % 2,
        lambda: -x,
        lambda: x**2,
        lambda: x.square(),
        lambda: x < x,
        lambda: x >= 1,
        lambda: x << 1,
        lambda: x.sign(),
        lambda: x.add_(x),
        lambda: x.logical_not(),
        lambda: x.logical_and(x),
        lambda: x.max(),
        lambda: x.argmax(),
        lambda: x.amin(),
        lambda: x.topk(2),
        lambda: x.median(),
        lambda: x.mean(),
        lambda: square @ square,
        lambda: x.dot(x),
        lambda: torch.arange(3, dtype=t),
        lambda: torch.linspace(0, 1, 3, dtype=t),
        lambda: torch.rand(2, dtype=t),
        lambda: x.clone().random_(),
        lambda: x.index_add(0, torch.tensor([0]), x[:1]),
        lambda: torch.lerp(x, x, 0.5),
        lambda: torch.randperm(3, dtype=t),
    ]
    if name in FLOAT8:
        calls += [
            lambda: x / x,
            lambda: x * 2,
            lambda: x.exp(),
            lambda: x.sum(),
            lambda: x.cumsum(0),
            lambda: x.softmax(0),
            lambda: x.sort(),
            lambda: torch.maximum(x, x),
            lambda: x.clamp(0, 1),
            lambda: x.relu(),
            lambda: x.isneginf(),
            lambda: x.nan_to_num(),
            lambda: x.bitwise_and(x),
            lambda: torch.randint(3, (2,), dtype=t),
            lambda: torch.nn.functional.linear(square, square),
        ]
    else:
        calls += [lambda: ~x, lambda: x.abs(), lambda: x.sum(dtype=t), lambda: x.bitwise_not()]
    for i, call in enumerate(calls):
        with pytest.raises(NotImplementedError, match="."):
            pytest.fail(f"call {i} gave {call()}")
    with pytest.raises(NotImplementedError, match=f"\"add\" not implemented for '{name}'"):
        x + x
    for other in (torch.ones(4, dtype=torch.int32), torch.ones(4, dtype=torch.bool)):
        for mixed in (operator.mul, operator.eq, lambda a, b: torch.cat([a, b])):
            with pytest.raises(RuntimeError, match="no common type"):
                mixed(x, other)
    with pytest.raises(RuntimeError):
        x.mul_(1.5)


@pytest.mark.parametrize("name", list(FLOAT8))
def test_gradients_pass_through_casts(name: str) -> None:
    t = getattr(torch, name)
    x = torch.tensor([0.3, 1.7, -5.2], requires_grad=True)
    y = x.to(t)
    assert y.requires_grad and y.grad_fn is not None
    (y.to(torch.float32) * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == [1.0, 2.0, 3.0]
    leaf = torch.zeros(2, dtype=t, requires_grad=True)
    leaf.float().sum().backward()
    assert leaf.grad.dtype is t and leaf.grad.tolist() == [1.0, 1.0]
    part = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    part.to(t)[0].float().sum().backward()
    assert part.grad.tolist() == [[1.0, 1.0], [0.0, 0.0]]
    for bad in UNSIGNED:
        with pytest.raises(RuntimeError):
            torch.zeros(1, dtype=getattr(torch, bad), requires_grad=True)
