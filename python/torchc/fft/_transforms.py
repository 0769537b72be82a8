"""torch.fft's transforms: arguments, then one of the three kinds in `_kernels`.

`n` and `s` cut the input or fill it with zeros first. `norm` says which direction is divided by the number of points:
"backward" (the default; the inverse one), "forward", or "ortho" (each by its root). Real input of integers and bool
counts as the default float type. All raise IndexError for a `dim` out of range, NotImplementedError for half types,
RuntimeError for other bad sizes and norms, and TypeError for arguments of other types.
"""

import operator

from torchc import _C
from torchc._autocast import single
from torchc._results import given, real_type, wrapped
from torchc.fft._kernels import OTHER, complex_transform, half_to_real, real_to_half


def _number(op: str, x, real: bool):
    """x in a type that is transformed: complex types only unless `real`."""
    if not isinstance(x, _C.Tensor):
        raise TypeError(f"{op}(): argument 'input' must be Tensor, not {type(x).__name__}")
    if real and x.is_complex():
        raise TypeError(f"{op} expects a real input tensor, but got {x.dtype}")
    dtype = real_type(x)
    if dtype in (_C.float16, _C.bfloat16):
        raise NotImplementedError(f"{op}: Unsupported dtype {dtype}")
    return x.to(dtype)


def _mode(op: str, norm) -> str:
    if norm is None:
        return "backward"
    if not isinstance(norm, str):
        raise TypeError(f"{op}(): argument 'norm' must be str, not {type(norm).__name__}")
    if norm not in OTHER:
        raise RuntimeError(f'{op}: Invalid normalization mode: "{norm}"')
    return norm


def _integer(op: str, name: str, value) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"{op}(): argument '{name}' must be int, not {type(value).__name__}"
        ) from None


def _integers(op: str, name: str, values):
    if values is None:
        return None
    if not isinstance(values, (tuple, list)):
        values = (values,)
    return [_integer(op, name, v) for v in values]


def _points(op: str, n: int) -> int:
    if n < 1:
        raise RuntimeError(f"{op}: Invalid number of data points ({n}) specified")
    return n


def _resized(x, dim: int, n: int):
    """x cut to n entries along dim, or with zeros behind."""
    size = x.shape[dim]
    if n < size:
        return x.narrow(dim, 0, n)
    if n == size:
        return x
    zeros = _C.zeros(
        [n - size if d == dim else x.shape[d] for d in range(x.dim())],
        dtype=x.dtype,
        device=x.device,
    )
    return _C.cat([x, zeros], dim)


def _axes(op: str, x, s, dim, half: bool):
    """(dims, points along each): `half` says that x is half a spectrum along the last one."""
    s, dim = _integers(op, "s", s), _integers(op, "dim", dim)
    rank = x.dim()
    if dim is not None:
        dims = [wrapped(op, d, rank) for d in dim]
        if len(set(dims)) < len(dims):
            raise RuntimeError(f"{op}: FFT dims must be unique, got {tuple(dim)}")
        if s is not None and len(s) != len(dims):
            raise RuntimeError(
                f"{op}: When given, dim and shape arguments must have the same length, got {len(dims)} and {len(s)}"
            )
    elif s is not None:
        if len(s) > rank:
            raise RuntimeError(
                f"{op}: Got shape with {len(s)} values but input tensor only has {rank} dimensions."
            )
        dims = list(range(rank - len(s), rank))
    else:
        dims = list(range(rank))
    whole = [x.shape[d] for d in dims]
    if half and dims:
        whole[-1] = 2 * (whole[-1] - 1)
    points = [_points(op, w if n == -1 else n) for n, w in zip(s or [-1] * len(dims), whole)]
    return dims, points


def _axis(op: str, x, n, dim):
    """`_axes` for one dimension; there -1 is no size."""
    d = _integer(op, "dim", dim)
    if not x.dim():
        raise IndexError(f"{op}(): Dimension specified as {d} but tensor has no dimensions")
    return (None if n is None else (_points(op, _integer(op, "n", n)),)), (d,)


def _finish(op: str, result, out):
    if out is not None and out.is_complex() != result.is_complex():
        kind = "complex" if result.is_complex() else "floating point"
        raise RuntimeError(f"{op} expects a {kind} output tensor, but got {out.dtype}")
    return given(result, out)


def _complex(op, input, s, dim, norm, out, inverse):
    mode = _mode(op, norm)
    x = _number(op, input, False)
    dims, points = _axes(op, x, s, dim, False)
    for d, n in zip(dims, points):
        x = _resized(x, d, n)
    if not dims:
        return _finish(op, x.clone() if x.is_complex() else _C.complex(x, _C.zeros_like(x)), out)
    return _finish(op, complex_transform(x, dims, mode, inverse), out)


def _half(op, input, s, dim, norm, out, inverse):
    """Of real input half a spectrum, by exp(-...), or by exp(+...) for `inverse`."""
    mode = _mode(op, norm)
    x = _number(op, input, True)
    dims, points = _some_axes(op, x, s, dim, False)
    for d, n in zip(dims, points):
        x = _resized(x, d, n)
    y = real_to_half(x, dims, OTHER[mode] if inverse else mode)
    return _finish(op, _C.conj_physical(y) if inverse else y, out)


