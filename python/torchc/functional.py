"""Functions whose arguments take more forms than one signature says. Names and defaults as torch.functional."""

from torchc import _C
from torchc._autocast import single

__all__ = ["broadcast_shapes", "cdist", "einsum", "tensordot"]


def tensordot(a, b, dims=2, out=None):
    """Sums of products over pairs of dimensions of `a` and `b` (one dtype).

    Args:
        dims: how many of a's last and b's first dimensions; or the two lists of dimensions, also as one tensor.

    Raises RuntimeError for sizes that differ or lists of different length.
    """
    if isinstance(dims, _C.Tensor):
        dims = dims.tolist() if dims.dim() else dims.item()
    if isinstance(dims, (tuple, list)):
        left, right = dims
        left = [left] if isinstance(left, int) else list(left)
        right = [right] if isinstance(right, int) else list(right)
    else:
        count = int(dims)
        if count < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if count > min(a.dim(), b.dim()):
            raise RuntimeError(
                f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims} for {a.dim()} and {b.dim()} dimensions"
            )
        left, right = list(range(-count, 0)), list(range(count))
    result = _C._tensordot(a, b, left, right)
    return result if out is None else out.copy_(result)


def _letters(sublist) -> str:
    text = ""
    for item in sublist:
        if item is Ellipsis:
            text += "..."
        elif 0 <= item < 52:
            text += chr(ord("A") + item) if item < 26 else chr(ord("a") + item - 26)
        else:
            raise RuntimeError(f"einsum(): subscript {item} is not within the valid range [0, 52)")
    return text


def einsum(*args):
    """Products of labelled dimensions, summed over those that the output doesn't name.

    `einsum("ij,jk->ik", a, b)`, or with lists of numbers behind each operand: `einsum(a, [0, 1], b, [1, 2], [0, 2])`.
    Repeated labels of one operand are its diagonal, `...` stands for dimensions that broadcast. Operands are multiplied
    from left to right. Raises RuntimeError for an equation that doesn't fit the operands.
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
            "subscripts list"
        )
    if not isinstance(args[0], _C.Tensor):
        operands = list(args[1:])
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = list(operands[0])
        return _C._einsum(args[0], operands)
    tensors = args[0 : len(args) // 2 * 2 : 2]
    equation = ",".join(_letters(labels) for labels in args[1 : len(args) // 2 * 2 : 2])
    if len(args) % 2:
        equation += "->" + _letters(args[-1])
    return _C._einsum(equation, list(tensors))


def broadcast_shapes(*shapes):
    """The shape that tensors of these shapes (sequences or ints) broadcast to, as torchc.Size; RuntimeError if none."""
    meta = [_C.empty((s,) if isinstance(s, int) else tuple(s), device="meta") for s in shapes]
    return _C.broadcast_tensors(meta)[0].shape if meta else _C.Size([])


@single
def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """Distances in the p-norm between all rows of `x1` (*, n, k) and `x2` (*, m, k): (*, n, m).

    They are sums of |difference|^p whatever `compute_mode` says. The gradient at distance 0 is 0. Raises RuntimeError
    for shapes that don't fit, integers, and p < 0.
    """
    for x in (x1, x2):
        if x.dim() < 2:
            raise RuntimeError(
                f"cdist only supports at least 2D tensors, got {x1.dim()}D and {x2.dim()}D"
            )
        if not x.is_floating_point():
            raise RuntimeError(f"cdist only supports floating-point dtypes, got {x.dtype}")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    if not p >= 0:
        raise RuntimeError("cdist only supports non-negative p values")
    difference = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    if p != 2:  # a square as it is: |d| has no second derivative at 0
        difference = difference.abs()
    if p == 0:
        return (difference != 0).to(x1.dtype).sum(-1)
    if x1.shape[-1] == 0:
        return difference.sum(-1)
    if p == float("inf"):
        return difference.amax(-1)
    if p == 1:
        return difference.sum(-1)
    total = (difference * difference if p == 2 else _power(difference, p)).sum(-1)
    # The root's slope at 0 is infinite; there the distance is a constant 0.
    zero = total == 0
    safe = _C.where(zero, 1.0, total)
    return _C.where(zero, 0.0, safe.sqrt() if p == 2 else safe ** (1.0 / p))


def _power(x, p: float):
    """x^p of numbers that aren't negative, with a gradient of 0 at 0."""
    zero = x == 0
    return _C.where(zero, 0.0, _C.where(zero, 1.0, x) ** p)
