"""Tests of the oracle itself against fractions, mpmath and plain NumPy. They need no torchc."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle import api, body, contract, dtypes, fma, index, random, reduce
from oracle.dtypes import ALL, FLOATS, Arr, DType

RNG = np.random.default_rng(0)


def _bits(n: int, t: type) -> np.ndarray:
    """Random bit patterns of a float type: all exponents, denormals, inf and nan."""
    raw = RNG.integers(0, 256, n * np.dtype(t).itemsize, dtype=np.uint8)
    return raw.view(t)


def _round(value: Fraction, t: type) -> float:
    """A fraction rounded once to float type t, by integers."""
    digits, lowest, top = {np.float32: (24, -149, 128), np.float64: (53, -1074, 1024)}[t]
    if value == 0:
        return 0.0
    n, d = abs(value.numerator), value.denominator
    exponent = max(n.bit_length() - d.bit_length() - digits, lowest)
    if (
        n >= d << (exponent + digits)
        if exponent + digits >= 0
        else (n << -(exponent + digits)) >= d
    ):
        exponent = max(exponent + 1, lowest)
    scaled = Fraction(n, d) / (Fraction(2) ** exponent)
    q = round(scaled)  # to nearest even
    out = (
        math.inf
        if q * Fraction(2) ** exponent >= Fraction(2) ** top
        else math.ldexp(float(q), exponent)
    )
    return out if value > 0 else -out


def _fma_reference(a: float, b: float, c: float, t: type) -> float:
    if not (math.isfinite(a) and math.isfinite(b)):
        with np.errstate(all="ignore"):
            return float(np.float64(a) * np.float64(b) + np.float64(c))
    if not math.isfinite(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c if Fraction(a) * Fraction(b) == 0 else 0.0
    out = _round(exact, t)
    return math.copysign(out, exact) if out == 0 else out


def _same(x: float, y: float) -> bool:
    return (math.isnan(x) and math.isnan(y)) or (
        x == y and math.copysign(1, x) == math.copysign(1, y)
    )


def _near(a: np.ndarray, b: np.ndarray, n: int) -> np.ndarray:
    """Third operands close to −a·b, where cancellation and double rounding bite."""
    with np.errstate(all="ignore"):
        product = -(a.astype(np.float64) * b.astype(np.float64)).astype(a.dtype)
        return np.where(RNG.random(n) < 0.5, product, np.nextafter(product, np.inf, dtype=a.dtype))


@pytest.mark.parametrize("t", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["bits", "cancel", "moderate", "edges"])
def test_fma_is_one_rounding(t: type, kind: str) -> None:
    n = 3000
    if kind == "bits":
        a, b, c = _bits(n, t), _bits(n, t), _bits(n, t)
    elif kind == "edges":
        info = np.finfo(t)
        values = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            np.inf,
            -np.inf,
            np.nan,
            info.max,
            -info.max,
            info.tiny,
            info.smallest_subnormal,
        ]
        grid = np.array(np.meshgrid(values, values, values), dtype=t).reshape(3, -1)
        a, b, c = grid
    else:
        a, b = (RNG.standard_normal(n).astype(t) for _ in range(2))
        scale = t(1) if kind == "moderate" else np.exp2(RNG.integers(-70, 60, n)).astype(t)
        a = a * scale
        c = _near(a, b, n) if kind == "cancel" else RNG.standard_normal(n).astype(t)
    got = fma.fma(a, b, c)
    for x, y, z, g in zip(a.tolist(), b.tolist(), c.tolist(), got.tolist()):
        assert _same(_fma_reference(x, y, z, t), g), (x, y, z, g)


def test_fma_double_rounding_case() -> None:
    """A product whose float64 sum lands on a float32 tie: rounding twice would be wrong."""
    a = np.float32(1 + 2**-23)
    c = np.float32(2**-60)
    b = np.float32(1 + 2**-1 + 2**-23)
    assert float(fma.fma32(a, b, c)) == _round(
        Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c)), np.float32
    )


# ---- dtypes --------------------------------------------------------------------------------------


def test_f16_all_bits_round_trip() -> None:
    bits = np.arange(65536, dtype=np.uint16)
    wide = dtypes.f16_to_f32(bits)
    assert np.array_equal(wide, bits.view(np.float16).astype(np.float32), equal_nan=True)
    back = dtypes.f32_to_f16(wide)
    assert np.array_equal(back[~np.isnan(wide)], bits[~np.isnan(wide)])


def test_f16_rounding_against_numpy() -> None:
    x = np.concatenate(
        [_bits(200000, np.float32), (RNG.standard_normal(100000) * 2.0**-15).astype(np.float32)]
    )
    ties = dtypes.f16_to_f32(np.arange(0, 0x7BFF, dtype=np.uint16))
    x = np.concatenate(
        [x, (ties[1:] + ties[:-1]) / 2, [65519.0, 65520.0, 65536.0, -65520.0]]
    ).astype(np.float32)
    with np.errstate(all="ignore"):
        want = x.astype(np.float16)
    got = dtypes.f32_to_f16(x).view(np.float16)
    assert np.array_equal(want, got, equal_nan=True)
    assert np.array_equal(np.signbit(want), np.signbit(got))


def test_bf16_rounding_by_fractions() -> None:
    bits = np.arange(0x7F80, dtype=np.uint16)
    low = dtypes.bf16_to_f32(bits)
    assert np.array_equal(dtypes.f32_to_bf16(low), bits)
    x = np.abs(_bits(20000, np.float32))
    x = np.concatenate([x[np.isfinite(x)], ((low[1:] - low[:-1]) / 2 + low[:-1])[:-1]])
    got = dtypes.bf16_to_f32(dtypes.f32_to_bf16(x))
    below, above = (x.view(np.uint32) & 0xFFFF0000).view(np.float32), None
    above = ((x.view(np.uint32) & 0xFFFF0000) + 0x10000).view(np.float32)
    down, up = x.astype(np.float64) - below, above.astype(np.float64) - x
    even = ((below.view(np.uint32) >> 16) & 1) == 0
    want = np.where((down < up) | ((down == up) & even), below, above)
    finite = np.isfinite(above)
    assert np.array_equal(got[finite], want[finite])


def test_casts_follow_n8() -> None:
    x = Arr(DType.F32, np.array([np.nan, np.inf, -np.inf, -1.9, 300.7, 2.0**31, -0.0], np.float32))
    assert dtypes.cast(x, DType.I64).data.tolist() == [0, 2**63 - 1, -(2**63), -1, 300, 2**31, 0]
    assert dtypes.cast(x, DType.I32).data.tolist() == [0, -1, 0, -1, 300, -(2**31), 0]
    assert dtypes.cast(x, DType.U8).data.tolist() == [0, 255, 0, 255, 44, 0, 0]
    assert dtypes.cast(x, DType.Bool).data.tolist() == [True, True, True, True, True, True, False]
    # f64 → f16 goes through f32: 1 + 2^-11 + 2^-40 is a tie there, so it rounds to even.
    y = Arr(DType.F64, np.array([1 + 2.0**-11 + 2.0**-40]))
    assert dtypes.f16_to_f32(dtypes.cast(y, DType.F16).data)[0] == 1.0


def test_casts_between_integers_wrap() -> None:
    x = Arr(DType.I64, np.array([0, 255, 256, -1, 2**31, -(2**63)], np.int64))
    assert dtypes.cast(x, DType.U8).data.tolist() == [0, 255, 0, 255, 0, 0]
    assert dtypes.cast(x, DType.I32).data.tolist() == [0, 255, 256, -1, -(2**31), 0]
    for dtype in ALL:
        assert dtypes.cast(
            dtypes.cast(Arr(DType.Bool, np.array([True, False])), dtype), DType.Bool
        ).data.tolist() == [True, False]


def test_promotion() -> None:
    t = {d: Arr(d, np.zeros(2, d.storage)) for d in ALL}
    s = {d: Arr(d, np.zeros((), d.storage)) for d in ALL}
    p = dtypes.result_type
    assert p([t[DType.U8], t[DType.I8]]) == DType.I16
    assert p([t[DType.F16], t[DType.BF16]]) == DType.F32
    assert p([t[DType.I64], t[DType.F16]]) == DType.F16
    assert p([t[DType.F32], s[DType.F64]]) == DType.F32
    assert p([t[DType.I32], s[DType.F64]]) == DType.F64
    assert p([t[DType.I32], s[DType.I64]]) == DType.I32
    assert p([t[DType.I32], 1.5]) == DType.F32
    assert p([t[DType.Bool], 1]) == DType.I64
    assert p([s[DType.BF16], 1.5]) == DType.BF16
    assert p([s[DType.I32], s[DType.F16]]) == DType.F16
    assert p([t[DType.U8], 300]) == DType.U8
    assert p([True, 2]) == DType.I64
    for a in ALL:
        for b in ALL:
            assert dtypes.promote_types(a, b) == dtypes.promote_types(b, a) == p([t[a], t[b]])


# ---- bodies --------------------------------------------------------------------------------------


def test_body_interpreter() -> None:
    node = lambda op, **kw: {"op": op, **kw}  # noqa: E731
    half = np.float64(0.5).view(np.uint64)
    b = [
        node("Arg", bits="0x0"),
        node("Const", bits=hex(half)),
        node("Arg", bits="0x1"),
        node("Fma", a=0, b=1, c=2),
    ]
    x, y = np.array([1, 3], np.float32), np.array([0.25, np.inf], np.float32)
    assert body.run_body(b, np.dtype(np.float32), [x, y]).tolist() == [0.75, np.inf]
    bits = [
        node("Arg", bits="0x0"),
        node("ToInt", a=0),
        node("ConstI", bits="0x17"),
        node("IShr", a=1, b=2),
    ]
    assert body.run_body(bits, np.dtype(np.float32), [x]).tolist() == [127, 128]
    sel = [
        node("Arg", bits="0x0"),
        node("IsNan", a=0),
        node("Bits", bits="0x80000000"),
        node("Select", a=1, b=2, c=0),
    ]
    out = body.run_body(sel, np.dtype(np.float32), [np.array([np.nan, 2], np.float32)])
    assert np.signbit(out[0]) and out[0] == 0 and out[1] == 2


def test_body_shifts_and_division() -> None:
    a = np.array([-8, 7], np.int32)
    assert body._shift("IShr", a, np.array([40, -1], np.int32)).tolist() == [-1, 0]
    assert body._shift("IShl", a, np.array([32, 1], np.int32)).tolist() == [0, 14]
    assert body._shift("IUShr", a, np.array([28, 0], np.int32)).tolist() == [15, 7]
    assert body._divide(np.array([-7, 7]), np.array([2, -2])).tolist() == [-3, -3]
    with pytest.raises(ZeroDivisionError):
        body._divide(a, np.zeros(2, np.int32))


def test_n7_extremes() -> None:
    z = np.array([-0.0, 0.0, np.nan, 1], np.float32)
    w = np.array([0.0, -0.0, 1, np.nan], np.float32)
    assert not np.signbit(body.maximum(z, w)[:2]).any() and np.isnan(body.maximum(z, w)[2:]).all()
    assert np.signbit(body.minimum(z, w)[:2]).all()


# ---- N3 and N4 -----------------------------------------------------------------------------------


def _n4_scalar(x: list[np.float32], chains: int = 64) -> np.float32:
    """N4's sum one element at a time, straight from the page."""
    blocks = []
    for start in range(0, len(x), 1024):
        block = x[start : start + 1024]
        c = [np.float32(-0.0)] * chains
        for j, v in enumerate(block):
            c[j % chains] = c[j % chains] + v
        w = chains // 2
        while w:
            c = [c[i] + c[i + w] for i in range(w)]
            w //= 2
        blocks.append(c[0])
    while len(blocks) > 1:
        blocks = [
            blocks[i] + blocks[i + 1] if i + 1 < len(blocks) else blocks[i]
            for i in range(0, len(blocks), 2)
        ]
    return blocks[0] if blocks else np.float32(0)


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1000, 1024, 1025, 3072, 5000])
def test_sum_is_n4(n: int) -> None:
    x = RNG.standard_normal(n).astype(np.float32)
    got = reduce.sum(Arr(DType.F32, x)).data
    assert got.tobytes() == np.float32(_n4_scalar(list(x))).tobytes()


