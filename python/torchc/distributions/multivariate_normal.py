"""The multivariate normal distribution."""

from __future__ import annotations

from torchc import _C, linalg
from torchc.distributions import constraints
from torchc.distributions.distribution import LOG_ROOT_2PI, Distribution
from torchc.distributions.utils import lazy_property
from torchc.functional import broadcast_shapes
from torchc.linalg._names import cholesky_inverse

__all__ = ["MultivariateNormal"]


def _root_of(name, matrix):
    """The covariance's Cholesky factor from itself, the covariance, or the precision."""
    if name == "scale_tril":
        return matrix
    if name == "covariance_matrix":
        return linalg.cholesky(matrix)
    # P = L L' backwards: the factor of the inverse without inverting twice.
    flipped = linalg.cholesky(matrix.flip((-2, -1))).flip((-2, -1)).mT
    eye = _C.eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)
    return linalg.solve_triangular(flipped, eye, upper=False)


class MultivariateNormal(Distribution):
    """Normal vectors (*, n) of mean loc, given by one of a covariance, a precision, or a Cholesky factor (*, n, n).

    Raises ValueError unless exactly one of the three is given.
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True
    _batched = {
        "loc": 1,
        "_root": 2,
        "covariance_matrix": 2,
        "precision_matrix": 2,
        "scale_tril": 2,
    }

    def __init__(
        self,
        loc,
        covariance_matrix=None,
        precision_matrix=None,
        scale_tril=None,
        validate_args=None,
    ):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        forms = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = [(name, matrix) for name, matrix in forms.items() if matrix is not None]
        if len(given) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
            )
        name, matrix = given[0]
        if matrix.dim() < 2:
            raise ValueError(
                f"{name} must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch = broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        matrix = matrix.expand(*batch, *matrix.shape[-2:])
        self.loc = loc.expand(*batch, loc.shape[-1])
        self.__dict__[name] = matrix
        super().__init__(batch, loc.shape[-1:], validate_args)
        self._root = _root_of(name, matrix)

    @lazy_property
    def scale_tril(self):
        """The Cholesky factor of the covariance."""
        return self._root

    @lazy_property
    def covariance_matrix(self):
        """The covariance."""
        return self._root @ self._root.mT

    @lazy_property
    def precision_matrix(self):
        """The covariance's inverse."""
        return cholesky_inverse(self._root)

    @property
    def mean(self):
        """loc."""
        return self.loc

    @property
    def mode(self):
        """loc."""
        return self.loc

    @property
    def variance(self):
        """The covariance's diagonal."""
        return (self._root * self._root).sum(-1)

    def rsample(self, sample_shape=()):
        """loc + L * standard normal vectors."""
        noise = _C.randn(self._extended_shape(sample_shape), dtype=self.loc.dtype)
        return self.loc + (self._root @ noise.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        d = (value - self.loc).unsqueeze(-1)
        z = linalg.solve_triangular(
            self._root.expand(*d.shape[:-2], *self._root.shape[-2:]), d, upper=False
        )
        n = self._event_shape[0]
        return -0.5 * (z * z).sum((-2, -1)) - self._half_log_det() - n * LOG_ROOT_2PI

    def _half_log_det(self):
        return self._root.diagonal(0, -2, -1).log().sum(-1)

    def entropy(self):
        """See Distribution."""
        n = self._event_shape[0]
        return (self._half_log_det() + n * (0.5 + LOG_ROOT_2PI)).expand(self._batch_shape)
