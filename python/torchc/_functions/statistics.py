"""Covariances, quantiles, histograms."""

import math

from torchc import _C
from torchc._autocast import single
from torchc._results import given, given_all, named, real_type, wrapped

# ---- covariances


def _weights(op, name, w, observations, integral):
    if w.dim() > 1:
        raise RuntimeError(
            f"{op}: expected {name} to have one or fewer dimensions but got {w.dim()}"
        )
    if w.numel() != observations:
        raise RuntimeError(
            f"{op}: expected {name} to have the same numel as there are observations in the input but got "
            f"{w.numel()} instead of {observations}"
        )
    if integral == w.is_floating_point() or w.dtype is _C.bool:
        kind = "integral" if integral else "floating point"
        raise RuntimeError(
            f"{op}: expected {name} to have {kind} dtype but got {name} with {w.dtype} dtype"
        )
    if bool((w < 0).any()):
        raise RuntimeError(f"{op}: {name} cannot be negative")
    return w


def cov(input, *, correction=1, fweights=None, aweights=None):
    """Covariances of the rows of `input` (variables, observations), or the variance of a vector.

    Args:
        correction: taken from the number of observations in the divisor.
        fweights: how often each observation counts, integers.
        aweights: how much each observation weighs, floating numbers.
    """
    if input.dim() > 2:
        raise RuntimeError(
            f"cov: expected input to have two or fewer dimensions but got an input with {input.dim()}"
        )
    if input.dtype is _C.bool:
        raise RuntimeError("cov: bool dtype is not supported for input")
    x = input if input.dim() == 2 else input.reshape(1, input.numel())
    x = x.to(real_type(x))
    n = x.shape[1]
    w = None
    if fweights is not None:
        w = _weights("cov", "fweights", fweights, n, True)
    if aweights is not None:
        a = _weights("cov", "aweights", aweights, n, False)
        w = a if w is None else w * a
    total = n if w is None else w.sum()
    if w is not None and n and bool(total == 0):
        raise RuntimeError("cov: weights sum to zero, can't be normalized")
    mean = x.sum(1, keepdim=True) / n if w is None else (x * w).sum(1, keepdim=True) / total
    if w is None:
        norm = max(n - correction, 0)
    elif aweights is None or correction == 0:
        norm = (total - correction).clamp_min(0)
    else:
        norm = (total - correction * (w * aweights).sum() / total).clamp_min(0)
    if (
        not isinstance(norm, _C.Tensor)
        and norm <= 0
        or isinstance(norm, _C.Tensor)
        and bool(norm <= 0)
    ):
        import warnings

        warnings.warn("cov(): degrees of freedom is <= 0.", stacklevel=2)
    d = x - mean
    c = (d if w is None else d * w) @ _C.conj(d.mT)
    c = c / (
        norm if isinstance(norm, _C.Tensor) else _C.full((), norm, dtype=x.dtype, device=x.device)
    )
    return c.squeeze()


def corrcoef(input):
    """Correlation coefficients of the rows of `input`: covariances over the products of standard deviations."""
    if input.dim() > 2:
        raise RuntimeError(
            f"corrcoef: expected input to have two or fewer dimensions but got an input with {input.dim()}"
        )
    c = cov(input)
    if c.dim() == 0:
        return c / c
    deviation = _C.real(c.diagonal()).sqrt()
    c = c / deviation.unsqueeze(-1) / deviation.unsqueeze(0)
    if c.is_complex():
        return _C.complex(_C.real(c).clamp(-1, 1), _C.imag(c).clamp(-1, 1))
    return c.clamp(-1, 1)


# ---- quantiles

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _quantiles(op, input, q, dim, keepdim, interpolation, ignore_nan):
    if not isinstance(q, _C.Tensor):
        if not 0 <= q <= 1:
            raise RuntimeError(f"{op}() q must be in the range [0, 1] but got {q}")
        q = _C.tensor(q, dtype=input.dtype, device=input.device)
    if input.dtype not in (_C.float32, _C.float64):
        raise RuntimeError(
            f"{op}() input tensor must be either float or double dtype, got {input.dtype}"
        )
    if q.dtype is not input.dtype:
        raise RuntimeError(f"{op}() q tensor must be same dtype as the input tensor, got {q.dtype}")
    if q.dim() > 1:
        raise RuntimeError(f"{op}() q must be a scalar or 1D tensor, got {q.dim()} dimensions")
    if not input.numel():
        raise RuntimeError(f"{op}() input tensor must be non-empty")
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            f"{op}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    if bool(((q < 0) | (q > 1)).any()):
        raise RuntimeError(f"{op}() q values must be in the range [0, 1]")
    rank = input.dim()
    at = wrapped(op, dim, rank) if dim is not None else None
    x = (input.flatten() if at is None else input.movedim(at, -1)) if rank else input.reshape(1)
    values = x.sort(-1)[0]
    last = x.shape[-1] - 1
    if ignore_nan:  # NaN comes last
        last = (last - x.isnan().sum(-1, keepdim=True)).clamp_min(0).to(x.dtype)
        ranks = q.reshape(-1) * last
    else:
        ranks = q.reshape(-1) * last
        ranks = _C.where(x.isnan().any(-1, keepdim=True), float(last), ranks)
    if interpolation == "lower":
        ranks = ranks.floor()
    elif interpolation == "higher":
        ranks = ranks.ceil()
    elif interpolation == "nearest":
        ranks = ranks.round()
    below = ranks.detach().floor()
    found = values.gather(-1, below.long().expand(*values.shape[:-1], below.shape[-1]))
    if interpolation in ("linear", "midpoint"):
        weight = 0.5 * (ranks != below) if interpolation == "midpoint" else ranks - below
        above = ranks.detach().ceil().long()
        upper = values.gather(-1, above.expand(*values.shape[:-1], above.shape[-1]))
        found = _C.lerp(found, upper, weight.to(found.dtype).expand(found.shape))
    found = found.squeeze(-1) if q.dim() == 0 else found.movedim(-1, 0)
    if keepdim and rank:
        kept = (
            [1] * rank if at is None else [1 if i == at else s for i, s in enumerate(input.shape)]
        )
        found = found.reshape([*q.shape, *kept])
    return found


@single
def quantile(input, q, dim=None, keepdim=False, *, interpolation="linear", out=None):
    """The q-th quantiles (0 to 1) of all elements or along `dim`: (*q.shape, *rest); NaN where there is one.

    Args:
        q: a number, or a tensor of at most one dimension and input's dtype.
        interpolation: between the two neighbours of rank q (n - 1): linear, lower, higher, midpoint or nearest.

    float32 or float64, not empty: RuntimeError.
    """
    return given(_quantiles("quantile", input, q, dim, keepdim, interpolation, False), out)


@single
def nanquantile(input, q, dim=None, keepdim=False, *, interpolation="linear", out=None):
    """`quantile` of what isn't NaN."""
    return given(_quantiles("nanquantile", input, q, dim, keepdim, interpolation, True), out)


# ---- histograms

Histogram = named("histogram", "hist bin_edges")
HistogramDD = named("histogramdd", "hist bin_edges")