def _real(op, input, s, dim, norm, out, inverse):
    """Of half a spectrum real numbers, by exp(-...), or by exp(+...) for `inverse`."""
    mode = _mode(op, norm)
    x = _number(op, input, False)
    dims, points = _some_axes(op, x, s, dim, True)
    for d, n in zip(dims, [*points[:-1], points[-1] // 2 + 1]):
        x = _resized(x, d, n)
    if not x.is_complex():
        x = _C.complex(x, _C.zeros_like(x))
    elif not inverse:
        x = _C.conj_physical(x)
    return _finish(op, half_to_real(x, dims, points[-1], mode if inverse else OTHER[mode]), out)


def _some_axes(op, x, s, dim, half):
    dims, points = _axes(op, x, s, dim, half)
    if not dims:
        raise RuntimeError(f"{op} must transform at least one axis")
    return dims, points


def _one(op, kind, input, n, dim, norm, out, inverse):
    if not isinstance(input, _C.Tensor):
        raise TypeError(f"{op}(): argument 'input' must be Tensor, not {type(input).__name__}")
    return kind(op, input, *_axis(op, input, n, dim), norm, out, inverse)


@single
def fft(input, n=None, dim=-1, norm=None, *, out=None):
    """The sums over j of input[j] exp(-2 pi i j k / n) along `dim`, k = 0 .. n - 1; complex (*, n)."""
    return _one("fft", _complex, input, n, dim, norm, out, False)


@single
def ifft(input, n=None, dim=-1, norm=None, *, out=None):
    """The inverse of `fft`: the sums of input[k] exp(2 pi i j k / n) divided by n; complex (*, n)."""
    return _one("ifft", _complex, input, n, dim, norm, out, True)


@single
def rfft(input, n=None, dim=-1, norm=None, *, out=None):
    """`fft` of real input, without the second half, which mirrors the first; complex (*, n // 2 + 1)."""
    return _one("rfft", _half, input, n, dim, norm, out, False)


@single
def irfft(input, n=None, dim=-1, norm=None, *, out=None):
    """The inverse of `rfft`: real (*, n), n = 2 (m - 1) for input (*, m) unless given."""
    return _one("irfft", _real, input, n, dim, norm, out, True)


@single
def hfft(input, n=None, dim=-1, norm=None, *, out=None):
    """`fft` of a signal with a real spectrum, given its first half (*, m); real (*, n), n = 2 (m - 1) unless given."""
    return _one("hfft", _real, input, n, dim, norm, out, False)


@single
def ihfft(input, n=None, dim=-1, norm=None, *, out=None):
    """The inverse of `hfft`: `ifft` of real input without the second half; complex (*, n // 2 + 1)."""
    return _one("ihfft", _half, input, n, dim, norm, out, True)


@single
def fftn(input, s=None, dim=None, norm=None, *, out=None):
    """`fft` along each of `dim` (all dimensions, or the last len(s), unless given) with s points; -1 keeps a size."""
    return _complex("fftn", input, s, dim, norm, out, False)


@single
def ifftn(input, s=None, dim=None, norm=None, *, out=None):
    """`ifft` along each of `dim`, chosen as by `fftn`."""
    return _complex("ifftn", input, s, dim, norm, out, True)


@single
def rfftn(input, s=None, dim=None, norm=None, *, out=None):
    """`rfft` along the last of `dim`, chosen as by `fftn`, and `fft` along the others."""
    return _half("rfftn", input, s, dim, norm, out, False)


@single
def irfftn(input, s=None, dim=None, norm=None, *, out=None):
    """`ifft` along all of `dim`, chosen as by `fftn`, but the last, then `irfft` along that one."""
    return _real("irfftn", input, s, dim, norm, out, True)


def hfftn(input, s=None, dim=None, norm=None, *, out=None):
    """`fft` along all of `dim`, chosen as by `fftn`, but the last, then `hfft` along that one."""
    return _real("hfftn", input, s, dim, norm, out, False)


def ihfftn(input, s=None, dim=None, norm=None, *, out=None):
    """`ihfft` along the last of `dim`, chosen as by `fftn`, and `ifft` along the others."""
    return _half("ihfftn", input, s, dim, norm, out, True)


@single
def fft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """`fftn` along two dimensions."""
    return _complex("fft2", input, s, dim, norm, out, False)


@single
def ifft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """`ifftn` along two dimensions."""
    return _complex("ifft2", input, s, dim, norm, out, True)


@single
def rfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """`rfftn` along two dimensions."""
    return _half("rfft2", input, s, dim, norm, out, False)


@single
def irfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """`irfftn` along two dimensions."""
    return _real("irfft2", input, s, dim, norm, out, True)


def hfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """`hfftn` along two dimensions."""
    return _real("hfft2", input, s, dim, norm, out, False)


def ihfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """`ihfftn` along two dimensions."""
    return _half("ihfft2", input, s, dim, norm, out, True)
