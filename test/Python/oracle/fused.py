"""Fused ops by rule N6: their decompositions run in the op-math type and round once at the exit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from . import body
from .dtypes import Arr, DType, from_compute, number_to_compute, to_compute
from .fma import fma
from .reduce import max_rows, normalize_dim, reduce_values, sum_rows, var_values

Reduction = Literal["none", "sum", "mean"]


def _exp(x: np.ndarray, compute: DType) -> np.ndarray:
    return body.apply("exp", compute, x)


def _log(x: np.ndarray, compute: DType) -> np.ndarray:
    return body.apply("log", compute, x)


def softmax_values(x: np.ndarray, dim: int, compute: DType) -> np.ndarray:
    """m = max, e = exp(x − m), s = N4 sum of e, y = e·(1/s)."""
    if x.size == 0:
        return x.copy()
    with np.errstate(all="ignore"):
        e = _exp(np.asarray(x - reduce_values(x, dim, True, max_rows)), compute)
        s = reduce_values(e, dim, True, sum_rows)
        return np.asarray(e * (np.asarray(1, x.dtype) / s))


def log_softmax_values(x: np.ndarray, dim: int, compute: DType) -> np.ndarray:
    """(x − m) − log(N4 sum of exp(x − m))."""
    if x.size == 0:
        return x.copy()
    with np.errstate(all="ignore"):
        shifted = np.asarray(x - reduce_values(x, dim, True, max_rows))
        s = reduce_values(_exp(shifted, compute), dim, True, sum_rows)
        return np.asarray(shifted - _log(s, compute))


def softmax(x: Arr, dim: int) -> Arr:
    """torch.softmax."""
    dim = normalize_dim(dim, x.ndim)
    return from_compute(softmax_values(to_compute(x), dim, x.dtype.compute), x.dtype)


def log_softmax(x: Arr, dim: int) -> Arr:
    """torch.log_softmax."""
    dim = normalize_dim(dim, x.ndim)
    return from_compute(log_softmax_values(to_compute(x), dim, x.dtype.compute), x.dtype)


def log_softmax_backward(g: Arr, y: Arr, dim: int) -> Arr:
    """g − exp(y)·(N4 sum of g over dim), in the op-math type."""
    compute = y.dtype.compute
    gv, yv = to_compute(g), to_compute(y)
    if yv.size == 0:
        return from_compute(gv.copy(), y.dtype)
    with np.errstate(all="ignore"):
        total = reduce_values(gv, normalize_dim(dim, y.ndim), True, sum_rows)
        return from_compute(np.asarray(gv - _exp(yv, compute) * total), y.dtype)


# ---- cross entropy -------------------------------------------------------------------------------


class CrossEntropy:
    """One evaluation of cross_entropy over [rows, C] values; keeps what the gradient needs.

    x: logits [N, C], [N, C, d…] or [C]; target: i64 class indices without the class dim, or
    probabilities of x's
    shape. All values are in the op-math type; rows are numbered (n, d…) row-major.
    """

    def __init__(
        self,
        x: Arr,
        target: Arr,
        weight: Arr | None = None,
        ignore_index: int = -100,
        reduction: Reduction = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        self.dtype, self.compute, self.reduction = x.dtype, x.dtype.compute, reduction
        self.class_dim = 0 if x.ndim == 1 else 1
        self.indexed = not target.dtype.is_float
        moved = np.moveaxis(to_compute(x), self.class_dim, -1)
        self.moved_shape, self.rows_shape = moved.shape, moved.shape[:-1]
        self.classes = moved.shape[-1]
        logits = np.ascontiguousarray(moved).reshape(-1, self.classes)
        self.logp = log_softmax_values(logits, 1, self.compute)
        self.weight = None if weight is None else to_compute(weight)
        self.keep_scale = number_to_compute(1 - label_smoothing, self.dtype)
        self.smooth_scale = number_to_compute(label_smoothing / max(self.classes, 1), self.dtype)
        self.smoothing = label_smoothing
        expected = self.rows_shape if self.indexed else x.shape
        if target.shape != expected:
            raise ValueError(
                f"cross_entropy: expected target of shape {list(expected)}, got {list(target.shape)}"
            )
        with np.errstate(all="ignore"):
            if self.indexed:
                self._index_rows(target, ignore_index)
            else:
                self._probability_rows(target)

    def _index_rows(self, target: Arr, ignore_index: int) -> None:
        """t = −logp[y]·w[y]; ignored rows +0; smoothing (1−ε)·t + (ε/C)·N4 sum of −logp·w."""
        flat = np.ascontiguousarray(target.data).reshape(-1).astype(np.int64)
        self.used = flat != ignore_index
        if np.any(self.used & ((flat < 0) | (flat >= self.classes))):
            raise IndexError(f"Target is out of bounds: expected 0 <= target < {self.classes}")
        self.target = np.where(self.used, flat, 0)
        zero = np.zeros((), self.logp.dtype)
        picked = (
            -np.take_along_axis(self.logp, self.target[:, None], axis=1)[:, 0]
            if flat.size
            else -self.logp[:, 0]
        )
        self.row_weight = np.ones(flat.shape, self.logp.dtype)
        if self.weight is not None:
            self.row_weight = self.weight[self.target]
            picked = picked * self.row_weight
        if self.smoothing:
            spread = -self.logp if self.weight is None else -self.logp * self.weight
            picked = self.keep_scale * picked + self.smooth_scale * sum_rows(spread)
        self.terms = np.where(self.used, picked, zero)
        if self.weight is None:
            self.total = np.asarray(np.count_nonzero(self.used)).astype(self.logp.dtype)
        else:
            self.total = sum_rows(np.where(self.used, self.row_weight, zero)[None, :])[0]

    def _probability_rows(self, target: Arr) -> None:
        """t = −N4 sum over c of (logp·w)·target; smoothing mixes the target with 1/C first, as
        PyTorch does."""
        moved = np.moveaxis(to_compute(target).astype(self.logp.dtype), self.class_dim, -1)
        self.probabilities = np.ascontiguousarray(moved).reshape(-1, self.classes)
        if self.smoothing:
            self.probabilities = self.probabilities * self.keep_scale + self.smooth_scale
        scaled = self.logp if self.weight is None else self.logp * self.weight
        self.terms = -sum_rows(scaled * self.probabilities)
        self.total = np.asarray(self.terms.shape[0]).astype(self.logp.dtype)

    def loss(self) -> Arr:
        """The reduced loss, rounded once."""
        if self.reduction == "none":
            return from_compute(self.terms.reshape(self.rows_shape), self.dtype)
        total = sum_rows(self.terms[None, :])[0]
        with np.errstate(all="ignore"):
            value = total / self.total if self.reduction == "mean" else total
        return from_compute(np.asarray(value), self.dtype)

    def backward(self, g: Arr) -> Arr:
        """The gradient of the logits, through the decomposition: rows, then the target's −w, then
        log_softmax."""
        gv = to_compute(g)
        with np.errstate(all="ignore"):
            if self.reduction == "none":
                rows = np.ascontiguousarray(gv).reshape(-1)
            else:
                rows = np.full(
                    self.terms.shape, gv / self.total if self.reduction == "mean" else gv
                )
            g_logp = self._index_grad(rows) if self.indexed else self._probability_grad(rows)
            if g_logp.size:
                g_logp = g_logp - _exp(self.logp, self.compute) * sum_rows(g_logp)[:, None]
        moved = g_logp.reshape(self.moved_shape)
        return from_compute(
            np.ascontiguousarray(np.moveaxis(moved, -1, self.class_dim)), self.dtype
        )

    def _index_grad(self, rows: np.ndarray) -> np.ndarray:
        rows = np.where(self.used, rows, np.zeros((), rows.dtype))
        out = np.zeros_like(self.logp)
        picked = rows * self.keep_scale if self.smoothing else rows
        if self.weight is not None:
            picked = picked * self.row_weight
        at = np.flatnonzero(self.used)
        out[at, self.target[at]] = -picked[at]
        if self.smoothing:
            spread = np.broadcast_to((rows * self.smooth_scale)[:, None], out.shape)
            out = out + -(spread if self.weight is None else spread * self.weight)
        return out

    def _probability_grad(self, rows: np.ndarray) -> np.ndarray:
        out = (-rows)[:, None] * self.probabilities
        return out if self.weight is None else out * self.weight


def cross_entropy(
    x: Arr,
    target: Arr,
    weight: Arr | None = None,
    ignore_index: int = -100,
    reduction: Reduction = "mean",
    label_smoothing: float = 0.0,
) -> Arr:
    """torch.nn.functional.cross_entropy."""
    return CrossEntropy(x, target, weight, ignore_index, reduction, label_smoothing).loss()


# ---- normalisation -------------------------------------------------------------------------------


def _affine(core: np.ndarray, w: np.ndarray | None, b: np.ndarray | None) -> np.ndarray:
    """fma(core, w, b); no b: core·w; no w: core (a b without w is added)."""
    if w is not None and b is not None:
        return fma(core, w, b)
    if w is not None:
        return np.asarray(core * w)
    return core if b is None else np.asarray(core + b)


def _values(x: Arr | None) -> np.ndarray | None:
    return None if x is None else to_compute(x)


def layer_norm(
    x: Arr,
    normalized_shape: Sequence[int],
    weight: Arr | None = None,
    bias: Arr | None = None,
    eps: float = 1e-5,
) -> Arr:
    """torch.nn.functional.layer_norm: y = fma((x − mean)·rstd, w, b), rstd = 1/sqrt(var + eps)."""
    v = to_compute(x)
    axes = tuple(range(x.ndim - len(normalized_shape), x.ndim))
    n = np.asarray(int(np.prod([x.shape[a] for a in axes]))).astype(v.dtype)
    with np.errstate(all="ignore"):
        m = reduce_values(v, axes, True, sum_rows) / n
        spread = var_values(v, axes, 0, True)
        rstd = np.asarray(1, v.dtype) / np.sqrt(spread + number_to_compute(eps, x.dtype))
        return from_compute(
            _affine(np.asarray((v - m) * rstd), _values(weight), _values(bias)), x.dtype
        )


def rms_norm(
    x: Arr, normalized_shape: Sequence[int], weight: Arr | None = None, eps: float = 1e-5
) -> Arr:
    """torch.nn.functional.rms_norm: y = (x·rstd)·w, rstd = 1/sqrt(N4 sum x·x / n + eps)."""
    v = to_compute(x)
    axes = tuple(range(x.ndim - len(normalized_shape), x.ndim))
    n = np.asarray(int(np.prod([x.shape[a] for a in axes]))).astype(v.dtype)
    with np.errstate(all="ignore"):
        square = reduce_values(v * v, axes, True, sum_rows) / n
        rstd = np.asarray(1, v.dtype) / np.sqrt(square + number_to_compute(eps, x.dtype))
        return from_compute(_affine(np.asarray(v * rstd), _values(weight), None), x.dtype)


def gelu(x: Arr) -> Arr:
    """torch.nn.functional.gelu: (0.5·x)·(1 + erf(x·√½)), where the table has `erf`."""
    v = to_compute(x)
    with np.errstate(all="ignore"):
        inner = body.apply("erf", x.dtype.compute, v * number_to_compute(0.5**0.5, x.dtype))
        return from_compute(
            np.asarray((v * v.dtype.type(0.5)) * (v.dtype.type(1) + inner)), x.dtype
        )


def batch_norm(
    x: Arr,
    running_mean: Arr,
    running_var: Arr,
    weight: Arr | None = None,
    bias: Arr | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> tuple[Arr, Arr, Arr]:
    """torch.nn.functional.batch_norm over [N, C, …]: (y, new running mean, new running var).

    N4 over (n, spatial) with correction 0 for y, correction 1 for the running variance:
    running = (1−momentum)·running + momentum·new.
    """
    v = to_compute(x)
    axes = (0, *range(2, x.ndim))
    channel = (1, -1) + (1,) * (x.ndim - 2)
    mean, var = to_compute(running_mean), to_compute(running_var)
    keep, mix = (number_to_compute(m, x.dtype) for m in (1 - momentum, momentum))
    n = np.asarray(int(np.prod([x.shape[a] for a in axes]))).astype(v.dtype)
    with np.errstate(all="ignore"):
        new_mean, new_var = mean, var
        if training:
            fresh = reduce_values(v, axes, False, sum_rows) / n
            new_mean = keep * mean + mix * fresh
            new_var = keep * var + mix * var_values(v, axes, 1, False)
            mean, var = fresh, var_values(v, axes, 0, False)
        rstd = np.asarray(1, v.dtype) / np.sqrt(var + number_to_compute(eps, x.dtype))
        core = np.asarray((v - mean.reshape(channel)) * rstd.reshape(channel))
        w, b = (None if t is None else to_compute(t).reshape(channel) for t in (weight, bias))
        y = from_compute(_affine(core, w, b), x.dtype)
    return y, from_compute(new_mean, running_mean.dtype), from_compute(new_var, running_var.dtype)
