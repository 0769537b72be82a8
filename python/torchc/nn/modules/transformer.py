"""Transformers (Vaswani et al., 2017): encoder and decoder layers, and stacks of them."""

from __future__ import annotations

import copy
import math

from torchc import _C
from torchc.nn import functional as F
from torchc.nn import init
from torchc.nn.modules.attention import MultiheadAttention
from torchc.nn.modules.container import ModuleList
from torchc.nn.modules.dropout import Dropout
from torchc.nn.modules.linear import Linear
from torchc.nn.modules.module import Module, factory_options
from torchc.nn.modules.normalization import LayerNorm

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]


def _activation(given):
    """A function by name, or the function itself."""
    if not isinstance(given, str):
        return given
    if given not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {given}")
    return F.relu if given == "relu" else F.gelu


def _clones(module, n: int):
    return ModuleList([copy.deepcopy(module) for _ in range(n)])


def _causal_mask(size: int, dtype=None, device=None):
    """(size, size): -inf above the diagonal, 0 elsewhere."""
    place = _C.arange(size, **factory_options(device, None))
    later = place.unsqueeze(0) > place.unsqueeze(1)
    zeros = _C.zeros(size, size, **factory_options(device, dtype))
    return zeros.masked_fill(later, -math.inf)


def _is_causal(mask, given) -> bool:
    """The hint, or whether the mask is the causal one."""
    if given is not None or mask is None:
        return bool(given)
    size = mask.shape[-1]
    if mask.dim() != 2 or mask.shape[0] != size or not mask.is_floating_point():
        return False
    return bool((mask == _causal_mask(size, mask.dtype, mask.device)).all())


class _Layer(Module):
    """The feed-forward part that both kinds of layer share."""

    def _feed_forward(self, d_model, dim_feedforward, dropout, bias, options):
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **options)

    def _ff_block(self, x, last):
        x = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return last(x)

    def __setstate__(self, state):
        super().__setstate__(state)
        if not hasattr(self, "activation"):
            self.activation = F.relu


class TransformerEncoderLayer(_Layer):
    """Self-attention and a feed-forward network, each with a residual connection and a layer norm.

    Args:
        norm_first: the norms come before attention and network instead of after.
        activation: "relu", "gelu" or a function.
        batch_first: inputs are (N, L, E) instead of (L, N, E).
    """

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1, activation=F.relu,
        layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False, bias: bool = True,
        device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        options = factory_options(device, dtype)
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **options
        )
        self._feed_forward(d_model, dim_feedforward, dropout, bias, options)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = _activation(activation)

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        """The layer's result, of src's shape; masks as in MultiheadAttention."""

        def attend(x):
            x, _ = self.self_attn(
                x, x, x, attn_mask=src_mask, key_padding_mask=src_key_padding_mask, need_weights=False,
                is_causal=is_causal,
            )  # fmt: skip
            return self.dropout1(x)

        if self.norm_first:
            x = src + attend(self.norm1(src))
            return x + self._ff_block(self.norm2(x), self.dropout2)
        x = self.norm1(src + attend(src))
        return self.norm2(x + self._ff_block(x, self.dropout2))


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention over the encoder's result, and a feed-forward network; arguments as the encoder's."""

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1, activation=F.relu,
        layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False, bias: bool = True,
        device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        options = factory_options(device, dtype)
        attention = dict(dropout=dropout, batch_first=batch_first, bias=bias, **options)
        self.self_attn = MultiheadAttention(d_model, nhead, **attention)
        self.multihead_attn = MultiheadAttention(d_model, nhead, **attention)
        self._feed_forward(d_model, dim_feedforward, dropout, bias, options)
        self.norm_first = norm_first
        for i in (1, 2, 3):
            self.add_module(
                f"norm{i}", LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options)
            )
        for i in (1, 2, 3):
            self.add_module(f"dropout{i}", Dropout(dropout))
        self.activation = _activation(activation)

    def forward(
        self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None,
        tgt_is_causal=False, memory_is_causal=False,
    ):  # fmt: skip
        """The layer's result, of tgt's shape; `memory` is the encoder's result."""

        def attend(x):
            x, _ = self.self_attn(
                x, x, x, attn_mask=tgt_mask, key_padding_mask=tgt_key_padding_mask, is_causal=tgt_is_causal,
                need_weights=False,
            )  # fmt: skip
            return self.dropout1(x)

        def look(x):
            x, _ = self.multihead_attn(
                x, memory, memory, attn_mask=memory_mask, key_padding_mask=memory_key_padding_mask,
                is_causal=memory_is_causal, need_weights=False,
            )  # fmt: skip
            return self.dropout2(x)

        if self.norm_first:
            x = tgt + attend(self.norm1(tgt))
            x = x + look(self.norm2(x))
            return x + self._ff_block(self.norm3(x), self.dropout3)
        x = self.norm1(tgt + attend(tgt))
        x = self.norm2(x + look(x))
        return self.norm3(x + self._ff_block(x, self.dropout3))


class TransformerEncoder(Module):
    """`num_layers` copies of a layer one after the other, and a norm at the end when given.

    `enable_nested_tensor` and `mask_check` choose faster paths of PyTorch; they change nothing here.
    """

    def __init__(
        self, encoder_layer, num_layers: int, norm=None, enable_nested_tensor=True, mask_check=True
    ):
        super().__init__()
        self.layers = _clones(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        """The last layer's result (normed)."""
        causal = _is_causal(mask, is_causal)
        for layer in self.layers:
            src = layer(
                src, src_mask=mask, is_causal=causal, src_key_padding_mask=src_key_padding_mask
            )
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """`num_layers` copies of a layer one after the other, and a norm at the end when given."""

    def __init__(self, decoder_layer, num_layers: int, norm=None):
        super().__init__()
        self.layers = _clones(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None,
        tgt_is_causal=None, memory_is_causal=False,
    ):  # fmt: skip
        """The last layer's result (normed)."""
        causal = _is_causal(tgt_mask, tgt_is_causal)
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder and a decoder; arguments as those of their layers. Weights of matrices start by xavier_uniform_."""

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
        dim_feedforward: int = 2048, dropout: float = 0.1, activation=F.relu, custom_encoder=None,
        custom_decoder=None, layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False,
        bias: bool = True, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        options = factory_options(device, dtype)
        layer = dict(
            d_model=d_model, nhead=nhead, dim_feedforward=dim_feedforward, dropout=dropout, activation=activation,
            layer_norm_eps=layer_norm_eps, batch_first=batch_first, norm_first=norm_first, bias=bias, **options,
        )  # fmt: skip

        def norm():
            return LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options)

        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            self.encoder = TransformerEncoder(
                TransformerEncoderLayer(**layer), num_encoder_layers, norm()
            )
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            self.decoder = TransformerDecoder(
                TransformerDecoderLayer(**layer), num_decoder_layers, norm()
            )
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self, src, tgt, src_mask=None, tgt_mask=None, memory_mask=None, src_key_padding_mask=None,
        tgt_key_padding_mask=None, memory_key_padding_mask=None, src_is_causal=None, tgt_is_causal=None,
        memory_is_causal=False,
    ):  # fmt: skip
        """The decoder's result for `tgt`, of its shape. Raises RuntimeError for sizes that don't fit."""
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch) != tgt.size(batch):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(
            src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
        )
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device=None, dtype=None):
        """(sz, sz): -inf where a query must not look, 0 elsewhere."""
        return _causal_mask(sz, dtype, device)

    def _reset_parameters(self):
        for p in self.parameters():
            if p.dim() > 1:
                init.xavier_uniform_(p)
