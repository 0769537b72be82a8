"""Parameters as one vector, and back."""

from __future__ import annotations

from torchc import _C

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters):
    """All elements of the parameters, in order, as one vector that autograd follows."""
    return _C.cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    """Gives the parameters the elements of a vector as their data (views of it). Raises TypeError for no tensor."""
    if not isinstance(vec, _C.Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    start = 0
    for parameter in parameters:
        count = parameter.numel()
        parameter.data = vec[start : start + count].view_as(parameter).detach()
        start += count
