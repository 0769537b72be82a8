"""Rows of a table by index."""

from __future__ import annotations

from torchc import _C
from torchc.autograd.grad_mode import no_grad
from torchc.errors import Unsupported
from torchc.nn._functions.distance import vector_norm

__all__ = ["embedding", "embedding_bag", "one_hot"]


def one_hot(tensor, num_classes=-1):
    """int64 class indices as rows of 0 and 1 in a new last dimension; -1 takes the largest index + 1 as its size."""
    return _C.one_hot(tensor, num_classes)


@no_grad()
def _renorm(weight, indices, max_norm, norm_type):
    """Shortens the rows of `weight` that `indices` name to `max_norm`, in place."""
    norms = vector_norm(weight, norm_type, 1, True)
    named = _C.zeros(weight.size(0), dtype=_C.int64, device=weight.device).index_add(
        0, indices.reshape(-1), _C.ones(indices.numel(), dtype=_C.int64, device=indices.device)
    )
    long = (norms > max_norm) & (named > 0).unsqueeze(1)
    weight.copy_(_C.where(long, weight * (max_norm / (norms + 1e-7)), weight))


def padding_row(padding_idx, rows: int):
    """The padding row counted from 0, None for none. Raises AssertionError for one that doesn't exist."""
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx % rows


def _check_sparse(sparse: bool):
    if sparse:
        raise Unsupported(
            "embedding(sparse=True): gradients as sparse tensors; sparse=False is exact"
        )


def embedding(
    input,
    weight,
    padding_idx=None,
    max_norm=None,
    norm_type=2.0,
    scale_grad_by_freq=False,
    sparse=False,
):
    """The rows of `weight` (rows, size) that the indices `input` (any shape) name; result (*, size).

    Args:
        padding_idx: this row gets no gradient.
        max_norm: rows that are used and longer (`norm_type`) are shortened in place first.
        scale_grad_by_freq: each row's gradient is divided by how often it is used.

    Raises IndexError for an index outside of the table, RuntimeError for indices that are neither int64 nor int32.
    """
    _check_sparse(sparse)
    if input.dtype not in (_C.int64, _C.int32):
        raise RuntimeError(
            "embedding: Expected tensor for argument #1 'indices' to have one of the following scalar types: "
            f"Long, Int; but got {input.type()} instead"
        )
    if weight.dim() != 2:
        raise RuntimeError(f"embedding(): 'weight' must be 2-D, got {weight.dim()}-D")
    padding_idx = padding_row(padding_idx, weight.size(0))
    if max_norm is not None:
        _renorm(weight.detach(), input, max_norm, norm_type)
    flat = input.reshape(-1).to(_C.int64)
    rows = weight.index_select(0, flat)
    if weight.requires_grad and (padding_idx is not None or scale_grad_by_freq):
        rows = _with_gradient_factor(rows, flat, weight, padding_idx, scale_grad_by_freq)
    return rows.reshape(*input.shape, *weight.shape[1:])


def _with_gradient_factor(rows, flat, weight, padding_idx, by_frequency):
    """`rows` whose gradient is multiplied by a factor per row: the same values, two paths of which one records."""
    factor = _C.ones(flat.numel(), dtype=rows.dtype, device=flat.device)
    if by_frequency:
        counts = _C.zeros(weight.size(0), dtype=_C.int64, device=weight.device).index_add(
            0, flat, _C.ones(flat.numel(), dtype=_C.int64, device=flat.device)
        )
        factor = factor / counts.index_select(0, flat).to(rows.dtype)
    if padding_idx is not None:
        factor = factor * (flat != padding_idx).to(rows.dtype)
    factor = factor.unsqueeze(1)
    if not by_frequency:
        return _C.where(factor != 0, rows, rows.detach())
    # rows.detach() + (rows - rows.detach()) * factor is exact: the difference is 0.
    return rows.detach() + (rows - rows.detach()) * factor


def embedding_bag(
    input,
    weight,
    offsets=None,
    max_norm=None,
    norm_type=2,
    scale_grad_by_freq=False,
    mode="mean",
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    """Sums, means or maxima of bags of embeddings: (bags, size) for `input` (bags, n), or 1-d with `offsets`.

    Raises ValueError for other ranks, for weights in another mode than "sum", and for wrong offsets.
    """
    _check_sparse(sparse)
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the "
            f"same shape as the input ({input.shape})"
        )
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            f"embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
            f"(got mode='{mode}')."
        )
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    bounds = _bounds(input, offsets, include_last_offset)
    flat = input.reshape(-1)
    padding_idx = padding_row(padding_idx, weight.size(0))
    rows = embedding(flat, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(-1, 1)
    used = None if padding_idx is None else (flat != padding_idx)
    bags = []
    for begin, end in zip(bounds, bounds[1:]):
        part = rows[begin:end]
        if used is not None:
            kept = [i for i, flag in enumerate(used[begin:end].tolist()) if flag]
            part = part.index_select(0, _C.tensor(kept, dtype=_C.int64, device=part.device))
        if part.size(0) == 0:
            bags.append(rows.new_zeros(rows.size(1)))
        elif mode == "max":
            bags.append(part.amax(0))
        else:
            bags.append(part.sum(0) if mode == "sum" else part.sum(0) / part.size(0))
    return _C.stack(bags) if bags else rows.new_zeros(0, rows.size(1))


def _bounds(input, offsets, include_last: bool) -> list[int]:
    """Where each bag begins, and the end of the last."""
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                f"sequences. However, found offsets of type {type(offsets).__name__}"
            )
        return (
            list(range(0, input.numel() + 1, input.size(1)))
            if input.size(1)
            else [0] * (input.size(0) + 1)
        )
    if input.dim() != 1:
        raise ValueError(
            f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}"
        )
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if offsets.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    starts = offsets.tolist()
    if starts and starts[0] != 0:
        raise RuntimeError(
            f"offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0, "
            f"but got {starts[0]}"
        )
    if starts and starts[-1] > input.numel():
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length ({input.numel()}), but got offsets[-1] of {starts[-1]}"
        )
    return starts if include_last else [*starts, input.numel()]
