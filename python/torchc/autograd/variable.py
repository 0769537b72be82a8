"""`Variable`: the old name of a tensor that may require gradients."""

from torchc import _C

__all__ = ["Variable"]


class _VariableMeta(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, _C.Tensor)


class Variable(metaclass=_VariableMeta):
    """`Variable(data, requires_grad=False)` is a tensor on data's memory; every tensor is an instance."""

    def __new__(cls, data, requires_grad=False, volatile=None):
        """The tensor."""
        return data.detach().requires_grad_(requires_grad)
