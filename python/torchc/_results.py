"""What functions written in Python share: results in `out=`, in place, and checks of arguments."""

from collections import namedtuple

from torchc import _C


def given(result, out):
    """`result`, copied into `out` where that is a tensor: cast within its category, resized as other ops do."""
    return result if out is None else _C.alias_copy(result, out=out)


def given_all(kind, results, out):
    """The named tuple `kind` of `results`, each copied into its tensor of `out` where that isn't None."""
    if out is None:
        return kind(*results)
    if len(out) != len(results):
        raise TypeError(
            f"{kind.__name__}(): expected out to be {len(results)} tensors, got {len(out)}"
        )
    return kind(*(given(result, target) for result, target in zip(results, out)))


def exact(result, out):
    """`given`, but RuntimeError for an `out` of another dtype."""
    _check_dtype(result, out)
    return given(result, out)


def _check_dtype(result, out):
    if out is not None and out.dtype is not result.dtype:
        raise RuntimeError(
            f"Expected out tensor to have dtype {_short(result.dtype)}, but got {_short(out.dtype)} instead"
        )


def exact_all(kind, results, out):
    """`given_all`, but RuntimeError for a tensor in `out` of another dtype."""
    for result, target in zip(results, out or ()):
        _check_dtype(result, target)
    return given_all(kind, results, out)


def in_place(function, name=None):
    """The in-place form of `function`: writes its result into its first argument, of the same shape and category."""
    label = name or f"{function.__name__}_"

    def method(self, *args, **kwargs):
        result = function(self, *args, **kwargs)
        if not _C.can_cast(result.dtype, self.dtype):
            raise RuntimeError(
                f"{label}(): result type {_short(result.dtype)} can't be cast to the desired output type "
                f"{_short(self.dtype)}"
            )
        if result.shape != self.shape:
            raise RuntimeError(
                f"{label}(): output with shape {list(self.shape)} doesn't match the broadcast shape "
                f"{list(result.shape)}"
            )
        return self.copy_(result)

    method.__name__ = method.__qualname__ = label
    method.__doc__ = f"In-place form of {function.__name__}; returns the tensor."
    return method


def _short(dtype) -> str:
    return str(dtype).rpartition(".")[2]


def named(name: str, fields: str):
    """A named tuple class for results, as `torch.return_types` has."""
    return namedtuple(name, fields)


def wrapped(op: str, dim: int, rank: int) -> int:
    """`dim` counted from the front. Raises IndexError outside of [-rank, rank)."""
    limit = max(rank, 1)
    if not -limit <= dim < limit:
        raise IndexError(
            f"{op}(): Dimension out of range (expected to be in range of [{-limit}, {limit - 1}], but got {dim})"
        )
    return dim % limit


def real_type(*operands):
    """The promoted type of tensors and numbers; integers and bool count as the default float type."""
    dtype = operands[0].dtype if len(operands) == 1 else _C.result_type(*operands)
    return dtype if dtype.is_floating_point or dtype.is_complex else _C.get_default_dtype()
