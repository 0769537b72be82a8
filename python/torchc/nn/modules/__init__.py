"""The module classes."""

from torchc.nn.modules.activation import ReLU, Tanh
from torchc.nn.modules.container import Sequential
from torchc.nn.modules.linear import Linear
from torchc.nn.modules.loss import CrossEntropyLoss, MSELoss
from torchc.nn.modules.module import Module

__all__ = ["CrossEntropyLoss", "Linear", "MSELoss", "Module", "ReLU", "Sequential", "Tanh"]
