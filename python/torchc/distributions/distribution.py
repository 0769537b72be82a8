"""The base class of distributions."""

from __future__ import annotations

import math

from torchc import _C
from torchc.autograd.grad_mode import no_grad
from torchc.distributions import constraints
from torchc.distributions.utils import lazy_property

__all__ = ["Distribution"]


class Distribution:
    """Random values: `batch_shape` independent ones of `event_shape` each.

    Subclasses define arg_constraints, support, and what of the methods they have. With `validate_args` parameters and
    values are checked. Raises ValueError for parameters outside of their sets.
    """

    has_rsample = False
    has_enumerate_support = False
    arg_constraints: dict = {}
    support: constraints.Constraint | None = None
    _validate_args = True
    # Attributes with batch dimensions and how many others follow these; by default the parameters and their sets.
    _batched: dict | None = None

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether arguments are checked unless a distribution is told otherwise."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        self._batch_shape, self._event_shape = _C.Size(batch_shape), _C.Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if not self._validate_args:
            return
        for name, constraint in self.arg_constraints.items():
            lazy = isinstance(getattr(type(self), name, None), lazy_property)
            if constraints.is_dependent(constraint) or (lazy and name not in self.__dict__):
                continue
            value = getattr(self, name)
            if not bool(constraint.check(value).all()):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                    f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    @property
    def batch_shape(self):
        """The shape of independent distributions."""
        return self._batch_shape

    @property
    def event_shape(self):
        """The shape of one value."""
        return self._event_shape

    def expand(self, batch_shape, _instance=None):
        """The same distribution for a larger batch."""
        owner = next(c for c in type(self).__mro__ if c.__module__.startswith(__package__))
        new = self._get_checked_instance(owner, _instance)
        new.__dict__.update(self.__dict__)
        batched = self._batched
        if batched is None:
            batched = {name: c.event_dim for name, c in self.arg_constraints.items()}
        for name, dims in batched.items():
            if name in self.__dict__:
                value = self.__dict__[name]
                events = value.shape[value.dim() - dims :]
                new.__dict__[name] = value.expand((*batch_shape, *events))
        new._batch_shape = _C.Size(tuple(batch_shape))
        return new

    def _get_checked_instance(self, cls, _instance=None):
        """An instance without content for `expand`. NotImplementedError for a subclass with an __init__ of its own."""
        if _instance is None and type(self).__init__ is not cls.__init__:
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also "
                "define a custom .expand() method."
            )
        return type(self).__new__(type(self)) if _instance is None else _instance

    @property
    def mean(self):
        """The mean."""
        raise NotImplementedError(f"{type(self).__name__}.mean")

    @property
    def mode(self):
        """The most likely value."""
        raise NotImplementedError(f"{type(self).__name__}.mode")

    @property
    def variance(self):
        """The variance."""
        raise NotImplementedError(f"{type(self).__name__}.variance")

    @property
    def stddev(self):
        """The root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape=()):
        """Values without gradient, of shape sample_shape + batch_shape + event_shape."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=()):
        """Values that depend differentiably on the parameters."""
        raise NotImplementedError(f"{type(self).__name__}.rsample")

    def sample_n(self, n: int):
        """`n` samples; PyTorch's old name for `sample((n,))`."""
        import warnings

        warnings.warn(
            "`sample_n(n)` will be deprecated. Use `sample((n,))` instead.",
            FutureWarning,
            stacklevel=2,
        )
        return self.sample((n,))

    def log_prob(self, value):
        """The logarithm of the density (or probability) at `value`."""
        raise NotImplementedError(f"{type(self).__name__}.log_prob")

    def cdf(self, value):
        """The probability of values up to `value`."""
        raise NotImplementedError(f"{type(self).__name__}.cdf")

    def icdf(self, value):
        """The inverse of cdf."""
        raise NotImplementedError(f"{type(self).__name__}.icdf")

    def enumerate_support(self, expand: bool = True):
        """All values of a discrete distribution along a new first dimension."""
        raise NotImplementedError(f"{type(self).__name__}.enumerate_support")

    def entropy(self):
        """The entropy."""
        raise NotImplementedError(f"{type(self).__name__}.entropy")

    def perplexity(self):
        """exp(entropy)."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape=()):
        return _C.Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _validate_sample(self, value):
        """Raises ValueError for a value of another shape or outside of the support."""
        if not self._validate_args:
            return
        if not isinstance(value, _C.Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        events = len(self._event_shape)
        if events and tuple(value.shape[-events:]) != tuple(self._event_shape):
            raise ValueError(
                f"The right-most size of value must match event_shape: {value.size()} vs {self._event_shape}."
            )
        shape = self._extended_shape()
        for a, b in zip(reversed(value.shape), reversed(shape)):
            if a != 1 and b != 1 and a != b:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {value.size()} vs {shape}."
                )
        try:
            support = self.support
        except NotImplementedError:  # a custom distribution's
            return
        if support is not None and not bool(support.check(value).all()):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the "
                f"support ({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def __repr__(self):
        names = [name for name in self.arg_constraints if name in self.__dict__]
        parts = [
            f"{name}: {value if value.numel() == 1 else value.size()}"
            for name, value in ((name, self.__dict__[name]) for name in names)
        ]
        return f"{type(self).__name__}({', '.join(parts)})"


LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)
EULER = 0.5772156649015329  # Euler's constant
