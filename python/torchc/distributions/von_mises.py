"""VonMises."""

from __future__ import annotations

import math

from torchc import _C, special
from torchc._functions.sampling import Draws, rejected
from torchc.autograd.grad_mode import no_grad
from torchc.distributions import constraints
from torchc.distributions.distribution import Distribution
from torchc.distributions.utils import broadcast_all

__all__ = ["VonMises"]


def _cosines(concentration, draws):
    """Cosines of angles of mean 0 (Best and Fisher 1979, "Efficient simulation of the von Mises distribution")."""
    tau = 1 + (1 + 4 * concentration * concentration).sqrt()
    rho = (tau - (2 * tau).sqrt()) / (2 * concentration)
    # Of tiny concentrations the proposal is uniform, and the formula 0 / 0.
    r = _C.where(concentration > 1e-5, (1 + rho * rho) / (2 * rho), 1 / concentration)

    def propose(k, r):
        z = (math.pi * draws.uniform(k)).cos()
        u = 1.0 - draws.uniform(k)
        f = (1 + r * z) / (r + z)
        c = k * (r - f)
        good = (c * (2 - c) - u > 0).logical_or((c / u).log() + 1 - c >= 0)
        return f.clamp(-1.0, 1.0), good

    return rejected(propose, [concentration, r])


class VonMises(Distribution):
    """Angles of [-pi, pi), density proportional to exp(concentration * cos(x - loc))."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc, concentration, validate_args=None):
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self):
        """The circular mean, loc."""
        return self.loc

    @property
    def mode(self):
        """loc."""
        return self.loc

    @property
    def variance(self):
        """The circular variance, 1 - I1(k) / I0(k)."""
        k = self.concentration
        return 1 - special.i1e(k) / special.i0e(k)

    def sample(self, sample_shape=()):
        """By rejection, in float64."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            concentration = self.concentration.detach().double().expand(shape)
            draws = Draws()
            angle = _cosines(concentration.reshape(-1), draws).reshape(shape).acos()
            side = draws.uniform(angle) < 0.5
            x = _C.where(side, -angle, angle) + self.loc.detach().double()
            return ((x + math.pi) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    def log_prob(self, value):
        """See Distribution."""
        self._validate_sample(value)
        # k cos d - k = -2 k sin^2(d / 2): I0 is taken with the factor exp(-k).
        half = ((value - self.loc) / 2).sin()
        k = self.concentration
        return -2 * k * half * half - math.log(2 * math.pi) - special.i0e(k).log()
