"""Parameters broadcast, computed once, and changed between probabilities and logits."""

from __future__ import annotations

from torchc import _C

__all__ = ["broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits"]


def broadcast_all(*values) -> list:
    """The values as tensors of one shape. Raises ValueError for what is no number or tensor."""
    if not all(isinstance(value, (_C.Tensor, int, float)) for value in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__."
        )
    like = next((value for value in values if isinstance(value, _C.Tensor)), None)
    options = {} if like is None or not like.is_floating_point() else {"dtype": like.dtype}
    tensors = [v if isinstance(v, _C.Tensor) else _C.tensor(float(v), **options) for v in values]
    return list(_C.broadcast_tensors(*tensors))


class lazy_property:
    """A property that is computed at the first look and kept."""

    def __init__(self, function):
        self.function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        value = self.function(instance)
        instance.__dict__[self.name] = value
        return value


def clamp_probs(probs):
    """Probabilities kept eps away from 0 and 1, so that their logarithms are finite."""
    from torchc._type_info import finfo

    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def logits_to_probs(logits, is_binary: bool = False):
    """Sigmoid of binary logits, softmax of others."""
    return _C.sigmoid(logits) if is_binary else _C.softmax(logits, -1)


def probs_to_logits(probs, is_binary: bool = False):
    """The logits of probabilities."""
    clamped = clamp_probs(probs)
    return clamped.log() - (1 - clamped).log() if is_binary else clamped.log()
