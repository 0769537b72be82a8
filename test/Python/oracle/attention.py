"""Scaled dot-product attention by rule N6: an online softmax over blocks of 64 keys."""

from __future__ import annotations

import numpy as np

from . import body
from .dtypes import Arr, DType, from_compute, number_to_compute, to_compute
from .fma import fma
from .reduce import max_rows, sum_rows

KEYS = 64


def attention(
    q: Arr,
    k: Arr,
    v: Arr,
    mask: Arr | None = None,
    is_causal: bool = False,
    scale: float | None = None,
) -> Arr:
    """torch.nn.functional.scaled_dot_product_attention without dropout.

    q [B, Hq, Lq, D], k [B, H, Lk, D], v [B, H, Lk, Dv]; head h reads key head h div (Hq/H). A
    bool mask keeps where
    true, a float mask is added after the scale; both broadcast to [B, Hq, Lq, Lk].
    """
    qv, kv, vv = (to_compute(t) for t in (q, k, v))
    batch, heads, rows, depth = qv.shape
    group = heads // kv.shape[1] if kv.shape[1] else 1
    factor = number_to_compute(depth**-0.5 if scale is None else scale, q.dtype)
    keys = kv.shape[2]
    bias = None if mask is None else np.broadcast_to(to_compute(mask), (batch, heads, rows, keys))
    out = np.zeros((batch, heads, rows, vv.shape[3]), qv.dtype)
    for b, h, i in np.ndindex(batch, heads, rows):
        limit = min(keys, i + 1) if is_causal else keys
        row = None if bias is None else bias[b, h, i]
        head = h // group
        out[b, h, i] = _query(qv[b, h, i], kv[b, head], vv[b, head], row, limit, factor, q.dtype)
    return from_compute(out, q.dtype)


def _scores(
    q: np.ndarray, k: np.ndarray, factor: np.ndarray, bias: np.ndarray | None
) -> np.ndarray:
    """One block: a chain over d from +0, times the scale, then the mask."""
    s = np.zeros(k.shape[0], q.dtype)
    for d in range(q.shape[0]):
        s = fma(q[d], k[:, d], s)
    s = s * factor
    if bias is None:
        return s
    if bias.dtype == np.bool_:
        return np.where(bias, s, np.asarray(-np.inf, s.dtype))
    return np.asarray(s + bias)


def _query(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    bias: np.ndarray | None,
    limit: int,
    factor: np.ndarray,
    dtype: DType,
) -> np.ndarray:
    """One query over its first `limit` keys."""
    t, compute = q.dtype.type, dtype.compute
    m, total, o = t(-np.inf), t(0), np.zeros(v.shape[1], q.dtype)
    with np.errstate(all="ignore"):
        for start in range(0, limit, KEYS):
            stop = min(start + KEYS, limit)
            s = _scores(q, k[start:stop], factor, None if bias is None else bias[start:stop])
            new = body.maximum(m, max_rows(s[None, :])[0])[()]
            if new == -np.inf:
                p, a = np.zeros_like(s), t(1)
            else:
                p = body.apply("exp", compute, s - new)
                a = body.apply("exp", compute, np.asarray(m - new))[()]
            total = total * a + sum_rows(p[None, :])[0]
            o = o * a
            for j in range(stop - start):
                o = fma(p[j], v[start + j], o)
            m = new
        return np.zeros_like(o) if m == -np.inf else np.asarray(o / total)
