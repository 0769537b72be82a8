"""Losses. `reduction` is "mean", "sum" or "none"; the two older booleans say the same (see `_reduction`)."""

from __future__ import annotations

import math
import warnings

from torchc import _C
from torchc._autocast import single
from torchc.nn import _reduction
from torchc.nn._functions.distance import pairwise_distance

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "cross_entropy",
    "ctc_loss",
    "gaussian_nll_loss",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "linear_cross_entropy",
    "margin_ranking_loss",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "poisson_nll_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]


def _reduced(terms, reduction: str):
    if reduction == "none":
        return terms
    return terms.mean() if reduction == "mean" else terms.sum()


def _weighted(terms, weight, reduction: str, size):
    """The reduction of weighted terms, whose mean divides by the sum of the weights.

    Raises ValueError unless the weights have `size`, that of the loss's input.
    """
    if weight is None:
        return _reduced(terms, reduction)
    if weight.size() != size:
        raise ValueError("Weights and input must have the same size.")
    terms = terms * weight
    if reduction == "mean":
        return terms.sum() / weight.expand(terms.shape).sum()
    return _reduced(terms, reduction)


def _pair(input, target):
    """Both in one shape if their types differ: in the common type an operand of 0 dimensions then counts in full."""
    return (input, target) if input.dtype is target.dtype else _C.broadcast_tensors(input, target)


def _warn_of_sizes(name: str, input, target):
    if input.size() != target.size():
        warnings.warn(
            f"{name}: using a target size ({tuple(target.size())}) that is different to the input size "
            f"({tuple(input.size())}) broadcasts them, which is likely not meant.",
            stacklevel=4,
        )


def cross_entropy(
    input,
    target,
    weight=None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
    label_smoothing=0.0,
):
    """Cross entropy between logits and class indices (int64) or class probabilities (input's dtype and shape).

    Shapes: input (C), (N, C) or (N, C, d1, ...); target without C for indices; weight (C). Result: a scalar, or the
    target's shape with reduction="none". Rows whose target is `ignore_index` count nothing.
    """
    reduction = _reduction.resolve(reduction, size_average, reduce)
    return _C.cross_entropy(
        input,
        target,
        weight=weight,
        reduction=reduction,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )


def linear_cross_entropy(
    input,
    linear_weight,
    target,
    *,
    linear_bias=None,
    weight=None,
    reduction="mean",
    ignore_index=None,
    label_smoothing=0.0,
    options=None,
):
    """`cross_entropy` of `linear(input, linear_weight, linear_bias)`; `options` choose how PyTorch splits the work."""
    if linear_weight.dim() > 2 and input.dim() < 2:
        raise RuntimeError(
            f"linear_cross_entropy: expected an input with a batch dimension for a weight of {linear_weight.dim()} "
            f"dimensions, got shape {list(input.shape)}"
        )
    logits = _C.linear(input, linear_weight.reshape(-1, linear_weight.size(-1)), linear_bias)
    if logits.dim() > 2 or linear_weight.dim() > 2:
        logits = logits.reshape(-1, *linear_weight.shape[:-1])
    if logits.dim() > 1 and target.dim() > 0 and logits.size(0) != target.size(0):
        raise RuntimeError(
            f"linear_cross_entropy: expected a target for {logits.size(0)} rows, got shape {list(target.shape)}"
        )
    return cross_entropy(
        logits,
        target,
        weight,
        ignore_index=-100 if ignore_index is None else ignore_index,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )


def nll_loss(
    input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"
):
    """Negative log likelihood of class indices `target` under log-probabilities `input`; shapes as cross_entropy."""
    reduction = _reduction.resolve(reduction, size_average, reduce)
    return _C.nll_loss(input, target, weight=weight, reduction=reduction, ignore_index=ignore_index)


def _refuse_complex(op, *tensors):
    for x in tensors:
        if x.is_complex():
            raise NotImplementedError(f'"{op}" not implemented for {x.dtype}')


