"""Multi-head attention with its projections."""

from __future__ import annotations

import math

from torchc import _C
from torchc.nn._functions.dropout import dropout
from torchc.nn._spatial import pad

__all__ = ["multi_head_attention_forward", "scaled_dot_product_attention"]


def scaled_dot_product_attention(
    query,
    key,
    value,
    attn_mask=None,
    dropout_p=0.0,
    is_causal=False,
    scale=None,
    enable_gqa=False,
):
    """softmax(query · key^T * scale + mask) · value over the last two dimensions (rule N6).

    Args:
        query (..., Hq, L, E), key (..., H, S, E), value (..., H, S, Ev).
        attn_mask: bool (False excludes a key) or floating (added), broadcast to (..., L, S).
        dropout_p: applied whenever it isn't 0, also outside of training.
        is_causal: query i sees keys up to i; not together with a mask.
        scale: default 1 / sqrt(E).
        enable_gqa: Hq may be a multiple of H.
    """
    return _C.scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask=attn_mask,
        dropout_p=dropout_p,
        is_causal=is_causal,
        scale=scale,
        enable_gqa=enable_gqa,
    )


def _additive(mask, name: str, dtype):
    """A bool mask (True excludes) as numbers to add; a floating one itself. Raises RuntimeError for other dtypes."""
    if mask is None or mask.is_floating_point():
        return mask
    if mask.dtype is not _C.bool:
        raise RuntimeError(f"only bool and floating types of {name} are supported")
    return _C.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(mask, -math.inf)


