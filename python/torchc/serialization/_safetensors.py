"""The safetensors format: a JSON header and raw tensors."""

from __future__ import annotations

import json
import os

from torchc import _C
from torchc.serialization._write import write_file

__all__ = ["load_safetensors", "save_safetensors"]

_NAMES = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "I16": "int16", "I32": "int32", "I64": "int64", "F16": "float16",
    "BF16": "bfloat16", "F32": "float32", "F64": "float64", "C64": "complex64", "U16": "uint16", "U32": "uint32",
    "U64": "uint64", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2",
}  # fmt: skip
_DTYPES = {name: getattr(_C, dtype) for name, dtype in _NAMES.items()}
_OF_DTYPE = {dtype: name for name, dtype in _DTYPES.items()}


def _tensor(name: str, entry, data: bytes):
    """One tensor of the file. Raises RuntimeError for a header that contradicts itself."""
    try:
        dtype, shape = _DTYPES[entry["dtype"]], [int(n) for n in entry["shape"]]
        begin, end = (int(n) for n in entry["data_offsets"])
    except (KeyError, TypeError, ValueError) as error:
        raise RuntimeError(
            f"safetensors: {name}: bad entry: {type(error).__name__}: {error}"
        ) from None
    count = 1
    for n in shape:
        count *= n
    if (
        min(shape, default=0) < 0
        or not 0 <= begin <= end <= len(data)
        or end - begin != count * dtype.itemsize
    ):
        raise RuntimeError(
            f"safetensors: {name}: bytes {begin} to {end} of {len(data)} are no {entry['dtype']} of shape {shape}"
        )
    return _C._from_bytes(bytes(data[begin:end]), dtype).reshape(shape)


def load_safetensors(filename) -> dict:
    """The tensors of a safetensors file by name. Raises RuntimeError for a damaged or foreign file."""
    with open(os.fspath(filename), "rb") as file:
        data = file.read()
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > len(data) - 8:
        raise RuntimeError(
            f"safetensors: {filename}: the header doesn't fit into the file's {len(data)} bytes"
        )
    try:
        header = json.loads(data[8 : 8 + length])
    except ValueError as error:
        raise RuntimeError(f"safetensors: {filename}: the header is no JSON: {error}") from None
    if not isinstance(header, dict):
        raise RuntimeError(f"safetensors: {filename}: the header is no object")
    header.pop("__metadata__", None)
    body = data[8 + length :]
    return {name: _tensor(name, entry, body) for name, entry in header.items()}


def save_safetensors(tensors: dict, filename, metadata: dict | None = None) -> None:
    """Writes tensors by name, whole or not at all."""
    header: dict = {"__metadata__": metadata} if metadata else {}
    parts, offset = [], 0
    for name, tensor in tensors.items():
        if tensor.dtype not in _OF_DTYPE:
            raise RuntimeError(f"safetensors: {name}: there is no {tensor.dtype} in the format")
        data = _C._to_bytes(tensor.detach().contiguous())
        header[name] = {
            "dtype": _OF_DTYPE[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + len(data)],
        }
        offset += len(data)
        parts.append(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)

    def write(file):
        file.write(len(text).to_bytes(8, "little") + text)
        for data in parts:
            file.write(data)

    write_file(os.fspath(filename), write)
