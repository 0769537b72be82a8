"""Where a program can run: a torch-like namespace with exact conversion of tensors from and to
typed arrays."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from oracle import api
from oracle.dtypes import Arr, DType, same_bits


class Backend(Protocol):
    """A namespace `F` and its conversions."""

    F: Any

    def tensor(self, arr: Arr, requires_grad: bool = False) -> Any:
        """A fresh tensor with its own memory."""

    def arr(self, tensor: Any) -> Arr:
        """The tensor's values, copied."""

    def dtype(self, dtype: DType) -> Any:
        """The namespace's dtype."""


class OracleBackend:
    """The reference."""

    F: Any = api

    def tensor(self, arr: Arr, requires_grad: bool = False) -> Any:
        """See Backend."""
        return api.Tensor(Arr(arr.dtype, arr.data.copy()), requires_grad and arr.dtype.is_float)

    def arr(self, tensor: Any) -> Arr:
        """See Backend."""
        return Arr(tensor.dtype, tensor.arr.data.copy())

    def dtype(self, dtype: DType) -> DType:
        """See Backend."""
        return dtype


class TorchcBackend:
    """torchc, or anything else that has torch's names."""

    def __init__(self, module: Any) -> None:
        self.F = module
        self._names = {
            getattr(module, d.torch_name): d for d in DType if hasattr(module, d.torch_name)
        }

    def tensor(self, arr: Arr, requires_grad: bool = False) -> Any:
        """See Backend. Cloned, so that the storage is not exported to NumPy and may take part in
        deferral (J3)."""
        data = np.array(arr.data)  # owned, writable, contiguous
        if arr.dtype == DType.F16:
            out = self.F.from_numpy(data.view(np.float16))
        elif arr.dtype == DType.BF16:
            out = self.F.from_numpy(data.view(np.int16)).view(self.F.bfloat16)
        else:
            out = self.F.from_numpy(data)
        out = out.clone()
        return out.requires_grad_() if requires_grad and arr.dtype.is_float else out

    def arr(self, tensor: Any) -> Arr:
        """See Backend."""
        dtype = self._names[tensor.dtype]
        tensor = tensor.detach()
        if dtype == DType.BF16:
            tensor = tensor.contiguous().view(self.F.int16)
        data = np.array(tensor.numpy())
        return Arr(dtype, data.view(dtype.storage) if data.dtype != dtype.storage else data)

    def dtype(self, dtype: DType) -> Any:
        """See Backend."""
        return getattr(self.F, dtype.torch_name)


def describe(arr: Arr, at: tuple[int, ...]) -> str:
    """One element, as a number and as bits."""
    element = np.ascontiguousarray(arr.data[at])
    raw = (
        element.view(f"u{element.dtype.itemsize}")
        if element.dtype != np.bool_
        else element.view("u1")
    )
    value = OracleBackend.F.Tensor(Arr(arr.dtype, element)).item()
    return f"{value!r} (0x{int(raw.reshape(-1)[0]):0{2 * element.dtype.itemsize}x})"


def difference(want: Arr, got: Arr) -> str | None:
    """What differs in dtype, shape or bits (N1); None when equal."""
    if want.dtype != got.dtype:
        return f"dtype: expected {want.dtype.torch_name}, got {got.dtype.torch_name}"
    if want.shape != got.shape:
        return f"shape: expected {list(want.shape)}, got {list(got.shape)}"
    bad = np.argwhere(~same_bits(want, got))
    if not len(bad):
        return None
    at = tuple(int(i) for i in bad[0])
    where = f"{len(bad)} of {want.data.size} elements differ, first at {list(at)}"
    return f"{where}: expected {describe(want, at)}, got {describe(got, at)}"