def test_sum_signs_and_types() -> None:
    assert np.signbit(reduce.sum(Arr(DType.F32, np.array([-0.0, -0.0], np.float32))).data)
    assert not np.signbit(reduce.sum(Arr(DType.F32, np.zeros(0, np.float32))).data)
    assert reduce.sum(Arr(DType.Bool, np.array([True] * 300))).data == 300
    assert reduce.sum(Arr(DType.I8, np.array([127, 127], np.int8))).dtype == DType.I64
    ones = np.full(2**20, dtypes.f32_to_bf16(np.float32(1)), np.uint16)
    assert dtypes.bf16_to_f32(reduce.mean(Arr(DType.BF16, ones)).data) == 1.0


def test_reduced_axes_are_logical() -> None:
    x = RNG.standard_normal((5, 7, 9)).astype(np.float32)
    a = reduce.sum(Arr(DType.F32, x), (2, 0)).data
    for j in range(7):
        assert a[j].tobytes() == np.float32(_n4_scalar(list(x[:, j, :].reshape(-1)))).tobytes()
    b = reduce.sum(Arr(DType.F32, np.ascontiguousarray(x.T).T), (0, 2)).data
    assert a.tobytes() == b.tobytes()


def test_argmax_ties() -> None:
    f = lambda v: int(reduce.argmax(Arr(DType.F32, np.float32(v))).data)  # noqa: E731
    assert f([-0.0, 0.0, 0.0]) == 1 and f([1, np.nan, np.nan]) == 1 and f([2, 3, 3]) == 1
    assert int(reduce.argmin(Arr(DType.F32, np.array([0.0, -0.0, 0.0], np.float32))).data) == 1


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=3), st.booleans(), st.data())
def test_reductions_match_numpy(shape: list[int], keepdim: bool, data: st.DataObject) -> None:
    x = RNG.integers(-50, 50, shape)
    dim = data.draw(st.integers(-len(shape), len(shape) - 1))
    arr = Arr(DType.I64, x)
    assert np.array_equal(reduce.sum(arr, dim, keepdim).data, x.sum(axis=dim, keepdims=keepdim))
    assert np.array_equal(reduce.cumsum(arr, dim).data, np.cumsum(x, axis=dim))
    if x.shape[dim]:
        assert np.array_equal(
            reduce.amax(arr, dim, keepdim).data, x.max(axis=dim, keepdims=keepdim)
        )
        assert np.array_equal(
            reduce.argmax(arr, dim, keepdim).data, np.argmax(x, axis=dim, keepdims=keepdim)
        )


