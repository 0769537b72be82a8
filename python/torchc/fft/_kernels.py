"""The three kinds of transforms with gradients of any order: complex, real to half a spectrum, and back.

The adjoint of a transform is the one of the other direction with the other normalisation (M. Frigo, S. G. Johnson,
FFTW 3 manual, "What FFTW really computes", gives the sums). Half a spectrum stands for a whole one: each entry but
those at frequency 0 and at half the length counts twice.
"""

import functools

from torchc import _C
from torchc.autograd.function import Function

_COMPLEX = {_C.float32: _C.complex64, _C.float64: _C.complex128}
_REAL = {c: r for r, c in _COMPLEX.items()}

# The scale of one direction's norm, named as the norm of the other direction.
OTHER = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


@functools.cache
def _numpy():
    try:
        import numpy.fft
    except ImportError as error:
        raise RuntimeError(
            "torchc.fft computes with NumPy, which is not installed (pip install numpy)"
        ) from error
    return numpy


def _transformed(name: str, x, shape, dtype, **options):
    """numpy.fft's function `name` of a tensor, without copies but those that NumPy makes."""
    if x.device.type == "meta":
        return _C.empty(shape, dtype=dtype, device="meta")
    if x.device.type != "cpu":
        raise NotImplementedError(f"fft: not implemented for tensors (input) on {x.device}")
    numpy = _numpy()
    if 0 in shape or 0 in x.shape:
        return _C.empty(shape, dtype=dtype, device="cpu")
    y = getattr(numpy.fft, name)(x.detach().numpy(), **options)
    # NumPy 1 computes in double precision always.
    wanted = numpy.dtype(str(dtype).rpartition(".")[2])
    return _C.from_numpy(y.astype(wanted, copy=False))


class _Complex(Function):
    """Between complex numbers; real ones are taken as such."""

    @staticmethod
    def forward(ctx, x, dims, norm, inverse):
        ctx.rest, ctx.real = (dims, OTHER[norm], not inverse), not x.is_complex()
        name = "ifftn" if inverse else "fftn"
        dtype = _COMPLEX.get(x.dtype, x.dtype)
        return _transformed(name, x, x.shape, dtype, axes=dims, norm=norm)

    @staticmethod
    def backward(ctx, g):
        gx = complex_transform(g, *ctx.rest)
        return (_C.real(gx) if ctx.real else gx), None, None, None


class _ToHalf(Function):
    """The half spectrum, along the last of the dimensions, of real numbers."""

    @staticmethod
    def forward(ctx, x, dims, norm):
        ctx.rest = dims, x.shape[dims[-1]], OTHER[norm]
        shape = list(x.shape)
        shape[dims[-1]] = shape[dims[-1]] // 2 + 1
        return _transformed("rfftn", x, shape, _COMPLEX[x.dtype], axes=dims, norm=norm)

    @staticmethod
    def backward(ctx, g):
        dims, n, norm = ctx.rest
        return half_to_real(g / _counts(g, dims[-1], n), dims, n, norm), None, None


class _FromHalf(Function):
    """The n real numbers, along the last of the dimensions, whose half spectrum is given."""

    @staticmethod
    def forward(ctx, x, dims, n, norm):
        ctx.rest = dims, n, OTHER[norm]
        shape = list(x.shape)
        shape[dims[-1]] = n
        sizes = [shape[d] for d in dims]
        return _transformed("irfftn", x, shape, _REAL[x.dtype], s=sizes, axes=dims, norm=norm)

    @staticmethod
    def backward(ctx, g):
        dims, n, norm = ctx.rest
        half = real_to_half(g, dims, norm)
        return half * _counts(half, dims[-1], n), None, None, None


def _counts(half, dim: int, n: int):
    """How often each entry of the half spectrum of n values occurs in the whole one, shaped to broadcast along dim."""
    counts = _C.full((half.shape[dim],), 2.0, dtype=_REAL[half.dtype], device=half.device)
    counts[0] = 1
    if n % 2 == 0:
        counts[-1] = 1
    return counts.reshape([-1 if d == dim else 1 for d in range(half.dim())])


def complex_transform(x, dims, norm: str, inverse: bool):
    """The sums of x exp(-2 pi i j k / n), or with + for `inverse`, along each of `dims`; complex, shaped as x."""
    return _Complex.apply(x, dims, norm, inverse)


def real_to_half(x, dims, norm: str):
    """`complex_transform` of a real x, of the last of `dims` (n long) the first n // 2 + 1 entries."""
    return _ToHalf.apply(x, dims, norm)


def half_to_real(x, dims, n: int, norm: str):
    """The inverse transform of the spectrum whose half is x, n // 2 + 1 long along the last of `dims`; real.

    What could not be half of a real signal's spectrum (imaginary parts at frequency 0) is ignored.
    """
    return _FromHalf.apply(x, dims, n, norm)
