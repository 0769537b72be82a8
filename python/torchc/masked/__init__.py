"""Reductions and normalisations of the elements where a mask is true.

`mask` is bool and broadcasts to the input; None takes all. `dtype` casts the input first. Where no element is left, a
reduction gives what it starts from: 0, 1, an infinity, or NaN for means.
"""

import math

from torchc import _C
from torchc._results import real_type

__all__ = [
    "amax",
    "amin",
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "softmin",
    "std",
    "sum",
    "var",
]


def _mask_of(input, mask):
    if mask.dim() > input.dim():
        raise IndexError(
            "_output_mask expected mask dimensionality to be no larger than the input's, got "
            f"{mask.dim()} and {input.dim()}"
        )
    return mask.to(_C.bool).expand(input.shape)


def _filled(input, mask, value):
    """`input` with `value` where the mask is false."""
    return input if mask is None else _C.where(_mask_of(input, mask), input, value)


def _inexact(dtype):
    return dtype.is_floating_point or dtype.is_complex


def _extreme(dtype, largest):
    """What a maximum (not `largest`) or a minimum starts from."""
    if _inexact(dtype):
        return math.inf if largest else -math.inf
    if dtype is _C.bool:
        return largest
    from torchc._type_info import iinfo

    info = iinfo(dtype)
    return info.max if largest else info.min


def _dims(dim, rank):
    """The dimensions, each once; None for all."""
    if dim is None:
        return list(range(rank))
    found = []
    for d in (dim,) if isinstance(dim, int) else dim:
        limit = max(rank, 1)
        if not -limit <= d < limit:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-limit}, {limit - 1}], but got {d})"
            )
        if d % limit in found:
            raise RuntimeError(f"dim={d % limit} appears multiple times in the list of dims")
        found.append(d % limit)
    return found


def _wide(input, dtype):
    """The type of sums: int64 for integers."""
    return dtype or (input.dtype if _inexact(input.dtype) else _C.int64)


def sum(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The sum along `dim`."""
    return _filled(input, mask, False if input.dtype is _C.bool else 0).sum(
        _dims(dim, input.dim()), keepdim, dtype=_wide(input, dtype)
    )


def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The product along `dim`."""
    x = _filled(input, mask, True if input.dtype is _C.bool else 1).to(_wide(input, dtype))
    for d in sorted(_dims(dim, input.dim()), reverse=True):
        x = x.prod(d, keepdim)
    return x


def cumsum(input, dim, *, dtype=None, mask=None):
    """The sums along `dim` so far."""
    dtype = dtype or input.dtype
    return _filled(input, mask, 0).cumsum(_dims(dim, input.dim())[0], dtype=dtype)


def cumprod(input, dim, *, dtype=None, mask=None):
    """The products along `dim` so far."""
    dtype = dtype or input.dtype
    return _filled(input, mask, 1).cumprod(_dims(dim, input.dim())[0], dtype=dtype)


def amax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The largest element along `dim`."""
    x = _filled(input, mask, _extreme(input.dtype, False))
    return x.amax(_dims(dim, input.dim()), keepdim).to(dtype or input.dtype)


def amin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The smallest element along `dim`."""
    x = _filled(input, mask, _extreme(input.dtype, True))
    return x.amin(_dims(dim, input.dim()), keepdim).to(dtype or input.dtype)


def argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The index of the largest element along `dim`, or in the flattened tensor, in `dtype` (default: the input's)."""
    x = _filled(input, mask, _extreme(input.dtype, False))
    return x.argmax(dim, keepdim).to(dtype or input.dtype)


def argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The index of the smallest element along `dim`, or in the flattened tensor, in `dtype` (default: the input's)."""
    x = _filled(input, mask, _extreme(input.dtype, True))
    return x.argmin(dim, keepdim).to(dtype or input.dtype)


def _count(input, dim, keepdim, mask):
    ones = _C.ones(input.shape, dtype=_C.int64, device=input.device)
    return sum(ones, dim, keepdim=keepdim, mask=mask)


def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The mean along `dim`; NaN where nothing is left. Raises ValueError for integers without a dtype."""
    if dtype is None and not _inexact(input.dtype):
        raise ValueError(
            f"mean(): Could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
            f"Got: {input.dtype}"
        )
    total = sum(input, dim, keepdim=keepdim, dtype=dtype or input.dtype, mask=mask)
    return total / _count(input, dim, keepdim, mask)


def median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    """The lower median along `dim`; ValueError for rows of integers of which nothing is left."""
    kind = dtype or input.dtype
    x = input.to(kind if _inexact(kind) else _C.float32)
    d = _dims(dim, input.dim())[0]
    if mask is None:
        return x.nanmedian(d, keepdim)[0].to(kind)
    found = _filled(x, mask, math.nan).nanmedian(d, keepdim)[0]
    if not _inexact(kind) and bool(found.isnan().any()):
        raise ValueError(
            "masked median expected no fully masked out rows if dtype is not floating point"
        )
    return found.to(kind)


def logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """log(sum(exp(input))) along `dim`."""
    x = _filled(input, mask, _extreme(input.dtype, False))
    x = x.to(real_type(x))
    return x.logsumexp(_dims(dim, input.dim()), keepdim).to(dtype or input.dtype)


def logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    """log(exp(input) + exp(other)), of which one may be masked out."""
    a, b = _filled(input, input_mask, -math.inf), _filled(other, other_mask, -math.inf)
    return _C.logaddexp(a, b).to(dtype or input.dtype)


def norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The `ord`-norm along `dim`."""
    ord = 2.0 if ord is None else ord
    x = _filled(input, mask, 0.0 if ord >= 0 else math.inf)
    return _C.linalg_vector_norm(x, ord, _dims(dim, input.dim()), keepdim, dtype=dtype)


def normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    """The input divided by its norm along `dim`, or by eps where that is smaller; 0 where the mask is false."""
    size = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask).clamp_min(eps)
    return _filled(input, mask, 0.0) / size


def _variance(input, dim, unbiased, correction, keepdim, dtype, mask):
    if unbiased is not None and correction is not None:
        raise RuntimeError("Only one of unbiased and correction may be given")
    if correction is None:
        correction = 0 if unbiased is False else 1
    kind = dtype or input.dtype
    kind = kind if _inexact(kind) else _C.float32
    count = _count(input, dim, True, mask)
    centre = sum(input, dim, keepdim=True, dtype=kind, mask=mask) / count
    d = input.to(kind) - centre
    total = sum(d * _C.conj(d), dim, keepdim=keepdim, dtype=kind, mask=mask)
    free = (count.reshape(total.shape) - correction).clamp_min(0)
    return (total / free).to(kind)


def var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The variance along `dim` with `correction` (default 1) fewer degrees of freedom than elements."""
    return _variance(input, dim, unbiased, correction, keepdim, dtype, mask)


def std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The square root of `var`."""
    return _variance(input, dim, unbiased, correction, keepdim, dtype, mask).sqrt()


def softmax(input, dim, *, dtype=None, mask=None):
    """exp(input) normalised to sum 1 along `dim`."""
    return _filled(input, mask, -math.inf).softmax(_dims(dim, input.dim())[0], dtype=dtype)


def log_softmax(input, dim, *, dtype=None, mask=None):
    """log(softmax(input)) along `dim`."""
    return _filled(input, mask, -math.inf).log_softmax(_dims(dim, input.dim())[0], dtype=dtype)


def softmin(input, dim, *, dtype=None, mask=None):
    """softmax(-input) along `dim`."""
    return (-_filled(input, mask, math.inf)).softmax(_dims(dim, input.dim())[0], dtype=dtype)
