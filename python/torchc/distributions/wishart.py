"""Wishart."""

from __future__ import annotations

import math

from torchc import _C, linalg
from torchc.distributions import constraints
from torchc.distributions.chi2 import Chi2
from torchc.distributions.exp_family import ExponentialFamily
from torchc.distributions.multivariate_normal import _root_of
from torchc.distributions.utils import lazy_property
from torchc.functional import broadcast_shapes
from torchc.linalg._names import cholesky_inverse, cholesky_solve

__all__ = ["Wishart"]


class Wishart(ExponentialFamily):
    """Positive definite matrices (n, n): X X' for df normal vectors X, given as MultivariateNormal's are; df > n - 1.

    ValueError unless exactly one of the three matrices is given and df is large enough.
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    _batched = {
        "df": 0,
        "_root": 2,
        "covariance_matrix": 2,
        "precision_matrix": 2,
        "scale_tril": 2,
    }

    def __init__(
        self,
        df,
        covariance_matrix=None,
        precision_matrix=None,
        scale_tril=None,
        validate_args=None,
    ):
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
        df = _C.as_tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch = broadcast_shapes(matrix.shape[:-2], df.shape)
        events = matrix.shape[-2:]
        self.df = df.expand(batch)
        if bool((self.df <= events[-1] - 1).any()):
            raise ValueError(
                f"Value of df={df} expected to be greater than ndim - 1 = {events[-1] - 1}."
            )
        self.__dict__[name] = matrix.expand(*batch, *events)
        self.arg_constraints = {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(events[-1] - 1),
        }
        super().__init__(batch, events, validate_args=validate_args)
        self._root = _root_of(name, self.__dict__[name])

    @lazy_property
    def scale_tril(self):
        """The Cholesky factor of the covariance."""
        return self._root

    @lazy_property
    def covariance_matrix(self):
        """The normal vectors' covariance."""
        return self._root @ self._root.mT

    @lazy_property
    def precision_matrix(self):
        """The covariance's inverse."""
        return cholesky_inverse(self._root)

    def _df(self):
        return self.df.reshape(*self._batch_shape, 1, 1)

    @property
    def mean(self):
        """df covariance."""
        return self._df() * self.covariance_matrix

    @property
    def mode(self):
        """(df - n - 1) covariance; NaN unless df > n + 1."""
        factor = self._df() - self._event_shape[-1] - 1
        return _C.where(factor > 0, factor, math.nan) * self.covariance_matrix

    @property
    def variance(self):
        """df (v_ij^2 + v_ii v_jj)."""
        v = self.covariance_matrix
        diagonal = v.diagonal(0, -2, -1)
        return self._df() * (v * v + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def rsample(self, sample_shape=(), max_try_correction=None):
        """Bartlett's decomposition: L A A' L', A lower triangular, roots of chi-squared numbers on its diagonal.

        `max_try_correction`, PyTorch's number of attempts at singular samples, is ignored: A's diagonal is never 0.
        """
        n = self._event_shape[-1]
        down = _C.arange(n, dtype=self.df.dtype, device=self.df.device)
        squares = Chi2(self.df.unsqueeze(-1) - down, validate_args=False).rsample(sample_shape)
        shape = self._extended_shape(sample_shape)
        noise = _C.randn(shape, dtype=self.df.dtype, device=self.df.device).tril(-1)
        root = self._root @ (noise + squares.sqrt().diag_embed())
        return root @ root.mT

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        n, df = self._event_shape[-1], self.df
        shape = (*broadcast_shapes(value.shape[:-2], self._batch_shape), n, n)
        solved = cholesky_solve(value.expand(shape), self._root.expand(shape))
        trace = solved.diagonal(0, -2, -1).sum(-1)
        return (
            0.5 * (df - n - 1) * linalg.slogdet(value)[1]
            - 0.5 * trace
            - df * (0.5 * n * math.log(2.0) + self._half_log_det())
            - _C.mvlgamma(df / 2, n)
        )

    def _half_log_det(self):
        return self._root.diagonal(0, -2, -1).log().sum(-1)

    def entropy(self):
        """See Distribution."""
        n, df = self._event_shape[-1], self.df
        digammas = _digamma_sum(df / 2, n)
        return (
            (n + 1) * (self._half_log_det() + 0.5 * n * math.log(2.0))
            + _C.mvlgamma(df / 2, n)
            - 0.5 * (df - n - 1) * digammas
            + 0.5 * df * n
        )

    @property
    def _natural_params(self):
        return 0.5 * self.df, -0.5 * self.precision_matrix

    def _log_normalizer(self, x, y):
        n = y.shape[-1]
        return x * (n * math.log(2.0) - linalg.slogdet(-2 * y)[1]) + _C.mvlgamma(x, n)


def _digamma_sum(a, n):
    """The sum of digamma(a - i / 2) over i below n."""
    down = _C.arange(n, dtype=a.dtype, device=a.device) / 2
    return (a.unsqueeze(-1) - down).digamma().sum(-1)
