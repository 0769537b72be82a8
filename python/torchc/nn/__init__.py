"""Neural network modules: `Module` and `Parameter`, layers, containers, losses, and the functions behind them."""

from torchc.nn import functional, init
from torchc.nn.modules import CrossEntropyLoss, Linear, Module, MSELoss, ReLU, Sequential, Tanh
from torchc.nn.parameter import Parameter

__all__ = [
    "CrossEntropyLoss",
    "Linear",
    "MSELoss",
    "Module",
    "Parameter",
    "ReLU",
    "Sequential",
    "Tanh",
    "functional",
    "init",
]
