"""Invertible functions of values, with the logarithm of their derivative: what TransformedDistribution is made of."""

from __future__ import annotations

import math
from typing import Any

from torchc import _C
from torchc.distributions import constraints
from torchc.distributions.utils import _sum_rightmost

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "ComposeTransform",
    "ExpTransform",
    "IndependentTransform",
    "PowerTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]


_CACHE = ("_cache_size", "_pair", "domain", "codomain")


def _same(a, b) -> bool:
    if isinstance(a, _C.Tensor) or isinstance(b, _C.Tensor):
        return bool((_C.as_tensor(a) == _C.as_tensor(b)).all())
    return a == b


class Transform:
    """A function from one set of values to another.

    Subclasses define `_call`, `_inverse` and, where it has one, `log_abs_det_jacobian(x, y)`: the logarithm of the
    volume's change, over `event_dim` dimensions of the domain. With cache_size 1 the last pair is remembered, so that
    inverting a result gives back the argument itself.
    """

    bijective = False
    domain: constraints.Constraint = constraints.real
    codomain: constraints.Constraint = constraints.real
    sign: Any = None

    def __init__(self, cache_size: int = 0):
        if cache_size not in (0, 1):
            raise ValueError(f"cache_size must be 0 or 1, got {cache_size}")
        self._cache_size = cache_size
        self._pair: tuple = (None, None)

    @property
    def event_dim(self) -> int:
        """Dimensions of one value; ValueError where domain and codomain differ in them."""
        if self.domain.event_dim != self.codomain.event_dim:
            raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")
        return self.domain.event_dim

    @property
    def inv(self):
        """The inverse as a transform."""
        return _InverseTransform(self)

    def __call__(self, x):
        """The value at x."""
        if self._cache_size and self._pair[0] is x:
            return self._pair[1]
        y = self._call(x)
        if self._cache_size:
            self._pair = x, y
        return y

    def _inv_call(self, y):
        if self._cache_size and self._pair[1] is y:
            return self._pair[0]
        x = self._inverse(y)
        if self._cache_size:
            self._pair = x, y
        return x

    def _call(self, x):
        raise NotImplementedError(f"{type(self).__name__}._call")

    def _inverse(self, y):
        raise NotImplementedError(f"{type(self).__name__}._inverse")

    def log_abs_det_jacobian(self, x, y):
        """log |dy / dx|."""
        raise NotImplementedError(f"{type(self).__name__}.log_abs_det_jacobian")

    def with_cache(self, cache_size: int = 1):
        """The transform with another size of the cache."""
        import copy

        if cache_size not in (0, 1):
            raise ValueError(f"cache_size must be 0 or 1, got {cache_size}")
        if cache_size == self._cache_size:
            return self
        new = copy.copy(self)
        new._cache_size, new._pair = cache_size, (None, None)
        return new

    def __eq__(self, other):
        if self is other:
            return True
        # Those of a program are equal where they are the same.
        if type(self) is not type(other) or not type(self).__module__.startswith(__package__):
            return False
        return all(_same(v, vars(other)[k]) for k, v in vars(self).items() if k not in _CACHE)

    def __hash__(self):
        return hash(type(self))

    def forward_shape(self, shape):
        """The shape of results for arguments of `shape`."""
        return tuple(shape)

    def inverse_shape(self, shape):
        """The shape of arguments for results of `shape`."""
        return tuple(shape)

    def __repr__(self):
        return f"{type(self).__name__}()"


class _InverseTransform(Transform):
    """The inverse of a transform."""

    def __init__(self, transform):
        super().__init__()
        self._transform = transform
        self.bijective = transform.bijective
        self.domain, self.codomain = transform.codomain, transform.domain
        self.sign = transform.sign

    @property
    def inv(self):
        """The transform itself."""
        return self._transform

    def _call(self, x):
        return self._transform._inv_call(x)

    def _inverse(self, y):
        return self._transform(y)

    def log_abs_det_jacobian(self, x, y):
        """See Transform."""
        return -self._transform.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape):
        """See Transform."""
        return self._transform.inverse_shape(shape)

    def inverse_shape(self, shape):
        """See Transform."""
        return self._transform.forward_shape(shape)

    def __repr__(self):
        return f"_InverseTransform({self._transform!r})"


class ComposeTransform(Transform):
    """Transforms one after the other."""

    def __init__(self, parts, cache_size: int = 0):
        super().__init__(cache_size)
        self.parts = list(parts)
        self.bijective = all(p.bijective for p in self.parts)
        signs = [p.sign for p in self.parts]
        self.sign = None if any(s is None for s in signs) else math.prod(signs)
        if self.parts:
            self.domain, self.codomain = self._sets()

    def _sets(self):
        """The first domain and the last codomain, with as many dimensions as the parts between need."""
        first, last = self.parts[0].domain, self.parts[-1].codomain
        need = last.event_dim
        for p in reversed(self.parts):
            need = max(p.domain.event_dim, need + p.domain.event_dim - p.codomain.event_dim)
        if need > first.event_dim:
            first = constraints.independent(first, need - first.event_dim)
        have = first.event_dim
        for p in self.parts:
            have += p.codomain.event_dim - p.domain.event_dim
        if have > last.event_dim:
            last = constraints.independent(last, have - last.event_dim)
        return first, last

    def _call(self, x):
        for p in self.parts:
            x = p(x)
        return x

    def _inverse(self, y):
        for p in reversed(self.parts):
            y = p._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x, y):
        """See Transform."""
        if not self.parts:
            return _C.zeros_like(x)
        values = [x]
        for p in self.parts[:-1]:
            values.append(p(values[-1]))
        values.append(y)
        total, have = 0, self.domain.event_dim
        for p, a, b in zip(self.parts, values[:-1], values[1:]):
            total = total + _sum_rightmost(p.log_abs_det_jacobian(a, b), have - p.domain.event_dim)
            have += p.codomain.event_dim - p.domain.event_dim
        return total

    def forward_shape(self, shape):
        """See Transform."""
        for p in self.parts:
            shape = p.forward_shape(shape)
        return shape

    def inverse_shape(self, shape):
        """See Transform."""
        for p in reversed(self.parts):
            shape = p.inverse_shape(shape)
        return shape

    def __repr__(self):
        return f"ComposeTransform({', '.join(map(repr, self.parts))})"


