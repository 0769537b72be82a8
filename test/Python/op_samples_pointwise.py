"""Samples of pointwise functions: fewer shapes than op_samples', for ops that share its drivers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from op_samples import (
    Rng,
    Sample,
    edges,
    from_bits,
    plain,
    salted,
    strided,
    transposed,
    values,
)
from oracle.dtypes import ALL, Arr, DType, cast


def few_unary(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Edge values, random bits, a few layouts."""
    yield Sample("edges", (plain(edges(dtype)),))
    yield Sample("bits", (plain(from_bits(rng, (700,), dtype)),))
    for shape in ((), (0,), (3, 0, 2), (5, 37)):
        yield Sample(f"shape{list(shape)}", (plain(salted(rng, shape, dtype)),))
    yield Sample("transposed", (transposed(salted(rng, (5, 17), dtype)),))
    yield Sample("strided", (strided(salted(rng, (3, 20), dtype)),))


def unit_unary(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """As few_unary, and numbers of [-1, 1] and [0, 1]."""
    yield from few_unary(rng, dtype)
    if dtype.is_float:
        wide = Arr(DType.F64, rng.uniform(-1, 1, 400))
        yield Sample("unit", (plain(cast(wide, dtype)),))
        yield Sample("half unit", (plain(cast(Arr(DType.F64, abs(wide.data)), dtype)),))


def angles(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """As few_unary, and angles of many turns."""
    yield from few_unary(rng, dtype)
    if dtype.is_float:
        wide = Arr(DType.F64, rng.standard_normal(300) * np.exp2(rng.uniform(0, 15, 300)))
        yield Sample("turns", (plain(cast(wide, dtype)),))


def _shapes(rng: Rng, dtype: DType, divisor: bool) -> Iterator[Sample]:
    def second(shape: Sequence[int]) -> Arr:
        arr = salted(rng, shape, dtype)
        return nonzero(arr) if divisor else arr

    corner = edges(dtype).data
    n = len(corner)
    other = Arr(dtype, corner.reshape(1, n))
    bits = from_bits(rng, (600,), dtype)
    yield Sample(
        "edges",
        (plain(Arr(dtype, corner.reshape(n, 1))), plain(nonzero(other) if divisor else other)),
    )
    yield Sample(
        "bits", (plain(from_bits(rng, (600,), dtype)), plain(nonzero(bits) if divisor else bits))
    )
    for a, b in (((), ()), ((0,), (1,)), ((5, 1), (1, 6)), ((3, 4, 5), (4, 5)), ((35,), ())):
        yield Sample(f"{list(a)}{list(b)}", (plain(salted(rng, a, dtype)), plain(second(b))))
    yield Sample("transposed", (transposed(salted(rng, (9, 14), dtype)), plain(second((9, 14)))))
    yield Sample("strided", (strided(salted(rng, (9, 14), dtype)), transposed(second((9, 14)))))


def nonzero(arr: Arr) -> Arr:
    """Integers without 0, which is no divisor."""
    if arr.dtype.is_float or arr.dtype == DType.Bool:
        return arr
    return Arr(arr.dtype, np.where(arr.data == 0, 1, arr.data).astype(arr.data.dtype))


def few_binary(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Two tensors of one dtype."""
    yield from _shapes(rng, dtype, False)


def few_mixed(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """As few_binary, and other dtypes and numbers."""
    yield from _shapes(rng, dtype, False)
    yield from _promoting(rng, dtype, (2, 0.47, -1.51, float("inf")), ALL)


def divisions(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Divisors that aren't 0, of tensors and numbers."""
    yield from _shapes(rng, dtype, True)
    numbers = (2, 7, 0.3, -1.5) if dtype == DType.U8 else (2, -7, 0.3, -1.5)
    yield from _promoting(rng, dtype, numbers, (DType.I8, DType.U8, DType.I64, DType.F32))


def integers(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Bits: tensors of one dtype, other integer types, numbers."""
    yield from _shapes(rng, dtype, False)
    others = [t for t in (DType.Bool, DType.U8, DType.I8, DType.I64) if t != dtype]
    yield from _promoting(rng, dtype, (1, 3, True), others)


def shifts(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Counts inside and outside the width."""
    x = salted(rng, (40, 1), dtype)
    low = 0 if dtype == DType.U8 else -3
    counts = Arr(dtype, np.arange(low, 70, 3).astype(dtype.storage))
    yield Sample("counts", (plain(x), plain(counts)))
    yield Sample("number", (transposed(salted(rng, (4, 5), dtype)), 2))


def _promoting(
    rng: Rng, dtype: DType, numbers: Sequence[float], others: Sequence[DType]
) -> Iterator[Sample]:
    x = salted(rng, (4, 9), dtype)
    for other in others:
        if other not in (dtype, DType.Bool):
            yield Sample(f"with {other.name}", (plain(x), plain(nonzero(salted(rng, (9,), other)))))
            yield Sample(
                f"with 0-d {other.name}", (plain(x), plain(nonzero(values(rng, (), other))))
            )
    for number in numbers:
        yield Sample(f"with {number!r}", (transposed(x), number))


def powers(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Exponents of every kind."""
    if dtype.is_float:
        yield from few_binary(rng, dtype)
        x = salted(rng, (4, 9), dtype)
        for e in (0.5, 1, 2, 3, -1, -2, -0.5, 0, 2.5, -3.0, 7):
            yield Sample(f"to {e!r}", (transposed(x), e))
        yield Sample("int exponents", (plain(x), plain(values(rng, (9,), DType.I32))))
        return
    x = salted(rng, (6, 9), dtype)
    small = Arr(dtype, rng.integers(0, 9, (9,)).astype(dtype.storage))
    yield Sample("tensors", (plain(x), plain(small)))
    yield Sample("wild", (plain(x), plain(salted(rng, (6, 9), dtype))))
    for e in (0, 1, 2, 3, 5, 0.5, -1.5):
        yield Sample(f"to {e!r}", (plain(x), e))


def bases(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """A number to the power of a tensor."""
    for number in (2, 0.5, 3) if dtype.is_float else (2, 3):
        yield Sample(f"{number!r}", (number, plain(values(rng, (4, 9), dtype))))


def lerps(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """A weight tensor or number."""
    shapes = (((3, 4), (4,), ()), ((7,), (7,), (7,)), ((2, 1, 5), (3, 1), (5,)))
    for a, b, w in shapes:
        yield Sample(f"{list(a)}", tuple(plain(salted(rng, s, dtype)) for s in (a, b, w)))
    x, y = salted(rng, (6, 5), dtype), salted(rng, (6, 5), dtype)
    for weight in (0.1, 0.5, 0.9, 1.0):
        yield Sample(f"weight {weight}", (transposed(x), plain(y), weight))


def ternary(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Three tensors that broadcast."""
    for a, b, c in (((3, 4), (4,), ()), ((7,), (7,), (7,)), ((2, 1, 5), (3, 1), (5,))):
        yield Sample(f"{list(a)}", tuple(plain(salted(rng, s, dtype)) for s in (a, b, c)))


def limits(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """clamp's limits: numbers, tensors, one of the two."""
    x = salted(rng, (6, 5), dtype)
    whole = ((-1, 2), (None, 1), (0, None), (2, 1))
    for low, high in (
        ((-0.93, 1.77), (None, 1.13), (0, None), (1.9, 1.1)) if dtype.is_float else whole
    ):
        if dtype != DType.U8 or not (low and low < 0):
            yield Sample(f"{low} {high}", (transposed(x), low, high))
    yield Sample("tensors", tuple(plain(salted(rng, s, dtype)) for s in ((6, 5), (5,), ())))
    yield Sample("ties", (plain(Arr(dtype, np.ones(3, dtype.storage))), 1, 1), False)


def prelus(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """A weight per channel, or one for all."""
    for shape, n in (((5,), 1), ((4, 3), 3), ((2, 3, 5), 3), ((2, 3, 2, 2), 1)):
        yield Sample(
            f"{shape} {n}", (plain(salted(rng, shape, dtype)), plain(values(rng, (n,), dtype)))
        )


def halves(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """A dim of even size."""
    yield Sample("last", (plain(salted(rng, (5, 8), dtype)),))
    yield Sample("first", (transposed(salted(rng, (6, 5), dtype)), 0))
