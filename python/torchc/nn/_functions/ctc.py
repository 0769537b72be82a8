"""Connectionist temporal classification, step by step over the time dimension."""

from __future__ import annotations

import math

from torchc import _C

__all__ = ["ctc"]


def _lengths(value) -> list[int]:
    return value.tolist() if isinstance(value, _C.Tensor) else list(value)


def _one(value) -> list[int]:
    lengths = _lengths(value.reshape(-1) if isinstance(value, _C.Tensor) else value)
    return [lengths] if isinstance(lengths, int) else lengths


def _logsumexp(rows):
    """log of the sum of exp of equally shaped tensors, minus infinity allowed."""
    stacked = _C.stack(rows)
    top = stacked.detach().amax(0)
    top = _C.where(top == -math.inf, _C.zeros_like(top), top)
    total = (stacked - top).exp().sum(0)
    nothing = total == 0
    safe = _C.where(nothing, _C.ones_like(total), total)
    return _C.where(nothing, _C.full_like(total, -math.inf), safe.log() + top)


def _sequence_loss(log_probs, labels: list[int], blank: int):
    """The loss of one sequence: log_probs (T, C)."""
    extended = [blank]
    for label in labels:
        extended += [label, blank]
    states, dtype = len(extended), log_probs.dtype
    emitted = log_probs.index_select(1, _C.tensor(extended, device=log_probs.device))
    lowest = _C.full((states,), -math.inf, dtype=dtype, device=log_probs.device)
    skips = [
        i >= 2 and extended[i] != blank and extended[i] != extended[i - 2] for i in range(states)
    ]
    allowed = _C.tensor(skips, device=log_probs.device)
    start = _C.tensor([i < 2 for i in range(states)], device=log_probs.device)
    alpha = _C.where(start, emitted[0], lowest)
    for t in range(1, log_probs.size(0)):
        one = _C.cat([lowest[:1], alpha[:-1]])
        two = _C.cat([lowest[: min(2, states)], alpha[:-2]]) if states > 2 else lowest
        two = _C.where(allowed, two, lowest)
        alpha = _logsumexp([alpha, one, two]) + emitted[t]
    loss = -(_logsumexp([alpha[-1], alpha[-2]]) if states > 1 else alpha[-1])
    # PyTorch's gradient is that of the logits before log_softmax: exp(log_probs) more than the formula's own.
    total = log_probs.exp().sum()
    return loss + (total - total.detach())


def _check_targets(targets, lengths: list[int], batch: int):
    """Raises RuntimeError unless the targets have the rows and elements that the lengths speak of."""
    if targets.dim() == 1:
        fits, want, dim = targets.size(0) == sum(lengths), f"size {sum(lengths)}", 0
    elif targets.dim() != 2:
        raise RuntimeError(
            f"ctc_loss(): expected targets of 1 or 2 dimensions, got {targets.dim()}"
        )
    elif targets.size(0) != batch:
        fits, want, dim = False, f"size {batch}", 0
    else:
        longest = max(lengths, default=0)
        fits, want, dim = targets.size(1) >= longest, f"size at least {longest}", 1
    if not fits:
        raise RuntimeError(
            f"Expected tensor to have {want} at dimension {dim}, but got size {targets.size(dim)} for argument #2 "
            f"'targets' (while checking arguments for ctc_loss)"
        )


def ctc(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity):
    """See `functional.ctc_loss`."""
    single = log_probs.dim() == 2
    if single:
        log_probs = log_probs.unsqueeze(1)
        targets = targets.reshape(1, -1)
    times, targets_of = _one(input_lengths), _one(target_lengths)
    batch = log_probs.size(1)
    if len(times) != batch or len(targets_of) != batch:
        raise RuntimeError(
            f"input_lengths and target_lengths must be of size batch_size ({batch}), got {len(times)} and "
            f"{len(targets_of)}"
        )
    if not 0 <= blank < log_probs.size(2):
        raise RuntimeError("blank must be in label range")
    for name, lengths in (("input", times), ("target", targets_of)):
        if min(lengths, default=0) < 0:
            raise RuntimeError(
                f"Expected {name}_lengths to have value at least 0, but got value {min(lengths)}"
            )
    _check_targets(targets, targets_of, batch)
    labels = targets.tolist()
    if targets.dim() == 1:
        rest, rows = labels, []
        for length in targets_of:
            rows.append(rest[:length])
            rest = rest[length:]
        labels = rows
    losses = []
    for n in range(batch):
        if times[n] > log_probs.size(0):
            raise RuntimeError(
                f"Expected input_lengths to have value at most {log_probs.size(0)}, but got value {times[n]}"
            )
        part = log_probs[: times[n], n]
        if times[n] == 0:
            value = 0.0 if targets_of[n] == 0 else math.inf
            losses.append(_C.full((), value, dtype=log_probs.dtype, device=log_probs.device))
        else:
            losses.append(_sequence_loss(part, labels[n][: targets_of[n]], blank))
    loss = _C.stack(losses)
    if zero_infinity:
        loss = _C.where(loss == math.inf, _C.zeros_like(loss), loss)
    if reduction == "mean":
        sizes = _C.tensor(
            [max(1, n) for n in targets_of], dtype=loss.dtype, device=log_probs.device
        )
        return (loss / sizes).mean()
    if reduction == "sum":
        return loss.sum()
    return loss[0] if single else loss
