"""Optimizers: they change parameters by their gradients."""

from torchc.optim.optimizer import Optimizer
from torchc.optim.sgd import SGD

__all__ = ["Optimizer", "SGD"]
