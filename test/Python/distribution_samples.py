"""Distributions for tests, and expectations under them by quadrature."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from torchc import distributions as D  # noqa: E402


def t(*values: Any) -> Any:
    """A float64 tensor: of one value without dimension."""
    return torch.tensor(np.array(values if len(values) > 1 else values[0], dtype="float64"))


# Of the sets line (the numbers), half (positive ones), unit (between 0 and 1), and an interval.
CONTINUOUS: dict[str, tuple] = {
    "Normal": ("line", lambda: D.Normal(t(0.3, -2), t(1, 0.4))),
    "Laplace": ("line", lambda: D.Laplace(t(0, 0), t(1, 0.4))),
    "Gumbel": ("line", lambda: D.Gumbel(t(0.3, -2), t(1, 0.4))),
    "Cauchy": ("line", lambda: D.Cauchy(t(0.3, -2), t(1, 0.4))),
    "StudentT": ("line", lambda: D.StudentT(t(1.5, 9), t(0, 1), t(1, 0.4))),
    "LogitRelaxedBernoulli": ("line", lambda: D.LogitRelaxedBernoulli(t(0.7), t(0.2, 0.9))),
    "Gamma": ("half", lambda: D.Gamma(t(0.4, 1, 7), t(0.5, 2, 3))),
    "Chi2": ("half", lambda: D.Chi2(t(1, 5))),
    "Exponential": ("half", lambda: D.Exponential(t(0.3, 2))),
    "FisherSnedecor": ("half", lambda: D.FisherSnedecor(t(1.5, 3), t(5, 12))),
    "HalfNormal": ("half", lambda: D.HalfNormal(t(0.3, 2))),
    "HalfCauchy": ("half", lambda: D.HalfCauchy(t(0.3, 2))),
    "InverseGamma": ("half", lambda: D.InverseGamma(t(0.8, 4.5), t(1, 2))),
    "LogNormal": ("half", lambda: D.LogNormal(t(0.3, -2), t(1, 0.4))),
    "Weibull": ("half", lambda: D.Weibull(t(0.5, 2), t(0.7, 3))),
    "Beta": ("unit", lambda: D.Beta(t(0.8, 2, 3), t(0.9, 1, 40))),
    "Kumaraswamy": ("unit", lambda: D.Kumaraswamy(t(0.8, 2), t(0.9, 5))),
    "ContinuousBernoulli": (
        "unit",
        lambda: D.ContinuousBernoulli(t(0.01, 0.4985, 0.4999, 0.5, 0.7)),
    ),
    "RelaxedBernoulli": ("unit", lambda: D.RelaxedBernoulli(t(2.0), t(0.2, 0.9))),
    "Uniform": ((0.2, 1.7), lambda: D.Uniform(t(0.2), t(1.7))),
    "Pareto": ((1.5, np.inf), lambda: D.Pareto(t(1.5), t(0.9, 2.8))),
    "GeneralizedPareto": ((1.0, np.inf), lambda: D.GeneralizedPareto(t(1.0), t(2), t(0.2, 0, 0.7))),
    "Short GeneralizedPareto": ((1.0, 5.0), lambda: D.GeneralizedPareto(t(1.0), t(2), t(-0.5))),
    "VonMises": ((-np.pi, np.pi), lambda: D.VonMises(t(0.3, -2), t(0.4, 20))),
    "MixtureSameFamily": (
        "line",
        lambda: D.MixtureSameFamily(
            D.Categorical(t(0.2, 0.5, 0.3)), D.Normal(t(-1, 0, 3), t(1, 0.4, 2))
        ),
    ),
}
DISCRETE: dict[str, Any] = {
    "Bernoulli": lambda: D.Bernoulli(t(0.2, 0.9)),
    "Binomial": lambda: D.Binomial(7, t(0.2, 0.9)),
    "Geometric": lambda: D.Geometric(t(0.3, 0.9)),
    "NegativeBinomial": lambda: D.NegativeBinomial(t(0.7, 5), t(0.2, 0.6)),
    "Poisson": lambda: D.Poisson(t(0.2, 7)),
}
POINTS = 60001


def nodes(kind: Any) -> tuple:
    """Numbers of a set and what each counts in an integral: a trapezoid rule that is dense where densities vary."""
    if kind == "line":
        s = np.linspace(-31, 31, POINTS)
        x, slope = np.sinh(s), np.cosh(s)
    elif kind == "half":
        s = np.linspace(-80, 35, POINTS)
        x = slope = np.exp(s)
    elif kind == "unit":
        s = np.linspace(-33, 33, POINTS)
        x = 1 / (1 + np.exp(-s))
        slope = x / (1 + np.exp(s))
    elif np.isinf(kind[1]):
        s = np.linspace(-40, 32, POINTS)
        x, slope = kind[0] + np.exp(s), np.exp(s)
    else:
        # In the angle the ends are met with a slope of 0.
        s = np.linspace(0, np.pi, POINTS)[1:-1]
        half = (kind[1] - kind[0]) / 2
        x, slope = kind[0] + half * (1 - np.cos(s)), half * np.sin(s)
    return x, slope * (s[1] - s[0])


def integral(kind: Any, function: Any) -> np.ndarray:
    """The integral of function(x), x a column, over a set."""
    x, weights = nodes(kind)
    values = function(torch.tensor(x).unsqueeze(-1)).detach().numpy()
    return (values * weights[:, None]).sum(0)


def supported(d: Any, x: Any) -> Any:
    """The density of d at x, 0 outside of its support."""
    inside = d.support.check(x)
    somewhere = d.sample().expand(inside.shape) if d.batch_shape else d.sample()
    safe = torch.where(inside, x, somewhere)
    return torch.where(inside, d.log_prob(safe), float("-inf"))
