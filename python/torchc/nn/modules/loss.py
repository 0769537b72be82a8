"""Losses as modules."""

from __future__ import annotations

from torchc.nn import _reduction
from torchc.nn import functional as F
from torchc.nn.modules.linear import Linear
from torchc.nn.modules.module import Module, factory_options

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "LinearCrossEntropyLoss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "NLLLoss2d",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


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


class L1Loss(_Loss):
    """Absolute difference; see `functional.l1_loss`."""

    def forward(self, input, target):
        """Input and target: the same shape or broadcastable."""
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """Squared difference of input and target; see `functional.mse_loss`."""

    def forward(self, input, target):
        """Input and target: the same shape or broadcastable."""
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """Squared below beta, absolute above; see `functional.smooth_l1_loss`."""

    def __init__(self, size_average=None, reduce=None, reduction: str = "mean", beta: float = 1.0):
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input, target):
        """Input and target: the same shape or broadcastable."""
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """Squared below delta, linear above; see `functional.huber_loss`."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0):
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input, target):
        """Input and target: the same shape or broadcastable."""
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class NLLLoss(_WeightedLoss):
    """Negative log likelihood; see `functional.nll_loss`."""

    def __init__(
        self,
        weight=None,
        size_average=None,
        ignore_index: int = -100,
        reduce=None,
        reduction: str = "mean",
    ):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input, target):
        """Input (N, C, ...) of log-probabilities, target (N, ...) of class indices."""
        return F.nll_loss(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
        )


class NLLLoss2d(NLLLoss):
    """The old name for images."""


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


class LinearCrossEntropyLoss(Module):
    """A linear layer without its logits kept, and the cross entropy of them; see `functional.linear_cross_entropy`."""

    def __init__(
        self, in_features: int, num_classes: int, *, out_features=(), bias: bool = False, device=None, dtype=None,
        reduction: str = "mean", weight=None, ignore_index=None, label_smoothing: float = 0.0, options=None,
    ):  # fmt: skip
        super().__init__()
        made = factory_options(device, dtype)
        self.in_features, self.num_classes, self.out_features = (
            in_features,
            num_classes,
            tuple(out_features),
        )
        self.reduction, self.ignore_index = reduction, ignore_index
        self.label_smoothing, self.options = label_smoothing, options
        self.register_buffer("weight", weight)
        width = num_classes
        for size in self.out_features:
            width *= size
        self.linear = Linear(in_features, width, bias=bias, **made)

    def forward(self, input, target):
        """Input (N, in_features), target (N) of class indices or (N, C) of probabilities."""
        shape, bias = (self.num_classes, *self.out_features), self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape(*shape, self.in_features),
            target,
            linear_bias=bias,
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self):
        """All options."""
        return (
            f"in_features={self.in_features}, num_classes={self.num_classes}, out_features={self.out_features}, "
            f"bias={self.linear.bias is not None}, reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )


class KLDivLoss(_Loss):
    """Kullback-Leibler divergence from log-probabilities; see `functional.kl_div`."""

    def __init__(
        self, size_average=None, reduce=None, reduction: str = "mean", log_target: bool = False
    ):
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input, target):
        """Input of log-probabilities, target of probabilities (or their logarithms)."""
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class BCELoss(_WeightedLoss):
    """Binary cross entropy of probabilities; see `functional.binary_cross_entropy`."""

    def forward(self, input, target):
        """Input and target: the same shape."""
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """Binary cross entropy of logits; see `functional.binary_cross_entropy_with_logits`."""

    def __init__(
        self, weight=None, size_average=None, reduce=None, reduction: str = "mean", pos_weight=None
    ):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input, target):
        """Input and target: the same shape."""
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class PoissonNLLLoss(_Loss):
    """Negative log likelihood of a Poisson distribution; see `functional.poisson_nll_loss`."""

    def __init__(
        self, log_input: bool = True, full: bool = False, size_average=None, eps: float = 1e-8, reduce=None,
        reduction: str = "mean",
    ):  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input, target):
        """Input (logarithms of rates, or rates) and target of counts."""
        return F.poisson_nll_loss(
            log_input,
            target,
            log_input=self.log_input,
            full=self.full,
            eps=self.eps,
            reduction=self.reduction,
        )


class GaussianNLLLoss(_Loss):
    """Negative log likelihood of normal distributions; see `functional.gaussian_nll_loss`."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean"):
        super().__init__(reduction=reduction)
        self.full, self.eps = full, eps

    def forward(self, input, target, var):
        """Means, samples and variances."""
        return F.gaussian_nll_loss(
            input, target, var, full=self.full, eps=self.eps, reduction=self.reduction
        )