def _bounds(op, values, range):
    """(low, high) of one dimension's bins."""
    if range is not None:
        low, high = range
    elif values.numel():
        low, high = values.min().item(), values.max().item()
    else:
        low, high = 0.0, 1.0
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"{op}: dimension's range [{low}, {high}] is not finite")
    if low > high:
        raise RuntimeError(f"{op}: min should not exceed max, but got min {low} max {high}")
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def histogramdd(input, bins, range=None, weight=None, density=False):
    """How many points (the last dimension's, of D coordinates) lie in each cell of a grid: (hist, bin_edges).

    Args:
        bins: D numbers of bins of equal width, one number for all, or D tensors of ascending edges.
        range: 2 D numbers, the least and the largest edge of each dimension; by default the points'.
        weight: what each point counts, input.shape[:-1].
        density: divides by the sum of weights and the cells' volumes.

    A cell holds its lower edge; the last one both. float32 or float64 on the CPU.
    """
    op = "torch.histogramdd"
    if input.dim() < 2:
        raise RuntimeError(
            f"{op}: input tensor should have at least 2 dimensions, but got {input.dim()}"
        )
    d = input.shape[-1]
    if isinstance(bins, int):
        bins = [bins] * d
    if isinstance(bins, _C.Tensor):
        bins = [bins]
    if len(bins) != d:
        raise RuntimeError(
            f"{op}: The size of bins must be equal to the innermost dimension of the input, {d}, got {len(bins)}"
        )
    if not input.is_floating_point():
        raise NotImplementedError(f'"histogramdd" not implemented for {input.dtype}')
    if range is not None and len(range) != 2 * d:
        raise RuntimeError(
            f"{op}: for a {d}-dimensional histogram range should have {2 * d} elements, got {len(range)}"
        )
    points = input.detach().reshape(-1, d)
    n = points.shape[0]
    if weight is not None and weight.shape != input.shape[:-1]:
        raise RuntimeError(
            f"{op}: if weight tensor is provided it should have the same shape as the input tensor excluding its "
            f"innermost dimension, {list(input.shape[:-1])}, got {list(weight.shape)}"
        )
    if weight is not None and weight.dtype is not input.dtype:
        raise TypeError(
            f"{op}: if weight tensor is provided, input tensor and weight tensor should have the same dtype, got "
            f"{input.dtype} and {weight.dtype}"
        )
    edges, counts = [], []
    cell = _C.zeros(n, dtype=_C.int64, device="cpu")
    inside = _C.ones(n, dtype=_C.bool, device="cpu")
    for i, b in enumerate(bins):
        x = points[:, i].contiguous()
        if isinstance(b, _C.Tensor):
            if b.numel() < 2:
                raise RuntimeError(f"{op}: bins must be > 0, but got 0 for dimension {i}")
            if b.dtype is not input.dtype:
                raise TypeError(
                    f"{op}: input tensor and bins tensors should have the same dtype, but got {input.dtype} and "
                    f"{b.dtype}"
                )
            if b.dim() != 1 or not b.numel():
                raise RuntimeError(
                    f"{op}: bins tensor should have one dimension and elements, got {list(b.shape)}"
                )
            e = b.detach().contiguous()
            place = _C.searchsorted(e, x, right=True) - 1
            place = _C.where(x == e[-1], len(e) - 2, place)
        else:
            if b <= 0:
                raise RuntimeError(f"{op}: bins must be > 0, but got {b} for dimension {i}")
            low, high = _bounds(op, x, None if range is None else range[2 * i : 2 * i + 2])
            e = _C.linspace(low, high, b + 1, dtype=input.dtype, device=input.device)
            # The bin by its width, corrected where rounding put it on the wrong side of an edge.
            guess = ((x - low) * (b / (high - low))).nan_to_num(0.0).clamp(0, b - 1).long()
            guess = guess - (x < e[guess]).long()
            place = guess + ((x >= e[(guess + 1).clamp(0, b)]) & (guess < b - 1)).long()
        inside = inside & (x >= e[0]) & (x <= e[-1])
        edges.append(e)
        counts.append(len(e) - 1)
        cell = cell * counts[-1] + place
    w = (
        _C.ones(n, dtype=input.dtype, device=input.device)
        if weight is None
        else weight.detach().reshape(-1)
    )
    hist = _C.zeros(math.prod(counts), dtype=input.dtype, device=input.device)
    if hist.numel() and n:
        hist = hist.index_add(0, cell[inside], w[inside])
    hist = hist.reshape(counts)
    if density:
        hist = hist / hist.sum()
        for i, e in enumerate(edges):
            shape = [1] * d
            shape[i] = -1
            hist = hist / (e[1:] - e[:-1]).reshape(shape)
    return HistogramDD(hist, tuple(edges))


def histogram(input, bins=100, *, range=None, weight=None, density=False, out=None):
    """How many elements lie in each bin: (hist, bin_edges). See `histogramdd` for the arguments."""
    points = input.reshape(-1, 1)
    w = None if weight is None else weight.reshape(-1)
    if w is not None and weight.shape != input.shape:
        raise RuntimeError(
            f"histogram(): if weight tensor is provided it should have the same shape as the input tensor, "
            f"{list(input.shape)}, got {list(weight.shape)}"
        )
    hist, edges = histogramdd(points, [bins], range, w, density)
    return given_all(Histogram, (hist, edges[0]), out)
