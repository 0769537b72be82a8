"""Sets of values: what parameters must be in, and where samples are.

Each kind of set is a class, so that `constraint_registry` can find a transform for it.
"""

from __future__ import annotations

__all__ = [
    "Constraint",
    "MixtureSameFamilyConstraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_semidefinite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
    "unit_interval",
]


class Constraint:
    """A set: `check(values)` tells value by value what lies in it; `event_dim` dimensions belong to one value."""

    is_discrete = False
    event_dim = 0

    def check(self, value):
        """A tensor of truth values."""
        raise NotImplementedError(f"{type(self).__name__}.check")

    def __repr__(self):
        return f"{type(self).__name__.removeprefix('_')}()"


class _Dependent(Constraint):
    """Stands for a set that depends on other parameters or values; it isn't checked."""

    def __init__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def _known(self, name):
        value = getattr(self, f"_{name}")
        if value is NotImplemented:
            raise NotImplementedError(f".{name} cannot be determined statically")
        return value

    @property
    def is_discrete(self):  # type: ignore[override]
        """Whether the set is discrete; NotImplementedError where it isn't known."""
        return self._known("is_discrete")

    @property
    def event_dim(self):  # type: ignore[override]
        """The dimensions of one value; NotImplementedError where they aren't known."""
        return self._known("event_dim")

    def __call__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        """A set of which more is known."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, value):
        """ValueError: the set isn't known."""
        raise ValueError("Cannot determine validity of dependent constraint")


class _DependentProperty(property, _Dependent):
    """A property that gives a set made of other parameters; on the class it is itself a dependent set."""

    def __init__(self, fn=None, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        super().__init__(fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn):  # type: ignore[override]
        """The property of `fn`, for a decorator with arguments."""
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


def is_dependent(constraint) -> bool:
    """Whether a set is known from its instance only."""
    return isinstance(constraint, _Dependent)


class _Real(Constraint):
    def check(self, value):
        return value == value


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value):
        return (value == 0).logical_or(value == 1)


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value):
        inside = (value == 0).logical_or(value == 1).all(-1)
        return inside.logical_and(value.sum(-1) == 1)


def _whole(value):
    return value % 1 == 0


class _Bounded(Constraint):
    """A set between bounds, which are numbers or tensors."""

    _names: tuple = ()

    def __init__(self, *bounds, **named):
        values = dict(zip(self._names, bounds)) | named
        if set(values) != set(self._names) or len(bounds) > len(self._names):
            raise TypeError(f"{type(self).__name__}: expected {', '.join(self._names)}")
        for name in self._names:
            setattr(self, name, values[name])

    def __repr__(self):
        bounds = ", ".join(f"{name}={getattr(self, name)}" for name in self._names)
        return f"{type(self).__name__.removeprefix('_')}({bounds})"


class _Upwards(_Bounded):
    _names = ("lower_bound",)
    lower_bound: float


class _Downwards(_Bounded):
    _names = ("upper_bound",)
    upper_bound: float


class _Between(_Bounded):
    _names = ("lower_bound", "upper_bound")
    lower_bound: float
    upper_bound: float


class _GreaterThan(_Upwards):
    def check(self, value):
        return self.lower_bound < value


class _GreaterThanEq(_Upwards):
    def check(self, value):
        return self.lower_bound <= value


class _LessThan(_Downwards):
    def check(self, value):
        return value < self.upper_bound


class _Interval(_Between):
    def check(self, value):
        return (self.lower_bound <= value).logical_and(value <= self.upper_bound)


class _HalfOpenInterval(_Between):
    def check(self, value):
        return (self.lower_bound <= value).logical_and(value < self.upper_bound)


class _IntegerInterval(_Between):
    is_discrete = True

    def check(self, value):
        inside = (self.lower_bound <= value).logical_and(value <= self.upper_bound)
        return _whole(value).logical_and(inside)


class _IntegerLessThan(_Downwards):
    is_discrete = True

    def check(self, value):
        return _whole(value).logical_and(value <= self.upper_bound)


