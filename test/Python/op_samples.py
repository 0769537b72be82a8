"""Sample generators of op_db: shapes, layouts and edge values for each kind of op."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from oracle.dtypes import ALL, Arr, DType, cast, f32_to_bf16, f32_to_f16

Rng = np.random.Generator
View = tuple[str, tuple[Any, ...]]
SLICE = "__getitem__"


@dataclass(frozen=True)
class Input:
    """A tensor argument: a contiguous base and the view methods that lead from it to the
    operand."""

    arr: Arr
    views: tuple[View, ...] = ()

    def build(self, base: Any) -> Any:
        """Apply the views to a base tensor of some namespace."""
        for name, args in self.views:
            base = getattr(base, name)(*args)
        return base


@dataclass(frozen=True)
class Sample:
    """Arguments of one call; Inputs become tensors, DTypes the namespace's dtypes, the rest is
    passed as it is."""

    label: str
    args: tuple[Any, ...]
    grad: bool = True


# ---- values


def from_bits(rng: Rng, shape: Sequence[int], dtype: DType) -> Arr:
    """Uniform bit patterns: every exponent, denormals, infinities and NaNs; extreme integers."""
    if dtype == DType.Bool:
        return Arr(dtype, np.asarray(rng.integers(0, 2, shape).astype(np.bool_)))
    count = int(np.prod(shape, dtype=np.int64))
    raw = rng.integers(0, 256, count * dtype.storage.itemsize, dtype=np.uint8)
    return Arr(dtype, raw.view(dtype.storage).reshape(tuple(shape)))


def edges(dtype: DType) -> Arr:
    """The values where bodies and casts have corners."""
    if dtype == DType.Bool:
        return Arr(dtype, np.array([False, True]))
    if not dtype.is_float:
        info = np.iinfo(dtype.storage)
        values = [0, 1, 2, 3, 7, 100, info.max, info.max - 1, info.min, info.min // 2]
        signed = [-1, -2, -100] if info.min < 0 else []
        return Arr(dtype, np.array(values + signed, dtype.storage))
    f = np.float64 if dtype == DType.F64 else np.float32
    limits = np.finfo(f)
    numbers: list[float] = [
        0.0,
        1.0,
        0.5,
        1.5,
        2.0,
        3.0,
        65504.0,
        65520.0,
        1e-7,
        88.7,
        710.0,
        1e9,
        2.0**31,
        2.0**63,
    ]
    numbers += [
        np.inf,
        np.nan,
        float(limits.max),
        float(limits.tiny),
        float(limits.smallest_subnormal),
    ]
    wide = np.array(numbers + [-v for v in numbers], dtype=f)
    with np.errstate(all="ignore"):
        return cast(Arr(DType.F64 if dtype == DType.F64 else DType.F32, wide), dtype)


def values(rng: Rng, shape: Sequence[int], dtype: DType, spread: float = 3.0) -> Arr:
    """Ordinary numbers over a few binades, a few edge values among them when there is room."""
    shape = tuple(shape)
    if dtype == DType.Bool:
        return from_bits(rng, shape, dtype)
    if not dtype.is_float:
        low = 0 if dtype == DType.U8 else -40
        return Arr(dtype, np.asarray(rng.integers(low, 41, shape).astype(dtype.storage)))
    normal = rng.standard_normal(shape) * np.exp2(rng.uniform(-spread, spread, shape))
    if dtype == DType.F64:
        return Arr(dtype, np.asarray(normal))
    small = np.asarray(normal, dtype=np.float32)
    if dtype == DType.F32:
        return Arr(dtype, small)
    return Arr(dtype, f32_to_bf16(small) if dtype == DType.BF16 else f32_to_f16(small))


def salted(rng: Rng, shape: Sequence[int], dtype: DType) -> Arr:
    """`values` with about one element in eight replaced by an edge value."""
    out = values(rng, shape, dtype)
    data = np.array(out.data)
    at = rng.random(data.shape) < 0.125
    data[at] = rng.choice(edges(dtype).data, int(np.count_nonzero(at)))
    return Arr(dtype, data)


def plain(arr: Arr) -> Input:
    """A contiguous operand."""
    return Input(arr)


def transposed(arr: Arr) -> Input:
    """The same logical values, last two dims swapped in memory."""
    if arr.ndim < 2:
        return Input(arr)
    return Input(Arr(arr.dtype, np.swapaxes(arr.data, -1, -2).copy()), (("transpose", (-1, -2)),))


def strided(arr: Arr) -> Input:
    """The same logical values at every second place of a base with one leading and one trailing
    extra."""
    if arr.ndim == 0:
        return Input(Arr(arr.dtype, np.array([0, arr.data, 0], arr.data.dtype)), ((SLICE, (1,)),))
    base = np.zeros(arr.shape[:-1] + (2 * arr.shape[-1] + 2,), arr.data.dtype)
    base[..., 1 : 2 * arr.shape[-1] + 1 : 2] = arr.data
    key = (Ellipsis, slice(1, 2 * arr.shape[-1] + 1, 2))
    return Input(Arr(arr.dtype, base), ((SLICE, (key,)),))


def expanded(arr: Arr, times: int = 3) -> Input:
    """A stride-0 leading dim."""
    return Input(arr, (("expand", ((times, *arr.shape),)),))


# ---- sample generators

SHAPES: tuple[tuple[int, ...], ...] = ((), (0,), (1,), (7,), (2, 0, 3), (1, 1), (3, 4, 5), (67, 33))


def unary(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """All shapes and layouts, all edge values, random bits, and a length past any threading
    threshold."""
    yield Sample("edges", (plain(edges(dtype)),))
    yield Sample("bits", (plain(from_bits(rng, (4096,), dtype)),))
    for shape in SHAPES:
        yield Sample(f"shape{list(shape)}", (plain(salted(rng, shape, dtype)),))
    yield Sample("transposed", (transposed(salted(rng, (5, 37), dtype)),))
    yield Sample("strided", (strided(salted(rng, (3, 70), dtype)),))
    yield Sample("strided0d", (strided(values(rng, (), dtype)),))
    yield Sample("expanded", (expanded(salted(rng, (9,), dtype)),))
    yield Sample("long", (plain(values(rng, (70001,), dtype)),))


def _pairs(rng: Rng, dtype: DType) -> Iterator[tuple[str, Input, Input]]:
    corner = edges(dtype).data
    n = len(corner)
    left, right = Arr(dtype, corner.reshape(n, 1)), Arr(dtype, corner.reshape(1, n))
    yield "edges", plain(left), plain(right)
    yield "bits", plain(from_bits(rng, (2048,), dtype)), plain(from_bits(rng, (2048,), dtype))
    for a, b in [
        ((), ()),
        ((0,), (1,)),
        ((1,), (1,)),
        ((7,), (7,)),
        ((5, 1), (1, 6)),
        ((3, 4, 5), (4, 5)),
        ((2, 1, 3), (4, 1)),
        ((130,), ()),
        ((2, 0, 3), (1, 3)),
    ]:
        yield f"{list(a)}{list(b)}", plain(salted(rng, a, dtype)), plain(salted(rng, b, dtype))
    x, y = salted(rng, (19, 34), dtype), salted(rng, (19, 34), dtype)
    yield "transposed", transposed(x), plain(y)
    yield "both transposed", transposed(x), transposed(y)
    yield "strided", strided(x), transposed(y)
    yield "expanded", expanded(x, 2), plain(y)
    yield "long", plain(values(rng, (66000,), dtype)), plain(values(rng, (66000,), dtype))


def binary(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Two tensors of one dtype."""
    for label, x, y in _pairs(rng, dtype):
        yield Sample(label, (x, y))