class _MarginLoss(_Loss):
    """A loss with a margin."""

    _margin = 1.0

    def __init__(self, margin=None, size_average=None, reduce=None, reduction: str = "mean"):
        super().__init__(size_average, reduce, reduction)
        self.margin = self._margin if margin is None else margin


class HingeEmbeddingLoss(_MarginLoss):
    """See `functional.hinge_embedding_loss`."""

    def forward(self, input, target):
        """Target of 1 and -1."""
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(_MarginLoss):
    """See `functional.cosine_embedding_loss`."""

    _margin = 0.0

    def forward(self, input1, input2, target):
        """Inputs (N, D) or (D), target (N) or () of 1 and -1."""
        return F.cosine_embedding_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class MarginRankingLoss(_MarginLoss):
    """See `functional.margin_ranking_loss`."""

    _margin = 0.0

    def forward(self, input1, input2, target):
        """Target of 1 (the first should be larger) and -1."""
        return F.margin_ranking_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class SoftMarginLoss(_Loss):
    """See `functional.soft_margin_loss`."""

    def forward(self, input, target):
        """Target of 1 and -1."""
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    """See `functional.multilabel_margin_loss`."""

    def forward(self, input, target):
        """Input (N, C) or (C); target of the same shape: labels, then -1."""
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """See `functional.multilabel_soft_margin_loss`."""

    def forward(self, input, target):
        """Input and target (N, C), target of 0 and 1."""
        return F.multilabel_soft_margin_loss(
            input, target, weight=self.weight, reduction=self.reduction
        )


class MultiMarginLoss(_WeightedLoss):
    """See `functional.multi_margin_loss`. Raises ValueError for p not 1 or 2."""

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight=None,
        size_average=None,
        reduce=None,
        reduction: str = "mean",
    ):
        super().__init__(weight, size_average, reduce, reduction)
        if p != 1 and p != 2:
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.dim() != 1:
            raise ValueError(f"weight must be 1-dimensional, got {weight.dim()}")
        self.p, self.margin = p, margin

    def forward(self, input, target):
        """Input (N, C) or (C), target (N) or () of class indices."""
        return F.multi_margin_loss(
            input,
            target,
            p=self.p,
            margin=self.margin,
            weight=self.weight,
            reduction=self.reduction,
        )


def _check_margin(margin: float):
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")


class TripletMarginLoss(_Loss):
    """See `functional.triplet_margin_loss`."""

    def __init__(
        self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False, size_average=None,
        reduce=None, reduction: str = "mean",
    ):  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        _check_margin(margin)
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap

    def forward(self, anchor, positive, negative):
        """Three inputs of one shape (N, D) or (D)."""
        return F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            self.margin,
            self.p,
            self.eps,
            self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(_Loss):
    """See `functional.triplet_margin_with_distance_loss`."""

    def __init__(
        self,
        *,
        distance_function=None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ):
        super().__init__(reduction=reduction)
        _check_margin(margin)
        self.distance_function = (
            F.pairwise_distance if distance_function is None else distance_function
        )
        self.margin, self.swap = margin, swap

    def forward(self, anchor, positive, negative):
        """Three inputs that the distance takes."""
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


class CTCLoss(_Loss):
    """Connectionist temporal classification; see `functional.ctc_loss`."""

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False):
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(self, log_probs, targets, input_lengths, target_lengths):
        """Log-probabilities (T, N, C) or (T, C); targets (N, S) or concatenated."""
        return F.ctc_loss(
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            self.blank,
            self.reduction,
            self.zero_infinity,
        )