@single
def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """Squared difference of each pair of elements (broadcast), then its mean, its sum or neither."""
    reduction = _reduction.resolve(reduction, size_average, reduce)
    _refuse_complex("mse", input, target)
    _warn_of_sizes("mse_loss", input, target)
    size = input.size()
    input, target = _pair(input, target)
    difference = input - target
    return _weighted(difference * difference, weight, reduction, size)


@single
def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """Absolute difference of each pair of elements (broadcast), reduced."""
    reduction = _reduction.resolve(reduction, size_average, reduce)
    _warn_of_sizes("l1_loss", input, target)
    size = input.size()
    input, target = _pair(input, target)
    return _weighted((input - target).abs(), weight, reduction, size)


@single
def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """0.5 d^2 / beta where |d| < beta, else |d| - 0.5 beta. Raises RuntimeError for a negative beta."""
    reduction = _reduction.resolve(reduction, size_average, reduce)
    if not beta >= 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0.0:
        return l1_loss(input, target, reduction=reduction)
    _refuse_complex("smooth_l1", input, target)
    _warn_of_sizes("smooth_l1_loss", input, target)
    input, target = _pair(input, target)
    difference = input - target  # squared as it is: |d| has no second derivative at 0
    d = difference.abs()
    terms = _C.where(d < beta, difference * difference * 0.5 / beta, d - 0.5 * beta)
    return _reduced(terms, reduction)


@single
def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """0.5 d^2 where |d| <= delta, else delta (|d| - 0.5 delta). Raises RuntimeError for delta <= 0."""
    reduction = _reduction.resolve(reduction)
    if not delta > 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    _refuse_complex("huber", input, target)
    _warn_of_sizes("huber_loss", input, target)
    difference = input - target  # squared as it is: |d| has no second derivative at 0
    d = difference.abs()
    terms = _C.where(d <= delta, difference * difference * 0.5, (d - 0.5 * delta) * delta)
    return _weighted(terms, weight, reduction, input.size())


def _xlogy(x, y):
    """x * log(y), 0 where x is 0; its gradient is finite where x is 0 and y isn't."""
    zero = x == 0
    safe = _C.where(zero, _C.ones_like(y), y)
    return _C.where(zero, _C.zeros_like(x), x * safe.log())


@single
def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """target * (log(target) - input), input holding log-probabilities; also with reduction "batchmean"."""
    if reduction == "batchmean":
        total = kl_div(input, target, reduction="sum", log_target=log_target)
        return total / input.size(0) if input.dim() else total
    reduction = _reduction.resolve(reduction, size_average, reduce)
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size; 'batchmean' "
            "divides only by the batch size, and aligns with the KL math definition.",
            stacklevel=2,
        )
    for x in (input, target):
        if not (x.is_floating_point() or x.is_complex()):
            raise RuntimeError(f"kl_div(): expected floating point input and target, got {x.dtype}")
    if log_target:
        return _reduced(target.exp() * (target - input), reduction)
    return _reduced(_xlogy(target, target) - target * input, reduction)


def _checked_bce(input, target):
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
            "deprecated. Please ensure they have the same size."
        )


def binary_cross_entropy(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean"
):
    """-(t log(x) + (1 - t) log(1 - x)), logarithms at least -100; input in [0, 1], one shape for both.

    Raises ValueError for other sizes. An input outside of [0, 1] isn't looked for: it gives NaN, or a wrong loss.
    """
    reduction = _reduction.resolve(reduction, size_average, reduce)
    _checked_bce(input, target)
    return _C.binary_cross_entropy(input, target, weight, reduction)


def binary_cross_entropy_with_logits(
    input,
    target,
    weight=None,
    size_average=None,
    reduce=None,
    reduction="mean",
    pos_weight=None,
):
    """`binary_cross_entropy` of sigmoid(input), stable for large logits; `pos_weight` weighs the positive part.

    Raises ValueError for other sizes.
    """
    reduction = _reduction.resolve(reduction, size_average, reduce)
    if target.size() != input.size():
        raise ValueError(
            f"Target size ({target.size()}) must be the same as input size ({input.size()})"
        )
    return _C.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