def test_var_norm() -> None:
    x = Arr(DType.F64, RNG.standard_normal((4, 33)))
    np.testing.assert_allclose(reduce.var(x, 1).data, x.data.var(axis=1, ddof=1))
    np.testing.assert_allclose(reduce.std(x, 1, 0).data, x.data.std(axis=1))
    for p in (0, 1, 2, math.inf, -math.inf):
        np.testing.assert_allclose(reduce.norm(x, p, 1).data, np.linalg.norm(x.data, p, axis=1))


@pytest.mark.parametrize("k", [0, 1, 5, 1024, 1100, 2049])
def test_matmul_is_n3(k: int) -> None:
    a, b = (
        RNG.standard_normal((2, k)).astype(np.float32),
        RNG.standard_normal((k, 3)).astype(np.float32),
    )
    got = contract.matmul(Arr(DType.F32, a), Arr(DType.F32, b)).data
    for i in range(2):
        for j in range(3):
            total = None
            for start in range(0, k, 1024):
                acc = 0.0
                for p in range(start, min(start + 1024, k)):
                    acc = _round(
                        Fraction(float(a[i, p])) * Fraction(float(b[p, j])) + Fraction(acc),
                        np.float32,
                    )
                total = np.float32(acc) if total is None else total + np.float32(acc)
            assert got[i, j] == (np.float32(0) if total is None else total)


