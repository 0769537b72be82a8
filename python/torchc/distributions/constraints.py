"""Sets of values: what parameters must be in, and where samples are."""

from __future__ import annotations

__all__ = [
    "Constraint",
    "boolean",
    "dependent",
    "greater_than",
    "independent",
    "integer_interval",
    "interval",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "symmetric",
    "unit_interval",
]


class Constraint:
    """A set: `check(values)` tells element by element what lies in it; `event_dim` dimensions belong to one value."""

    is_discrete = False
    event_dim = 0

    def __init__(self, name: str, check, event_dim: int = 0, is_discrete: bool = False):
        self._name, self._check = name, check
        self.event_dim, self.is_discrete = event_dim, is_discrete

    def check(self, value):
        """A tensor of truth values."""
        return self._check(value)

    def __repr__(self):
        return self._name


def _whole(value):
    return value == value.to(dtype=_int64()).to(value.dtype)


def _int64():
    from torchc import _C

    return _C.int64


def interval(lower_bound, upper_bound) -> Constraint:
    """[lower_bound, upper_bound]."""
    return Constraint(
        f"Interval(lower_bound={lower_bound}, upper_bound={upper_bound})",
        lambda v: (lower_bound <= v).logical_and(v <= upper_bound),
    )


def integer_interval(lower_bound, upper_bound) -> Constraint:
    """The integers of [lower_bound, upper_bound]."""
    return Constraint(
        f"IntegerInterval(lower_bound={lower_bound}, upper_bound={upper_bound})",
        lambda v: _whole(v).logical_and((lower_bound <= v).logical_and(v <= upper_bound)),
        is_discrete=True,
    )


def greater_than(lower_bound) -> Constraint:
    """(lower_bound, inf)."""
    return Constraint(f"GreaterThan(lower_bound={lower_bound})", lambda v: v > lower_bound)


def less_than(upper_bound) -> Constraint:
    """(-inf, upper_bound)."""
    return Constraint(f"LessThan(upper_bound={upper_bound})", lambda v: v < upper_bound)


real = Constraint("Real()", lambda v: v == v)
real_vector = Constraint("IndependentConstraint(Real(), 1)", lambda v: (v == v).all(-1), 1)
positive = Constraint("GreaterThan(lower_bound=0.0)", lambda v: v > 0)
nonnegative = Constraint("GreaterThanEq(lower_bound=0.0)", lambda v: v >= 0)
nonnegative_integer = Constraint(
    "IntegerGreaterThan(lower_bound=0)", lambda v: _whole(v).logical_and(v >= 0), is_discrete=True
)
unit_interval = Constraint(
    "Interval(lower_bound=0.0, upper_bound=1.0)", lambda v: (v >= 0).logical_and(v <= 1)
)
boolean = Constraint("Boolean()", lambda v: (v == 0).logical_or(v == 1), is_discrete=True)
simplex = Constraint(
    "Simplex()", lambda v: (v >= 0).all(-1).logical_and((v.sum(-1) - 1).abs() < 1e-6), 1
)
one_hot = Constraint(
    "OneHot()",
    lambda v: (v == 0).logical_or(v == 1).all(-1).logical_and(v.sum(-1) == 1),
    1,
    is_discrete=True,
)
lower_cholesky = Constraint(
    "LowerCholesky()",
    lambda v: (v.tril() == v).flatten(-2).all(-1).logical_and((v.diagonal(0, -2, -1) > 0).all(-1)),
    2,
)
lower_triangular = Constraint("LowerTriangular()", lambda v: (v.tril() == v).flatten(-2).all(-1), 2)


def _square(value):
    from torchc import _C

    return _C.full(value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=_C.bool)


def _symmetric(value):
    if value.shape[-2] != value.shape[-1]:
        return _square(value)
    gap = (value - value.mT).abs()
    return (gap <= 1e-6 + 1e-5 * value.abs()).flatten(-2).all(-1)


def _positive_definite(value):
    from torchc.linalg import cholesky_ex

    if value.shape[-2] != value.shape[-1]:
        return _square(value)
    return _symmetric(value).logical_and(cholesky_ex(value.detach())[1] == 0)


square = Constraint("Square()", _square, 2)
symmetric = Constraint("Symmetric()", _symmetric, 2)
positive_definite = Constraint("PositiveDefinite()", _positive_definite, 2)


def independent(base_constraint, reinterpreted_batch_ndims: int) -> Constraint:
    """Values whose last dimensions lie in the base's set throughout."""

    def check(value):
        inside = base_constraint.check(value)
        for _ in range(reinterpreted_batch_ndims):
            inside = inside.all(-1)
        return inside

    return Constraint(
        f"IndependentConstraint({base_constraint!r}, {reinterpreted_batch_ndims})",
        check,
        base_constraint.event_dim + reinterpreted_batch_ndims,
        base_constraint.is_discrete,
    )


# Stands for a set that depends on other parameters; it isn't checked.
dependent = Constraint("Dependent()", None)
