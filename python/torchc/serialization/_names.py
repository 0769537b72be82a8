"""Names in checkpoints: PyTorch's, whatever ours are called; and the dtypes of storages."""

from __future__ import annotations

from torchc import _C

__all__ = ["DTYPE_OF_STORAGE", "Global", "STORAGE_OF_DTYPE", "UNTYPED", "ours", "theirs"]

_STORAGES = {
    "DoubleStorage": "float64", "FloatStorage": "float32", "HalfStorage": "float16", "BFloat16Storage": "bfloat16",
    "LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8",
    "ByteStorage": "uint8", "BoolStorage": "bool", "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
}  # fmt: skip
DTYPE_OF_STORAGE = {
    name: getattr(_C, dtype) for name, dtype in _STORAGES.items() if hasattr(_C, dtype)
}
STORAGE_OF_DTYPE = {dtype: name for name, dtype in DTYPE_OF_STORAGE.items()}
# PyTorch has no storage class for these: their storages are bytes, and tensors on them name their dtype
UNTYPED = frozenset(
    getattr(_C, name)
    for name in (
        "uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz",
    )
)  # fmt: skip


def theirs(module: str) -> str:
    """The name of one of our modules in a checkpoint: torchc.nn is torch.nn."""
    return "torch" + module[6:] if module == "torchc" or module.startswith("torchc.") else module


def ours(module: str) -> str:
    """The name here of a module in a checkpoint."""
    return "torchc" + module[5:] if module == "torch" or module.startswith("torch.") else module


class Global:
    """A name that a pickle refers to without anything of that name here. Calling it does nothing."""

    __slots__ = ("module", "name")

    def __init__(self, module: str, name: str):
        self.module, self.name = module, name

    def __call__(self, *args):
        raise TypeError(f"{self.module}.{self.name} is a name in a checkpoint")