def test_matmul_shapes_and_types() -> None:
    for sa, sb in [
        ((3,), (3,)),
        ((3,), (3, 2)),
        ((2, 3), (3,)),
        ((4, 1, 2, 3), (5, 3, 2)),
        ((4, 2, 3), (3,)),
        ((3,), (4, 3, 2)),
    ]:
        a, b = RNG.integers(-9, 9, sa), RNG.integers(-9, 9, sb)
        for dtype in (DType.I64, DType.F64, DType.F32, DType.BF16):
            x, y = (dtypes.cast(Arr(DType.I64, v), dtype) for v in (a, b))
            out = dtypes.cast(contract.matmul(x, y), DType.I64).data
            assert np.array_equal(out, np.matmul(a, b)), (sa, sb, dtype)
    big = np.full((1, 2), 200, np.uint8)
    assert (
        contract.matmul(Arr(DType.U8, big), Arr(DType.U8, big.T.copy())).data.item()
        == (2 * 200 * 200) % 256
    )


def test_dot_has_no_padding() -> None:
    """A chain ending in −0 stays −0 only if nothing is added; the fold with +0 chains makes it
    +0."""
    tiny = np.full(1, np.finfo(np.float32).smallest_subnormal, np.float32)
    assert not np.signbit(contract.dot_values(-tiny, tiny))
    n = 700
    a, b = RNG.standard_normal(n), RNG.standard_normal(n)
    np.testing.assert_allclose(contract.dot_values(a, b), a @ b)


