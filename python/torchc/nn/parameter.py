"""Parameters: tensors that a module registers when they are assigned to it."""

from torchc import _C

__all__ = ["Parameter"]


class Parameter(_C.Tensor):
    """A tensor that is trained: assigned to a module it appears in `parameters()` and `state_dict()`.

    Args:
        data: the values, shared, not copied; default: an empty tensor.
        requires_grad: whether gradients are recorded.
    """

    def __new__(cls, data=None, requires_grad=True):
        """See the class."""
        if data is None:
            data = _C.empty(0)
        if not isinstance(data, _C.Tensor):
            raise TypeError(f"Parameter expects a tensor as data, got {type(data).__name__}")
        return _C.Tensor._make_subclass(cls, data, requires_grad)

    def __repr__(self):
        return "Parameter containing:\n" + super().__repr__()

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return memo[id(self)]
