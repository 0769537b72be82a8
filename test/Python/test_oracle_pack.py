"""The kernel pack against the oracle, kernel by kernel, without torchc: every ISA that this
processor has.

The pack's objects are linked into a small shared library and called through the kernel ABI (E5).
A kernel runs on a
part [begin, end) of guarded arrays, so that writes outside of it show.
"""

from __future__ import annotations

import ctypes
import itertools
import pathlib
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from op_samples import edges, from_bits, salted, values
from op_samples_pointwise import nonzero
from oracle import body, contract, reduce
from oracle.dtypes import (
    INTS,
    Arr,
    DType,
    cast,
    from_compute,
    number_to_compute,
    same_bits,
    to_compute,
)

ISAS = {"v3": (1, ("avx2", "fma")), "v4": (2, ("avx512f", "avx512bw", "avx512vl"))}
ELEMENTWISE, CAST, REDUCE, REDUCE_COLS = 1, 2, 3, 4
SHIM = """
extern const void *const torchc_pack_tables[];
const void *const *oracle_pack(void) { return torchc_pack_tables; }
"""


class _Entry(ctypes.Structure):
    _fields_ = [("key", ctypes.c_uint64), ("fn", ctypes.c_void_p), ("name", ctypes.c_char_p)]


class _Table(ctypes.Structure):
    _fields_ = [
        ("abi", ctypes.c_uint32),
        ("isa", ctypes.c_uint32),
        ("count", ctypes.c_uint64),
        ("entries", ctypes.POINTER(_Entry)),
    ]


KERNEL = ctypes.CFUNCTYPE(
    None,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_int64),
    ctypes.c_void_p,
    ctypes.c_int64,
    ctypes.c_int64,
)


class Kernel:
    """One entry of the pack."""

    def __init__(self, entry: _Entry) -> None:
        self.form, self.aux = entry.key >> 56, entry.key >> 48 & 0xFF
        self.dtype_code, self.op = entry.key >> 40 & 0xFF, entry.key & 0xFFFFFFFF
        self.name, self.call = entry.name.decode(), KERNEL(entry.fn)

    @property
    def dtype(self) -> DType:
        """The operands' type."""
        return DType(self.dtype_code)

    def run(
        self,
        arrays: list[np.ndarray | None],
        sizes: list[int],
        scalars: bytes,
        begin: int,
        end: int,
    ) -> int:
        """Call it; the status word."""
        status = np.zeros(1, np.int32)
        pointers = [a.ctypes.data if a is not None else 0 for a in [*arrays, status]]
        self.call(
            (ctypes.c_void_p * len(pointers))(*pointers),
            (ctypes.c_int64 * max(len(sizes), 1))(*sizes),
            ctypes.create_string_buffer(scalars, len(scalars) + 8),
            begin,
            end,
        )
        return int(status[0])


def _link(folder: pathlib.Path, source: str, extra: list[pathlib.Path]) -> ctypes.CDLL:
    """The pack's objects of the newest build and `source` as a loaded library; skips where they
    are missing."""
    bodies = body.find_bodies()
    objects = sorted(bodies.parent.parent.glob("pack_*.o")) if bodies else []
    compiler = shutil.which("clang++-22") or shutil.which("clang++") or shutil.which("c++")
    if not any(o.name == "pack_tables.o" for o in objects) or compiler is None:
        pytest.skip("the kernel pack is not built")
    if not all(path.exists() for path in extra):
        pytest.skip("the runtime is not built")
    shim, library = folder / "shim.c", folder / "library.so"
    shim.write_text(source)
    command: list[str | pathlib.Path] = [
        compiler,
        "-shared",
        "-fPIC",
        "-x",
        "c",
        shim,
        "-x",
        "none",
        *objects,
        *extra,
    ]
    subprocess.run([*command, "-lpthread", "-o", library], check=True)
    try:
        return ctypes.CDLL(str(library))
    except OSError as error:  # a sanitizer build needs its runtime loaded first
        pytest.skip(f"the pack does not load here: {error}")


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[Kernel]]:
    """ISA number → kernels, of the newest build in this checkout."""
    loaded = _link(tmp_path_factory.mktemp("pack"), SHIM, [])
    loaded.oracle_pack.restype = ctypes.POINTER(ctypes.c_void_p)
    tables, out, i = loaded.oracle_pack(), {}, 0
    while tables[i]:
        table = ctypes.cast(tables[i], ctypes.POINTER(_Table)).contents
        out[table.isa] = [Kernel(table.entries[k]) for k in range(table.count)]
        i += 1
    return out