# ---- random --------------------------------------------------------------------------------------


def test_philox_known_answers() -> None:
    """Random123's published vectors."""
    f = lambda c, k: [int(w) for w in random.philox(np.array([c], np.uint64), k)[0]]  # noqa: E731
    assert f([0, 0, 0, 0], (0, 0)) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    ones = 0xFFFFFFFF
    assert f([ones] * 4, (ones, ones)) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    pi = [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344]
    assert f(pi, (0xA4093822, 0x299F31D0)) == [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]


def test_uniform_ranges() -> None:
    for dtype in FLOATS:
        u = dtypes.to_compute(random.uniform((5000,), dtype, (1, 2)))
        assert u.min() >= 0 and u.max() < 1 and abs(u.mean() - 0.5) < 0.02
        longer = random.uniform((5003,), dtype, (1, 2)).data
        assert np.array_equal(random.uniform((5000,), dtype, (1, 2)).data, longer[:5000])


def test_random_ops() -> None:
    state = (7, 2**40 + 3)
    assert sorted(random.randperm(100, state).data.tolist()) == list(range(100))
    r = random.randint(-3, 5, (2000,), DType.I64, state).data
    assert set(r.tolist()) == set(range(-3, 5))
    wide = random.randint(-(2**62), 2**62, (1000,), DType.I64, state).data
    assert (np.abs(wide.astype(float)) > 2**60).any()
    kept = random.dropout(Arr(DType.F32, np.ones(4000, np.float32)), 0.25, state).data
    assert (
        set(kept.tolist()) == {0.0, float(np.float32(1 / 0.75))}
        and abs((kept > 0).mean() - 0.75) < 0.03
    )
    before = random.Generator().manual_seed(-1)
    assert before.take() == (2**64 - 1, 0) and before.take() == (2**64 - 1, 1)


# ---- indexing and gradients ----------------------------------------------------------------------


def test_index_ops() -> None:
    x = Arr(DType.F32, np.zeros((3, 2), np.float32))
    i = Arr(DType.I64, np.array([2, 0, 2]))
    s = Arr(DType.F32, np.arange(6, dtype=np.float32).reshape(3, 2))
    assert index.index_add(x, 0, i, s).data.tolist() == [[2, 3], [0, 0], [4, 6]]
    assert index.index_select(s, 0, i).data.tolist() == [[4, 5], [0, 1], [4, 5]]
    last = index.scatter(x, 0, Arr(DType.I64, np.zeros((3, 2), np.int64)), s)
    assert last.data[0].tolist() == [4, 5]
    assert index.one_hot(i, 3).data.tolist() == [[0, 0, 1], [1, 0, 0], [0, 0, 1]]
    with pytest.raises(IndexError):
        index.index_select(s, 0, Arr(DType.I64, np.array([3])))