def _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads) -> bool:
    """Whether there is a batch dimension. Raises AssertionError for shapes that don't fit together."""
    rank = query.dim()
    if rank not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {rank}-D query tensor"
        )
    if key.dim() != rank or value.dim() != rank:
        raise AssertionError(
            f"For {'batched (3-D)' if rank == 3 else 'unbatched (2-D)'} `query`, expected `key` and `value` to be "
            f"{rank}-D but found {key.dim()}-D and {value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != rank - 1:
        raise AssertionError(
            f"expected `key_padding_mask` to be None or {rank - 1}-D but found "
            f"{key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None and attn_mask.dim() not in (2, 3):
        raise AssertionError(
            f"expected `attn_mask` to be None, 2-D or 3-D but found {attn_mask.dim()}-D tensor instead"
        )
    if rank == 2 and attn_mask is not None and attn_mask.dim() == 3:
        expected = (num_heads, query.shape[0], key.shape[0])
        if tuple(attn_mask.shape) != expected:
            raise AssertionError(
                f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}"
            )
    return rank == 3


def _project(query, key, value, packed, separate, bias):
    """The three projections; `packed` is one weight for all, `separate` three."""
    parts = (None,) * 3 if bias is None else bias.chunk(3)
    if separate is None:
        if query is key and key is value:
            return _C.linear(query, packed, bias).chunk(3, -1)
        separate = packed.chunk(3)
    triples = zip((query, key, value), separate, parts)
    return tuple(_C.linear(x, weight, b) for x, weight, b in triples)


def multi_head_attention_forward(
    query,
    key,
    value,
    embed_dim_to_check,
    num_heads,
    in_proj_weight,
    in_proj_bias,
    bias_k,
    bias_v,
    add_zero_attn,
    dropout_p,
    out_proj_weight,
    out_proj_bias,
    training=True,
    key_padding_mask=None,
    need_weights=True,
    attn_mask=None,
    use_separate_proj_weight=False,
    q_proj_weight=None,
    k_proj_weight=None,
    v_proj_weight=None,
    static_k=None,
    static_v=None,
    average_attn_weights=True,
    is_causal=False,
):
    """Attention of `num_heads` heads: query (L, N, E), key (S, N, Ek), value (S, N, Ev), or without N.

    Args:
        key_padding_mask: (N, S), True (or -inf) where a key takes no part.
        attn_mask: (L, S) or (N * num_heads, L, S), bool (True excludes) or floating (added).
        static_k, static_v: (N * num_heads, S, E / num_heads) instead of projections.
        is_causal: a hint that attn_mask, which must be given, is causal.

    Returns (result, weights): weights (N, L, S), per head (N, heads, L, S) unless averaged, None unless needed.
    """
    batched = _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    if not batched:
        same = query is key, key is value
        query = query.unsqueeze(1)
        key = query if same[0] else key.unsqueeze(1)
        value = key if same[1] else value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    length, batch, width = query.shape
    key_padding_mask = _additive(key_padding_mask, "key_padding_mask", query.dtype)
    attn_mask = _additive(attn_mask, "attn_mask", query.dtype)
    if width != embed_dim_to_check:
        raise AssertionError(
            f"was expecting embedding dimension of {embed_dim_to_check}, but got {width}"
        )
    head = width // num_heads
    if head * num_heads != width:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {num_heads}")
    if not use_separate_proj_weight and key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
    separate = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    q, k, v = _project(query, key, value, in_proj_weight, separate, in_proj_bias)
    attn_mask = _checked_mask(attn_mask, length, key.shape[0], batch * num_heads)
    if bias_k is not None and bias_v is not None:
        k = _C.cat([k, bias_k.expand(1, batch, width)])
        v = _C.cat([v, bias_v.expand(1, batch, width)])
        attn_mask = None if attn_mask is None else pad(attn_mask, (0, 1))
        key_padding_mask = None if key_padding_mask is None else pad(key_padding_mask, (0, 1))

    def heads(x):
        return x.reshape(x.shape[0], batch * num_heads, head).transpose(0, 1)

    q = heads(q)
    k = heads(k) if static_k is None else static_k
    v = heads(v) if static_v is None else static_v
    if add_zero_attn:
        zeros = k.new_zeros(batch * num_heads, 1, head)
        k, v = _C.cat([k, zeros], 1), _C.cat([v, zeros], 1)
        attn_mask = None if attn_mask is None else pad(attn_mask, (0, 1))
        key_padding_mask = None if key_padding_mask is None else pad(key_padding_mask, (0, 1))
    mask = _merged(attn_mask, key_padding_mask, batch, num_heads, k.size(1))
    dropout_p = dropout_p if training else 0.0
    if need_weights:
        scores = (q * math.sqrt(1.0 / head)) @ k.transpose(-2, -1)
        if mask is not None and _C._is_autocast_enabled():
            mask = mask.to(scores.dtype)
        weights = _C.softmax(scores if mask is None else scores + mask, -1)
        weights = dropout(weights, dropout_p) if dropout_p > 0.0 else weights
        result = weights @ v
    else:
        q, k, v = (x.reshape(batch, num_heads, x.size(1), head) for x in (q, k, v))
        if mask is not None:
            mask = (
                mask.unsqueeze(0)
                if mask.size(0) == 1
                else mask.reshape(batch, num_heads, -1, k.size(-2))
            )
        result = scaled_dot_product_attention(q, k, v, mask, dropout_p)
        result = result.reshape(batch * num_heads, length, head)
    result = result.transpose(0, 1).reshape(length * batch, width)
    result = _C.linear(result, out_proj_weight, out_proj_bias)
    result = result.reshape(length, batch, result.size(1))
    result = result if batched else result.squeeze(1)
    if not need_weights:
        return result, None
    weights = weights.reshape(batch, num_heads, length, -1)
    weights = weights.mean(1) if average_attn_weights else weights
    return result, weights if batched else weights.squeeze(0)


def _checked_mask(mask, length: int, keys: int, rows: int):
    """The mask as (1 or rows, length, keys). Raises RuntimeError for another size."""
    if mask is None:
        return None
    if mask.dim() == 2:
        mask = mask.unsqueeze(0)
        expected = (1, length, keys)
    else:
        expected = (rows, length, keys)
    if tuple(mask.shape) != expected:
        shape, want = (
            tuple(s[1:]) if expected[0] == 1 else tuple(s) for s in (mask.shape, expected)
        )
        raise RuntimeError(
            f"The shape of the {len(want)}D attn_mask is {shape}, but should be {want}."
        )
    return mask


def _merged(attn_mask, key_padding_mask, batch: int, num_heads: int, keys: int):
    """Both masks as one that broadcasts to (batch * heads, L, S)."""
    if key_padding_mask is None:
        return attn_mask
    padding = key_padding_mask.reshape(batch, 1, 1, keys).expand(batch, num_heads, 1, keys)
    padding = padding.reshape(batch * num_heads, 1, keys)
    return padding if attn_mask is None else attn_mask + padding