@pytest.fixture(params=list(ISAS))
def kernels(request: pytest.FixtureRequest, pack: dict[int, list[Kernel]]) -> list[Kernel]:
    """The kernels of one ISA, if this processor runs it."""
    number, flags = ISAS[request.param]
    info = pathlib.Path("/proc/cpuinfo").read_text()
    if number not in pack or not all(f" {flag} " in info for flag in flags):
        pytest.skip(f"no {request.param} here")
    return pack[number]


def _ops() -> dict[int, dict[str, Any]]:
    return {op["id"]: op for op in body.load_bodies().values()}


def _report(found: list[str]) -> None:
    assert not found, f"{len(found)} differences:\n" + "\n".join(found[:15])


def _guarded(shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """An output filled with a pattern."""
    raw = np.full(int(np.prod(shape)) * dtype.storage.itemsize + 512, 0x5A, np.uint8)[:-512]
    return raw.view(np.uint8 if dtype == DType.Bool else dtype.storage).reshape(shape)


def _compare(name: str, want: Arr, out: np.ndarray, begin: int, end: int) -> Iterator[str]:
    """Bits in [begin, end), the pattern outside."""
    outside = np.concatenate([out[:begin].reshape(-1), out[end:].reshape(-1)])
    if not (outside.view(np.uint8) == 0x5A).all():
        yield f"{name}: wrote outside [{begin}, {end})"
    inner = np.ascontiguousarray(out[begin:end])
    if want.dtype == DType.Bool:
        if not (inner <= 1).all():
            yield f"{name}: a bool is neither 0 nor 1"
        inner = inner != 0
    got = Arr(want.dtype, inner)
    expected = Arr(want.dtype, np.ascontiguousarray(want.data[begin:end]))
    bad = np.argwhere(~same_bits(expected, got))
    if len(bad):
        at = tuple(bad[0])
        pair = f"expected {expected.data[at]!r}, got {got.data[at]!r}"
        yield f"{name}: {len(bad)} of {inner.size} differ, first at {at}: {pair}"


def _operand(slot: int, count: int, dtype: DType, rng: np.random.Generator) -> Arr:
    """Edge values crossed over the slots, then random bits and ordinary numbers; a length that is
    no multiple."""
    corner = edges(dtype).data
    n = len(corner)
    crossed = np.tile(corner, n) if slot % 2 == 0 else np.repeat(corner, n)
    parts = [crossed, from_bits(rng, (777,), dtype).data, salted(rng, (1031,), dtype).data]
    flat = np.concatenate(parts)
    return Arr(dtype, np.ascontiguousarray(np.resize(flat, count)))


def _elementwise(kernel: Kernel, op: dict[str, Any], rng: np.random.Generator) -> Iterator[str]:
    dtype, compute, count = kernel.dtype, kernel.dtype.compute, 2900
    arrays: list[np.ndarray | None] = []
    operands, scalars = [], b""
    for slot in range(len(op["operands"])):
        own = DType.Bool if op["promote"] == "Branch" and slot == 0 else dtype
        if kernel.aux >> slot & 1:
            number = True if dtype == DType.Bool else (0.1 if dtype.is_float else 3)
            value = number_to_compute(number, own)
            operands.append(value)
            arrays.append(None)
            scalars += value.tobytes().ljust(8, b"\0")
        else:
            arr = _operand(slot, count, own, rng)
            if slot and "mayRaise" in op["flags"]:
                arr = nonzero(arr)
            operands.append(to_compute(arr))
            arrays.append(arr.data.view(np.uint8) if own == DType.Bool else arr.data)
            scalars += bytes(8)
    result = np.broadcast_to(_reference(op["name"], compute, operands), (count,))
    want = (
        Arr(DType.Bool, np.array(result))
        if result.dtype == np.bool_
        else from_compute(np.array(result), dtype)
    )
    for begin, end in ((0, count), (3, count - 2), (5, 6), (0, 0)):
        out = _guarded((count,), want.dtype)
        kernel.run([out, *arrays], [], scalars, begin, end)
        yield from _compare(kernel.name, want, out, begin, end)


def _reference(name: str, compute: DType, operands: list[np.ndarray]) -> np.ndarray:
    # The bodies of bool may be written on u8 or i1; both read as truth values here.
    return body.run_body(body.get_body(name, compute), compute.storage, operands)


def test_elementwise(kernels: list[Kernel]) -> None:
    rng, ops = np.random.default_rng(5), _ops()
    found: list[str] = []
    assert len([k for k in kernels if k.form == ELEMENTWISE]) > 200
    for kernel in kernels:
        if kernel.form == ELEMENTWISE:
            found += _elementwise(kernel, ops[kernel.op], rng)
    _report(found)


def test_casts(kernels: list[Kernel]) -> None:
    rng = np.random.default_rng(6)
    found: list[str] = []
    assert len([k for k in kernels if k.form == CAST]) == 90  # all pairs of ten types
    for kernel in kernels:
        if kernel.form != CAST:
            continue
        source = _operand(0, 2900, kernel.dtype, rng)
        want = cast(source, DType(kernel.aux))
        for begin, end in ((0, 2900), (7, 2890)):
            out = _guarded((2900,), want.dtype)
            data = source.data.view(np.uint8) if source.dtype == DType.Bool else source.data
            kernel.run([out, data], [], b"", begin, end)
            found += _compare(kernel.name, want, out, begin, end)
    _report(found)


def _reduced(name: str, x: Arr, dim: int) -> Arr:
    """The reduction as these kernels store it: sums in the accumulator's type, extremes in the
    input's."""
    if x.dtype.is_float and name in ("sum", "prod"):
        x = cast(x, x.dtype.compute)
    functions: dict[str, Any] = {
        "sum": lambda: reduce.sum(x, dim),
        "prod": lambda: reduce.prod(x, dim),
        "amax": lambda: reduce.amax(x, dim),
        "amin": lambda: reduce.amin(x, dim),
        "argmax": lambda: reduce.argmax(x, dim),
        "argmin": lambda: reduce.argmin(x, dim),
    }
    return functions[name]() if name in functions else Arr(DType.Bool, np.zeros(0, np.bool_))


LENGTHS = (1, 2, 7, 31, 32, 33, 64, 65, 127, 1000, 1023, 1024, 1025, 2048, 3100, 5121)


def _reduction_rows(kernel: Kernel, name: str, rng: np.random.Generator) -> Iterator[str]:
    for n in LENGTHS:
        make = salted if n % 2 else values
        x = make(rng, (5, n), kernel.dtype)
        want = _reduced(name, x, 1)
        out = _guarded((5,), want.dtype)
        data = x.data.view(np.uint8) if x.dtype == DType.Bool else x.data
        kernel.run([out, data], [n], b"", 1, 4)
        yield from _compare(f"{kernel.name} n={n}", want, out, 1, 4)


def _reduction_columns(kernel: Kernel, name: str, rng: np.random.Generator) -> Iterator[str]:
    for n in LENGTHS:
        make = salted if n % 2 else values
        width = 7 if n > 1100 else 45
        x = make(rng, (n, width), kernel.dtype)
        padded = np.zeros((n, width + 3), x.data.dtype)
        padded[:, :width] = x.data
        want = _reduced(name, x, 0)
        out = _guarded((width,), want.dtype)
        data = padded.view(np.uint8) if x.dtype == DType.Bool else padded
        kernel.run([out, data], [n, width + 3], b"", 1, width - 1)
        yield from _compare(f"{kernel.name} n={n}", want, out, 1, width - 1)


@pytest.mark.parametrize("form", [REDUCE, REDUCE_COLS], ids=["rows", "columns"])
def test_reductions(kernels: list[Kernel], form: int) -> None:
    rng, ops = np.random.default_rng(7), _ops()
    found: list[str] = []
    assert len([k for k in kernels if k.form == form]) >= 50
    for kernel in kernels:
        name = ops.get(kernel.op, {}).get("name", "")
        if kernel.form == form and name in ("sum", "prod", "amax", "amin", "argmax", "argmin"):
            run = _reduction_rows if form == REDUCE else _reduction_columns
            found += run(kernel, name, rng)
    _report(found)


# ---- products


GEMM_SHIM = """
extern void torchc_gemm(void **, const long *, const void *, long, long);
void *oracle_gemm(void) { return (void *)torchc_gemm; }
"""
PRODUCTS = [
    (1, 1, 1),
    (1, 5, 7),
    (7, 3, 1),
    (6, 16, 16),
    (7, 17, 33),
    (13, 65, 70),
    (1, 1030, 40),
    (5, 2050, 3),
    (33, 1025, 19),
    (2, 0, 3),
    (100, 40, 90),
]


@pytest.fixture(scope="module")
def gemm(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The runtime's product over the pack in use: (a[B, M, K], b[B, K, N], dtype) → [B, M, N]."""
    bodies = body.find_bodies()
    root = bodies.parents[2] if bodies else pathlib.Path()
    archives = [root / "runtime/libtorchc_runtime.a", root / "dialects/libtorchc_rules.a"]
    loaded = _link(tmp_path_factory.mktemp("gemm"), GEMM_SHIM, archives)
    loaded.oracle_gemm.restype = ctypes.c_void_p
    function = KERNEL(loaded.oracle_gemm())

    def product(a: np.ndarray, b: np.ndarray, dtype: DType) -> np.ndarray:
        out, status = np.zeros((*a.shape[:2], b.shape[2]), a.dtype), np.zeros(1, np.int32)
        strides = [s // a.itemsize for s in (*a.strides, *b.strides, *out.strides[:2])]
        sizes = [len(a), a.shape[1], b.shape[2], a.shape[2], *strides]
        pointers = (ctypes.c_void_p * 4)(*(v.ctypes.data for v in (out, a, b, status)))
        scalar = np.array([int(dtype)], np.uint64)
        function(pointers, (ctypes.c_int64 * len(sizes))(*sizes), scalar.ctypes.data, 0, len(a))
        return out

    return product


@pytest.mark.parametrize("dtype", [DType.F32, DType.F64, *INTS])
def test_products(gemm: Any, dtype: DType) -> None:
    rng = np.random.default_rng(8)
    found: list[str] = []
    for (m, k, n), ta, tb in itertools.product(PRODUCTS, (False, True), (False, True)):
        a, b = (
            (salted if ta else values)(rng, shape, dtype).data for shape in ((2, m, k), (2, k, n))
        )
        want = contract.contract(a, b)
        if ta:
            a = np.ascontiguousarray(a.swapaxes(1, 2)).swapaxes(1, 2)
        if tb:
            b = np.ascontiguousarray(b.swapaxes(1, 2)).swapaxes(1, 2)
        bad = np.argwhere(~same_bits(Arr(dtype, want), Arr(dtype, gemm(a, b, dtype))))
        if len(bad):
            found.append(
                f"{m}x{k}x{n} a{'t' * ta} b{'t' * tb}: {len(bad)} differ, first at {bad[0]}"
            )
    _report(found)
