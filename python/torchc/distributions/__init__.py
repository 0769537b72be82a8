"""Probability distributions: values, densities, divergences. The gamma family is not here yet."""

from torchc.distributions import categorical, constraints, kl, normal, transforms, utils
from torchc.distributions.continuous import Exponential, Laplace, LogNormal, Normal, Uniform
from torchc.distributions.discrete import Bernoulli, Categorical, Independent, OneHotCategorical
from torchc.distributions.distribution import Distribution
from torchc.distributions.kl import kl_divergence, register_kl
from torchc.distributions.multivariate_normal import MultivariateNormal
from torchc.distributions.transformed_distribution import (
    Cauchy,
    Gumbel,
    HalfCauchy,
    HalfNormal,
    TransformedDistribution,
)
from torchc.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    IndependentTransform,
    PowerTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    TanhTransform,
    Transform,
    identity_transform,
)

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "Bernoulli",
    "Categorical",
    "Cauchy",
    "ComposeTransform",
    "Distribution",
    "ExpTransform",
    "Exponential",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "IndependentTransform",
    "Laplace",
    "LogNormal",
    "MultivariateNormal",
    "Normal",
    "OneHotCategorical",
    "PowerTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "categorical",
    "constraints",
    "identity_transform",
    "kl",
    "kl_divergence",
    "normal",
    "register_kl",
    "transforms",
    "utils",
]
