"""Arguments of torch.linalg's functions: types, shapes, batches, and the error for singular input."""

from torchc import _C


class LinAlgError(RuntimeError):
    """A factorisation or a solver failed because of the values in a matrix."""


LinAlgError.__module__ = "torchc.linalg"


def check_matrix(op: str, A, name="A", error=NotImplementedError):
    """`check_type`, and RuntimeError unless A has matrices."""
    _check_tensor(op, A, name)
    if A.dim() < 2:
        raise RuntimeError(
            f"{op}: The input tensor {name} must have at least 2 dimensions, got {A.dim()}"
        )
    check_type(op, A, name, error)


def _check_tensor(op: str, A, name):
    if not isinstance(A, _C.Tensor):
        raise TypeError(f"{op}(): argument '{name}' must be Tensor, not {type(A).__name__}")


def check_type(op: str, A, name="A", error=NotImplementedError, halves=False):
    """Raises TypeError unless A is a tensor, `error` unless it is of float32, float64 or their complex types (with
    `halves` of half precision, too), NotImplementedError unless it lies in main memory."""
    _check_tensor(op, A, name)
    if A.dtype in (_C.float16, _C.bfloat16) and not halves:
        raise error(f"{op}: Low precision dtypes not supported. Got {A.dtype} for {name}")
    if not (A.is_floating_point() or A.is_complex()):
        raise error(f"{op}: Expected a floating point or complex tensor as {name}. Got {A.dtype}")
    if A.device.type != "cpu":
        raise NotImplementedError(f"{op}: not implemented for tensors ({name}) on {A.device}")


def check_square(op: str, A, name="A", error=NotImplementedError):
    """`check_matrix`, and RuntimeError unless the matrices are square."""
    check_matrix(op, A, name, error)
    m, n = A.shape[-2:]
    if m != n:
        raise RuntimeError(
            f"{op}: {name} must be batches of square matrices, but they are {m} by {n} matrices"
        )


def check_same_type(op: str, A, B, names=("A", "B")):
    """Raises TypeError unless both are tensors, RuntimeError unless of one dtype."""
    _check_tensor(op, A, names[0])
    _check_tensor(op, B, names[1])
    if A.dtype is not B.dtype:
        raise RuntimeError(
            f"{op}: Expected {names[0]} and {names[1]} to have the same dtype, but found {names[0]} of type {A.dtype} "
            f"and {names[1]} of type {B.dtype} instead"
        )


def broadcast_batches(*tensors):
    """The tensors of matrices with their batch dimensions expanded to a common shape."""
    from torchc.functional import broadcast_shapes

    shape = broadcast_shapes(*(t.shape[:-2] for t in tensors))
    return [t.expand(*shape, *t.shape[-2:]) for t in tensors]


def check_infos(op: str, info, what: str, error=LinAlgError):
    """Raises `error` with `what` (a text for one matrix, with its info as {}) at the first info that isn't 0."""
    if not bool(info.any()):
        return
    values = info.reshape(-1).tolist()
    i = next(k for k, v in enumerate(values) if v)
    where = f"(Batch element {i}): " if info.dim() else ""
    raise error(f"{op}: {where}{what.format(values[i])}")


def check_finite(op: str, A, infinities=True):
    """Raises LinAlgError for matrices with NaN, which LAPACK refuses as a wrong argument, and with `infinities`."""
    A = A.detach()
    bad = (~A.isfinite() if infinities else A.isnan()).any(-1).any(-1)
    if not bool(bad.any()):
        return
    where = f"(Batch element {bad.reshape(-1).tolist().index(True)}): " if bad.dim() else ""
    raise LinAlgError(
        f"{op}: {where}The algorithm failed to converge because the input matrix contained non-finite values."
    )
