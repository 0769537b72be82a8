"""Arguments of torch.linalg's functions: types, shapes, batches, and the error for singular input."""

from torchc import _C


class LinAlgError(RuntimeError):
    """A factorisation or a solver failed because of the values in a matrix."""


LinAlgError.__module__ = "torchc.linalg"


def check_matrix(op: str, A, name="A"):
    """Raises RuntimeError unless A holds matrices of float32, float64 or their complex types in main memory."""
    if A.dim() < 2:
        raise RuntimeError(
            f"{op}: The input tensor {name} must have at least 2 dimensions, got {A.dim()}"
        )
    check_type(op, A, name)


def check_type(op: str, A, name="A"):
    """Raises RuntimeError unless A is a tensor of float32, float64 or their complex types in main memory."""
    if A.dtype in (_C.float16, _C.bfloat16):
        raise RuntimeError(f"{op}: Low precision dtypes not supported. Got {A.dtype} for {name}")
    if not (A.is_floating_point() or A.is_complex()):
        raise RuntimeError(
            f"{op}: Expected a floating point or complex tensor as {name}. Got {A.dtype}"
        )
    if A.device.type != "cpu":
        raise NotImplementedError(f"{op}: not implemented for tensors ({name}) on {A.device}")


def check_square(op: str, A, name="A"):
    """`check_matrix`, and RuntimeError unless the matrices are square."""
    check_matrix(op, A, name)
    m, n = A.shape[-2:]
    if m != n:
        raise RuntimeError(
            f"{op}: {name} must be batches of square matrices, but they are {m} by {n} matrices"
        )


def check_same_type(op: str, A, B, names=("A", "B")):
    """Raises RuntimeError unless both have one dtype."""
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


def check_infos(op: str, info, what: str):
    """Raises LinAlgError with `what` (a text for one matrix, with its info as {}) at the first info that isn't 0."""
    if not bool(info.any()):
        return
    values = info.reshape(-1).tolist()
    i = next(k for k, v in enumerate(values) if v)
    where = f"(Batch element {i}): " if info.dim() else ""
    raise LinAlgError(f"{op}: {where}{what.format(values[i])}")
