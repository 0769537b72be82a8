"""uint16, uint32, uint64 and the float8 types: creation, casts, moves, files.

The oracles are NumPy for the unsigned types and a decoding of the bits, written here, for the float8 types.
"""

from __future__ import annotations

import copy
import io
import pathlib
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)

REFERENCE = pathlib.Path(__file__).parent / "reference"
UNSIGNED = ["uint16", "uint32", "uint64"]
# bits of the mantissa, bias, code of the largest number, code of what is beyond it, code of NaN
FLOAT8 = {
    "float8_e4m3fn": (3, 7, 0x7E, 0x7E, 0x7F),
    "float8_e5m2": (2, 15, 0x7B, 0x7C, 0x7F),
    "float8_e4m3fnuz": (3, 8, 0x7F, 0x80, 0x80),
    "float8_e5m2fnuz": (2, 16, 0x7F, 0x80, 0x80),
}
STORED = [*UNSIGNED, *FLOAT8]
OTHERS = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
]
COMPLEX = ["complex64", "complex128"]


def decoded(name: str) -> np.ndarray:
    """The numbers of codes 0 to 255 by the definition of the format."""
    mantissa, bias, most, _, nan = FLOAT8[name]
    codes = np.arange(256)
    low = codes & 0x7F
    exponent, fraction = low >> mantissa, low & ((1 << mantissa) - 1)
    numbers = np.where(
        exponent > 0,
        np.ldexp(1 + fraction / 2.0**mantissa, exponent - bias),
        np.ldexp(fraction / 2.0**mantissa, 1 - bias),
    )
    if nan == 0x80:
        numbers[0x80] = np.nan
    else:
        numbers[low > most] = np.nan
    if name == "float8_e5m2":
        numbers[low == 0x7C] = np.inf
    return np.where((codes & 0x80) > 0, -numbers, numbers)


def encoded(name: str, values: np.ndarray) -> np.ndarray:
    """The codes that float32 numbers are rounded to: the nearest number, of two the one with an even code."""
    _, _, most, beyond, nan = FLOAT8[name]
    numbers = decoded(name)[: most + 1].astype("float64")
    size = np.abs(values.astype("float64"))
    middles = (numbers[1:] + numbers[:-1]) / 2
    codes = np.searchsorted(middles, size)  # a middle belongs to the number below it
    tie = (codes < most) & (size == middles[np.minimum(codes, most - 1)])
    codes = np.where(tie & (codes % 2 == 1), codes + 1, codes)
    # The number that would follow the largest one decides what is beyond it.
    last = numbers[most] + (numbers[most] - numbers[most - 1]) / 2
    codes = np.where((size > last) | ((size == last) & (most % 2 == 1)), beyond, codes)
    codes = np.where(np.isnan(values), nan, codes)
    signed = np.signbit(values) & ~((nan == 0x80) & ((codes == 0) | (codes == nan)))
    return (codes | np.where(signed, 0x80, 0)).astype("uint8")


def codes_of(x: Any) -> np.ndarray:
    return x.contiguous().view(torch.uint8).numpy()


def assert_codes(name: str, x: Any, want: np.ndarray) -> None:
    """Equal codes; any NaN is equal to any NaN."""
    got, numbers = codes_of(x).reshape(-1), decoded(name)
    want = want.reshape(-1)
    differ = (got != want) & ~(np.isnan(numbers[got]) & np.isnan(numbers[want]))
    assert not differ.any(), (got[differ][:5], want[differ][:5])


def every(name: str) -> Any:
    """All numbers of a float8 type, in order of their codes."""
    return torch.arange(256, dtype=torch.uint8).view(getattr(torch, name))


