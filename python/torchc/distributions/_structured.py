"""Transforms of vectors and matrices, and those that treat parts of a tensor on their own."""

from __future__ import annotations

import math

from torchc import _C
from torchc.distributions import constraints
from torchc.distributions._elementary import Transform
from torchc.distributions.utils import _sum_rightmost, tril_matrix_to_vec, vec_to_tril_matrix

__all__ = [
    "CatTransform",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "ReshapeTransform",
    "StackTransform",
    "StickBreakingTransform",
]


class ReshapeTransform(Transform):
    """The last dimensions, of shape in_shape, in the shape out_shape. ValueError for another number of elements."""

    bijective = True

    def __init__(self, in_shape, out_shape, cache_size: int = 0):
        super().__init__(cache_size)
        self.in_shape, self.out_shape = _C.Size(in_shape), _C.Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError(
                f"in_shape {in_shape}, out_shape {out_shape} have different numbers of elements"
            )

    @property
    def domain(self):  # type: ignore[override]
        """All tensors of in_shape."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @property
    def codomain(self):  # type: ignore[override]
        """All tensors of out_shape."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x):
        return x.reshape(self._turned(x.shape, self.in_shape, self.out_shape))

    def _inverse(self, y):
        return y.reshape(self._turned(y.shape, self.out_shape, self.in_shape))

    def log_abs_det_jacobian(self, x, y):
        """0."""
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    @staticmethod
    def _turned(shape, before, after):
        cut = len(shape) - len(before)
        if cut < 0:
            raise ValueError("Too few dimensions on input")
        if tuple(shape[cut:]) != tuple(before):
            raise ValueError(
                f"Shape mismatch: expected {tuple(before)} but got {tuple(shape[cut:])}"
            )
        return (*shape[:cut], *after)

    def forward_shape(self, shape):
        """See Transform."""
        return self._turned(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape):
        """See Transform."""
        return self._turned(shape, self.out_shape, self.in_shape)


class CumulativeDistributionTransform(Transform):
    """The distribution function of `distribution`, which has cdf, icdf and log_prob."""

    bijective, codomain, sign = True, constraints.unit_interval, 1

    def __init__(self, distribution, cache_size: int = 0):
        super().__init__(cache_size)
        self.distribution = distribution

    @property
    def domain(self):  # type: ignore[override]
        """The distribution's support."""
        return self.distribution.support

    def _call(self, x):
        return self.distribution.cdf(x)

    def _inverse(self, y):
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x, y):
        """The logarithm of the density."""
        return self.distribution.log_prob(x)


def _log_offset(x):
    """log of the number of parts that are left: k ... 1 for k numbers."""
    k = x.shape[-1]
    return (k + 1 - _C.arange(1, k + 1, dtype=x.dtype, device=x.device)).log()


