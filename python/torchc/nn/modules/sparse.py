"""Tables of vectors."""

from __future__ import annotations

from torchc import _C
from torchc.autograd.grad_mode import no_grad
from torchc.nn import functional as F
from torchc.nn import init
from torchc.nn._functions.embedding import padding_row
from torchc.nn.modules.module import Module, factory_options
from torchc.nn.parameter import Parameter

__all__ = ["Embedding", "EmbeddingBag"]


class _Table(Module):
    """The weight (num_embeddings, embedding_dim), normal at the start; the padding row is 0."""

    def _setup(self, num_embeddings, embedding_dim, padding_idx, given, freeze, device, dtype):
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = padding_row(padding_idx, num_embeddings)
        if given is None:
            data = _C.empty(num_embeddings, embedding_dim, **factory_options(device, dtype))
            self.weight = Parameter(data, requires_grad=not freeze)
            self.reset_parameters()
        else:
            if list(given.shape) != [num_embeddings, embedding_dim]:
                raise AssertionError(
                    "Shape of weight does not match num_embeddings and embedding_dim"
                )
            self.weight = Parameter(given, requires_grad=not freeze)

    def reset_parameters(self):
        """Draws the starting values again."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)


class Embedding(_Table):
    """The rows of a table by index; see `functional.embedding`."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx=None, max_norm=None, norm_type=2.0,
        scale_grad_by_freq=False, sparse=False, _weight=None, _freeze=False, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        self._setup(num_embeddings, embedding_dim, padding_idx, _weight, _freeze, device, dtype)

    def forward(self, input):
        """See `functional.embedding`."""
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self):
        """Sizes, and what isn't the default."""
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq is not False:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        return text + (", sparse=True" if self.sparse else "")

    @classmethod
    def from_pretrained(
        cls, embeddings, freeze=True, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
        sparse=False,
    ):  # fmt: skip
        """A table of these values (rows, size), not trained unless `freeze` is False."""
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, cols = embeddings.shape
        return cls(
            rows, cols, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, _weight=embeddings,
            _freeze=freeze,
        )  # fmt: skip


class EmbeddingBag(_Table):
    """Sums, means or maxima of rows of a table; see `functional.embedding_bag`."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
        mode="mean", sparse=False, _weight=None, include_last_offset=False, padding_idx=None, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.mode, self.sparse = scale_grad_by_freq, mode, sparse
        self.include_last_offset = include_last_offset
        self._setup(num_embeddings, embedding_dim, padding_idx, _weight, False, device, dtype)

    def forward(self, input, offsets=None, per_sample_weights=None):
        """See `functional.embedding_bag`."""
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self):
        """Sizes, and what isn't the default."""
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq is not False:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        text += f", mode={self.mode!r}"
        return text + ("" if self.padding_idx is None else f", padding_idx={self.padding_idx}")

    @classmethod
    def from_pretrained(
        cls, embeddings, freeze=True, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean",
        sparse=False, include_last_offset=False, padding_idx=None,
    ):  # fmt: skip
        """A table of these values (rows, size), not trained unless `freeze` is False."""
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, cols = embeddings.shape
        made = cls(
            rows, cols, max_norm, norm_type, scale_grad_by_freq, mode, sparse, _weight=embeddings,
            include_last_offset=include_last_offset, padding_idx=padding_idx,
        )  # fmt: skip
        made.weight.requires_grad_(not freeze)
        return made
