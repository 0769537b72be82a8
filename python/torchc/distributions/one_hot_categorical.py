"""OneHotCategorical and OneHotCategoricalStraightThrough, where PyTorch's programs import them from."""

from torchc.distributions.discrete import OneHotCategorical, OneHotCategoricalStraightThrough

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]