class IndependentTransform(Transform):
    """A transform whose last batch dimensions count as one value."""

    def __init__(self, base_transform, reinterpreted_batch_ndims: int, cache_size: int = 0):
        super().__init__(cache_size)
        self.base_transform = base_transform
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.bijective, self.sign = base_transform.bijective, base_transform.sign
        self.domain = constraints.independent(base_transform.domain, reinterpreted_batch_ndims)
        self.codomain = constraints.independent(base_transform.codomain, reinterpreted_batch_ndims)

    def _call(self, x):
        return self.base_transform(x)

    def _inverse(self, y):
        return self.base_transform._inv_call(y)

    def log_abs_det_jacobian(self, x, y):
        """See Transform."""
        inner = self.base_transform.log_abs_det_jacobian(x, y)
        return _sum_rightmost(inner, self.reinterpreted_batch_ndims)

    def forward_shape(self, shape):
        """See Transform."""
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape):
        """See Transform."""
        return self.base_transform.inverse_shape(shape)


class AffineTransform(Transform):
    """loc + scale * x; `event_dim` dimensions count as one value."""

    bijective = True

    def __init__(self, loc, scale, event_dim: int = 0, cache_size: int = 0):
        super().__init__(cache_size)
        self.loc, self.scale = loc, scale
        if event_dim:
            self.domain = self.codomain = constraints.independent(constraints.real, event_dim)

    @property
    def sign(self):
        """The sign of scale."""
        if isinstance(self.scale, _C.Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        """See Transform."""
        if isinstance(self.scale, _C.Tensor):
            logarithm = self.scale.abs().log()
        else:
            logarithm = _C.full((), math.log(abs(self.scale)), dtype=x.dtype)
        return _sum_rightmost(logarithm.expand(x.shape), self.domain.event_dim)

    def forward_shape(self, shape):
        """See Transform."""
        from torchc.functional import broadcast_shapes

        return broadcast_shapes(
            shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ())
        )

    inverse_shape = forward_shape


class ExpTransform(Transform):
    """exp(x)."""

    bijective, sign, codomain = True, 1, constraints.positive

    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y):
        """See Transform."""
        return x


class PowerTransform(Transform):
    """x^exponent of positive numbers."""

    bijective, domain, codomain = True, constraints.positive, constraints.positive

    def __init__(self, exponent, cache_size: int = 0):
        super().__init__(cache_size)
        self.exponent = exponent if isinstance(exponent, _C.Tensor) else _C.tensor(float(exponent))

    @property
    def sign(self):
        """The sign of the exponent."""
        return self.exponent.sign()

    def _call(self, x):
        return x**self.exponent

    def _inverse(self, y):
        return y ** (1 / self.exponent)

    def log_abs_det_jacobian(self, x, y):
        """See Transform."""
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape):
        """See Transform."""
        from torchc.functional import broadcast_shapes

        return broadcast_shapes(shape, self.exponent.shape)

    inverse_shape = forward_shape


class SigmoidTransform(Transform):
    """1 / (1 + exp(-x))."""

    bijective, sign, codomain = True, 1, constraints.unit_interval

    def _call(self, x):
        return _clipped(x.sigmoid())

    def _inverse(self, y):
        y = _clipped(y)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x, y):
        """See Transform."""
        from torchc.nn.functional import softplus

        return -softplus(-x) - softplus(x)


def _clipped(y):
    from torchc._type_info import finfo

    info = finfo(y.dtype)
    return y.clamp(info.tiny, 1.0 - info.eps)


class TanhTransform(Transform):
    """tanh(x)."""

    bijective, sign, codomain = True, 1, constraints.interval(-1.0, 1.0)

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return y.atanh()

    def log_abs_det_jacobian(self, x, y):
        """log(1 - tanh(x)^2) = 2 (log 2 - x - softplus(-2 x)), without a difference of nearly equal numbers."""
        from torchc.nn.functional import softplus

        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class SoftplusTransform(Transform):
    """log(1 + exp(x))."""

    bijective, sign, codomain = True, 1, constraints.positive

    def _call(self, x):
        from torchc.nn.functional import softplus

        return softplus(x)

    def _inverse(self, y):
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x, y):
        """See Transform."""
        from torchc.nn.functional import softplus

        return -softplus(-x)


class AbsTransform(Transform):
    """|x|; the inverse takes the positive one."""

    codomain = constraints.positive

    def _call(self, x):
        return x.abs()

    def _inverse(self, y):
        return y


class SoftmaxTransform(Transform):
    """softmax along the last dimension; the inverse is the logarithm."""

    domain, codomain = constraints.real_vector, constraints.simplex

    def _call(self, x):
        return x.softmax(-1)

    def _inverse(self, y):
        return y.log()


identity_transform = ComposeTransform([])
