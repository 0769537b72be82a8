"""Softmax over many classes, the rare ones in clusters."""

from __future__ import annotations

from collections import namedtuple

from torchc import _C
from torchc.nn import functional as F
from torchc.nn.modules.container import ModuleList, Sequential
from torchc.nn.modules.linear import Linear
from torchc.nn.modules.module import Module, factory_options

__all__ = ["AdaptiveLogSoftmaxWithLoss"]

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """Grave et al. (2017): a head for the frequent classes and one small network per cluster of rare ones.

    Args:
        cutoffs: where the clusters begin; increasing numbers of [1, n_classes - 1].
        div_value: each cluster's width is the one before divided by it.

    Raises ValueError for other cutoffs.
    """

    def __init__(
        self, in_features: int, n_classes: int, cutoffs, div_value: float = 4.0, head_bias: bool = False, device=None,
        dtype=None,
    ):  # fmt: skip
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (
            cutoffs != sorted(set(cutoffs))
            or cutoffs[0] <= 0
            or cutoffs[-1] > n_classes - 1
            or any(int(c) != c for c in cutoffs)
        ):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                "value is between 1 and n_classes-1"
            )
        options = factory_options(device, dtype)
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **options)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            width = int(in_features // div_value ** (i + 1))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            projection = Linear(in_features, width, bias=False, **options)
            self.tail.append(Sequential(projection, Linear(width, size, bias=False, **options)))

    def reset_parameters(self):
        """Draws the starting values again."""
        self.head.reset_parameters()
        for projection, output in self.tail:
            projection.reset_parameters()
            output.reset_parameters()

    def log_prob(self, input):
        """Log-probabilities of all classes: (N, n_classes) for an input (N, in_features)."""
        head = F.log_softmax(self.head(input), 1)
        parts = [head[:, : self.shortlist_size]]
        for i, cluster in enumerate(self.tail):
            inside = F.log_softmax(cluster(input), 1)
            parts.append(inside + head[:, self.shortlist_size + i].unsqueeze(1))
        return _C.cat(parts, 1)

    def forward(self, input, target):
        """(log-probabilities of the targets, their negated mean). Raises RuntimeError for sizes or a wrong target."""
        single = target.dim() == 0
        if single:
            if input.dim() != 1:
                raise RuntimeError("0D target tensor expects 1D input tensors, but found inputs with size "
                                   f"{list(input.size())}.")  # fmt: skip
            input, target = input.unsqueeze(0), target.unsqueeze(0)
        elif target.dim() != 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        elif input.dim() != 2 or input.size(0) != target.size(0):
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if target.numel() and (int(target.min()) < 0 or int(target.max()) >= self.n_classes):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{int(target.min())}, {int(target.max())}] were found. "
            )
        output = self.log_prob(input).gather(1, target.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output.squeeze(0) if single else output, loss)

    def predict(self, input):
        """The most likely class of each row."""
        return self.log_prob(input).argmax(1)
