"""LKJCholesky."""

from __future__ import annotations

import math

from torchc import _C
from torchc.autograd.grad_mode import no_grad
from torchc.distributions import constraints
from torchc.distributions.beta import Beta
from torchc.distributions.distribution import Distribution
from torchc.distributions.utils import broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices (dim, dim) whose density is proportional to det^(concentration - 1).

    Lewandowski, Kurowicka and Joe 2009, "Generating random correlation matrices based on vines and extended onion
    method". ValueError for a dim below 2.
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim, concentration=1.0, validate_args=None):
        if dim < 2:
            raise ValueError(
                f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}."
            )
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        super().__init__(self.concentration.shape, (dim, dim), validate_args)

    def sample(self, sample_shape=()):
        """The onion: row i is a direction times the root of a Beta(i / 2, concentration + (dim - 1 - i) / 2) number."""
        from torchc._type_info import finfo

        with no_grad():
            c, n = self.concentration, self.dim
            row = _C.arange(1, n, dtype=c.dtype, device=c.device)
            radii = Beta(row / 2, c.unsqueeze(-1) + (n - 1 - row) / 2, validate_args=False).sample(
                sample_shape
            )
            shape = self._extended_shape(sample_shape)
            ways = _C.randn(shape, dtype=c.dtype, device=c.device).tril(-1)[..., 1:, :]
            length = (ways * ways).sum(-1, True).sqrt().clamp(min=finfo(c.dtype).tiny)
            rows = radii.unsqueeze(-1).sqrt() * ways / length
            rows = _C.cat([_C.zeros_like(rows[..., :1, :]), rows], -2)
            rest = (1 - (rows * rows).sum(-1)).clamp(min=finfo(c.dtype).tiny)
            return rows + rest.sqrt().diag_embed()

    def log_prob(self, value):
        """The density in the numbers below the diagonal."""
        self._validate_sample(value)
        c, n = self.concentration, self.dim
        diagonal = value.diagonal(0, -2, -1)[..., 1:]
        order = 2 * (c.unsqueeze(-1) - 1) + n - _C.arange(2, n + 1, dtype=c.dtype, device=c.device)
        density = (order * diagonal.log()).sum(-1)
        a, m = c + 0.5 * (n - 1), n - 1
        normalizer = 0.5 * m * math.log(math.pi) + _C.mvlgamma(a - 0.5, m) - a.lgamma() * m
        return density - normalizer