class StickBreakingTransform(Transform):
    """k numbers to a point of the simplex with k + 1 parts, each its share of what is left (Stan's manual, 10.7)."""

    bijective, domain, codomain = True, constraints.real_vector, constraints.simplex

    def _call(self, x):
        z = (x - _log_offset(x)).sigmoid()
        left = (1 - z).cumprod(-1)
        one = _C.ones_like(z[..., :1])
        return _C.cat([z, one], -1) * _C.cat([one, left], -1)

    def _inverse(self, y):
        from torchc._type_info import finfo

        parts = y[..., :-1]
        left = (1 - parts.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        return parts.log() - left.log() + _log_offset(parts)

    def log_abs_det_jacobian(self, x, y):
        """Sum of log y_i + log(1 - z_i)."""
        from torchc.nn.functional import logsigmoid

        return (logsigmoid(_log_offset(x) - x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape):
        """See Transform."""
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape):
        """See Transform."""
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return (*shape[:-1], shape[-1] - 1)


class CorrCholeskyTransform(Transform):
    """n (n - 1) / 2 numbers to the Cholesky factor (n, n) of a correlation matrix (Stan's manual, 10.12).

    r = tanh(x) are partial correlations, filled row by row; y_ij = r_ij * prod of sqrt(1 - r_ik^2) over k < j.
    """

    bijective, domain, codomain = True, constraints.real_vector, constraints.corr_cholesky

    def _call(self, x):
        from torchc._type_info import finfo

        eps = finfo(x.dtype).eps
        r = vec_to_tril_matrix(x.tanh().clamp(min=-1 + eps, max=1 - eps), -1)
        left = (1 - r * r).sqrt().cumprod(-1)
        left = _C.cat([_C.ones_like(left[..., :1]), left[..., :-1]], -1)
        return (r + _C.eye(r.shape[-1], dtype=r.dtype, device=r.device)) * left

    def _inverse(self, y):
        left = 1 - (y * y).cumsum(-1)
        left = _C.cat([_C.ones_like(left[..., :1]), left[..., :-1]], -1)
        r = tril_matrix_to_vec(y, -1) / tril_matrix_to_vec(left, -1).sqrt()
        return r.atanh()

    def log_abs_det_jacobian(self, x, y):
        """log(1 - r_ij^2) counts once for tanh and half for each later element of the row."""
        from torchc.nn.functional import softplus

        n = y.shape[-1]
        row, column = _C.tril_indices(n, n, -1, device=x.device)
        slopes = 2 * (math.log(2) - x - softplus(-2 * x))
        return (slopes * (1 + (row - 1 - column).to(x.dtype) / 2)).sum(-1)

    def forward_shape(self, shape):
        """See Transform."""
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        n = round((0.25 + 2 * shape[-1]) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != shape[-1]:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return (*shape[:-1], n, n)

    def inverse_shape(self, shape):
        """See Transform."""
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return (*shape[:-2], shape[-1] * (shape[-1] - 1) // 2)


_MATRIX = constraints.independent(constraints.real, 2)


class LowerCholeskyTransform(Transform):
    """Any matrix to a lower triangle with a positive diagonal: exp of the diagonal, the upper part dropped."""

    domain, codomain = _MATRIX, constraints.lower_cholesky

    def _call(self, x):
        return x.tril(-1) + x.diagonal(0, -2, -1).exp().diag_embed()

    def _inverse(self, y):
        return y.tril(-1) + y.diagonal(0, -2, -1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """Any matrix to a positive definite one, L L' of what `LowerCholeskyTransform` gives."""

    domain, codomain = _MATRIX, constraints.positive_definite

    def _call(self, x):
        root = LowerCholeskyTransform()(x)
        return root @ root.mT

    def _inverse(self, y):
        from torchc.linalg import cholesky

        return LowerCholeskyTransform()._inverse(cholesky(y))


class _PartsTransform(Transform):
    """Transforms of the parts of a dimension."""

    def __init__(self, tseq, dim: int, cache_size: int):
        if not all(isinstance(t, Transform) for t in tseq):
            raise ValueError("expected a sequence of Transform")
        super().__init__(cache_size)
        self.transforms, self.dim = list(tseq), dim

    @property
    def bijective(self):  # type: ignore[override]
        """Whether all parts are."""
        return all(t.bijective for t in self.transforms)

    def _split(self, x):
        raise NotImplementedError

    def _join(self, parts, dim):
        raise NotImplementedError

    def _call(self, x):
        return self._join([t(part) for t, part in zip(self.transforms, self._split(x))], self.dim)

    def _inverse(self, y):
        parts = zip(self.transforms, self._split(y))
        return self._join([t._inv_call(part) for t, part in parts], self.dim)


class CatTransform(_PartsTransform):
    """Transforms of parts of the lengths `lengths` (1 each by default) along a dimension.

    ValueError where they don't fit.
    """

    def __init__(self, tseq, dim: int = 0, lengths=None, cache_size: int = 0):
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise ValueError(f"expected {len(self.transforms)} lengths, got {len(self.lengths)}")

    @property
    def event_dim(self) -> int:
        """The most that a part has."""
        return max(t.event_dim for t in self.transforms)

    @property
    def length(self) -> int:
        """The length of all parts."""
        return sum(self.lengths)

    @property
    def domain(self):  # type: ignore[override]
        """Part by part."""
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @property
    def codomain(self):  # type: ignore[override]
        """Part by part."""
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)

    def _split(self, x):
        if not -x.dim() <= self.dim < x.dim() or x.size(self.dim) != self.length:
            raise ValueError(
                f"expected {self.length} elements along dimension {self.dim} of {tuple(x.shape)}"
            )
        return x.split(self.lengths, self.dim)

    def _join(self, parts, dim):
        return _C.cat(parts, dim)

    def log_abs_det_jacobian(self, x, y):
        """Part by part, summed over the dimension where it belongs to the value."""
        terms = []
        for t, a, b in zip(self.transforms, self._split(x), self._split(y)):
            term = t.log_abs_det_jacobian(a, b)
            terms.append(_sum_rightmost(term, self.event_dim - t.event_dim))
        dim = self.dim - x.dim() if self.dim >= 0 else self.dim
        dim += self.event_dim
        return _C.cat(terms, dim) if dim < 0 else sum(terms)


class StackTransform(_PartsTransform):
    """Transforms of the slices along a dimension. ValueError for another number of slices."""

    def __init__(self, tseq, dim: int = 0, cache_size: int = 0):
        super().__init__(tseq, dim, cache_size)

    @property
    def domain(self):  # type: ignore[override]
        """Slice by slice."""
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @property
    def codomain(self):  # type: ignore[override]
        """Slice by slice."""
        return constraints.stack([t.codomain for t in self.transforms], self.dim)

    def _split(self, x):
        if not -x.dim() <= self.dim < x.dim() or x.size(self.dim) != len(self.transforms):
            raise ValueError(
                f"expected {len(self.transforms)} slices along dimension {self.dim} of {tuple(x.shape)}"
            )
        return [x.select(self.dim, i) for i in range(len(self.transforms))]

    def _join(self, parts, dim):
        return _C.stack(parts, dim)

    def log_abs_det_jacobian(self, x, y):
        """Slice by slice."""
        slices = zip(self.transforms, self._split(x), self._split(y))
        return _C.stack([t.log_abs_det_jacobian(a, b) for t, a, b in slices], self.dim)