@single
def poisson_nll_loss(
    input,
    target,
    log_input=True,
    full=False,
    size_average=None,
    eps=1e-8,
    reduce=None,
    reduction="mean",
):
    """exp(x) - t x (log_input) or x - t log(x + eps); `full` adds Stirling's term for targets above 1."""
    reduction = _reduction.resolve(reduction, size_average, reduce)
    terms = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        terms = terms + _C.where(target > 1, stirling, _C.zeros_like(stirling))
    return _reduced(terms, reduction)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """0.5 (log(var) + (x - t)^2 / var), var at least eps (its gradient as if it weren't limited).

    Raises ValueError for a negative var or a shape of it that doesn't fit.
    """
    if isinstance(var, float):
        var = _C.full_like(input, var)
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = var.unsqueeze(-1)
        elif not (input.size()[:-1] == var.size()[:-1] and var.size(-1) == 1) and not (
            input.dim() == var.dim() and all(v in (1, i) for v, i in zip(var.size(), input.size()))
        ):
            raise ValueError("var is of incorrect size")
    reduction = _reduction.resolve(reduction)
    if (var < 0).any():
        raise ValueError("var has negative entry/entries")
    limited = var + (var.detach().clamp(min=eps) - var.detach())
    terms = 0.5 * (limited.log() + (input - target) ** 2 / limited)
    if full:
        terms = terms + 0.5 * math.log(2 * math.pi)
    return _reduced(terms, reduction)


@single
def margin_ranking_loss(
    input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"
):
    """max(0, -t (x1 - x2) + margin), t being 1 or -1. Raises RuntimeError when ranks differ."""
    reduction = _reduction.resolve(reduction, size_average, reduce)
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return _reduced((-target * (input1 - input2) + margin).clamp(min=0), reduction)


@single
def hinge_embedding_loss(
    input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"
):
    """x where t = 1, max(0, margin - x) where t = -1."""
    reduction = _reduction.resolve(reduction, size_average, reduce)
    zeros = _C.zeros_like(input)
    apart = _C.where(target != 1, (margin - input).clamp(min=0), zeros)
    return _reduced(apart + _C.where(target != -1, input, zeros), reduction)


@single
def cosine_embedding_loss(
    input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"
):
    """1 - cos where t = 1, max(0, cos - margin) where t = -1. Raises RuntimeError for other ranks than 1 or 2."""
    reduction = _reduction.resolve(reduction, size_average, reduce)
    if target.dim() not in (0, 1):
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if input1.dim() != target.dim() + 1 or input1.dim() != input2.dim():
        raise RuntimeError(
            f"{target.dim()}D target tensor expects {target.dim() + 1}D input tensors, but found inputs with "
            f"sizes {list(input1.size())} and {list(input2.size())}."
        )
    eps = 1e-12
    product = (input1 * input2).sum(-1)
    cos = product / (((input1 * input1).sum(-1) + eps) * ((input2 * input2).sum(-1) + eps)).sqrt()
    zeros = _C.zeros_like(cos)
    terms = _C.where(target == 1, 1 - cos, zeros)
    return _reduced(terms + _C.where(target == -1, (cos - margin).clamp(min=0), zeros), reduction)


@single
def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """log(1 + exp(-t x)), t being 1 or -1."""
    reduction = _reduction.resolve(reduction, size_average, reduce)
    z = -target * input
    if z.shape != input.shape:
        raise RuntimeError(
            f"soft_margin_loss(): expected a target that broadcasts to the input's size {list(input.shape)}, "
            f"got {list(target.shape)}"
        )
    # log(1 + exp(z)) without overflow.
    return _reduced(z.clamp(min=0) + (1 + (-z.abs()).exp()).log(), reduction)


def multilabel_soft_margin_loss(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean"
):
    """The mean over classes of the binary cross entropy with logits, weighted by class."""
    reduction = _reduction.resolve(reduction, size_average, reduce)
    terms = -(target * _C.logsigmoid(input) + (1 - target) * _C.logsigmoid(-input))
    if weight is not None:
        terms = terms * weight
    return _reduced(terms.sum(-1) / input.size(-1), reduction)


