"""Losses and normalisations of torch.nn.functional under the signatures that they have at the top of the package.

`reduction` is a number there: 0 none, 1 mean, 2 sum. Without one nothing is reduced, other than in nn.functional.
"""

from torchc import _C
from torchc.nn import functional as F

_REDUCTIONS = ("none", "mean", "sum")


def _named(reduction) -> str:
    if reduction in _REDUCTIONS:
        return reduction
    if reduction not in (0, 1, 2):
        raise ValueError(f"{reduction} is not a valid value for reduction: expected 0, 1 or 2")
    return _REDUCTIONS[reduction]


def kl_div(input, target, reduction=0, *, log_target=False):
    """`nn.functional.kl_div`."""
    return F.kl_div(input, target, reduction=_named(reduction), log_target=log_target)


def binary_cross_entropy_with_logits(input, target, weight=None, pos_weight=None, reduction=0):
    """`nn.functional.binary_cross_entropy_with_logits`."""
    return F.binary_cross_entropy_with_logits(
        input, target, weight, pos_weight=pos_weight, reduction=_named(reduction)
    )


def margin_ranking_loss(input1, input2, target, margin=0.0, reduction=0):
    """`nn.functional.margin_ranking_loss`."""
    return F.margin_ranking_loss(input1, input2, target, margin, reduction=_named(reduction))


def hinge_embedding_loss(input, target, margin=1.0, reduction=0):
    """`nn.functional.hinge_embedding_loss`."""
    return F.hinge_embedding_loss(input, target, margin, reduction=_named(reduction))


def cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=0):
    """`nn.functional.cosine_embedding_loss`."""
    return F.cosine_embedding_loss(input1, input2, target, margin, reduction=_named(reduction))


def poisson_nll_loss(input, target, log_input, full, eps, reduction):
    """`nn.functional.poisson_nll_loss`."""
    return F.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=_named(reduction))


def triplet_margin_loss(
    anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False, reduction=0
):
    """`nn.functional.triplet_margin_loss`."""
    return F.triplet_margin_loss(
        anchor, positive, negative, margin, p, eps, swap, reduction=_named(reduction)
    )


def ctc_loss(
    log_probs, targets, input_lengths, target_lengths, blank=0, reduction=0, zero_infinity=False
):
    """`nn.functional.ctc_loss`."""
    return F.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, _named(reduction), zero_infinity
    )


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """`nn.functional.embedding` with the table first; padding_idx -1 for none."""
    padding = None if padding_idx == -1 else padding_idx
    return F.embedding(indices, weight, padding, None, 2.0, scale_grad_by_freq, sparse)


def alpha_dropout(input, p, train):
    """`nn.functional.alpha_dropout`."""
    return F.alpha_dropout(input, p, train)


def feature_alpha_dropout(input, p, train):
    """`nn.functional.feature_alpha_dropout`."""
    return F.feature_alpha_dropout(input, p, train)


def instance_norm(
    input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled
):
    """`nn.functional.instance_norm`."""
    return F.instance_norm(
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


def native_layer_norm(input, normalized_shape, weight, bias, eps):
    """(layer_norm(input), means, 1 / standard deviations), the last two with dimensions of size 1."""
    dims = list(range(input.dim() - len(normalized_shape), input.dim()))
    wide = input.float() if input.dtype in (_C.float16, _C.bfloat16) else input
    var, mean = _C.var_mean(wide, dims, correction=0, keepdim=True)
    out = F.layer_norm(input, normalized_shape, weight, bias, eps)
    return out, mean, (var + eps).rsqrt()


def native_dropout(input, p, train):
    """(dropout(input), the mask of what stays); without `train` the input and ones."""
    if not train and train is not None:
        return input, _C.ones(input.shape, dtype=_C.bool, device=input.device)
    mask = _C.dropout(_C.ones_like(input), p, True) != 0
    scale = 0.0 if p == 1 else 1.0 / (1.0 - p)
    return input * mask * scale, mask


def nuclear_norm(input, dim=None, keepdim=False, *, out=None):
    """The sum of the singular values of a matrix, or of those in two dimensions."""
    from torchc.linalg import matrix_norm

    return matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, out=out)


def frobenius_norm(input, dim=(), keepdim=False, *, out=None):
    """The root of the sum of squares of all elements, or along `dim`."""
    dims = [dim] if isinstance(dim, int) else list(dim)
    return _C.norm(input, 2, dims or None, keepdim, out=out)


def norm_except_dim(v, pow=2, dim=0):
    """The norms of the slices along `dim`, with dimensions of size 1; of everything for dim -1."""
    if dim == -1:
        return _C.norm(v, pow)
    if v.dim() < 2:
        return _C.norm(v.unsqueeze(-1), pow, -1)
    return _C.norm(v, pow, [i for i in range(v.dim()) if i != dim % v.dim()], True)
