"""The multivariate normal distribution."""

from __future__ import annotations

from torchc import _C, linalg
from torchc.distributions import constraints
from torchc.distributions.distribution import LOG_ROOT_2PI, Distribution
from torchc.distributions.kl import register_kl
from torchc.distributions.utils import lazy_property
from torchc.functional import broadcast_shapes
from torchc.linalg._names import cholesky_inverse

__all__ = ["MultivariateNormal"]


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
        if name == "scale_tril":
            self._root = matrix
        elif name == "covariance_matrix":
            self._root = linalg.cholesky(matrix)
        else:  # P = L L' backwards: the factor of the inverse without inverting twice
            flipped = linalg.cholesky(matrix.flip((-2, -1))).flip((-2, -1)).mT
            eye = _C.eye(matrix.shape[-1], dtype=matrix.dtype)
            self._root = linalg.solve_triangular(flipped, eye, upper=False)

    def expand(self, batch_shape, _instance=None):
        """The same distribution for a larger batch."""
        shape = (*batch_shape, *self._event_shape)
        root = self._root.expand(*shape, self._event_shape[0])
        return MultivariateNormal(self.loc.expand(shape), scale_tril=root, validate_args=False)

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


@register_kl(MultivariateNormal, MultivariateNormal)
def _kl(p, q):
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be computed"
        )
    n = p.event_shape[0]
    spread = linalg.solve_triangular(q._root, p._root, upper=False)
    shift = linalg.solve_triangular(q._root, (q.loc - p.loc).unsqueeze(-1), upper=False)
    squares = (spread * spread).sum((-2, -1)) + (shift * shift).sum((-2, -1))
    return q._half_log_det() - p._half_log_det() + 0.5 * (squares - n)