def binary_mixed(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """As `binary`, and promotion: other dtypes, 0-d operands, Python numbers on either side."""
    yield from binary(rng, dtype)
    x = salted(rng, (4, 9), dtype)
    for other in ALL:
        if other != dtype:
            yield Sample(f"with {other.name}", (plain(x), plain(salted(rng, (9,), other))))
            yield Sample(f"with 0-d {other.name}", (plain(x), plain(values(rng, (), other))))
    for number in (2, 0, -3, True, 0.1, -2.5, float("inf"), float("nan")):
        if dtype == DType.U8 and number == -3:
            continue
        yield Sample(f"with {number!r}", (transposed(x), number))


def numbers_left(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """A Python number on the left."""
    for number in (2, 0.1, -0.0):
        yield Sample(f"{number!r} with", (number, plain(salted(rng, (4, 9), dtype))))


def where_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Condition, two branches; broadcasting, mixed dtypes, numbers."""
    for label, x, y in _pairs(rng, dtype):
        shape = y.build(y.arr.data).shape if not y.views else ()
        yield Sample(label, (plain(from_bits(rng, shape, DType.Bool)), x, y))
    condition = plain(from_bits(rng, (3, 1), DType.Bool))
    for other in ALL:
        yield Sample(
            f"{other.name}",
            (condition, plain(values(rng, (4,), dtype)), plain(values(rng, (), other))),
        )
    yield Sample("number", (condition, plain(values(rng, (4,), dtype)), 0.5))
    yield Sample("numbers", (condition, 1, 0))


def cast_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Every target dtype over edges, bits, layouts."""
    for target in ALL:
        yield Sample(f"edges to {target.name}", (plain(edges(dtype)), target))
        yield Sample(f"bits to {target.name}", (plain(from_bits(rng, (3000,), dtype)), target))
        yield Sample(
            f"transposed to {target.name}", (transposed(salted(rng, (5, 9), dtype)), target)
        )
        yield Sample(f"0-d to {target.name}", (plain(values(rng, (), dtype)), target))


def copy_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Destination layouts, source dtypes and broadcasting."""
    for other in ALL:
        yield Sample(
            f"from {other.name}",
            (plain(values(rng, (3, 5), dtype)), plain(salted(rng, (5,), other))),
        )
    source = plain(salted(rng, (3, 5), dtype))
    yield Sample("to transposed", (transposed(values(rng, (3, 5), dtype)), source))
    yield Sample("to strided", (strided(values(rng, (3, 5), dtype)), source))
    yield Sample(
        "strided both", (strided(values(rng, (40,), dtype)), strided(salted(rng, (40,), dtype)))
    )
    yield Sample("empty", (plain(values(rng, (0, 5), dtype)), plain(values(rng, (5,), dtype))))
    yield Sample("0-d", (plain(values(rng, (), dtype)), plain(values(rng, (), dtype))))


def in_place_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """A destination view and an operand of its dtype."""
    yield Sample("plain", (plain(salted(rng, (6, 5), dtype)), plain(salted(rng, (5,), dtype))))
    yield Sample(
        "transposed", (transposed(salted(rng, (6, 5), dtype)), plain(salted(rng, (6, 5), dtype)))
    )
    yield Sample(
        "strided", (strided(salted(rng, (6, 5), dtype)), plain(salted(rng, (6, 1), dtype)))
    )
    number = True if dtype == DType.Bool else 2
    yield Sample("number", (strided(salted(rng, (33,), dtype)), number))


def fill_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Fill plain and strided destinations."""
    floats = (-0.0, 0.1, float("nan"), 1e4 if dtype == DType.F16 else 1e30)
    for number in (0, 1, 3, True, *(floats if dtype.is_float else ())):
        yield Sample(repr(number), (plain(values(rng, (4, 3), dtype)), number))
        yield Sample(f"strided {number!r}", (strided(values(rng, (4, 3), dtype)), number))


def reduction(rng: Rng, dtype: DType, empty: bool, axes: bool) -> Iterator[Sample]:
    """Whole and partial reductions; lengths around the chain and block sizes; layouts. `axes`:
    several dims."""
    for n in (1, 2, 31, 33, 63, 65, 1000, 1024, 1025, 2048, 5001):
        yield Sample(f"n={n}", (plain(values(rng, (n,), dtype)), None, False))
    yield Sample("salted", (plain(salted(rng, (50,), dtype)), None, False))
    yield Sample("0-d", (plain(values(rng, (), dtype)), None, False))
    yield Sample("long", (plain(values(rng, (140001,), dtype)), None, False))
    x = salted(rng, (6, 35, 4), dtype)
    tall = values(rng, (2100, 3), dtype)
    for dim in (0, 1, -1):
        yield Sample(f"dim={dim}", (plain(x), dim, False))
        yield Sample(f"dim={dim} keepdim", (transposed(x), dim, True))
        yield Sample(f"dim={dim} strided", (strided(x), dim, False))
        yield Sample(f"dim={dim} expanded", (expanded(x, 2), dim, False))
    yield Sample("columns", (plain(tall), 0, False))
    yield Sample("wide columns", (plain(values(rng, (130, 257), dtype)), 0, False))
    yield Sample("rows of transposed", (transposed(tall), 0, False))
    yield Sample("all of transposed", (transposed(values(rng, (40, 61), dtype)), None, False))
    if axes:
        yield Sample("two dims", (plain(x), [2, 0], False))
        yield Sample("two dims transposed", (transposed(x), [0, 2], True))
    if empty:
        yield Sample("empty", (plain(values(rng, (0,), dtype)), None, False))
        yield Sample("empty rows", (plain(values(rng, (3, 0), dtype)), 1, False))
    yield Sample("no rows", (plain(values(rng, (0, 3), dtype)), 1, False))


def sum_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Sums."""
    return reduction(rng, dtype, True, True)


def extreme_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """max and argmax."""
    yield from reduction(rng, dtype, False, False)
    few = values(rng, (64, 5), DType.I8)
    ties = Arr(DType.I8, (few.data % 3).astype(np.int8))
    yield Sample("ties", (plain(cast(ties, dtype)), 0, False))
    yield Sample("ties all", (plain(cast(ties, dtype)), None, False))
    if dtype.is_float:
        zeros = cast(
            Arr(DType.F32, np.array([[-0.0, 0.0, -0.0], [-0.0, -0.0, -0.0]], np.float32)), dtype
        )
        yield Sample("zeros", (plain(zeros), 1, False))
        nans = cast(
            Arr(DType.F32, np.array([[1, np.nan, np.inf, np.nan], [np.inf] * 4], np.float32)), dtype
        )
        yield Sample("nans", (plain(nans), 1, True))


def matmul_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Ranks, broadcast batches, tile remainders, k around the block size, layouts, K = 0."""
    for a, b in [
        ((3,), (3,)),
        ((2500,), (2500,)),
        ((1,), (1,)),
        ((0,), (0,)),
        ((4, 3), (3,)),
        ((3,), (3, 4)),
        ((1, 1), (1, 1)),
        ((2, 0), (0, 3)),
        ((0, 3), (3, 2)),
        ((7, 13), (13, 17)),
        ((13, 65), (65, 33)),
        ((6, 1024), (1024, 5)),
        ((3, 2050), (2050, 9)),
        ((2, 5, 4), (2, 4, 3)),
        ((2, 1, 5, 4), (3, 4, 3)),
        ((3, 5, 4), (4,)),
        ((4,), (3, 4, 5)),
        ((3, 5, 4), (4, 6)),
    ]:
        x, y = values(rng, a, dtype), values(rng, b, dtype)
        yield Sample(f"{list(a)}{list(b)}", (plain(x), plain(y)))
    x, y = values(rng, (14, 70), dtype), values(rng, (70, 18), dtype)
    yield Sample("ta", (transposed(x), plain(y)))
    yield Sample("tb", (plain(x), transposed(y)))
    yield Sample("tatb", (transposed(x), transposed(y)))
    yield Sample("strided", (strided(x), strided(y)))
    yield Sample("expanded", (expanded(x, 2), plain(y)))
    yield Sample("edges", (plain(salted(rng, (9, 6), dtype)), plain(salted(rng, (6, 10), dtype))))
    yield Sample("mv strided", (transposed(x), strided(values(rng, (70,), dtype))))


def reshape_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Views and copies."""
    x = values(rng, (4, 6), dtype)
    for shape in ((24,), (2, 12), (-1, 8), (4, 1, 6), (2, 2, 3, 2)):
        yield Sample(f"{list(shape)}", (plain(x), shape))
        yield Sample(f"transposed {list(shape)}", (transposed(x), shape))
    yield Sample("0-d to 1", (plain(values(rng, (), dtype)), (1, 1)))
    yield Sample("1 to 0-d", (plain(values(rng, (1,), dtype)), ()))
    yield Sample("empty", (plain(values(rng, (0, 3), dtype)), (3, 0, 2)))


def strided_view_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Sizes, strides and offset: apart, overlapping, repeated, empty, one element."""
    for label, shape, how in [
        ("apart", (40,), ((3, 4), (12, 2), 1)),
        ("overlapping", (3, 7), ((4, 6), (3, 2), 1)),
        ("repeated", (6,), ((3, 6), (0, 1), 0)),
        ("empty", (6,), ((0, 2), (1, 1), 2)),
        ("one", (2, 3), ((), (), 4)),
        ("ones", (7,), ((1, 2, 1), (9, 5, 9), 1)),
    ]:
        yield Sample(label, (plain(salted(rng, shape, dtype)), *how))


def transpose_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Dim pairs."""
    x = values(rng, (2, 3, 4), dtype)
    for a, b in ((0, 1), (-1, 0), (1, 1), (1, 2)):
        yield Sample(f"{a},{b}", (plain(x), a, b))
    yield Sample("again", (transposed(x), 0, 2))


def expand_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Leading dims, size-1 dims, −1."""
    x = values(rng, (3, 1), dtype)
    for shape in ((3, 4), (2, 3, 4), (-1, 5), (3, 1), (3, 0)):
        yield Sample(f"{list(shape)}", (plain(x), shape))
    yield Sample("0-d", (plain(values(rng, (), dtype)), (2, 3)))
    yield Sample("strided", (strided(values(rng, (1, 7), dtype)), (4, 7)))


def slice_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Basic indexing keys."""
    x = values(rng, (5, 6), dtype)
    keys: list[Any] = [
        slice(1, 4),
        (slice(None), slice(None, None, 2)),
        (slice(-3, None), 1),
        (Ellipsis, -1),
        0,
        (slice(4, 1), None),
        (slice(1, 100, 3), slice(2, 3)),
        (2, 3),
    ]
    for key in keys:
        yield Sample(f"{key}", (plain(x), key))
        yield Sample(f"transposed {key}", (transposed(x), key))


def index_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """x, dim, index with repeats."""
    x = salted(rng, (5, 4), dtype)
    for dim, n in ((0, 7), (1, 3), (-1, 1), (0, 0)):
        index = Arr(DType.I64, rng.integers(0, x.shape[dim], n))
        for label, layout in (("", plain), ("transposed ", transposed), ("strided ", strided)):
            yield Sample(f"{label}dim={dim} n={n}", (layout(x), dim, plain(index)))
    narrow = Arr(DType.I32, np.array([3, 0], np.int32))
    yield Sample("int32", (plain(x), 0, plain(narrow)))


def index_add_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Repeated targets, so that the order of additions shows."""
    for shape, dim, n in (
        ((4, 3), 0, 20),
        ((4, 3), 1, 9),
        ((6,), 0, 300),
        ((2, 3, 2), -2, 7),
        ((3,), 0, 0),
    ):
        index = Arr(DType.I64, rng.integers(0, shape[dim], n))
        source = list(shape)
        source[dim] = n
        x, s = values(rng, shape, dtype), values(rng, source, dtype)
        yield Sample(f"{list(shape)} dim={dim} n={n}", (plain(x), dim, plain(index), plain(s)))
        yield Sample(
            f"layout {list(shape)} dim={dim}", (strided(x), dim, strided(index), transposed(s))
        )


def scatter_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Unique targets (repeats are last-wins, tested apart), tensor and number sources."""
    x = values(rng, (5, 4), dtype)
    for dim in (0, 1, -1):
        order = np.argsort(rng.random((5, 4)), axis=dim).astype(np.int64)
        index = Arr(DType.I64, order[:3, :3].copy())
        yield Sample(f"dim={dim}", (plain(x), dim, plain(index), plain(salted(rng, (3, 3), dtype))))
        yield Sample(f"number dim={dim}", (transposed(x), dim, plain(index), 2))
        wide = transposed(values(rng, (5, 4), dtype))
        # As in PyTorch, only a source of the index's shape has a gradient.
        yield Sample(f"wide source {dim}", (plain(x), dim, plain(index), wide), grad=False)
    repeated = Arr(DType.I64, np.zeros((3, 3), np.int64))
    yield Sample("repeats", (plain(x), 0, plain(repeated), plain(values(rng, (3, 3), dtype))))
    nothing = Arr(DType.I64, np.zeros((0, 3), np.int64))
    yield Sample("empty", (plain(x), 0, plain(nothing), plain(values(rng, (0, 3), dtype))))


def cat_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Two and three parts, mixed layouts and dtypes, empty parts."""
    a, b, c = (values(rng, s, dtype) for s in ((2, 3), (4, 3), (0, 3)))
    yield Sample("rows", (0, plain(a), plain(b), plain(c)))
    yield Sample("columns", (1, plain(a), transposed(values(rng, (2, 5), dtype))))
    yield Sample("last", (-1, strided(a), expanded(values(rng, (3,), dtype), 2)))
    yield Sample("one", (0, plain(a)))
    yield Sample("mixed", (0, plain(a), plain(values(rng, (1, 3), DType.F32))))
    yield Sample("mixed int", (0, plain(a), plain(values(rng, (1, 3), DType.I16))))


def gather_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """x, dim, index with repeats and of its own shape."""
    x = salted(rng, (5, 4), dtype)
    for dim, shape in ((0, (7, 4)), (1, (5, 9)), (-1, (2, 3)), (0, (0, 4))):
        index = Arr(DType.I64, rng.integers(0, x.shape[dim], shape))
        yield Sample(f"dim={dim} {list(shape)}", (plain(x), dim, plain(index)))
        yield Sample(f"layout dim={dim} {list(shape)}", (transposed(x), dim, strided(index)))


def scatter_add_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Repeated targets, so that the order of additions shows."""
    for dim, shape in ((0, (60, 3)), (1, (4, 50)), (0, (0, 2))):
        index = Arr(DType.I64, rng.integers(0, (4, 3)[dim], shape))
        x, source = values(rng, (4, 3), dtype), values(rng, shape, dtype)
        yield Sample(f"dim={dim}", (plain(x), dim, plain(index), plain(source)))
        yield Sample(f"layout dim={dim}", (transposed(x), dim, plain(index), transposed(source)))


def dot_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Lengths around chains and blocks, strided operands, signs of zero."""
    for n in (0, 1, 31, 64, 65, 1024, 1025, 4099):
        yield Sample(f"n={n}", (plain(values(rng, (n,), dtype)), plain(values(rng, (n,), dtype))))
    x, y = salted(rng, (200,), dtype), values(rng, (200,), dtype)
    yield Sample("strided", (strided(x), strided(y)))


def linear_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """With and without bias; K across a block."""
    for rows, k, columns in ((5, 64, 32), (1, 3, 2), (7, 1030, 10)):
        x, w = values(rng, (rows, k), dtype), values(rng, (columns, k), dtype)
        yield Sample(
            f"{rows}x{k}x{columns}", (plain(x), plain(w), plain(values(rng, (columns,), dtype)))
        )
        yield Sample(f"{rows}x{k}x{columns} no bias", (transposed(x), plain(w), None))

    x, w = values(rng, (2, 3, 70), dtype), values(rng, (4, 70), dtype)
    yield Sample("3-d", (plain(x), plain(w), plain(values(rng, (4,), dtype))))
    yield Sample("vector", (plain(values(rng, (70,), dtype)), plain(w), None))
    yield Sample("weight vector", (plain(x), plain(values(rng, (70,), dtype)), None))
    yield Sample("no rows", (plain(values(rng, (2, 0, 70), dtype)), plain(w), None))


def addmm_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """beta and alpha of 0, 1 and others; a row that broadcasts."""
    x, y = plain(values(rng, (5, 40), dtype)), plain(values(rng, (40, 7), dtype))
    for beta, alpha in ((1, 1), (0, 1), (0.3, -1.7), (2, 0.1)):
        for shape in ((5, 7), (7,)):
            c = plain(values(rng, shape, dtype))
            yield Sample(f"{list(shape)} {beta} {alpha}", (c, x, y, beta, alpha))


def one_hot_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Given and inferred class counts."""
    yield Sample("given", (plain(Arr(DType.I64, rng.integers(0, 5, (3, 4)))), 5))
    yield Sample("inferred", (plain(Arr(DType.I64, np.array([0, 3, 1]))), -1))
    yield Sample("0-d", (plain(Arr(DType.I64, np.array(2))), 4))
    yield Sample("empty", (plain(Arr(DType.I64, np.zeros(0, np.int64))), 4))


def rand_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Shapes and seeds; ordinals advance over empty draws too."""
    for shape in ((), (1,), (5,), (0,), (3, 7), (1000,)):
        yield Sample(f"{list(shape)}", (int(rng.integers(2**62)), shape, dtype))
    yield Sample("seed -1", (-1, (9,), dtype))


def softmax_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Rows and columns, long rows, infinities."""
    for shape, dim in (
        ((4, 10), 1),
        ((4, 10), 0),
        ((2, 3, 5), 1),
        ((3, 1500), -1),
        ((1, 1), 1),
        ((7,), 0),
        ((0, 3), 1),
    ):
        yield Sample(f"{list(shape)} dim={dim}", (plain(values(rng, shape, dtype)), dim))
    x = values(rng, (6, 9), dtype)
    yield Sample("transposed", (transposed(x), 1))
    yield Sample("strided", (strided(x), 0))
    yield Sample("edges", (plain(salted(rng, (40, 6), dtype)), 1))
    yield Sample("0-d", (plain(values(rng, (), dtype)), 0))
    with np.errstate(all="ignore"):
        inf = cast(
            Arr(DType.F32, np.array([[-np.inf, 0, 1], [-np.inf] * 3, [np.inf, 0, 1]], np.float32)),
            dtype,
        )
    yield Sample("infinities", (plain(inf), 1))
