"""The frequencies that a transform's entries belong to, and their order."""

import math

from torchc import _C
from torchc._results import given


def _scaled(op, steps, n, d, out, dtype, device, requires_grad):
    """steps(dtype) / (n d)."""
    dtype = dtype or (_C.get_default_dtype() if out is None else out.dtype)
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"{op} requires a floating point or complex dtype, got {dtype}")
    if n < 0:
        raise RuntimeError(f"{op}: expected n of 0 or more, got {n}")
    result = steps(dtype=dtype, device=device) * (1 / (n * d) if n * d else math.inf)
    result = given(result, out)
    return result.requires_grad_(True) if requires_grad else result


def fftfreq(
    n,
    d=1.0,
    *,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
):
    """The frequencies of `fft`'s n entries for samples that lie d apart: 0, 1, .., -2, -1 divided by n d; (n,).

    Raises RuntimeError for a dtype of integers and for a negative n.
    """

    def steps(**options):
        return _C.cat([_C.arange(0, (n + 1) // 2, **options), _C.arange(-(n // 2), 0, **options)])

    return _scaled("fftfreq", steps, n, d, out, dtype, device, requires_grad)


def rfftfreq(
    n,
    d=1.0,
    *,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
):
    """The frequencies of `rfft`'s entries for n samples that lie d apart: 0, 1, .. divided by n d; (n // 2 + 1,).

    Raises RuntimeError for a dtype of integers and for a negative n.
    """

    def steps(**options):
        return _C.arange(n // 2 + 1, **options)

    return _scaled("rfftfreq", steps, n, d, out, dtype, device, requires_grad)


def _rolled(input, dim, half):
    dims = range(input.dim()) if dim is None else (dim,) if isinstance(dim, int) else dim
    if dim is None and not input.dim():
        return input.clone()
    dims = tuple(dims)
    return _C.roll(input, tuple(half(input.size(d)) for d in dims), dims)


def fftshift(input, dim=None):
    """The entries of a transform with frequency 0 in the middle, along `dim` (an int, several, or None: all)."""
    return _rolled(input, dim, lambda n: n // 2)


def ifftshift(input, dim=None):
    """The inverse of `fftshift`."""
    return _rolled(input, dim, lambda n: (n + 1) // 2)