def floats() -> np.ndarray:
    """Numbers about every number of a float8 type, every middle between two, and the edges of float32."""
    found = [
        np.array(
            [0.0, np.inf, np.nan, 1e-45, 1e-38, 3e38, 2.0**-150, 65504, 65536, 448, 464, 465, 480]
        )
    ]
    for name in FLOAT8:
        numbers = np.sort(np.unique(np.abs(decoded(name)[np.isfinite(decoded(name))])))
        found += [numbers, (numbers[1:] + numbers[:-1]) / 2]
    all_ = np.concatenate(found).astype("float32")
    near = [np.nextafter(all_, np.float32(s), dtype="float32") for s in (0, np.inf)]
    rng = np.random.default_rng(0)
    spread = rng.standard_normal(4000) * 10.0 ** rng.integers(-9, 7, 4000)
    out = np.concatenate([all_, *near, spread.astype("float32")])
    return np.concatenate([out, -out])


def integers(name: str, n: int = 2000) -> np.ndarray:
    """Numbers of an unsigned type of all sizes."""
    rng = np.random.default_rng(1)
    limits = np.iinfo(name)
    x = rng.integers(0, limits.max, n, dtype=name, endpoint=True)
    x >>= rng.integers(0, limits.bits, n).astype(name)
    edges = [0, 1, limits.max, limits.max - 1, limits.max // 2, limits.max // 2 + 1]
    return np.concatenate([x, np.array(edges, dtype=name)])


# ---- types


def test_properties_of_the_types() -> None:
    sizes = [2, 4, 8, 1, 1, 1, 1]
    for name, size in zip(STORED, sizes):
        t, floating = getattr(torch, name), name in FLOAT8
        x = torch.empty(3, dtype=t)
        assert repr(t) == f"torchc.{name}" and t.itemsize == size == x.element_size()
        assert t.is_floating_point == floating == x.is_floating_point() and not t.is_complex
        assert t.is_signed == floating == x.is_signed() and t.to_real() is t
        assert pickle.loads(pickle.dumps(t)) is t
        with pytest.raises(RuntimeError):
            t.to_complex()
        old = f"torch.{name[0].upper()}{name[1:]}Tensor".replace("Uint", "UInt")
        assert x.type() == old and torch.ones(2).type(old).dtype is t
    with pytest.raises(TypeError):
        torch.set_default_dtype(torch.float8_e5m2)


def test_limits() -> None:
    for name in UNSIGNED:
        info, want = torch.iinfo(getattr(torch, name)), np.iinfo(name)
        assert (info.bits, info.min, info.max) == (want.bits, 0, want.max)
        with pytest.raises(TypeError):
            torch.finfo(getattr(torch, name))
    for name, (mantissa, _, most, _, _) in FLOAT8.items():
        info, numbers = torch.finfo(getattr(torch, name)), decoded(name)
        assert info.bits == 8 and info.dtype == name and info.resolution == 1.0
        assert info.max == -info.min == numbers[most] and info.tiny == numbers[1 << mantissa]
        one = np.flatnonzero(numbers == 1)[0]
        assert info.smallest_normal == info.tiny and info.eps == numbers[one + 1] - 1
        with pytest.raises(TypeError):
            torch.iinfo(getattr(torch, name))


def test_promotion() -> None:
    for name in STORED:
        t = getattr(torch, name)
        assert torch.promote_types(t, t) is t
        for other in [*OTHERS, *COMPLEX, *STORED]:
            u = getattr(torch, other)
            common = name in UNSIGNED and other in OTHERS and "float" in other
            if t is u:
                continue
            for pair in ((t, u), (u, t)):
                if common:
                    assert torch.promote_types(*pair) is u
                    continue
                with pytest.raises(RuntimeError, match="no common type"):
                    torch.promote_types(*pair)
    ranks = {"bool": 0, "complex64": 3, "complex128": 3}
    for name in STORED:
        for other in [*OTHERS, *COMPLEX, *STORED]:
            a, b = ((ranks.get(n, 2 if "float" in n else 1)) for n in (name, other))
            assert torch.can_cast(getattr(torch, name), getattr(torch, other)) == (a <= b)


def test_result_types() -> None:
    u, f = torch.ones(1, dtype=torch.uint16), torch.ones(1, dtype=torch.float8_e4m3fn)
    assert torch.result_type(u, 1) is torch.uint16 and torch.result_type(u, 1.5) is torch.float32
    assert torch.result_type(f, 1.5) is torch.float8_e4m3fn
    assert torch.result_type(u, torch.tensor(1)) is torch.uint16
    assert torch.result_type(u[0], torch.ones(1, dtype=torch.int32)) is torch.int32
    assert torch.result_type(f[0], torch.ones(1)) is torch.float32
    for a, b in (
        (u[0], torch.ones(1) > 0),
        (f[0], torch.ones(1, dtype=torch.int32)),
        (f, torch.ones(1)),
    ):
        with pytest.raises(RuntimeError, match="no common type"):
            torch.result_type(a, b)


# ---- creation and numbers


@pytest.mark.parametrize("name", STORED)
def test_creation(name: str) -> None:
    t = getattr(torch, name)
    for x, want in (
        (torch.zeros(2, 3, dtype=t), 0),
        (torch.ones(2, 3, dtype=t), 1),
        (torch.full((2, 3), 5, dtype=t), 5),
        (torch.zeros(2, 3).new_full((2, 3), 6, dtype=t), 6),
        (torch.full_like(torch.empty(2, 3, dtype=t), 3), 3),
        (torch.empty(2, 3, dtype=t).fill_(2), 2),
        (torch.empty(2, 3, dtype=t).fill_(torch.tensor(4.0)), 4),
    ):
        assert x.dtype is t and x.shape == (2, 3) and x.tolist() == [[want] * 3] * 2
    x = torch.tensor([[1, 2], [3, 4]], dtype=t)
    assert x.dtype is t and x.tolist() == [[1, 2], [3, 4]] and x[1, 0].item() == 3
    assert torch.tensor(x).tolist() == x.tolist() and torch.tensor([x[0, 0], x[0, 1]]).dtype is t
    assert (
        torch.empty(0, dtype=t).tolist() == [] and torch.empty(2, dtype=t, device="meta").dtype is t
    )
    x[0] = 7
    x[1, 1] = torch.tensor(6.0)
    assert x.tolist() == [[7, 7], [3, 6]]
    if name in UNSIGNED:
        assert range(8)[x[0, 0]] == 7 and torch.eye(2, dtype=t).tolist() == [[1, 0], [0, 1]]
    assert bool(x[0, 0]) and int(x[0, 0]) == 7 and float(x[0, 0]) == 7.0


def test_numbers_that_do_not_fit() -> None:
    most = 2**64 - 1
    assert torch.tensor([most, 0], dtype=torch.uint64).tolist() == [most, 0]
    assert torch.full((1,), most, dtype=torch.uint64).item() == most
    assert torch.full((1,), 2**63 + 1, dtype=torch.uint64).item() == 2**63 + 1
    assert torch.full((1,), 1e19, dtype=torch.uint64).item() == 10**19
    assert torch.empty(1, dtype=torch.uint64).fill_(most - 1).item() == most - 1
    near = torch.tensor([most, most - 1], dtype=torch.uint64)
    assert (near == most).tolist() == [True, False] and (near & (most - 7)).tolist() == [
        most - 7,
        most - 7,
    ]
    assert torch.where(near == most, near, 2**63 + 1).tolist() == [most, 2**63 + 1]
    x = torch.zeros(2, dtype=torch.uint64)
    x[1] = most
    assert (
        x.tolist() == [0, most] and (x == most).tolist() == [False, True] and float(x[1]) == 2.0**64
    )
    assert (torch.ones(1) + 2**63).item() == 2.0**63
    assert torch.tensor([-1], dtype=torch.uint16).item() == 65535
    assert torch.full((1,), -1, dtype=torch.uint32).item() == 2**32 - 1
    for bad, kind in (
        (lambda: torch.tensor([65536], dtype=torch.uint16), RuntimeError),
        (lambda: torch.tensor([-65536], dtype=torch.uint16), RuntimeError),
        (lambda: torch.tensor([-1.5], dtype=torch.uint16), RuntimeError),
        (lambda: torch.tensor([-0.5], dtype=torch.uint8), RuntimeError),
        (lambda: torch.tensor([float("nan")], dtype=torch.uint32), RuntimeError),
        (lambda: torch.tensor([1e20], dtype=torch.uint32), RuntimeError),
        (lambda: torch.tensor([-1], dtype=torch.uint64), OverflowError),
        (lambda: torch.tensor([1.5], dtype=torch.uint64), TypeError),
        (lambda: torch.full((1,), 2**16, dtype=torch.uint16), RuntimeError),
        (lambda: torch.full((1,), -1.5, dtype=torch.uint64), RuntimeError),
        (lambda: torch.full((1,), 2**63), RuntimeError),
        (lambda: torch.tensor([True]) * 2**63, RuntimeError),
        (lambda: torch.tensor([1]) * 2**63, RuntimeError),
        (lambda: torch.arange(6).reshape(2, 3).t() * 2**63, RuntimeError),
        (lambda: torch.full((1,), 2**64, dtype=torch.uint64), RuntimeError),
        (lambda: torch.tensor([2**63]), ValueError),
        (lambda: int(x[1]), RuntimeError),
        (lambda: torch.zeros(3)[torch.tensor([0], dtype=torch.uint16)], IndexError),
    ):
        with pytest.raises(kind):
            bad()


@pytest.mark.parametrize("name", list(FLOAT8))
def test_numbers_round_once(name: str) -> None:
    t = getattr(torch, name)
    for v in floats()[::7].tolist():
        want = encoded(name, np.array([v], dtype="float32"))
        assert_codes(name, torch.full((1,), v, dtype=t), want)
        assert_codes(name, torch.tensor([v], dtype=t), want)


# ---- casts


@pytest.mark.parametrize("name", list(FLOAT8))
def test_float8_to_the_others(name: str) -> None:
    x, numbers = every(name), decoded(name)
    np.testing.assert_array_equal(x.to(torch.float32).numpy(), numbers.astype("float32"))
    np.testing.assert_array_equal(x.tolist(), numbers)
    np.testing.assert_array_equal(x.to(torch.float64).numpy(), numbers)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(x.to(torch.float16).numpy(), numbers.astype("float16"))
    np.testing.assert_array_equal(x.to(torch.bfloat16).to(torch.float64).numpy(), numbers)
    for other in COMPLEX:
        np.testing.assert_array_equal(x.to(getattr(torch, other)).numpy(), numbers.astype(other))
    np.testing.assert_array_equal(x.to(torch.bool).numpy(), numbers != 0)  # NaN is true
    whole = np.trunc(np.where(np.isnan(numbers), 0, numbers))
    finite = np.isfinite(whole)
    for other in [*[n for n in OTHERS if "int" in n], *UNSIGNED]:
        got = x.to(getattr(torch, other)).numpy()
        wide = np.clip(whole, 0, None) if other == "uint64" else whole
        want = np.where(finite, wide, 0).astype("int64").astype(other)
        np.testing.assert_array_equal(got[finite], want[finite])
    for other in FLOAT8:
        assert_codes(other, x.to(getattr(torch, other)), encoded(other, numbers.astype("float32")))


@pytest.mark.parametrize("name", list(FLOAT8))
def test_the_others_to_float8(name: str) -> None:
    t, values = getattr(torch, name), floats()
    x = torch.from_numpy(values)
    assert_codes(name, x.to(t), encoded(name, values))
    assert_codes(name, torch.stack([x, -x], 1)[:, 0].to(t), encoded(name, values))
    assert_codes(name, torch.empty_like(x, dtype=t).copy_(x), encoded(name, values))
    rng = np.random.default_rng(2)
    doubles = np.concatenate([values.astype("float64"), rng.standard_normal(999)])
    assert_codes(name, torch.from_numpy(doubles).to(t), encoded(name, doubles.astype("float32")))
    with np.errstate(over="ignore"):
        halves = values.astype("float16")
    assert_codes(name, torch.from_numpy(halves).to(t), encoded(name, halves.astype("float32")))
    brains = x.to(torch.bfloat16)
    assert_codes(name, brains.to(t), encoded(name, brains.to(torch.float32).numpy()))
    for other in [n for n in [*OTHERS, *UNSIGNED] if "int" in n]:
        limits = np.iinfo(other)
        ints = rng.integers(limits.min, limits.max, 500, dtype=other, endpoint=True)
        ints = np.concatenate([ints, np.arange(min(600, limits.max), dtype=other)])
        assert_codes(name, torch.from_numpy(ints).to(t), encoded(name, ints.astype("float32")))
    assert torch.tensor([True, False]).to(t).tolist() == [1.0, 0.0]
    both = torch.complex(x, x.flip(0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_codes(name, both.to(t), encoded(name, values))


@pytest.mark.parametrize("name", UNSIGNED)
def test_unsigned_casts(name: str) -> None:
    t, numbers = getattr(torch, name), integers(name)
    x = torch.from_numpy(numbers)
    assert x.dtype is t
    for part, want in ((x, numbers), (x[::3], numbers[::3]), (x[1:], numbers[1:])):
        for other in [
            n for n in [*OTHERS, *COMPLEX, *UNSIGNED] if n not in ("bfloat16", "float16")
        ]:
            np.testing.assert_array_equal(
                part.to(getattr(torch, other)).numpy(), want.astype(other)
            )
        with np.errstate(over="ignore"):  # by way of float32 (N6)
            half = want.astype("float32").astype("float16")
        np.testing.assert_array_equal(part.to(torch.float16).numpy(), half)
        brain = torch.from_numpy(want.astype("float32")).to(torch.bfloat16)
        assert torch.equal(part.to(torch.bfloat16), brain)
    for other in [n for n in OTHERS if "int" in n or n == "bool"]:
        limits = np.iinfo(other) if other != "bool" else None
        rng = np.random.default_rng(3)
        given = (
            rng.integers(limits.min, limits.max, 999, dtype=other, endpoint=True)
            if limits
            else rng.integers(0, 2, 999).astype(bool)
        )
        np.testing.assert_array_equal(torch.from_numpy(given).to(t).numpy(), given.astype(name))
    limit = float(np.iinfo(name).max)
    for other in ("float32", "float64", "float16"):
        given = np.array(
            [0, 0.9, 1.5, 2.5, 255, 60000, 65535, 2.0**31 + 256, 2.0**62 + 2.0**40, 2.0**63]
        )
        given = given[given <= min(limit, float(np.finfo(other).max))].astype(other)
        got = torch.from_numpy(given).to(t).numpy()
        np.testing.assert_array_equal(got, [int(v) for v in given.tolist()])


def test_floats_outside_the_unsigned_types() -> None:
    """N8: into uint64 by saturating; into the narrower ones by way of int64."""
    x = torch.tensor(
        [-1.0, -0.5, 1e30, -1e30, float("inf"), -float("inf"), float("nan"), 2.0**63, 2.0**64]
    )
    most = 2**64 - 1
    for source in (x, x.double(), x.bfloat16()):
        assert source.to(torch.uint64).tolist() == [0, 0, most, 0, most, 0, 0, 2**63, most]
        for t, low in ((torch.uint16, 2**16 - 1), (torch.uint32, 2**32 - 1)):
            assert source.to(t).tolist() == [low, 0, low, 0, low, 0, 0, low, low]


# ---- memory


@pytest.mark.parametrize("name", UNSIGNED)
def test_numpy(name: str) -> None:
    a = integers(name)[:24].reshape(2, 3, 4)
    x = torch.from_numpy(a)
    assert x.dtype is getattr(torch, name) and x.numpy() is not a
    x[0, 0, 0] = 9
    assert a[0, 0, 0] == 9 and x.numpy().dtype == np.dtype(name)
    back = x.transpose(0, 2)[1:].numpy()
    np.testing.assert_array_equal(back, a.transpose(2, 1, 0)[1:])
    assert np.shares_memory(back, a)
    np.testing.assert_array_equal(torch.tensor(a).numpy(), a)
    np.testing.assert_array_equal(np.asarray(x), a)
    np.testing.assert_array_equal(np.from_dlpack(x), a)
    assert torch.from_dlpack(a).dtype is x.dtype
    assert torch.tensor([np.dtype(name).type(3)]).dtype is x.dtype
    same = {"uint16": "H", "uint32": "I", "uint64": "Q"}[name]
    assert torch.from_numpy(np.ones(2, dtype=same)).dtype is x.dtype
    with pytest.raises((TypeError, ValueError)):
        torch.from_numpy(a.astype(f">u{x.element_size()}"))


@pytest.mark.parametrize("name", STORED)
def test_memory_is_shared_and_seen_as_other_types(name: str) -> None:
    t = getattr(torch, name)
    x = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4).to(t)
    raw = x.view(torch.uint8)
    assert raw.data_ptr() == x.data_ptr() and raw.shape == (2, 3, 4 * x.element_size())
    assert raw.view(t).tolist() == x.tolist()
    other = torch.from_dlpack(x)
    assert other.dtype is t and other.data_ptr() == x.data_ptr()
    other[0, 0, 0] = 5
    assert x[0, 0, 0].item() == 5
    assert x.untyped_storage().nbytes() == 24 * x.element_size()
    if name in FLOAT8:
        with pytest.raises(TypeError):
            x.numpy()
        assert x.view(torch.int32).shape == (2, 3, 1)
    else:
        signed = getattr(torch, name[1:])
        assert x.view(signed).tolist() == x.tolist()


@pytest.mark.parametrize("name", STORED)
def test_moves(name: str) -> None:
    t = getattr(torch, name)
    wide = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4).fmod(8)
    x = wide.to(t)
    at, mask = torch.tensor([1, 0]), torch.tensor([True, False, True])
    for move in (
        lambda x: x.clone(),
        lambda x: x.t() if x.dim() == 2 else x.transpose(0, 2),
        lambda x: x[:, 1:, ::2],
        lambda x: x[1],
        lambda x: x[..., None],
        lambda x: x[at],
        lambda x: x[:, mask],
        lambda x: x[at, :, at],
        lambda x: x.transpose(0, 2).contiguous(),
        lambda x: x.expand(5, 2, 3, 4).contiguous(),
        lambda x: x.index_select(1, at),
        lambda x: x.gather(0, torch.zeros(1, 3, 4, dtype=torch.int64)),
        lambda x: x.scatter(0, torch.ones(1, 3, 4, dtype=torch.int64), x[:1]),
        lambda x: torch.cat([x, x], 1),
        lambda x: torch.stack([x, x], 1),
        lambda x: x.flip(1),
        lambda x: x.roll(1, 2),
        lambda x: x.repeat(1, 2, 1),
        lambda x: x.reshape(-1).unfold(0, 3, 2),
        lambda x: torch.nn.functional.pad(x, (1, 2)),
        lambda x: x.masked_fill(mask[:, None], 3),
        lambda x: torch.where(mask[:, None], x, 3),
        lambda x: torch.where(mask[:, None], x, x.flip(0)),
        lambda x: x.reshape(6, 4).tril(),
        lambda x: x.repeat_interleave(2),
        lambda x: torch.nn.functional.embedding(at, x.reshape(6, 4)),
        lambda x: x.chunk(3, 1)[1],
        lambda x: x.as_strided((2, 2), (4, 3), 1),
        lambda x: torch.zeros_like(x).copy_(x),
        lambda x: copy.deepcopy(x),
        lambda x: pickle.loads(pickle.dumps(x)),
    ):
        got = move(x)
        assert got.dtype is t and got.tolist() == move(wide).tolist()
    y, z = x.clone(), wide.clone()
    for target in (y, z):
        target[:, 1] = 6
        target[at, 0] = target[0, 2].clone()
        target[target == 3] = 8
        target[0].copy_(torch.arange(4))
        target.transpose(0, 2)[1:].zero_()
    assert y.dtype is t and y.tolist() == z.tolist()


@pytest.mark.parametrize("name", STORED)
def test_text(name: str) -> None:
    t = getattr(torch, name)
    if name in UNSIGNED:
        most = int(np.iinfo(name).max)
        width = len(str(most))
        x = torch.tensor([most, 1], dtype=t)
        assert repr(x) == f"tensor([{most}, {'1'.rjust(width)}], dtype=torchc.{name})"
    else:
        x = torch.tensor([1.5, float("nan"), -2, 0.015625]).to(t)
        assert repr(x) == f"tensor([ 1.5000,     nan, -2.0000,  0.0156], dtype=torchc.{name})"
        assert f"{torch.tensor(0.3, dtype=t):.4f}" == "0.3125"
    assert repr(torch.tensor(1, dtype=t)).startswith("tensor(1")
    assert repr(torch.empty(0, dtype=t)) == f"tensor([], dtype=torchc.{name})"


# ---- files


def test_files() -> None:
    parts: dict[str, Any] = {}
    for name in STORED:
        x = torch.arange(12, dtype=torch.float32).reshape(3, 4).to(getattr(torch, name))
        parts |= {
            name: x,
            name + " part": x[1:, ::2],
            name + " parameter": torch.nn.Parameter(x, False),
        }
    file = io.BytesIO()
    torch.save(parts, file)
    file.seek(0)
    loaded = torch.load(file)
    for key, x in parts.items():
        y = loaded[key]
        assert y.dtype is x.dtype and y.tolist() == x.tolist() and y.stride() == x.stride()
    loaded["uint16"][1, 0] = 9
    assert loaded["uint16 part"][0, 0].item() == 9 == loaded["uint16 parameter"][1, 0].item()
    raw = torch.arange(4, dtype=torch.uint8)  # storages of stored types are bytes
    torch.save([raw, raw.view(torch.float8_e5m2), raw.view(torch.uint16)], file := io.BytesIO())
    file.seek(0)
    bytes_, small, wide = torch.load(file)
    bytes_[1] = 0x3C
    assert small[1].item() == 1.0 and wide.tolist() == [0x3C00, 0x0302]


def test_a_file_of_pytorch() -> None:
    loaded = torch.load(REFERENCE / "torch_stored.pt")
    want = [[1, 2, 3], [4, 6, 7]]
    for name in STORED:
        x, part = loaded[name], loaded[name + "_part"]
        assert x.dtype is getattr(torch, name)
        numbers = np.array(want, dtype="float32")
        expected = decoded(name)[encoded(name, numbers)] if name in FLOAT8 else numbers
        assert x.tolist() == expected.tolist() and part.tolist() == x.t()[1:].tolist()
        assert part.stride() == (1, 3)
    np.testing.assert_array_equal(loaded["bytes"].tolist(), decoded("float8_e4m3fn"))


def test_safetensors(tmp_path: pathlib.Path) -> None:
    from torchc.serialization import load_safetensors, save_safetensors

    names = [*UNSIGNED, "float8_e4m3fn", "float8_e5m2"]
    parts = {name: torch.arange(5.0).to(getattr(torch, name)) for name in names}
    save_safetensors(parts, tmp_path / "x")
    loaded = load_safetensors(tmp_path / "x")
    for name, x in parts.items():
        assert loaded[name].dtype is x.dtype and torch.equal(loaded[name], x)
    with pytest.raises(RuntimeError):
        save_safetensors({"x": torch.zeros(1, dtype=torch.float8_e4m3fnuz)}, tmp_path / "y")


def test_modules_cast() -> None:
    linear = torch.nn.Linear(3, 2)
    before = linear.weight.detach().clone()
    linear.to(torch.float8_e5m2)
    assert linear.weight.dtype is torch.float8_e5m2 and linear.weight.requires_grad
    state = copy.deepcopy(linear.state_dict())
    linear.load_state_dict(state)
    np.testing.assert_array_equal(
        codes_of(linear.weight.detach()), encoded("float8_e5m2", before.numpy())
    )


def test_formats_agree_with_ml_dtypes() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    with np.errstate(all="ignore"):
        for name in FLOAT8:
            kind = getattr(ml_dtypes, name)
            theirs = np.arange(256, dtype="uint8").view(kind).astype("float64")
            np.testing.assert_array_equal(decoded(name), theirs)
            values = floats()
            inside = np.abs(values) <= float(ml_dtypes.finfo(kind).max)
            codes = values[inside].astype(kind).view("uint8")
            np.testing.assert_array_equal(encoded(name, values[inside]), codes)
