"""Order statistics, searches, sets and counts against NumPy's stable sort, with rule N7's order of NaN and zeros."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)

DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
]
# Below and above where a radix sort takes over, and along a middle dimension.
SHAPES = [(), (0,), (1,), (7,), (5000,), (3, 1500, 2), (2, 0, 3)]


def draw(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    """Few different values, so that ties are common; floats with NaN, infinities and both zeros."""
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if not dtype.startswith("float"):
        low = 0 if dtype == "uint8" else -60
        return rng.integers(low, 60, shape).astype(dtype)
    a = rng.integers(-20, 20, shape).astype(dtype) / 4
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0], dtype)
    return np.where(rng.random(shape) < 0.2, special[rng.integers(0, 5, shape)], a).astype(dtype)


def stable_order(a: np.ndarray, axis: int, descending: bool) -> np.ndarray:
    """Places in order: NaN above all, ties by ascending place in either direction."""
    if not descending:
        return np.argsort(a, axis=axis, kind="stable")
    reverse = np.flip(a, axis)
    n = a.shape[axis]
    return np.flip(n - 1 - np.argsort(reverse, axis=axis, kind="stable"), axis)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_sort_is_stable(dtype: str, shape: tuple[int, ...], descending: bool) -> None:
    a = draw(shape, dtype)
    dim = 1 if len(shape) > 1 else -1
    values, places = torch.sort(torch.from_numpy(a.copy()), dim, descending, stable=True)
    if not shape:
        assert places.item() == 0 and values.shape == ()
        return
    expected = stable_order(a, dim, descending)
    np.testing.assert_array_equal(places.numpy(), expected)
    np.testing.assert_array_equal(values.numpy(), np.take_along_axis(a, expected, dim))
    assert torch.equal(torch.argsort(torch.from_numpy(a.copy()), dim, descending), places)


def rows_of_64_bits(n: int, seed: int) -> list[np.ndarray]:
    """Integers and doubles by how far their order's bits reach, and how many share the upper ones."""
    rng = np.random.default_rng(seed)
    ends = np.iinfo(np.int64)
    limits = [
        (0, 1),
        (-3, 4),
        (ends.max - 500, ends.max),
        (ends.min, ends.min + 500),
        (-5, 2**32 - 5),
    ]
    limits += [(-5, 2**32 - 6), (-5, 2**40), (ends.min, ends.max)]
    rows = [rng.integers(low, high, n, endpoint=True) for low, high in limits]
    for row, pair in zip(rows, limits):
        row[0], row[-1] = pair
    few = rng.integers(0, 2**60, 5)
    rows.append(few[rng.integers(0, 5, n)])  # equal ones in every run
    rows.append(
        (rng.integers(0, 3, n) << 50) + rng.integers(0, 7, n)
    )  # long runs that are to be sorted
    rows.append((np.arange(n) == 0) * 2**60 + rng.integers(0, 9, n))  # nearly one run
    rows.append(rng.integers(-30, 30, n) << 40)  # zeros below
    rows += [rng.standard_normal(n), rng.uniform(1, 1 + 1e-9, n), rng.integers(-50, 50, n) / 8.0]
    rows.append(np.where(rng.random(n) < 0.3, np.nan, rng.standard_normal(n)))
    rows.append(np.where(rng.random(n) < 0.3, -0.0, rng.integers(-1, 2, n) * 1e300))
    return rows


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 150, 3000, 20000])
def test_sort_of_64_bits_near_and_far(n: int, descending: bool) -> None:
    for a in rows_of_64_bits(n, n):
        values, places = torch.sort(torch.from_numpy(a.copy()), 0, descending)
        expected = stable_order(a, 0, descending)
        np.testing.assert_array_equal(places.numpy(), expected)
        np.testing.assert_array_equal(values.numpy(), a[expected])
        half = torch.from_numpy(a.copy()).topk(n // 2 + 1, 0, largest=descending)
        np.testing.assert_array_equal(half.indices.numpy(), expected[: n // 2 + 1])


def test_sort_of_bfloat16_and_of_any_layout() -> None:
    x = torch.tensor([3.0, float("nan"), -0.0, 0.0, -2.0]).to(torch.bfloat16)
    assert x.sort().indices.tolist() == [4, 2, 3, 0, 1]
    y = torch.arange(12).reshape(3, 4).t()[::2]
    assert torch.sort(y, 1, descending=True).values.tolist() == [[8, 4, 0], [10, 6, 2]]


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", ["int64", "float32", "float64", "int8"])
def test_topk_is_the_head_of_the_sort(dtype: str, largest: bool) -> None:
    a = draw((4, 300), dtype, 1)
    for k in (0, 1, 17, 300):
        values, places = torch.topk(torch.from_numpy(a), k, 1, largest)
        expected = stable_order(a, 1, largest)[:, :k]
        np.testing.assert_array_equal(places.numpy(), expected)
        np.testing.assert_array_equal(values.numpy(), np.take_along_axis(a, expected, 1))


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", [t for t in DTYPES if t != "bool"])
def test_topk_of_long_rows(dtype: str, largest: bool) -> None:
    """Where few are asked for, rows are looked through in blocks; ties, NaN and ascending rows among them."""
    rows = draw((3, 2700, 2), dtype, 2)
    rows[1] = np.sort(rows[1], 0)
    rows[2] = rows[2, 0, 0]
    for k in (1, 5, 300, 675, 676):
        values, places = torch.topk(torch.from_numpy(rows), k, 1, largest)
        expected = stable_order(rows, 1, largest)[:, :k]
        np.testing.assert_array_equal(places.numpy(), expected)
        np.testing.assert_array_equal(values.numpy(), np.take_along_axis(rows, expected, 1))


@pytest.mark.parametrize("dtype", [t for t in DTYPES if t != "bool"])
def test_extremes_of_long_rows_have_the_first_place(dtype: str) -> None:
    """Rows of several blocks of 1024: the place is that of the stable order's first element, +0 above -0."""
    for n in (1, 1023, 1024, 1025, 2048, 3100):
        a = draw((4, n), dtype, n)
        a[1:] = a[1:, :1]
        a[2, n // 2 :] = a[0, 0]
        a[3, -1] = a[0, -1]
        for row in a:
            x = torch.from_numpy(row.copy())
            values = [float(v) for v in row]
            signs = [math.copysign(1, v) for v in values]
            nan = [v != v for v in values]
            keys = [(0, 0, 0) if isnan else (1, v, s) for v, s, isnan in zip(values, signs, nan)]
            assert x.argmin().item() == keys.index(min(keys))
            keys = [(2, 0, 0) if isnan else k for k, isnan in zip(keys, nan)]
            assert x.argmax().item() == keys.index(max(keys))


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_medians_and_kth(n: int) -> None:
    rng = np.random.default_rng(n)
    a = rng.permuted(np.arange(3.0 * n).reshape(3, n), axis=1)
    x = torch.from_numpy(a)
    middle = np.sort(a, 1)[:, (n - 1) // 2]
    values, places = x.median(1)
    np.testing.assert_array_equal(values.numpy(), middle)
    np.testing.assert_array_equal(np.take_along_axis(a, places.numpy()[:, None], 1)[:, 0], middle)
    assert x.median().item() == np.sort(a.reshape(-1))[(3 * n - 1) // 2]
    np.testing.assert_array_equal(x.kthvalue(n, 1).values.numpy(), a.max(1))
    a[1, 0] = np.nan
    x = torch.from_numpy(a)
    assert np.isnan(x.median(1).values[1].item()) and x.median(1).indices[1].item() == 0
    kept = np.sort(a[1])[: n - 1]
    lower = kept[(n - 2) // 2] if n > 1 else np.nan
    np.testing.assert_array_equal(x.nanmedian(1, keepdim=True).values[1].numpy(), [lower])
    assert np.isnan(x.median().item()) and not np.isnan(x.nanmedian().item())


def test_mode_is_the_smallest_of_the_most_frequent() -> None:
    x = torch.tensor([[3, 1, 3, 1, 2], [5, 4, 3, 2, 1]])
    values, places = x.mode(1)
    assert values.tolist() == [1, 1] and places.tolist() == [3, 4]
    assert x.mode(0, keepdim=True).values.tolist() == [[3, 1, 3, 1, 1]]


def test_gradients_go_to_the_chosen_elements() -> None:
    x = torch.tensor([3.0, 1.0, 2.0, 2.0], requires_grad=True)
    weights = torch.tensor([1.0, 10.0, 100.0, 1000.0])
    for call, expected in [
        (lambda: (x.sort().values * weights).sum(), [1000, 1, 10, 100]),
        (lambda: (x.topk(2).values * weights[:2]).sum(), [1, 0, 10, 0]),
        (lambda: x.median(), [0, 0, 1, 0]),
        (lambda: x.kthvalue(4).values, [1, 0, 0, 0]),
    ]:
        assert torch.autograd.grad(call(), x)[0].tolist() == expected


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_searches(dtype: str, right: bool) -> None:
    rng = np.random.default_rng(5)
    sequence = np.sort(rng.integers(0, 30, (3, 20)).astype(dtype), 1)
    values = rng.integers(-2, 33, (3, 9)).astype(dtype)
    found = torch.searchsorted(torch.from_numpy(sequence), torch.from_numpy(values), right=right)
    side = "right" if right else "left"
    expected = np.stack(
        [np.searchsorted(s, v, side) for s, v in zip(sequence, values, strict=True)]
    )
    np.testing.assert_array_equal(found.numpy(), expected)
    one = torch.bucketize(
        torch.from_numpy(values),
        torch.from_numpy(sequence[0]),
        right=right,
        out_int32=True,
    )
    assert one.dtype == torch.int32
    np.testing.assert_array_equal(one.numpy(), np.searchsorted(sequence[0], values, side))
    shuffled = rng.permutation(20)
    by = np.argsort(sequence[0][shuffled], kind="stable")
    again = torch.searchsorted(
        torch.from_numpy(sequence[0][shuffled].copy()),
        torch.from_numpy(values[0]),
        side=side,
        sorter=torch.from_numpy(by),
    )
    np.testing.assert_array_equal(again.numpy(), expected[0])
    assert torch.searchsorted(torch.tensor([1, 3, 5]), 3).item() == 1


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32"])
def test_unique(dtype: str) -> None:
    a = draw((6, 40), dtype, 3)
    a = np.nan_to_num(a) if dtype == "float32" else a
    x = torch.from_numpy(a)
    values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
    expected, first, back, number = np.unique(a, True, True, True)
    np.testing.assert_array_equal(values.numpy(), expected)
    np.testing.assert_array_equal(inverse.numpy(), back.reshape(a.shape))
    np.testing.assert_array_equal(counts.numpy(), number)
    assert first.shape == number.shape and torch.equal(x.unique(), values)
    rows = torch.from_numpy(a[:, :2].copy())
    values, inverse = rows.unique(dim=0, return_inverse=True)
    expected = np.unique(a[:, :2], axis=0)
    np.testing.assert_array_equal(values.numpy(), expected)
    np.testing.assert_array_equal(values[inverse].numpy(), a[:, :2])


def test_unique_consecutive() -> None:
    x = torch.tensor([1, 1, 2, 2, 3, 1, 1, 2])
    values, inverse, counts = torch.unique_consecutive(x, return_inverse=True, return_counts=True)
    assert values.tolist() == [1, 2, 3, 1, 2]
    assert inverse.tolist() == [0, 0, 1, 1, 2, 3, 3, 4] and counts.tolist() == [
        2,
        2,
        1,
        2,
        1,
    ]
    rows = torch.tensor([[1, 2], [1, 2], [2, 1]])
    assert rows.unique_consecutive(dim=0).tolist() == [[1, 2], [2, 1]]
    assert torch.unique_consecutive(torch.empty(0)).numel() == 0


def test_counts() -> None:
    a = np.random.default_rng(7).integers(0, 9, 200)
    w = np.random.default_rng(8).integers(0, 5, 200).astype("float64")
    np.testing.assert_array_equal(
        torch.bincount(torch.from_numpy(a), minlength=12).numpy(),
        np.bincount(a, minlength=12),
    )
    np.testing.assert_array_equal(
        torch.bincount(torch.from_numpy(a), torch.from_numpy(w)).numpy(),
        np.bincount(a, w),
    )
    x = np.random.default_rng(9).integers(-40, 40, 500).astype("float64") / 8
    for bins, low, high in [(10, -5, 5), (7, -1, 2), (4, 0, 0)]:
        limits = (x.min(), x.max()) if low == high else (low, high)
        expected = np.histogram(x, bins, limits)[0]
        np.testing.assert_array_equal(
            torch.histc(torch.from_numpy(x), bins, low, high).numpy(), expected
        )


def test_membership() -> None:
    rng = np.random.default_rng(11)
    a = rng.integers(0, 100, (5, 20))
    for n in (0, 3, 60):
        b = rng.integers(0, 100, n)
        for invert in (False, True):
            found = torch.isin(torch.from_numpy(a), torch.from_numpy(b), invert=invert)
            np.testing.assert_array_equal(found.numpy(), np.isin(a, b, invert=invert))
    assert torch.isin(torch.tensor([1, 2]), 2).tolist() == [False, True]
    assert torch.isin(2, torch.tensor([1, 2])).item() is True


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        (IndexError, lambda: torch.sort(torch.ones(2), 1)),
        (RuntimeError, lambda: torch.topk(torch.ones(3), 4)),
        (RuntimeError, lambda: torch.topk(torch.ones(3), -1)),
        (RuntimeError, lambda: torch.kthvalue(torch.ones(3), 0)),
        (IndexError, lambda: torch.kthvalue(torch.ones(2, 0), 1)),
        (IndexError, lambda: torch.median(torch.ones(2, 0), 1)),
        (IndexError, lambda: torch.mode(torch.ones(2, 0), 1)),
        (RuntimeError, lambda: torch.searchsorted(torch.ones(2, 3), torch.ones(3, 2))),
        (
            RuntimeError,
            lambda: torch.searchsorted(torch.ones(3), torch.ones(2), side="up"),
        ),
        (
            RuntimeError,
            lambda: torch.searchsorted(torch.ones(3), torch.ones(2), right=True, side="left"),
        ),
        (RuntimeError, lambda: torch.bucketize(torch.ones(2), torch.ones(2, 2))),
        (RuntimeError, lambda: torch.bincount(torch.tensor([-1]))),
        (RuntimeError, lambda: torch.bincount(torch.ones(2))),
        (RuntimeError, lambda: torch.histc(torch.ones(3), 0)),
        (RuntimeError, lambda: torch.histc(torch.ones(3), 4, 2, 1)),
        (NotImplementedError, lambda: torch.unique(torch.ones(3, device="meta"))),
    ],
    ids=str,
)
def test_bad_arguments(kind: type[Exception], call: Any) -> None:
    with pytest.raises(kind):
        call()
