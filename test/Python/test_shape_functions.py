"""Functions that move elements, against NumPy: values, views, gradients, meta tensors, errors."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)

SHAPE = (2, 3, 4)


def numbers(shape: tuple[int, ...], dtype: str = "float64") -> np.ndarray:
    """Different values, so that every move shows."""
    return (np.arange(int(np.prod(shape)), dtype=dtype) - 3).reshape(shape)


def pad_reflect(x: np.ndarray) -> np.ndarray:
    return np.pad(x, [(0, 0), (0, 0), (2, 1)], mode="reflect")


# name, what torchc does, what NumPy does; each of one array of SHAPE.
MOVES: list[tuple[str, Callable[[Any], Any], Callable[[np.ndarray], Any]]] = [
    ("flip", lambda x: torch.flip(x, (0, -1)), lambda a: np.flip(a, (0, -1))),
    ("fliplr", torch.fliplr, np.fliplr),
    ("flipud", torch.flipud, np.flipud),
    ("roll", lambda x: torch.roll(x, (1, -2), (0, 2)), lambda a: np.roll(a, (1, -2), (0, 2))),
    ("roll flat", lambda x: torch.roll(x, 5), lambda a: np.roll(a, 5)),
    *[
        (
            f"rot90 {k}",
            lambda x, k=k: torch.rot90(x, k, (1, 2)),
            lambda a, k=k: np.rot90(a, k, (1, 2)),
        )
        for k in (-3, 0, 1, 2, 7)
    ],
    ("tile", lambda x: torch.tile(x, (2, 1, 3)), lambda a: np.tile(a, (2, 1, 3))),
    ("tile more", lambda x: x.tile(2, 1, 1, 2), lambda a: np.tile(a, (2, 1, 1, 2))),
    ("repeat", lambda x: x.repeat(2, 1, 3, 1), lambda a: np.tile(a, (2, 1, 3, 1))),
    ("repeat none", lambda x: x.repeat(1, 0, 1), lambda a: np.tile(a, (1, 0, 1))),
    ("interleave", lambda x: x.repeat_interleave(3, 1), lambda a: np.repeat(a, 3, 1)),
    ("interleave flat", lambda x: x.repeat_interleave(2), lambda a: np.repeat(a, 2)),
    (
        "interleave counts",
        lambda x: torch.repeat_interleave(x, torch.tensor([2, 0, 1]), 1),
        lambda a: np.repeat(a, [2, 0, 1], 1),
    ),
    (
        "movedim",
        lambda x: torch.movedim(x, (0, 1), (-1, 0)),
        lambda a: np.moveaxis(a, (0, 1), (-1, 0)),
    ),
    ("swapaxes", lambda x: x.swapaxes(0, -1), lambda a: np.swapaxes(a, 0, -1)),
    ("unflatten", lambda x: x.unflatten(-1, (2, -1)), lambda a: a.reshape(2, 3, 2, 2)),
    ("squeeze dims", lambda x: x.unsqueeze(0).squeeze((0, 1)), lambda a: a),
    ("hstack", lambda x: torch.hstack([x, x + 1]), lambda a: np.hstack([a, a + 1])),
    ("vstack", lambda x: torch.vstack((x[0], x[1])), lambda a: np.vstack((a[0], a[1]))),
    ("dstack", lambda x: torch.dstack((x[0], x[1])), lambda a: np.dstack((a[0], a[1]))),
    (
        "column_stack",
        lambda x: torch.column_stack((x[0, 0], x[0, 1])),
        lambda a: np.column_stack((a[0, 0], a[0, 1])),
    ),
    ("tril", lambda x: x.tril(1), lambda a: np.tril(a, 1)),
    ("triu", lambda x: torch.triu(x, -1), lambda a: np.triu(a, -1)),
    ("diagonal", lambda x: torch.diagonal(x, 1, 1, 2), lambda a: np.diagonal(a, 1, 1, 2)),
    ("diagonal below", lambda x: x.diagonal(-1, 2, 1), lambda a: np.diagonal(a, -1, 2, 1)),
    ("diagonal outside", lambda x: x.diagonal(9, 1, 2), lambda a: np.diagonal(a, 9, 1, 2)),
    ("diag of a matrix", lambda x: torch.diag(x[0], -1), lambda a: np.diag(a[0], -1)),
    ("diag of a vector", lambda x: torch.diag(x[0, 0], 2), lambda a: np.diag(a[0, 0], 2)),
    ("diagflat", lambda x: torch.diagflat(x[0], -1), lambda a: np.diagflat(a[0], -1)),
    ("trace", lambda x: x[0].trace(), lambda a: np.trace(a[0])),
    (
        "pad",
        lambda x: torch.nn.functional.pad(x, (1, 2, 0, 1), value=7),
        lambda a: np.pad(a, [(0, 0), (0, 1), (1, 2)], constant_values=7),
    ),
    (
        "pad negative",
        lambda x: torch.nn.functional.pad(x, (-1, 2)),
        lambda a: np.pad(a[:, :, 1:], [(0, 0), (0, 0), (0, 2)]),
    ),
    ("pad reflect", lambda x: torch.nn.functional.pad(x, (2, 1), mode="reflect"), pad_reflect),
    (
        "pad replicate",
        lambda x: torch.nn.functional.pad(x, (2, 1), mode="replicate"),
        lambda a: np.pad(a, [(0, 0), (0, 0), (2, 1)], mode="edge"),
    ),
    (
        "pad circular",
        lambda x: torch.nn.functional.pad(x, (2, 1), mode="circular"),
        lambda a: np.pad(a, [(0, 0), (0, 0), (2, 1)], mode="wrap"),
    ),
    (
        "take",
        lambda x: torch.take(x, torch.tensor([[0, -1], [5, 5]])),
        lambda a: a.reshape(-1)[[[0, -1], [5, 5]]],
    ),
    ("kron", lambda x: torch.kron(x[0], x[1]), lambda a: np.kron(a[0], a[1])),
    ("atleast_3d", lambda x: torch.atleast_3d(x[0]), lambda a: np.atleast_3d(a[0])),
    (
        "cartesian",
        lambda x: torch.cartesian_prod(x[0, 0], x[0, 1, :2]),
        lambda a: np.array(list(itertools.product(a[0, 0], a[0, 1, :2]))),
    ),
    (
        "combinations",
        lambda x: torch.combinations(x[0, 0], 3),
        lambda a: np.array(list(itertools.combinations(a[0, 0], 3))),
    ),
    (
        "combinations again",
        lambda x: torch.combinations(x[0, 0], 2, with_replacement=True),
        lambda a: np.array(list(itertools.combinations_with_replacement(a[0, 0], 2))),
    ),
]


@pytest.mark.parametrize("dtype", ["float64", "int32", "float16"])
@pytest.mark.parametrize(("ours", "numpy"), [m[1:] for m in MOVES], ids=[m[0] for m in MOVES])
def test_moves_as_numpy_does(ours: Any, numpy: Any, dtype: str) -> None:
    a = numbers(SHAPE, dtype)
    found = ours(torch.from_numpy(a.copy()))
    expected = numpy(a)
    assert found.numpy().dtype == expected.dtype
    np.testing.assert_array_equal(found.numpy(), expected)


@pytest.mark.parametrize(("ours", "numpy"), [m[1:] for m in MOVES], ids=[m[0] for m in MOVES])
def test_moves_from_any_layout(ours: Any, numpy: Any) -> None:
    x = torch.from_numpy(np.ascontiguousarray(numbers((4, 4, 3)))).transpose(1, 2)[::2]
    assert x.shape == SHAPE and not x.is_contiguous()
    np.testing.assert_array_equal(ours(x).numpy(), numpy(x.contiguous().numpy()))


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
def test_flips_of_every_length_and_layout(dtype: str) -> None:
    for n in (0, 1, 2, 5, 16, 17, 100, 1030):
        a = numbers((2, n, 3), "int16").astype(dtype)
        x = torch.from_numpy(a.copy())
        flat = x.reshape(-1)
        np.testing.assert_array_equal(flat.flip(0).numpy(), a.reshape(-1)[::-1])
        np.testing.assert_array_equal(flat[::2].flip(0).numpy(), a.reshape(-1)[::2][::-1])
        for dims in ((), (0,), (1,), (-1,), (2, 0), (0, 1, 2)):
            np.testing.assert_array_equal(x.flip(dims).numpy(), np.flip(a, dims))
            np.testing.assert_array_equal(x.mT.flip(dims).numpy(), np.flip(a.swapaxes(1, 2), dims))
    one = torch.tensor(3).to(getattr(torch, dtype))
    assert one.flip(()).item() == one.item() and one.flip(0).data_ptr() != one.data_ptr()


@pytest.mark.parametrize("ours", [m[1] for m in MOVES], ids=[m[0] for m in MOVES])
def test_moves_have_the_gradient_of_a_linear_map(ours: Any) -> None:
    """The derivative along v is the move of v (constants drop out), and backward is its transpose."""
    rng = np.random.default_rng(1)
    x = torch.from_numpy(rng.integers(-4, 5, SHAPE).astype("float64")).requires_grad_()
    v = torch.from_numpy(rng.integers(-4, 5, SHAPE).astype("float64"))
    y = ours(x)
    w = torch.from_numpy(rng.integers(-4, 5, tuple(y.shape)).astype("float64"))
    (g,) = torch.autograd.grad((y * w).sum(), x)
    eps = 0.5
    along = (ours(x.detach() + v * eps) - ours(x.detach() - v * eps)) / (2 * eps)
    assert (g * v).sum().item() == (along * w).sum().item()


@pytest.mark.parametrize("ours", [m[1] for m in MOVES], ids=[m[0] for m in MOVES])
def test_moves_of_meta_tensors_have_the_shape(ours: Any, request: pytest.FixtureRequest) -> None:
    if "counts" in request.node.name or "take" in request.node.name:
        pytest.skip("the index is no meta tensor")
    found = ours(torch.empty(SHAPE, device="meta"))
    assert found.device.type == "meta" and found.shape == ours(torch.zeros(SHAPE)).shape


def test_diagonal_shares_memory() -> None:
    x = torch.zeros(3, 3)
    x.diagonal().fill_(2)
    x.t().diagonal(1).fill_(5)
    assert x.tolist() == [[2, 0, 0], [5, 2, 0], [0, 5, 2]]
    x.fill_diagonal_(7)
    assert x.diagonal().tolist() == [7, 7, 7] and x._version == 3


def test_pieces() -> None:
    x = torch.arange(10)
    assert [t.tolist() for t in torch.tensor_split(x, 3)] == [
        [0, 1, 2, 3],
        [4, 5, 6],
        [7, 8, 9],
    ]
    assert [t.tolist() for t in x.tensor_split((2, -3, 20))] == [
        [0, 1],
        [2, 3, 4, 5, 6],
        [7, 8, 9],
        [],
    ]
    assert [t.tolist() for t in x.tensor_split(torch.tensor([2, 4]))] == [
        [0, 1],
        [2, 3],
        [4, 5, 6, 7, 8, 9],
    ]
    assert [tuple(t.shape) for t in torch.split(torch.ones(4, 5), [2, 3], 1)] == [
        (4, 2),
        (4, 3),
    ]
    assert [tuple(t.shape) for t in torch.hsplit(torch.ones(2, 4, 2), 2)] == [(2, 2, 2)] * 2
    assert all(t._base is x for t in x.tensor_split(2))
    with pytest.raises(RuntimeError):
        torch.vsplit(torch.ones(3, 3), 2)


def test_grids() -> None:
    a, b = torch.arange(3), torch.arange(2)
    for order in ("ij", "xy"):
        ours = torch.meshgrid(a, b, indexing=order)
        for t, n in zip(ours, np.meshgrid(a.numpy(), b.numpy(), indexing=order), strict=True):
            np.testing.assert_array_equal(t.numpy(), n)
    assert [tuple(t.shape) for t in torch.broadcast_tensors(torch.ones(3, 1), torch.ones(2))] == [
        (3, 2)
    ] * 2
    assert torch.broadcast_shapes((3, 1), (1, 4), 4) == (3, 4)
    assert torch.block_diag(torch.ones(1, 2), torch.tensor(3.0)).tolist() == [
        [1, 1, 0],
        [0, 0, 3],
    ]
    np.testing.assert_array_equal(torch.tril_indices(3, 4, 1).numpy(), np.tril_indices(3, 1, 4))
    np.testing.assert_array_equal(torch.triu_indices(4, 3, -1).numpy(), np.triu_indices(4, -1, 3))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.int64])
def test_rows_of_numbers(dtype: Any) -> None:
    """Eager makes them in one pass; compiled code computes them by ops: the bits agree."""
    for n in (0, 1, 2, 3, 10, 1023, 1024, 1025, 4100):
        for start, end in ((0, 1), (-3.5, 7.25), (5, -1e6), (2, 2), (-0.0, 1e-30)):
            row = torch.linspace(start, end, n, dtype=dtype)
            recorded = torch.compile(
                lambda a=start, b=end, m=n: torch.linspace(a, b, m, dtype=dtype) * 1
            )
            assert torch.equal(row, recorded()) and row.dtype == dtype
            if n > 1 and dtype == torch.float64:
                assert row[0].item() == start and row[-1].item() == end
                step = (end - start) / (n - 1)
                want = [
                    start + i * step if i < n // 2 else end - (n - 1 - i) * step for i in range(n)
                ]
                assert row.tolist() == want
    for rows, columns in ((0, 0), (1, 1), (3, 3), (2, 5), (5, 2), (0, 3), (3, 0)):
        one = torch.eye(rows, columns, dtype=dtype)
        assert one.dtype == dtype
        np.testing.assert_array_equal(one.numpy(), np.eye(rows, columns))
    assert torch.eye(2, dtype=torch.complex64).tolist() == [[1, 0], [0, 1]]
    assert torch.eye(2, dtype=torch.bool).tolist() == [[True, False], [False, True]]


def test_places_of_true_elements() -> None:
    rng = np.random.default_rng(5)
    for n in (0, 1, 2, 7, 8, 9, 16, 100, 129, 1000):
        for share in (0.0, 0.02, 0.5, 1.0):
            a = rng.random(n) < share
            x = torch.from_numpy(a.copy())
            np.testing.assert_array_equal(torch.nonzero(x).numpy(), np.argwhere(a))
            y = torch.arange(n)
            np.testing.assert_array_equal(y[x].numpy(), np.arange(n)[a])
    a = rng.random((3, 50, 7)) < 0.1
    a[1] = False
    np.testing.assert_array_equal(torch.nonzero(torch.from_numpy(a)).numpy(), np.argwhere(a))
    assert torch.nonzero(torch.tensor(True)).shape == (1, 0)
    odd = torch.from_numpy(
        np.array([0, 2, 255, 0, 128], np.uint8).view(bool)
    )  # bytes that aren't 0 or 1
    assert torch.nonzero(odd).tolist() == [[1], [2], [4]]
    assert odd.any().item() and not odd.all().item() and odd[1:3].all().item()


def test_sums_to_a_size() -> None:
    x = torch.arange(6, dtype=torch.int32).reshape(1, 2, 3)
    assert x.sum_to_size(2, 1).tolist() == [[3], [12]] and x.sum_to_size(1).dtype == torch.int64
    assert x.sum_to_size(1, 2, 3).dtype == torch.int32
    with pytest.raises(RuntimeError):
        x.sum_to_size(2)


def test_windows_and_their_sum() -> None:
    x = torch.arange(40, dtype=torch.float64).reshape(1, 2, 4, 5)
    columns = torch.nn.functional.unfold(x, (2, 3), padding=1, stride=2)
    padded = np.pad(x.numpy(), [(0, 0), (0, 0), (1, 1), (1, 1)])
    expected = [
        padded[0, c, i : i + 2, j : j + 3].reshape(-1)
        for i in range(0, 5, 2)
        for j in range(0, 5, 2)
        for c in (0, 1)
    ]
    blocks = np.array(expected).reshape(9, 2 * 6).T
    np.testing.assert_array_equal(columns[0].numpy(), blocks)
    ones = torch.nn.functional.unfold(torch.ones_like(x), (2, 3), padding=1, stride=2)
    counts = torch.nn.functional.fold(ones, (4, 5), (2, 3), padding=1, stride=2)
    summed = torch.nn.functional.fold(columns, (4, 5), (2, 3), padding=1, stride=2)
    np.testing.assert_array_equal(summed.numpy(), (x * counts).numpy())


def test_channels_and_space() -> None:
    x = torch.arange(2 * 8 * 3 * 2).reshape(2, 8, 3, 2)
    shuffled = torch.nn.functional.pixel_shuffle(x, 2)
    expected = x.numpy().reshape(2, 2, 2, 2, 3, 2).transpose(0, 1, 4, 2, 5, 3).reshape(2, 2, 6, 4)
    np.testing.assert_array_equal(shuffled.numpy(), expected)
    assert torch.equal(torch.nn.functional.pixel_unshuffle(shuffled, 2), x)
    groups = torch.nn.functional.channel_shuffle(x, 4)
    expected = x.numpy().reshape(2, 4, 2, 3, 2).swapaxes(1, 2).reshape(2, 8, 3, 2)
    np.testing.assert_array_equal(groups.numpy(), expected)


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        (RuntimeError, lambda: torch.flip(torch.ones(2), (0, 0))),
        (IndexError, lambda: torch.flip(torch.ones(2), (3,))),
        (RuntimeError, lambda: torch.roll(torch.ones(2), (1, 2), (0,))),
        (RuntimeError, lambda: torch.rot90(torch.ones(2), 1)),
        (RuntimeError, lambda: torch.rot90(torch.ones(2, 2), 1, (0, -2))),
        (RuntimeError, lambda: torch.ones(2, 2).repeat(2)),
        (RuntimeError, lambda: torch.ones(3).repeat_interleave(torch.tensor([1, 2]))),
        (
            RuntimeError,
            lambda: torch.ones(3).repeat_interleave(torch.tensor([1, -1, 1])),
        ),
        (NotImplementedError, lambda: torch.ones(1).repeat_interleave(torch.tensor([1.0]))),
        (NotImplementedError, lambda: torch.ones(2, 2, dtype=torch.bool).trace()),
        (RuntimeError, lambda: torch.movedim(torch.ones(2, 3), (0, 0), (0, 1))),
        (RuntimeError, lambda: torch.ones(6).unflatten(0, (4, -1))),
        (RuntimeError, lambda: torch.tril(torch.ones(3))),
        (RuntimeError, lambda: torch.diagonal(torch.ones(3, 3), 0, 1, 1)),
        (RuntimeError, lambda: torch.diag(torch.ones(1, 1, 1))),
        (RuntimeError, lambda: torch.trace(torch.ones(3))),
        (RuntimeError, lambda: torch.nn.functional.pad(torch.ones(3), (1, 1, 1))),
        (RuntimeError, lambda: torch.nn.functional.pad(torch.ones(1, 3), (3, 0), mode="reflect")),
        (
            NotImplementedError,
            lambda: torch.nn.functional.pad(torch.ones(3), (1, 1), mode="reflect"),
        ),
        (RuntimeError, lambda: torch.hstack([])),
        (RuntimeError, lambda: torch.meshgrid(torch.ones(2, 2))),
        (RuntimeError, lambda: torch.cartesian_prod(torch.ones(2, 2))),
        (RuntimeError, lambda: torch.combinations(torch.ones(2, 2))),
        (RuntimeError, lambda: torch.tensor_split(torch.ones(3), 0)),
        (TypeError, lambda: torch.tril_indices(2.5, 3)),
        (RuntimeError, lambda: torch.broadcast_tensors(torch.ones(2), torch.ones(3))),
    ],
    ids=str,
)
def test_bad_arguments(kind: type[Exception], call: Any) -> None:
    with pytest.raises(kind):
        call()


def test_sum_to_size_of_integers():
    """int64 where something is summed, and always to no dimensions, as in PyTorch."""
    x = torch.ones(2, 3, dtype=torch.int32)
    assert x.sum_to_size(2, 3).dtype == torch.int32 and x.sum_to_size(1, 3).dtype == torch.int64
    assert torch.tensor(True).sum_to_size(()).dtype == torch.int64
