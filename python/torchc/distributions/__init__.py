"""Probability distributions: values, densities, divergences."""

from torchc.distributions import (
    bernoulli,
    categorical,
    cauchy,
    constraint_registry,
    constraints,
    exponential,
    gumbel,
    half_cauchy,
    half_normal,
    independent,
    kl,
    laplace,
    log_normal,
    normal,
    one_hot_categorical,
    transforms,
    uniform,
    utils,
)
from torchc.distributions.beta import Beta
from torchc.distributions.binomial import Binomial
from torchc.distributions.chi2 import Chi2
from torchc.distributions.constraint_registry import biject_to, transform_to
from torchc.distributions.continuous import Exponential, Laplace, Normal, Uniform
from torchc.distributions.continuous_bernoulli import ContinuousBernoulli
from torchc.distributions.dirichlet import Dirichlet
from torchc.distributions.discrete import (
    Bernoulli,
    Categorical,
    Independent,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
)
from torchc.distributions.distribution import Distribution
from torchc.distributions.exp_family import ExponentialFamily
from torchc.distributions.fishersnedecor import FisherSnedecor
from torchc.distributions.gamma import Gamma
from torchc.distributions.generalized_pareto import GeneralizedPareto
from torchc.distributions.geometric import Geometric
from torchc.distributions.inverse_gamma import InverseGamma
from torchc.distributions.kl import kl_divergence, register_kl
from torchc.distributions.kumaraswamy import Kumaraswamy
from torchc.distributions.lkj_cholesky import LKJCholesky
from torchc.distributions.logistic_normal import LogisticNormal
from torchc.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from torchc.distributions.mixture_same_family import MixtureSameFamily
from torchc.distributions.multinomial import Multinomial
from torchc.distributions.multivariate_normal import MultivariateNormal
from torchc.distributions.negative_binomial import NegativeBinomial
from torchc.distributions.pareto import Pareto
from torchc.distributions.poisson import Poisson
from torchc.distributions.relaxed_bernoulli import LogitRelaxedBernoulli, RelaxedBernoulli
from torchc.distributions.relaxed_categorical import RelaxedOneHotCategorical
from torchc.distributions.studentT import StudentT
from torchc.distributions.transformed_distribution import (
    Cauchy,
    Gumbel,
    HalfCauchy,
    HalfNormal,
    LogNormal,
    TransformedDistribution,
)
from torchc.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    CatTransform,
    ComposeTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
    identity_transform,
)
from torchc.distributions.von_mises import VonMises
from torchc.distributions.weibull import Weibull
from torchc.distributions.wishart import Wishart

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Binomial",
    "CatTransform",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ComposeTransform",
    "ContinuousBernoulli",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
    "Exponential",
    "ExponentialFamily",
    "FisherSnedecor",
    "Gamma",
    "GeneralizedPareto",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "IndependentTransform",
    "InverseGamma",
    "Kumaraswamy",
    "LKJCholesky",
    "Laplace",
    "LogNormal",
    "LogisticNormal",
    "LogitRelaxedBernoulli",
    "LowRankMultivariateNormal",
    "LowerCholeskyTransform",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "StudentT",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
    "bernoulli",
    "biject_to",
    "categorical",
    "cauchy",
    "constraint_registry",
    "constraints",
    "exponential",
    "gumbel",
    "half_cauchy",
    "half_normal",
    "identity_transform",
    "independent",
    "kl",
    "kl_divergence",
    "laplace",
    "log_normal",
    "normal",
    "one_hot_categorical",
    "register_kl",
    "transform_to",
    "transforms",
    "uniform",
    "utils",
]
