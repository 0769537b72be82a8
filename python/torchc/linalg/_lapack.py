"""LAPACK, found when it is first used, and one way to call its routines on batches of matrices.

The library is the system's OpenBLAS, else the one in NumPy's or SciPy's wheel (whose names have a prefix and a suffix,
and whose integers are 64 bits wide), else the system's LAPACK, which may be the reference one and several times slower.
Calls hold one lock and run on one thread. The thread that holds the lock may take it again: between two calls for a
batch it may run a signal's handler or an object's finalizer, which use this module.
"""

import ctypes
import functools
import os
import threading
from itertools import chain
from typing import Any, NamedTuple

from torchc import _C

_OPENBLAS = ("libopenblas.so.0", "libopenblas.so")
_PLAIN = ("liblapack.so.3", "liblapack.so")
# (prefix, suffix, integers): plain LAPACK, SciPy's OpenBLAS with 32-bit and with 64-bit integers, other ILP64 builds.
_SPELLINGS = (
    ("", "_", ctypes.c_int32),
    ("scipy_", "_", ctypes.c_int32),
    ("scipy_", "_64_", ctypes.c_int64),
    ("", "_64_", ctypes.c_int64),
)
_lock = threading.RLock()


def _forked():
    """Another thread of the parent may have held the lock."""
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_forked)


class Library(NamedTuple):
    """An opened library: how it spells its routines, the type of its integers, and its thread switch or None."""

    handle: ctypes.CDLL
    prefix: str
    suffix: str
    integer: type
    set_threads: Any

    def routine(self, letter: str, name: str):
        """The routine `name` for the letter's type: s float32, d float64, c complex64, z complex128."""
        function = getattr(self.handle, f"{self.prefix}{letter}{name}{self.suffix}")
        function.restype = None
        return function

    @property
    def index_dtype(self):
        """Its integers as a dtype."""
        return _C.int64 if self.integer is ctypes.c_int64 else _C.int32


def _wheels():
    """Libraries that NumPy's and SciPy's wheels carry; neither package is imported."""
    import importlib.util
    import pathlib

    for package in ("numpy", "scipy"):
        spec = importlib.util.find_spec(package)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            folder = pathlib.Path(place)
            for libraries in (folder.with_name(f"{package}.libs"), folder / ".libs"):
                yield from sorted(map(str, libraries.glob("*openblas*.so*")))


def _open(name: str):
    try:
        handle = ctypes.CDLL(name)
    except OSError:
        return None
    for prefix, suffix, integer in _SPELLINGS:
        if hasattr(handle, f"{prefix}dgesdd{suffix}"):
            switch = getattr(handle, "openblas_set_num_threads_local", None)
            if switch is not None:
                switch.restype = ctypes.c_int
            return Library(handle, prefix, suffix, integer, switch)
    return None


@functools.cache
def library() -> Library:
    """The library; RuntimeError that says where it was looked for if there is none."""
    for name in chain(_OPENBLAS, _wheels(), _PLAIN):
        found = _open(name)
        if found:
            return found
    raise RuntimeError(
        "torch.linalg needs LAPACK, and none was found: neither a system library "
        f"({', '.join(_OPENBLAS + _PLAIN)}) nor the OpenBLAS of an installed numpy or scipy"
    )


class Each:
    """An argument of which every matrix of the batch has its own part: a contiguous tensor."""

    def __init__(self, tensor, batch: int):
        self.pointer = ctypes.c_void_p(tensor.data_ptr())
        self.tensor = tensor
        self.step = tensor.numel() * tensor.itemsize // max(batch, 1)


def letter(dtype) -> str:
    """LAPACK's letter for a dtype."""
    return _LETTERS[dtype]


_LETTERS = {_C.float32: "s", _C.float64: "d", _C.complex64: "c", _C.complex128: "z"}


