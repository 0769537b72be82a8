"""Tensor's in-place methods as functions: torch.relu_(x) is x.relu_()."""

from torchc import _C


def __getattr__(name):
    """The function of an in-place method; a missing method says so."""
    if not name.endswith("_") or name.startswith("_") or not hasattr(_C.Tensor, name):
        raise AttributeError(f"module 'torchc' has no attribute '{name}'")

    def function(input, *args, **kwargs):
        return getattr(input, name)(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Tensor.{name} as a function."
    globals()[name] = function
    return function
