"""Multi-head attention."""

from __future__ import annotations

from torchc import _C
from torchc.nn import functional as F
from torchc.nn import init
from torchc.nn.modules.linear import NonDynamicallyQuantizableLinear
from torchc.nn.modules.module import Module, factory_options
from torchc.nn.parameter import Parameter

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Vaswani et al. (2017): `num_heads` attentions over projections, concatenated and projected again.

    Args:
        embed_dim: size of queries and results; each head has embed_dim / num_heads of it.
        dropout: on the attention weights.
        add_bias_kv, add_zero_attn: a learned, or a zero, key and value more.
        kdim, vdim: sizes of keys and values; default embed_dim.
        batch_first: inputs are (N, L, E) instead of (L, N, E).

    Parameters: in_proj_weight (3 E, E) or q_, k_, v_proj_weight; in_proj_bias, out_proj.
    """

    def __init__(
        self,
        embed_dim,
        num_heads,
        dropout=0.0,
        bias=True,
        add_bias_kv=False,
        add_zero_attn=False,
        kdim=None,
        vdim=None,
        batch_first=False,
        device=None,
        dtype=None,
    ):
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} "
                "instead"
            )
        super().__init__()
        options = factory_options(device, dtype)
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads, self.dropout, self.batch_first = num_heads, dropout, batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        separate = (("q", embed_dim), ("k", self.kdim), ("v", self.vdim))
        if self._qkv_same_embed_dim:
            self.in_proj_weight = Parameter(_C.empty(3 * embed_dim, embed_dim, **options))
            for name, _ in separate:
                self.register_parameter(f"{name}_proj_weight", None)
        else:
            for name, width in separate:
                weight = Parameter(_C.empty(embed_dim, width, **options))
                self.register_parameter(f"{name}_proj_weight", weight)
            self.register_parameter("in_proj_weight", None)
        if bias:
            self.in_proj_bias = Parameter(_C.empty(3 * embed_dim, **options))
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **options)
        if add_bias_kv:
            self.bias_k = Parameter(_C.empty(1, 1, embed_dim, **options))
            self.bias_v = Parameter(_C.empty(1, 1, embed_dim, **options))
        else:
            self.bias_k = self.bias_v = None  # type: ignore[assignment]
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self):
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            weight = getattr(self, name)
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                init.xavier_normal_(extra)

    def __setstate__(self, state):
        state.setdefault("_qkv_same_embed_dim", True)
        super().__setstate__(state)

    def forward(
        self,
        query,
        key,
        value,
        key_padding_mask=None,
        need_weights=True,
        attn_mask=None,
        average_attn_weights=True,
        is_causal=False,
    ):
        """(result, weights); see `functional.multi_head_attention_forward` for the shapes."""
        swap = self.batch_first and query.dim() == 3
        if swap:
            same = key is query, value is key
            query = query.transpose(1, 0)
            key = query if same[0] else key.transpose(1, 0)
            value = key if same[1] else value.transpose(1, 0)
        result, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return (result.transpose(1, 0) if swap else result), weights
