"""LowRankMultivariateNormal."""

from __future__ import annotations

from torchc import _C, linalg
from torchc.distributions import constraints
from torchc.distributions.distribution import LOG_ROOT_2PI, Distribution
from torchc.distributions.utils import lazy_property
from torchc.functional import broadcast_shapes

__all__ = ["LowRankMultivariateNormal"]


def _distance(gap, root, factor, diagonal):
    """gap' covariance^-1 gap of vectors, root the Cholesky factor of I + W' diag(1 / d) W."""
    inner = factor.mT @ (gap / diagonal).unsqueeze(-1)
    root = root.expand(*inner.shape[:-2], *root.shape[-2:])
    a = linalg.solve_triangular(root, inner, upper=False)
    return (gap * gap / diagonal).sum(-1) - (a * a).sum((-2, -1))


class LowRankMultivariateNormal(Distribution):
    """Normal vectors (*, n) of the covariance W W' + diag(d), W = cov_factor (*, n, r), d = cov_diag (*, n).

    Inverses and determinants are those of the r x r matrix I + W' diag(1 / d) W (Woodbury). ValueError for shapes that
    don't fit.
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        n = loc.shape[-1]
        if cov_factor.dim() < 2:
            raise ValueError(
                "cov_factor must be at least two-dimensional, with optional leading batch dimensions"
            )
        if cov_factor.shape[-2] != n:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {n} x m")
        if cov_diag.dim() < 1 or cov_diag.shape[-1] != n:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {n}")
        try:
            batch = broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        except RuntimeError as e:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
            ) from e
        self.loc = loc.expand(*batch, n)
        self.cov_factor = cov_factor.expand(*batch, *cov_factor.shape[-2:])
        self.cov_diag = cov_diag.expand(*batch, n)
        super().__init__(batch, (n,), validate_args=validate_args)

    @property
    def _small_root(self):
        """The Cholesky factor of I + W' diag(1 / d) W."""
        w = self.cov_factor
        eye = _C.eye(w.shape[-1], dtype=w.dtype, device=w.device)
        return linalg.cholesky(eye + w.mT @ (w / self.cov_diag.unsqueeze(-1)))

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
        return (self.cov_factor * self.cov_factor).sum(-1) + self.cov_diag

    @lazy_property
    def scale_tril(self):
        """The Cholesky factor of the covariance."""
        return linalg.cholesky(self.covariance_matrix)

    @property
    def covariance_matrix(self):
        """W W' + diag(d)."""
        return self.cov_factor @ self.cov_factor.mT + self.cov_diag.diag_embed()

    @property
    def precision_matrix(self):
        """The covariance's inverse."""
        scaled = (self.cov_factor / self.cov_diag.unsqueeze(-1)).mT
        a = linalg.solve_triangular(self._small_root, scaled, upper=False)
        return (1 / self.cov_diag).diag_embed() - a.mT @ a

    def expand(self, batch_shape, _instance=None):
        """The same distribution for a larger batch."""
        new = super().expand(batch_shape, _instance)
        new.__dict__.pop("scale_tril", None)
        return new

    def rsample(self, sample_shape=()):
        """loc + W x + sqrt(d) y, x and y standard normal."""
        shape = self._extended_shape(sample_shape)
        options = {"dtype": self.loc.dtype, "device": self.loc.device}
        x = _C.randn((*shape[:-1], self.cov_factor.shape[-1], 1), **options)
        y = _C.randn(shape, **options)
        return self.loc + (self.cov_factor @ x).squeeze(-1) + self.cov_diag.sqrt() * y

    def _distance(self, gap):
        return _distance(gap, self._small_root, self.cov_factor, self.cov_diag)

    def _half_log_det(self):
        diagonal = self._small_root.diagonal(0, -2, -1)
        return diagonal.log().sum(-1) + 0.5 * self.cov_diag.log().sum(-1)

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        n = self._event_shape[0]
        return -0.5 * self._distance(value - self.loc) - self._half_log_det() - n * LOG_ROOT_2PI

    def entropy(self):
        """See Distribution."""
        n = self._event_shape[0]
        return (self._half_log_det() + n * (0.5 + LOG_ROOT_2PI)).expand(self._batch_shape)