def _numeric(fn: object, x: np.ndarray) -> np.ndarray:
    out = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        for sign in (1, -1):
            moved = x.copy()
            moved[at] += sign * 1e-6
            out[at] += sign * fn(api.Tensor(Arr(DType.F64, moved))).item() / 2e-6  # type: ignore[operator]
    return out


GRAD_CASES = {
    "mul_broadcast": lambda x: ((x * x[0]) / (x * x + 1.5)).sum(),
    "matmul": lambda x: (x.matmul(x.t()) * x.matmul(x[0]).unsqueeze(1)).sum(),
    "vec": lambda x: x[0].matmul(x[1]) + x[:, 0].matmul(x).sum(),
    "batched": lambda x: (x.expand(4, 3, 3).matmul(x.unsqueeze(1).expand(3, 3, 3)[0]) * 0.5).sum(),
    "views": lambda x: (
        (api.cat([x.transpose(0, 1).reshape(9), x[1:, ::2].reshape(4)]) * 3).sum(0).mul(x[2, 2])
    ),
    "index": lambda x: (
        x.index_select(0, api.tensor([0, 2, 0])).index_add(1, api.tensor([1]), x[:, :1], alpha=2)
        * x
    ).sum(),
    "scatter": lambda x: (x.scatter(0, api.tensor([[0, 1, 2]]), x[:1] * x[1:2]) * x).sum(),
    "where": lambda x: api.where(x < 0, x * 2, api.maximum(x, x * x)).relu().sum(),
    "mean": lambda x: (x.mean(0) * x.mean()).sum(),
    "max": lambda x: x.max() * 2 + (x.max(1)[0] * x[0]).sum(),
    "inplace": lambda x: ((x * 2).add_(x[0]).mul_(x) + 1).sum(),
}


@pytest.mark.parametrize("name", list(GRAD_CASES))
def test_gradients_against_differences(name: str) -> None:
    fn, values = GRAD_CASES[name], RNG.standard_normal((3, 3))
    x = api.Tensor(Arr(DType.F64, values), requires_grad=True)
    fn(x).backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.arr.data, _numeric(fn, values), rtol=1e-5, atol=1e-6)


def test_second_order() -> None:
    x = api.tensor([1.0, 2.0, 3.0], dtype=DType.F64, requires_grad=True)
    (g,) = api.grad((x * x * x).sum(), x, create_graph=True)
    (h,) = api.grad((g * x).sum(), x)
    assert h.arr.data.tolist() == [9, 36, 81]


def test_saved_version_is_checked() -> None:
    x = api.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = (y * y).sum()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_fan_in_order() -> None:
    """Three uses of one tensor: the last consumer's cotangent comes first, then left to right."""
    x = api.tensor([1.0], requires_grad=True)
    y = x * 1
    parts = [y * 1e8, y * -1e8, y * 1.5]
    (parts[0] + parts[1] + parts[2]).sum().backward()
    want = (np.float32(1.5) + np.float32(-1e8)) + np.float32(1e8)
    assert x.grad is not None and x.grad.arr.data[0] == want


# ---- against the generated table -----------------------------------------------------------------

HAVE_BODIES = body.find_bodies() is not None
needs_bodies = pytest.mark.skipif(not HAVE_BODIES, reason="bodies.json is not built")


def test_bodies_file_is_well_formed() -> None:
    path = body.find_bodies()
    if path is None:
        pytest.skip("bodies.json is not built")
    for op in json.loads(Path(path).read_text())["ops"]:
        for nodes in op.get("bodies", {}).values():
            for position, node in enumerate(nodes):
                assert all(node.get(k, -1) < position for k in "abc"), (op["name"], position)
