"""Creating arrays."""

from __future__ import annotations

import torchc as torch
from torchc import empty_like, full_like, ones_like, zeros_like  # noqa: F401 - named in __all__
from torchc.utils import dlpack

__all__ = """arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril triu
zeros zeros_like""".split()


def _sizes(shape) -> tuple:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """Numbers of [start, stop), step apart; of [0, start) without a stop. Empty where the step leads away."""
    if stop is None:
        start, stop = 0, start
    if (step > 0 and stop <= start) or (step < 0 and stop >= start):
        if dtype is None:
            whole = all(isinstance(v, int) for v in (start, stop, step))
            dtype = torch.int64 if whole else torch.get_default_dtype()
        return torch.empty((0,), dtype=dtype, device=device)
    return torch.arange(start, stop, step, dtype=dtype, device=device)


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """An array of numbers, nested sequences, buffers or another array.

    copy: True always copies, False never (ValueError where it must), None copies where it must.
    """
    if isinstance(obj, (int, float, complex)) and copy is False:
        raise ValueError("asarray: copy=False, but a number has no memory to share")
    out = torch.asarray(obj, dtype=dtype, device=device, copy=copy)
    if copy is False and isinstance(obj, torch.Tensor) and out.data_ptr() != obj.data_ptr():
        raise ValueError("asarray: copy=False, but the array must be converted")
    return out


def empty(shape, *, dtype=None, device=None):
    """An array of undefined values."""
    return torch.empty(_sizes(shape), dtype=dtype, device=device)


def ones(shape, *, dtype=None, device=None):
    """An array of ones."""
    return torch.ones(_sizes(shape), dtype=dtype, device=device)


def zeros(shape, *, dtype=None, device=None):
    """An array of zeros."""
    return torch.zeros(_sizes(shape), dtype=dtype, device=device)


def full(shape, fill_value, *, dtype=None, device=None):
    """An array of one value."""
    return torch.full(_sizes(shape), fill_value, dtype=dtype, device=device)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    """A matrix with ones on its k-th diagonal."""
    n_cols = n_rows if n_cols is None else n_cols
    out = torch.zeros((n_rows, n_cols), dtype=dtype, device=device)
    if -n_rows < k < n_cols:
        out.diagonal(k).fill_(1)
    return out


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    """`num` evenly spaced numbers from start to stop; without the endpoint, the first num of num + 1."""
    if dtype is None and (isinstance(start, complex) or isinstance(stop, complex)):
        dtype = torch.promote_types(torch.get_default_dtype(), torch.complex64)
    out = torch.linspace(start, stop, num if endpoint else num + 1, dtype=dtype, device=device)
    return out if endpoint else out[:-1]


def from_dlpack(x, /, *, device=None, copy=None):
    """An array over the memory of an object that has __dlpack__; a copy where asked for or the device differs."""
    return dlpack.from_dlpack(x, device=device, copy=copy)


def meshgrid(*arrays, indexing="xy"):
    """Coordinate matrices of one-dimensional arrays, as a list."""
    return list(torch.meshgrid(*arrays, indexing=indexing))


def tril(x, /, *, k=0):
    """The lower triangles of matrices, up to the k-th diagonal."""
    return torch.tril(x, k)


def triu(x, /, *, k=0):
    """The upper triangles of matrices, from the k-th diagonal on."""
    return torch.triu(x, k)
