"""Random zeros while training."""

from __future__ import annotations

import warnings

from torchc import _C

__all__ = [
    "alpha_dropout",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "feature_alpha_dropout",
]


def _check(p: float):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input, p=0.5, training=True, inplace=False):
    """Each element becomes 0 with probability p, else x / (1 - p) (rule N9); not training: x itself.

    Raises ValueError for p outside of [0, 1].
    """
    _check(p)
    if not training:
        return input
    return input.copy_(_C.dropout(input, p, True)) if inplace else _C.dropout(input, p, True)


def _features(input, p, training, inplace):
    """Whole channels at once: the mask has one element per sample and channel."""
    if not training or p == 0:
        return input
    shape = [n if i < 2 else 1 for i, n in enumerate(input.shape)]
    mask = _C.dropout(input.new_ones(*shape), p, True)
    return input.mul_(mask) if inplace else input * mask


def _by_rank(name: str, input, p, training, inplace, ranks, unbatched: int | None):
    _check(p)
    if input.dim() not in ranks:
        warnings.warn(
            f"{name}: Received a {input.dim()}-D input, which is deprecated and will result in an error in a "
            f"future release. Expected one of the ranks {ranks}.",
            stacklevel=3,
        )
    if input.dim() == unbatched:
        result = _features(input.unsqueeze(0), p, training, inplace)
        return input if inplace and training else result.squeeze(0)
    return _features(input, p, training, inplace)


def dropout1d(input, p=0.5, training=True, inplace=False):
    """Whole channels of (N, C, L) or (C, L) at once."""
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input."
        )
    return _by_rank("dropout1d", input, p, training, inplace, (2, 3), 2)


def dropout2d(input, p=0.5, training=True, inplace=False):
    """Whole channels of (N, C, H, W) at once; (N, C, L) as in PyTorch, for old programs."""
    return _by_rank("dropout2d", input, p, training, inplace, (3, 4), None)


def dropout3d(input, p=0.5, training=True, inplace=False):
    """Whole channels of (N, C, D, H, W) or (C, D, H, W) at once."""
    return _by_rank("dropout3d", input, p, training, inplace, (4, 5), 4)


_ALPHA = 1.7580993408473766


def _alpha(input, p, training, shape):
    _check(p)
    if not training or p == 0:
        return input
    if p == 1:
        return input * 0
    keep = (_C.rand_like(input.detach().new_empty(*shape)) >= p).to(input.dtype)
    a = 1.0 / ((_ALPHA**2 * p + 1) * (1 - p)) ** 0.5
    offset = (keep - 1) * (_ALPHA * a) + _ALPHA * a * p
    return input * (keep * a) + offset


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Dropout to selu's negative limit, scaled so that mean and variance stay."""
    result = _alpha(input, p, training, input.shape)
    return input.copy_(result) if inplace and result is not input else result


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """`alpha_dropout` of whole channels at once."""
    shape = [n if i < 2 else 1 for i, n in enumerate(input.shape)]
    result = _alpha(input, p, training, shape)
    return input.copy_(result) if inplace and result is not input else result