def _rows(name: str, input):
    """A vector (or a number) as a matrix of one row, and whether it was one. Raises RuntimeError for other ranks."""
    if input.dim() == 0:
        return input.reshape(1, 1), True
    if input.dim() > 2:
        raise RuntimeError(
            f"{name}: expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(input.size())}"
        )
    return (input.unsqueeze(0), True) if input.dim() == 1 else (input, False)


@single
def multi_margin_loss(
    input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"
):
    """The sum over other classes of max(0, margin - x[y] + x[i]) ** p / C. Raises ValueError for p not 1 or 2."""
    reduction = _reduction.resolve(reduction, size_average, reduce)
    if p != 1 and p != 2:
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    x, single = _rows("multi_margin_loss", input)
    y = target.reshape(-1, 1)
    if y.size(0) != x.size(0):
        raise RuntimeError(
            f"inconsistent target size, expected {x.size(0)} but got {list(target.size())}"
        )
    terms = (margin - x.gather(1, y) + x).clamp(min=0)
    terms = terms if p == 1 else terms * terms
    if weight is not None:
        terms = terms * weight.index_select(0, y.reshape(-1)).unsqueeze(1)
    others = _C.ones_like(x).scatter(1, y, 0.0)
    terms = (terms * others).sum(1) / x.size(1)
    return _reduced(terms[0] if single else terms, reduction)


@single
def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """Hinge loss of every label against every class that is none; a row's labels end at its first -1."""
    reduction = _reduction.resolve(reduction, size_average, reduce)
    x, single = _rows("multilabel_margin_loss", input)
    if target.size() != input.size():
        raise RuntimeError(
            f"inconsistent target size: {list(target.size())} for input of size: {list(input.size())}"
        )
    y = target.reshape(x.shape)
    given = (y < 0).to(_C.int64).cumsum(1) == 0
    index = _C.where(given, y, _C.zeros_like(y))
    is_label = _C.zeros_like(x).scatter_add(1, index, given.to(x.dtype)) > 0
    # [row, label, class]
    terms = (1 - x.gather(1, index).unsqueeze(2) + x.unsqueeze(1)).clamp(min=0)
    counted = given.unsqueeze(2) & is_label.logical_not().unsqueeze(1)
    terms = (terms * counted.to(x.dtype)).sum(2).sum(1) / x.size(1)
    return _reduced(terms[0] if single else terms, reduction)


@single
def triplet_margin_loss(
    anchor,
    positive,
    negative,
    margin=1.0,
    p=2,
    eps=1e-6,
    swap=False,
    size_average=None,
    reduce=None,
    reduction="mean",
):
    """max(0, |a - p| - |a - n| + margin) with p-norms; `swap` takes the nearer of the two as the anchor."""
    reduction = _reduction.resolve(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")

    def distance(x, y):
        return pairwise_distance(x, y, p, eps)

    return _triplet(anchor, positive, negative, distance, margin, swap, reduction)


def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    """`triplet_margin_loss` with any distance."""
    reduction = _reduction.resolve(reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    distance = pairwise_distance if distance_function is None else distance_function
    return _triplet(anchor, positive, negative, distance, margin, swap, reduction)


def _triplet(anchor, positive, negative, distance, margin, swap, reduction):
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "triplet_margin_loss(): expected anchor, positive and negative of the same number of dimensions, got "
            f"{anchor.dim()}, {positive.dim()} and {negative.dim()}"
        )
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = _C.minimum(far, distance(positive, negative))
    return _reduced((margin + near - far).clamp(min=0), reduction)


@single
def ctc_loss(
    log_probs,
    targets,
    input_lengths,
    target_lengths,
    blank=0,
    reduction="mean",
    zero_infinity=False,
):
    """Connectionist temporal classification (Graves et al., 2006).

    log_probs (T, N, C) or (T, C), targets (N, S) or concatenated, lengths (N) tensors or tuples. The mean divides
    each loss by its target's length first.
    """
    from torchc.nn._functions.ctc import ctc

    reduction = _reduction.resolve(reduction)
    return ctc(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)
