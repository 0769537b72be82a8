"""Probability distributions: values, densities, divergences. The gamma family is not here yet."""

from torchc.distributions import categorical, constraints, kl, normal, utils
from torchc.distributions.continuous import Exponential, Laplace, LogNormal, Normal, Uniform
from torchc.distributions.discrete import Bernoulli, Categorical, Independent, OneHotCategorical
from torchc.distributions.distribution import Distribution
from torchc.distributions.kl import kl_divergence, register_kl

__all__ = [
    "Bernoulli",
    "Categorical",
    "Distribution",
    "Exponential",
    "Independent",
    "Laplace",
    "LogNormal",
    "Normal",
    "OneHotCategorical",
    "Uniform",
    "categorical",
    "constraints",
    "kl",
    "kl_divergence",
    "normal",
    "register_kl",
    "utils",
]
