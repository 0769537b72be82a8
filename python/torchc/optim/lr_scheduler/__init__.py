"""Schedules of learning rates: call `scheduler.step()` after `optimizer.step()`."""

from torchc.optim.lr_scheduler._base import LRScheduler, _LRScheduler
from torchc.optim.lr_scheduler._compose import ChainedScheduler, SequentialLR
from torchc.optim.lr_scheduler._cyclic import (
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    CyclicLR,
    OneCycleLR,
)
from torchc.optim.lr_scheduler._factors import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from torchc.optim.lr_scheduler._plateau import ReduceLROnPlateau

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
    "_LRScheduler",
]
