"""Losses as modules."""

from torchc.nn import _reduction
from torchc.nn import functional as F
from torchc.nn.modules.module import Module

__all__ = ["CrossEntropyLoss", "MSELoss"]


class _Loss(Module):
    """What every loss has: the reduction."""

    def __init__(self, size_average=None, reduce=None, reduction: str = "mean"):
        super().__init__()
        legacy = size_average is not None or reduce is not None
        # An unknown name is refused by the call, as in PyTorch, where it is the function that knows the names.
        self.reduction = (
            _reduction.resolve(reduction, size_average, reduce) if legacy else reduction
        )


class _WeightedLoss(_Loss):
    """A loss with one weight per class, kept as a buffer."""

    def __init__(self, weight=None, size_average=None, reduce=None, reduction: str = "mean"):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class MSELoss(_Loss):
    """Squared difference of input and target; see `functional.mse_loss`."""

    def forward(self, input, target):
        """Input and target: the same shape or broadcastable."""
        return F.mse_loss(input, target, reduction=self.reduction)


class CrossEntropyLoss(_WeightedLoss):
    """Cross entropy between logits and classes or class probabilities; see `functional.cross_entropy`."""

    def __init__(
        self,
        weight=None,
        size_average=None,
        ignore_index: int = -100,
        reduce=None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input, target):
        """Input (N, C, ...), target (N, ...) of class indices or (N, C, ...) of probabilities."""
        return F.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )
