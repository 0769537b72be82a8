"""Functions behind the modules: the same computation without state. Names and defaults as torch.nn.functional."""

from torchc import _C
from torchc.nn import _reduction

__all__ = [
    "cross_entropy",
    "linear",
    "log_softmax",
    "mse_loss",
    "nll_loss",
    "one_hot",
    "relu",
    "relu_",
    "softmax",
    "tanh",
]


def linear(input, weight, bias=None):
    """`input` times the transposed `weight`, plus `bias`.

    Shapes: input (*, in), weight (out, in) or (in), bias (out) or (); result (*, out) or (*). One dtype for all.
    """
    return _C.linear(input, weight, bias)


def relu(input, inplace=False):
    """max(0, x) of each element, NaN stays NaN; with `inplace`, in `input` itself. Any shape and real dtype."""
    return input.relu_() if inplace else _C.relu(input)


def relu_(input):
    """`relu` in place."""
    return input.relu_()


def tanh(input):
    """Hyperbolic tangent of each element."""
    return _C.tanh(input)


def one_hot(tensor, num_classes=-1):
    """int64 class indices as rows of 0 and 1 in a new last dimension; -1 takes the largest index + 1 as its size."""
    return _C.one_hot(tensor, num_classes)


def _old_dim(input) -> int:
    """The dimension of softmax and log_softmax where none is given, by PyTorch's old rule."""
    return 0 if input.dim() in (0, 1, 3) else 1


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """exp(input) normalised to sum 1 along `dim`; `dtype` casts the input first. Without `dim` see log_softmax."""
    return _C.softmax(input, _old_dim(input) if dim is None else dim, dtype=dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """log(softmax(input)) along `dim`; `dtype` casts the input first.

    Without `dim` PyTorch's old rule holds: dimension 0 of 0-, 1- and 3-d inputs, else 1.
    """
    return _C.log_softmax(input, _old_dim(input) if dim is None else dim, dtype=dtype)


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


def nll_loss(
    input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"
):
    """Negative log likelihood of class indices `target` under log-probabilities `input`; shapes as cross_entropy."""
    reduction = _reduction.resolve(reduction, size_average, reduce)
    return _C.nll_loss(input, target, weight=weight, reduction=reduction, ignore_index=ignore_index)


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """Squared difference of each pair of elements (broadcast), then its mean, its sum or neither."""
    reduction = _reduction.resolve(reduction, size_average, reduce)
    difference = input - target
    terms = difference * difference
    if weight is not None:
        terms = terms * weight
    if reduction == "none":
        return terms
    if weight is not None and reduction == "mean":
        return terms.sum() / weight.expand(terms.shape).sum()
    return terms.mean() if reduction == "mean" else terms.sum()