def call(name: str, dtype, batch: int, *args, workspaces=0, reals=0, integers=0, info=True):
    """Runs a routine on every matrix of a batch; returns the infos, int32 (batch,).

    Args:
        args: int (passed by reference), bytes (a character), float, complex (in the routine's type), or Each; the
            last ones are appended here.
        workspaces: 1 when `work, lwork` follow the arguments, asked for with lwork = -1 first.
        reals: with workspaces, what follows for reals in complex routines: the length of `rwork`, -1 `rwork, lrwork`,
            -2 `rwork` of the size that the routine says (gelsd).
        integers: with workspaces, what follows for integers: 1 `iwork, liwork`, -1 `iwork` of 8 min(m, n) (gesdd),
            -2 `iwork` of the size that the routine says (gelsd).
        info: False for routines of the BLAS, which return none.

    Raises RuntimeError when LAPACK says that an argument is wrong.
    """
    if not batch:
        return _C.empty(0, dtype=_C.int32, device="cpu")
    found = library()
    function = found.routine(letter(dtype), name)
    address = ctypes.cast(function, ctypes.c_void_p).value
    real: Any = ctypes.c_float if dtype.to_real() is _C.float32 else ctypes.c_double
    element: Any = real * 2 if dtype.is_complex else real
    answer = found.integer(0)
    passed: list = []
    lengths = []
    for a in args:
        if isinstance(a, Each):
            passed.append(a.pointer)
        elif isinstance(a, bytes):
            passed.append(ctypes.c_char_p(a))
            lengths.append(ctypes.c_size_t(1))  # Fortran's hidden lengths come last
        elif isinstance(a, complex):
            passed.append(
                ctypes.byref(element(a.real, a.imag) if dtype.is_complex else real(a.real))
            )
        else:
            passed.append(ctypes.byref((found.integer if isinstance(a, int) else real)(a)))
    tail = [ctypes.byref(answer)] * info + lengths
    steps = [a.step if isinstance(a, Each) else 0 for a in args]
    with _lock:
        before = found.set_threads(1) if found.set_threads else None
        try:
            space = (
                _space(function, found, (element, real), passed, tail, (reals, integers), args)
                if workspaces
                else ()
            )
            places = tuple(_number(p) for p in (*passed, *space, *tail))
            steps += [0] * (len(places) - len(steps))
            wide = found.integer is ctypes.c_int64
            said = ctypes.addressof(answer) if info else 0
            infos = _C._lapack_batch(address, places, tuple(steps), batch, said, wide)
        finally:
            if found.set_threads:
                found.set_threads(before)
    least = infos.amin().item()
    if least < 0:
        raise RuntimeError(f"{name}: LAPACK refuses argument {-least}")
    return infos


def _number(argument) -> int:
    """The address, or for a character's length the number, that a ctypes argument passes."""
    if isinstance(argument, ctypes.c_size_t):
        return argument.value
    if isinstance(argument, (ctypes.c_void_p, ctypes.c_char_p)):
        return ctypes.cast(argument, ctypes.c_void_p).value or 0
    if isinstance(argument, ctypes.Array):
        return ctypes.addressof(argument)
    return ctypes.addressof(argument._obj)  # byref


def _space(function, found, types, passed, tail, forms, args):
    """The arguments for scratch memory, of the sizes that the routine asks for."""
    whole = found.integer
    element, real = types
    reals, integers = forms if element is not real else (0, forms[1])
    least = 8 * min(a for a in args if isinstance(a, int))
    # What to ask for: (its type, whether a length of its own follows, its length if known).
    wanted = [(element, True, 0)]
    if reals:
        wanted.append((real, reals == -1, max(reals, 0)))
    if integers:
        wanted.append((whole, integers == 1, least if integers == -1 else 0))
    answers = [(kind * max(known, 1))() for kind, _, known in wanted]
    asked = []
    for answer, (_, follows, _) in zip(answers, wanted):
        asked += [answer] + [ctypes.byref(whole(-1))] * follows
    function(*passed, *asked, *tail)
    space = []
    for answer, (kind, follows, known) in zip(answers, wanted):
        first = answer[0][0] if kind is element and element is not real else answer[0]
        length = max(known or int(first), 1)
        space += [(kind * length)()] + [ctypes.byref(whole(length))] * follows
    return space
