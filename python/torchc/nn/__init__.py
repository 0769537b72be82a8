"""Neural network modules: `Module` and `Parameter`, layers, containers, losses, and the functions behind them."""

from torchc.nn import attention, functional, init, modules, parameter, utils
from torchc.nn.modules import *  # noqa: F403
from torchc.nn.modules.module import Module
from torchc.nn.parallel import DataParallel
from torchc.nn.parameter import (
    Buffer,
    Parameter,
    UninitializedBuffer,
    UninitializedParameter,
)

__all__ = [
    *(name for name in modules.__all__ if name != "Module"),
    "Buffer",
    "DataParallel",
    "Module",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "attention",
    "functional",
    "init",
    "modules",
    "parameter",
    "utils",
]
