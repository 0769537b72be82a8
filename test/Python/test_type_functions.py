"""Types and memory: views of bytes as another type, conversions of foreign objects, element by element functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "float16", "float64"])
def test_bytes_as_another_type(dtype: str) -> None:
    a = np.arange(24, dtype="float32").reshape(2, 3, 4)
    x = torch.from_numpy(a)
    y = x.view(getattr(torch, dtype))
    np.testing.assert_array_equal(y.numpy(), a.view(dtype))
    assert y.data_ptr() == x.data_ptr()
    part = x.transpose(0, 1)[1:].view(getattr(torch, dtype))
    np.testing.assert_array_equal(part.numpy(), a.transpose(1, 0, 2)[1:].view(dtype))


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.tensor(1.0).view(torch.int16),
        lambda: torch.zeros(2, 3).view(torch.float64),
        lambda: torch.zeros(2, 4).t().view(torch.float64),
        lambda: torch.zeros(5)[1:].view(torch.float64),
        lambda: torch.zeros(2, 3)[:, :2].view(torch.float64),
    ],
)
def test_bytes_that_do_not_fit(call: Any) -> None:
    with pytest.raises(RuntimeError):
        call()


def test_asarray_shares_where_it_can() -> None:
    a = np.arange(3.0)
    x = torch.asarray(a)
    a[0] = 7
    assert x[0] == 7 and torch.asarray(x) is x
    assert torch.asarray(x, copy=True).data_ptr() != x.data_ptr()
    assert torch.asarray([1, 2]).dtype == torch.int64
    assert torch.asarray(x, dtype=torch.float32).dtype == torch.float32
    grown = torch.asarray(x, requires_grad=True)
    assert grown.requires_grad and not x.requires_grad
    for bad in ([1, 2], 3.0):
        with pytest.raises(ValueError, match="alias"):
            torch.asarray(bad, copy=False)
    with pytest.raises(ValueError, match="alias"):
        torch.asarray(x, dtype=torch.int32, copy=False)


def test_functions_of_elements() -> None:
    x = torch.arange(4).reshape(2, 2)
    assert x.apply_(lambda v: v * v) is x and x.tolist() == [[0, 1], [4, 9]]
    assert x.map_(torch.tensor([1, 2]), lambda a, b: a - b).tolist() == [[-1, -1], [3, 7]]
    with pytest.raises(RuntimeError):
        torch.ones(2, requires_grad=True).apply_(abs)


def test_memory_with_strides() -> None:
    x = torch.empty_strided((2, 3), (1, 2), dtype=torch.int32)
    assert x.stride() == (1, 2) and x.dtype == torch.int32 and not x.is_contiguous()
    assert torch.empty_permuted((2, 3, 4), (2, 0, 1)).stride() == (3, 1, 6)
    assert torch.ones(1).new_empty_strided((4,), (0,)).shape == (4,)
    for bad in (((2, 3), (1,)), ((2,), (-1,))):
        with pytest.raises(RuntimeError):
            torch.empty_strided(*bad)


def test_evenly_spaced() -> None:
    for n in (0, 1, 2, 5, 100):
        for dtype in ("float32", "float64"):
            found = torch.linspace(-1.5, 7, n, dtype=getattr(torch, dtype)).numpy()
            np.testing.assert_allclose(found, np.linspace(-1.5, 7, n, dtype=dtype), rtol=1e-6)
            assert n < 2 or found[-1] == 7
    assert torch.linspace(3, -3, 4, dtype=torch.int64).tolist() == [3, 1, -1, -3]
    assert torch.linspace(torch.tensor(0.0), torch.tensor(1.0), 3).tolist() == [0, 0.5, 1]
    with pytest.raises(RuntimeError):
        torch.linspace(0, 1, -1)
    with pytest.raises(RuntimeError):
        torch.linspace(torch.zeros(2), 1, 3)


@pytest.mark.skipif(not hasattr(torch, "floor"), reason="the table has no pow of tensors")
def test_evenly_spaced_powers() -> None:
    assert torch.logspace(0, 3, 4, dtype=torch.int64).tolist() == [1, 10, 100, 1000]
    found = torch.logspace(-2, 2, 9, base=2, dtype=torch.float64).numpy()
    np.testing.assert_allclose(found, np.logspace(-2, 2, 9, base=2), rtol=1e-14)


def test_type_takes_the_old_classes():
    x = torch.arange(3)
    for kind in (torch.FloatTensor, "torch.FloatTensor", torch.float32):
        assert x.type(kind).dtype is torch.float32
    assert x.type(torch.LongTensor) is x
    for kind in (int, torch.Tensor):
        with pytest.raises(TypeError):
            x.type(kind)


def test_functions_that_change_their_argument():
    x = torch.tensor([-1.0, 4.0])
    assert torch.relu_(x) is x and x.tolist() == [0, 4]
    assert torch.sqrt_(x) is x and torch.clamp_(x, max=1) is x and x.tolist() == [0, 1]
    assert torch.fill_(x, 3) is x and torch.threshold_(x, 3, 0) is x and x.tolist() == [0, 0]
    with pytest.raises(AttributeError, match="no attribute 'cumsum_'"):  # a method only
        torch.cumsum_(x, 0)


def test_integers_where_sums_and_powers_meet_bool():
    with pytest.raises(NotImplementedError, match="cumsum"):
        torch.ones(2).cumsum(0, dtype=torch.bool)
    assert torch.ones(2, 2, dtype=torch.uint8).sum_to_size(1, 2).dtype is torch.int64
    truth = torch.tensor([True, False])
    assert torch.pow(truth, True).tolist() == [True, False]
    assert torch.pow(truth, False).tolist() == [True, True]
    assert torch.floor_divide(7, torch.tensor([2, -2])).tolist() == [3, -4]


def test_neighbours_have_the_gradient_of_where_they_start():
    x, y = torch.tensor([1.0, 2.0], requires_grad=True), torch.zeros(2, requires_grad=True)
    torch.nextafter(x, y).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0] and y.grad.tolist() == [0.0, 0.0]


def test_out_of_extremes_and_softmax() -> None:
    x, F = torch.tensor(np.random.default_rng(0).standard_normal((2, 3))), torch.nn.functional
    image = torch.ones(1, 1, 4, 4)
    calls = [
        (torch.argmax, (x, 1)), (torch.argmin, (x,)), (torch.max, (x,)), (torch.min, (x,)), (torch.max, (x, x + 1)),
        (torch.min, (x, x + 1)), (torch.softmax, (x, 1)), (torch.log_softmax, (x, 0)), (torch.where, (x > 0, x, 0.0)),
        (F.avg_pool2d, (image, 2)), (F.avg_pool3d, (image, (1, 2, 2))),
    ]  # fmt: skip
    for f, arguments in calls:
        expected = f(*arguments)
        target = torch.empty(0, dtype=expected.dtype)
        assert f(*arguments, out=target) is target and torch.equal(target, expected)
