"""Random tensors for tests."""

from __future__ import annotations

from torchc import _C

__all__ = ["make_tensor"]


def make_tensor(
    *shape, dtype, device="cpu", low=None, high=None, requires_grad=False, noncontiguous=False, exclude_zero=False,
    memory_format=None,
):  # fmt: skip
    """Uniform values of [low, high).

    Defaults: [-9, 9) for floats, [-9, 10) for integers (from 0 for uint8), 0 and 1 for bool. Raises ValueError when
    low is not less than high.
    """
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = tuple(shape[0])
    if dtype is _C.bool:
        low, high = 0 if low is None else low, 2 if high is None else high
    elif dtype.is_floating_point or dtype.is_complex:
        low, high = -9 if low is None else low, 9 if high is None else high
    else:
        low, high = (
            (0 if dtype is _C.uint8 else -9) if low is None else low,
            10 if high is None else high,
        )
    if not low < high:
        raise ValueError(
            f"make_tensor: low must be weakly less than high, but got low={low} >= high={high}"
        )
    values = _C.rand(*shape, dtype=_C.float64) * (high - low) + low
    if not (dtype.is_floating_point or dtype.is_complex):
        # Casting truncates towards 0: shift to non-negative values first.
        values = (values - low).to(_C.int64) + int(low)
    result = values.to(dtype).to(device)
    if exclude_zero:
        result = _C.where(result == 0, _C.ones_like(result), result)
    if noncontiguous and result.numel() > 1:
        result = _C.stack([result, result], -1)[..., 0]
    return result.requires_grad_(True) if requires_grad else result
