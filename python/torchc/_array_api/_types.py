"""The standard's data types: kinds, promotion whatever the dimensions, casts, and the report about the namespace."""

from __future__ import annotations

import functools
from types import SimpleNamespace

import torchc as torch
from torchc import Tensor, dtype

__all__ = [
    "__array_namespace_info__",
    "astype",
    "can_cast",
    "finfo",
    "iinfo",
    "isdtype",
    "result_type",
]

KINDS = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8",),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
KINDS["integral"] = KINDS["signed integer"] + KINDS["unsigned integer"]
KINDS["numeric"] = KINDS["integral"] + KINDS["real floating"] + KINDS["complex floating"]


def of_kind(*kinds: str) -> dict:
    """Name to dtype of the standard's kinds; of every kind without arguments."""
    names = [n for k in kinds for n in KINDS[k]] if kinds else KINDS["bool"] + KINDS["numeric"]
    return {n: getattr(torch, n) for n in names}


def isdtype(dtype, kind) -> bool:
    """Whether a dtype is of a kind: a dtype, one of the standard's names ("integral", ...), or a tuple of these.

    Raises ValueError for another name, TypeError for what is none of these.
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, torch.dtype):
        return dtype == kind
    if not isinstance(kind, str):
        raise TypeError(
            f"isdtype: expected a dtype, a kind or a tuple of these, got {type(kind).__name__}"
        )
    if kind not in KINDS:
        raise ValueError(f"isdtype: unknown kind '{kind}'; there are: {', '.join(KINDS)}")
    # float16 and bfloat16 are no types of the standard, but floating all the same.
    return dtype in of_kind(kind).values() or (
        kind in ("real floating", "numeric") and dtype.is_floating_point
    )


def result_type(*arrays_and_dtypes) -> dtype:
    """The common dtype. Other than in torch.result_type an array of no dimensions counts like any other.

    Raises ValueError without an array or dtype among the arguments.
    """
    dtypes = [x.dtype if isinstance(x, Tensor) else x for x in arrays_and_dtypes]
    numbers = [x for x in dtypes if not isinstance(x, torch.dtype)]
    dtypes = [x for x in dtypes if isinstance(x, torch.dtype)]
    if not dtypes:
        raise ValueError("result_type: expected an array or a dtype among the arguments, got none")
    common = functools.reduce(torch.promote_types, dtypes)
    for number in numbers:
        common = torch.result_type(torch.empty((1,), dtype=common, device="meta"), number)
    return common


def promoted(*operands) -> list:
    """Operands as tensors of one dtype; numbers take it from the arrays."""
    common = result_type(*operands)
    device = next(x.device for x in operands if isinstance(x, Tensor))
    return [
        x.to(common) if isinstance(x, Tensor) else torch.tensor(x, dtype=common, device=device)
        for x in operands
    ]


def astype(x, dtype, /, *, copy: bool = True, device=None):
    """x in another dtype: a copy, or x itself with copy=False where nothing changes."""
    if x.dtype.is_complex and not dtype.is_complex:
        raise TypeError(
            f"astype: {x.dtype} has no conversion to {dtype}; take real() or abs() first"
        )
    return x.to(dtype=dtype, device=device, copy=copy)


def can_cast(from_, to, /) -> bool:
    """Whether promotion leads from one dtype to the other."""
    origin = from_.dtype if isinstance(from_, Tensor) else from_
    return torch.promote_types(origin, to) == to


def _limits(find, names: str, of):
    limits = find(of.dtype if isinstance(of, Tensor) else of)
    fields = {name: getattr(limits, name) for name in names.split()}
    return SimpleNamespace(**fields, dtype=getattr(torch, limits.dtype))


def finfo(type, /) -> SimpleNamespace:
    """bits, eps, max, min, smallest_normal of a floating point dtype or an array of it; of a complex one's parts.

    `dtype` is the dtype itself. Raises TypeError for other dtypes, as torch.finfo.
    """
    return _limits(torch.finfo, "bits eps max min smallest_normal", type)


def iinfo(type, /) -> SimpleNamespace:
    """bits, max and min of an integer dtype or an array of it; `dtype` is the dtype itself.

    Raises TypeError for other dtypes, as torch.iinfo.
    """
    return _limits(torch.iinfo, "bits max min", type)


class Info:
    """What the namespace can do, as the standard's inspection interface asks."""

    def capabilities(self) -> dict:
        """Features that the standard leaves open."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self):
        """The device that factory functions use."""
        return torch.get_default_device()

    def default_dtypes(self, *, device=None) -> dict:
        """Dtypes that functions use when none is given."""
        real = torch.get_default_dtype()
        return {
            "real floating": real,
            "complex floating": torch.promote_types(real, torch.complex64),
            "integral": torch.int64,
            "indexing": torch.int64,
        }

    def dtypes(self, *, device=None, kind=None) -> dict:
        """Name to dtype: all, or those of a kind or a tuple of kinds."""
        if kind is None:
            return of_kind()
        return of_kind(*(kind if isinstance(kind, tuple) else (kind,)))

    def devices(self) -> list:
        """All devices of this process."""
        gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
        return [
            torch.device("cpu"),
            *(torch.device("cuda", i) for i in range(gpus)),
            torch.device("meta"),
        ]


def __array_namespace_info__() -> Info:
    """The namespace's report about itself."""
    return Info()
