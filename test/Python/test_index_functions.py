"""Reads, writes and reductions by index or mask, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)

DTYPES = ["bool", "uint8", "int64", "float16", "float64"]
A = np.random.default_rng(0).integers(0, 9, (4, 5))
MASK = np.random.default_rng(1).random((4, 5)) < 0.4


@pytest.mark.parametrize("dtype", DTYPES)
def test_places_of_true(dtype: str) -> None:
    x = torch.from_numpy(A.astype(dtype) * MASK.astype(dtype))
    places = np.argwhere(x.numpy())
    np.testing.assert_array_equal(torch.nonzero(x).numpy(), places)
    np.testing.assert_array_equal(x.argwhere().numpy(), places)
    for ours, numpy in zip(torch.nonzero(x, as_tuple=True), np.nonzero(x.numpy()), strict=True):
        np.testing.assert_array_equal(ours.numpy(), numpy)
    assert all(
        torch.equal(a, b) for a, b in zip(torch.where(x), x.nonzero(as_tuple=True), strict=True)
    )
    fixed = torch.nonzero_static(x, size=30, fill_value=-7)
    np.testing.assert_array_equal(fixed[: len(places)].numpy(), places)
    assert (fixed[len(places) :] == -7).all()


def test_places_of_a_number() -> None:
    assert torch.nonzero(torch.tensor(3)).shape == (1, 0)
    assert [t.tolist() for t in torch.tensor(3).nonzero(as_tuple=True)] == [[0]]
    assert torch.nonzero(torch.zeros(0, 3)).shape == (0, 2)


@pytest.mark.parametrize("dtype", DTYPES)
def test_masks(dtype: str) -> None:
    a = A.astype(dtype)
    x, mask = torch.from_numpy(a.copy()), torch.from_numpy(MASK)
    np.testing.assert_array_equal(x.masked_select(mask).numpy(), a[MASK])
    np.testing.assert_array_equal(
        torch.masked_select(x, mask[0]).numpy(), a[:, MASK[0]].reshape(-1)
    )
    source = np.arange(20).astype(dtype)
    expected = a.copy()
    expected[MASK] = source[: MASK.sum()]
    np.testing.assert_array_equal(
        x.masked_scatter(mask, torch.from_numpy(source)).numpy(), expected
    )
    assert x.masked_scatter_(mask, torch.from_numpy(source)) is x
    np.testing.assert_array_equal(x.numpy(), expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_forms(dtype: str) -> None:
    a = A.astype(dtype)
    x, index = torch.from_numpy(a.copy()), torch.tensor([3, 0])
    expected = a.copy()
    expected[[3, 0]] = a[[1, 2]]
    np.testing.assert_array_equal(x.index_copy(0, index, x[1:3]).numpy(), expected)
    expected = a.copy()
    expected[:, [3, -5]] = 1
    np.testing.assert_array_equal(x.index_fill(1, torch.tensor([3, -5]), 1).numpy(), expected)
    expected = a.copy()
    expected[:, 1:4:2] = 0
    np.testing.assert_array_equal(
        torch.slice_scatter(x, torch.zeros_like(x[:, 1:4:2]), 1, 1, 4, 2).numpy(),
        expected,
    )
    expected = a.copy()
    expected[-1] = a[0]
    np.testing.assert_array_equal(x.select_scatter(x[0], 0, -1).numpy(), expected)
    expected = a.copy()
    np.fill_diagonal(expected, 1)
    ones = torch.ones(4, dtype=x.dtype)
    np.testing.assert_array_equal(x.diagonal_scatter(ones).numpy(), expected)
    expected = a.copy().reshape(-1)
    expected[[3, -2]] = a[0, :2]
    np.testing.assert_array_equal(
        x.put(torch.tensor([3, -2]), x[0, :2]).numpy().reshape(-1), expected
    )
    order = np.argsort(a, 1, kind="stable")
    np.testing.assert_array_equal(
        torch.take_along_dim(x, torch.from_numpy(order), 1).numpy(),
        np.take_along_axis(a, order, 1),
    )
    assert torch.take_along_dim(x, torch.tensor([[2]]), 0).shape == (1, 5)


def test_put_accumulates_in_order() -> None:
    x = torch.zeros(3)
    x.put_(torch.tensor([1, 1, -1]), torch.tensor([2.0, 3.0, 5.0]), accumulate=True)
    assert x.tolist() == [0, 5, 5]


REDUCTIONS: dict[str, Any] = {
    "sum": (np.add, 0),
    "prod": (np.multiply, 1),
    "amax": (np.maximum, None),
    "amin": (np.minimum, None),
}


@pytest.mark.parametrize("include", [True, False])
@pytest.mark.parametrize("dtype", ["int32", "float64", "float16"])
@pytest.mark.parametrize("reduce", [*REDUCTIONS, "mean"])
def test_scatter_reduce(reduce: str, dtype: str, include: bool) -> None:
    rng = np.random.default_rng(2)
    a, source = (
        rng.integers(-3, 4, (3, 4)).astype(dtype),
        rng.integers(-3, 4, (5, 4)).astype(dtype),
    )
    index = rng.integers(0, 3, (5, 4))
    expected = a.astype("float64")
    for c in range(4):
        for r in range(3):
            group = [float(s) for s, i in zip(source[:, c], index[:, c], strict=True) if i == r]
            values = ([float(a[r, c])] if include or not group else []) + group
            if reduce == "mean":
                mean = sum(values) / len(values)
                expected[r, c] = np.floor(mean) if dtype == "int32" else mean
            else:
                expected[r, c] = REDUCTIONS[reduce][0].reduce(values)
    found = torch.from_numpy(a).scatter_reduce(
        0,
        torch.from_numpy(index),
        torch.from_numpy(source),
        reduce,
        include_self=include,
    )
    np.testing.assert_allclose(
        found.numpy(),
        expected.astype(dtype),
        rtol=1e-3 if dtype == "float16" else 1e-12,
    )
    if reduce != "sum":
        by_row = torch.from_numpy(index[:, 0].copy())
        same = torch.from_numpy(np.repeat(index[:, :1], 4, 1))
        assert torch.equal(
            torch.from_numpy(a).index_reduce(
                0, by_row, torch.from_numpy(source), reduce, include_self=include
            ),
            torch.from_numpy(a).scatter_reduce(
                0, same, torch.from_numpy(source), reduce, include_self=include
            ),
        )


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
def test_scatter_reduce_gradients(reduce: str) -> None:
    """Against central differences, away from ties; and a product with one zero."""
    x = torch.tensor([1.5, -2.0, 0.5], dtype=torch.float64, requires_grad=True)
    source = torch.tensor([2.5, -1.0, 3.0, 0.25], dtype=torch.float64, requires_grad=True)
    index = torch.tensor([0, 1, 0, 2])

    def run(a: Any, b: Any) -> Any:
        return (
            a.scatter_reduce(0, index, b, reduce)
            * torch.tensor([1.0, 10.0, 100.0], dtype=torch.float64)
        ).sum()

    grads = torch.autograd.grad(run(x, source), (x, source))
    for k, (t, g) in enumerate(zip((x, source), grads, strict=True)):
        for i in range(t.numel()):
            step = torch.zeros_like(t)
            step[i] = 1e-6
            args = [x.detach(), source.detach()]
            up, down = list(args), list(args)
            up[k], down[k] = args[k] + step, args[k] - step
            assert g[i].item() == pytest.approx(
                (run(*up) - run(*down)).item() / 2e-6, rel=1e-6, abs=1e-6
            )


def test_product_gradient_with_zeros() -> None:
    source = torch.tensor([0.0, 3.0, 0.0, 0.0, 5.0], requires_grad=True)
    x = torch.ones(2, requires_grad=True)
    y = x.scatter_reduce(0, torch.tensor([0, 0, 1, 1, 1]), source, "prod")
    gx, gs = torch.autograd.grad(y.sum(), (x, source))
    assert gx.tolist() == [0, 0] and gs.tolist() == [3, 0, 0, 0, 0]


def test_scatter_with_reduce() -> None:
    x = torch.ones(3)
    assert x.scatter(0, torch.tensor([1, 1]), 2.0, reduce="multiply").tolist() == [
        1,
        4,
        1,
    ]
    assert x.scatter(0, torch.tensor([1, 1]), torch.tensor([2.0, 3.0]), reduce="add").tolist() == [
        1,
        6,
        1,
    ]
    assert x.scatter_(0, torch.tensor([0]), value=5).tolist() == [5, 1, 1]


def test_unravel_index() -> None:
    flat = np.array([[0, 5], [11, 7]])
    for ours, numpy in zip(
        torch.unravel_index(torch.from_numpy(flat), (3, 4)),
        np.unravel_index(flat, (3, 4)),
        strict=True,
    ):
        np.testing.assert_array_equal(ours.numpy(), numpy)


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        (RuntimeError, lambda: torch.masked_select(torch.ones(2), torch.ones(2))),
        (
            RuntimeError,
            lambda: torch.ones(3).masked_scatter(torch.ones(3, dtype=torch.bool), torch.ones(2)),
        ),
        (IndexError, lambda: torch.take(torch.ones(3), torch.tensor([3]))),
        (RuntimeError, lambda: torch.take(torch.ones(3), torch.tensor([1.0]))),
        (
            RuntimeError,
            lambda: torch.take_along_dim(torch.ones(3), torch.ones(1, 1).long(), 0),
        ),
        (RuntimeError, lambda: torch.ones(3).put(torch.tensor([0]), torch.ones(2))),
        (
            IndexError,
            lambda: torch.ones(3).index_copy(0, torch.tensor([0, 1]), torch.ones(3)),
        ),
        (IndexError, lambda: torch.ones(3).index_fill(0, torch.tensor([5]), 1)),
        (
            RuntimeError,
            lambda: torch.select_scatter(torch.ones(2, 2), torch.ones(3), 0, 0),
        ),
        (
            IndexError,
            lambda: torch.select_scatter(torch.ones(2, 2), torch.ones(2), 0, 5),
        ),
        (
            RuntimeError,
            lambda: torch.ones(3).scatter_reduce(0, torch.tensor([0]), torch.ones(1), "median"),
        ),
        (
            RuntimeError,
            lambda: torch.ones(3).scatter_reduce(0, torch.tensor([7]), torch.ones(1), "prod"),
        ),
        (
            RuntimeError,
            lambda: torch.ones(3).scatter(0, torch.tensor([0]), 1.0, reduce="mean"),
        ),
    ],
    ids=str,
)
def test_bad_arguments(kind: type[Exception], call: Any) -> None:
    with pytest.raises(kind):
        call()


def test_writes_in_place_read_what_was_there() -> None:
    """Targets are written directly, but not where what is read shares their memory, nor before indices are checked."""
    x = torch.arange(6.0)
    same = x.data_ptr()
    turned = torch.tensor([5, 4, 3, 2, 1, 0])
    assert x.scatter_(0, turned, x) is x and x.data_ptr() == same
    assert x.tolist() == [5, 4, 3, 2, 1, 0]
    assert x.scatter_add_(0, turned, x).tolist() == [5, 5, 5, 5, 5, 5]
    x = torch.arange(6.0)
    x.index_add_(0, turned, x)
    assert x.tolist() == [5] * 6
    k = torch.arange(6)
    k.scatter_(0, k, torch.tensor([7, 8, 9, 1, 2, 3]))  # the index is the target
    assert k.tolist() == [7, 8, 9, 1, 2, 3]
    k = torch.tensor([2, 0, 1])
    k.index_add_(0, k, torch.tensor([10, 20, 30]))
    assert k.tolist() == [22, 30, 11]
    for dtype in (torch.float16, torch.float32, torch.int8, torch.complex64):
        y = torch.zeros(4, 5).to(dtype)
        before = y.clone()
        bad = torch.tensor([[0, 1, 9]])
        with pytest.raises(RuntimeError):
            y.scatter_(0, bad, torch.ones(1, 3).to(dtype))
        with pytest.raises(RuntimeError):
            y.scatter_add_(0, bad, torch.ones(1, 3).to(dtype))
        with pytest.raises(IndexError):
            y[torch.tensor([0, -9])] = torch.ones(2, 5).to(dtype)
        assert torch.equal(y, before)
        y.t()[torch.tensor([1, 1, 4])] = torch.ones(3, 4).to(dtype)
        assert y.sum().item() == 8
        y.t().scatter_add_(0, torch.tensor([[1, 1], [1, 0]]), torch.ones(2, 2).to(dtype))
        assert y.sum().item() == 12 and y[0, 1].item() == 3
    w = torch.zeros(3, requires_grad=True)
    v = w * 1
    v.scatter_(0, torch.tensor([1]), 5.0)
    v.index_put_((torch.tensor([0, 0]),), torch.tensor([1.0, 2.0]), accumulate=True)
    assert v.tolist() == [3, 5, 0]
    v.sum().backward()
    assert w.grad.tolist() == [1, 0, 1]