class _IntegerGreaterThan(_Upwards):
    is_discrete = True

    def check(self, value):
        return _whole(value).logical_and(value >= self.lower_bound)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value):
        return (value >= 0).all(-1).logical_and((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(_Downwards):
    """Counts that are at most the bound together; a sum below it is allowed, as in PyTorch."""

    is_discrete = True
    event_dim = 1

    def check(self, value):
        return (value >= 0).all(-1).logical_and(value.sum(-1) <= self.upper_bound)

    __repr__ = Constraint.__repr__


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value):
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(_LowerTriangular):
    def check(self, value):
        return super().check(value).logical_and((value.diagonal(0, -2, -1) > 0).all(-1))


class _CorrCholesky(_LowerCholesky):
    """Cholesky factors of correlation matrices: their rows have length 1."""

    def check(self, value):
        from torchc._type_info import finfo

        # A row's norm has the rounding errors of its length.
        tolerance = finfo(value.dtype).eps * value.size(-1) * 10
        norm = (value.detach() * value.detach()).sum(-1).sqrt()
        return super().check(value).logical_and(((norm - 1).abs() < tolerance).all(-1))


class _Square(Constraint):
    event_dim = 2

    def check(self, value):
        from torchc import _C

        same = value.shape[-2] == value.shape[-1]
        return _C.full(value.shape[:-2], same, dtype=_C.bool, device=value.device)


class _Symmetric(_Square):
    def check(self, value):
        if value.shape[-2] != value.shape[-1]:
            return super().check(value)
        gap = (value - value.mT).abs()
        return (gap <= 1e-6 + 1e-5 * value.abs()).flatten(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    def check(self, value):
        from torchc.linalg import eigvalsh

        inside = super().check(value)
        if not bool(inside.all()):
            return inside
        return (eigvalsh(value.detach()) >= 0).all(-1)


class _PositiveDefinite(_Symmetric):
    def check(self, value):
        from torchc.linalg import cholesky_ex

        inside = super().check(value)
        if value.shape[-2] != value.shape[-1]:
            return inside
        return inside.logical_and(cholesky_ex(value.detach())[1] == 0)


class _IndependentConstraint(Constraint):
    """Values whose last dimensions lie in the base's set throughout."""

    def __init__(self, base_constraint, reinterpreted_batch_ndims: int):
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def is_discrete(self):  # type: ignore[override]
        """As the base."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self):  # type: ignore[override]
        """The base's and those added."""
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value):
        inside = self.base_constraint.check(value)
        if inside.dim() < self.reinterpreted_batch_ndims:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        for _ in range(self.reinterpreted_batch_ndims):
            inside = inside.all(-1)
        return inside

    def __repr__(self):
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """What a mixture's components have as their support, for values without the components' dimension."""

    def __init__(self, base_constraint):
        self.base_constraint = base_constraint

    @property
    def is_discrete(self):  # type: ignore[override]
        """As the base."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self):  # type: ignore[override]
        """As the base."""
        return self.base_constraint.event_dim

    def check(self, value):
        """For each value, whether it lies in all components' sets."""
        events = self.event_dim
        inside = self.base_constraint.check(value.unsqueeze(-1 - events))
        return inside.all(-1)

    def __repr__(self):
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"


class _Parts(Constraint):
    """What `_Cat` and `_Stack` have in common: one set for each part of a dimension."""

    def __init__(self, cseq, dim: int):
        self.cseq, self.dim = list(cseq), dim
        if not all(isinstance(c, Constraint) for c in self.cseq):
            raise ValueError("expected a sequence of constraints")

    @property
    def is_discrete(self):  # type: ignore[override]
        """Whether one of the parts is."""
        return any(c.is_discrete for c in self.cseq)


class _Cat(_Parts):
    """Sets of parts of the lengths `lengths` along a dimension (1 each by default)."""

    def __init__(self, cseq, dim: int = 0, lengths=None):
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise ValueError(f"expected {len(self.cseq)} lengths, got {len(self.lengths)}")

    @property
    def event_dim(self):  # type: ignore[override]
        """The most that a part has."""
        return max(c.event_dim for c in self.cseq)

    def check(self, value):
        """Part by part."""
        from torchc import _C

        parts = value.split(self.lengths, self.dim)
        return _C.cat([c.check(part) for c, part in zip(self.cseq, parts)], self.dim)


class _Stack(_Parts):
    """Sets of the slices along a dimension."""

    def __init__(self, cseq, dim: int = 0):
        super().__init__(cseq, dim)

    @property
    def event_dim(self):  # type: ignore[override]
        """The most that a slice has, and the dimension itself where it lies among those."""
        most = max(c.event_dim for c in self.cseq)
        return most + 1 if self.dim + most < 0 else most

    def check(self, value):
        """Slice by slice."""
        from torchc import _C

        parts = [value.select(self.dim, i) for i in range(value.size(self.dim))]
        return _C.stack([c.check(part) for c, part in zip(self.cseq, parts)], self.dim)


dependent_property = _DependentProperty
independent = _IndependentConstraint
integer_interval = _IntegerInterval
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
interval = _Interval
half_open_interval = _HalfOpenInterval
multinomial = _Multinomial
cat = _Cat
stack = _Stack

dependent = _Dependent()
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
unit_interval = _Interval(0.0, 1.0)
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
