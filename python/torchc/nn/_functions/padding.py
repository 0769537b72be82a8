"""Tensors made larger at their borders."""

from __future__ import annotations

from torchc import _C

__all__ = ["pad"]


def _constant(x, dim: int, before: int, after: int, value):
    if before < 0:
        x, before = x.narrow(dim, -before, x.size(dim) + before), 0
    if after < 0:
        x, after = x.narrow(dim, 0, x.size(dim) + after), 0
    parts, shape = [x], list(x.shape)
    for amount, place in ((before, 0), (after, len(parts) + 1)):
        if amount:
            shape[dim] = amount
            parts.insert(place, x.new_full(tuple(shape), value))
    return _C.cat(parts, dim) if len(parts) > 1 else x


def _reflected(size: int, before: int, after: int) -> list[int]:
    return [*range(before, 0, -1), *range(size), *range(size - 2, size - 2 - after, -1)]


def _replicated(size: int, before: int, after: int) -> list[int]:
    return [0] * before + list(range(size)) + [size - 1] * after


def _circular(size: int, before: int, after: int) -> list[int]:
    return [*range(size - before, size), *range(size), *range(after)]


_INDICES = {"reflect": _reflected, "replicate": _replicated, "circular": _circular}


def _limits(mode: str, size: int, before: int, after: int):
    """Raises RuntimeError for a border that the mode can't fill."""
    if mode == "reflect" and (before >= size or after >= size):
        raise RuntimeError(
            "Argument #4: Padding size should be less than the corresponding input dimension, "
            f"but got: padding ({before}, {after}) at a dimension of size {size}"
        )
    if mode == "circular" and (before > size or after > size):
        raise RuntimeError(
            "Padding value causes wrapping around more than once: "
            f"({before}, {after}) at a dimension of size {size}"
        )
    if size == 0:
        raise RuntimeError(f"{mode} padding: expected a non-empty dimension, got one of size 0")


def _indexed(x, dim: int, before: int, after: int, mode: str):
    _limits(mode, x.size(dim), before, after)
    # Negative amounts cut: of what the mode gives without them.
    index = _INDICES[mode](x.size(dim), max(before, 0), max(after, 0))
    index = index[max(-before, 0) : len(index) - max(-after, 0)]
    return x.index_select(dim, _C.tensor(index, dtype=_C.int64))


def pad(input, pad, mode="constant", value=None):
    """Adds to the borders of the last dimensions: `pad` is (last before, last after, next to last before, ...).

    Args:
        mode: "constant" (fills with `value`, default 0; negative amounts cut), "reflect", "replicate", "circular"
            (for 2, 4 or 6 amounts of an input with one or two leading dimensions).

    Raises RuntimeError for an odd number of amounts or too many, NotImplementedError for modes at other ranks.
    """
    pad = list(pad)
    n = len(pad) // 2
    if len(pad) % 2:
        raise RuntimeError(f"Padding length must be divisible by 2, got {len(pad)}")
    if n > input.dim():
        raise RuntimeError(
            f"Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {input.dim()}"
        )
    if mode != "constant":
        if mode not in _INDICES:
            raise NotImplementedError(f"Unrecognised padding mode {mode}")
        if value is not None and value != 0:
            raise ValueError(f'Padding mode "{mode}" doesn\'t take in value argument')
        if not 1 <= n <= 3 or input.dim() not in (n + 1, n + 2):
            raise NotImplementedError(
                "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now: got "
                f"{len(pad)} amounts for {input.dim()} dimensions"
            )
    result = input
    for i in range(n):
        before, after = pad[2 * i], pad[2 * i + 1]
        dim = input.dim() - 1 - i
        if input.size(dim) + before + after < 0:
            raise RuntimeError(
                f"The input size {input.size(dim)}, plus negative padding {before} and {after}, resulted in a "
                f"negative output size, which is invalid. Check dimension {dim} of your input."
            )
        if mode == "constant":
            result = _constant(result, dim, before, after, 0 if value is None else value)
        elif before or after:
            result = _indexed(result, dim, before, after, mode)
    return result.clone() if result is input else result
