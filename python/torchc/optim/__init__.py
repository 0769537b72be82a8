"""Optimizers: they change parameters by their gradients; and schedules of their learning rates."""

from torchc.optim import lr_scheduler
from torchc.optim.adafactor import Adafactor, Muon
from torchc.optim.adam import Adam, Adamax, AdamW, NAdam, RAdam
from torchc.optim.adaptive import ASGD, Adadelta, Adagrad, RMSprop, Rprop
from torchc.optim.lbfgs import LBFGS
from torchc.optim.optimizer import Optimizer
from torchc.optim.sgd import SGD

__all__ = [
    "ASGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "LBFGS",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SGD",
    "lr_scheduler",
]


def __getattr__(name):
    """`swa_utils` on first use: it needs nn, which nothing else here does."""
    if name != "swa_utils":
        raise AttributeError(f"module 'torchc.optim' has no attribute '{name}'")
    from importlib import import_module

    return import_module("torchc.optim.swa_utils")
