"""Batch normalisation."""

from __future__ import annotations

from torchc import _C
from torchc.nn import functional as F
from torchc.nn import init
from torchc.nn.modules.lazy import LazyModuleMixin
from torchc.nn.modules.module import Module, factory_options
from torchc.nn.parameter import Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "SyncBatchNorm",
]


class _NormBase(Module):
    """Parameters and running statistics of batch and instance normalisation."""

    _version = 2

    def __init__(
        self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None,
        dtype=None, *, bias=True,
    ):  # fmt: skip
        super().__init__()
        options = factory_options(device, dtype)
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        for name, present in (("weight", affine), ("bias", affine and bias)):
            value = Parameter(_C.empty(num_features, **options)) if present else None
            self.register_parameter(name, value)
        tracked = track_running_stats
        self.register_buffer("running_mean", _C.zeros(num_features, **options) if tracked else None)
        self.register_buffer("running_var", _C.ones(num_features, **options) if tracked else None)
        count = _C.tensor(0, dtype=_C.int64, **factory_options(device, None)) if tracked else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self):
        """Mean 0, variance 1, no batch seen."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        """The statistics anew, weight 1 and bias 0."""
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input):
        raise NotImplementedError(f"{type(self).__name__} does not define _check_input_dim")

    def extra_repr(self):
        """Features and options."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest):
        version = local_metadata.get("version", None)
        key = prefix + "num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            # Files of PyTorch before 0.4 have no count.
            state_dict[key] = _C.tensor(0, dtype=_C.int64)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _BatchNorm(_NormBase):
    """What the batch norms share; a subclass checks the rank."""

    def forward(self, input):
        """See `functional.batch_norm`; momentum None makes the running statistics plain means."""
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                factor = 1.0 / float(self.num_batches_tracked)
        own = self.training or (self.running_mean is None and self.running_var is None)
        keep = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if keep else None,
            self.running_var if keep else None,
            self.weight,
            self.bias,
            own,
            factor,
            self.eps,
        )


def _check_rank(input, *ranks: int):
    if input.dim() not in ranks:
        raise ValueError(
            f"expected {' or '.join(f'{r}D' for r in ranks)} input (got {input.dim()}D input)"
        )


class BatchNorm1d(_BatchNorm):
    """Normalises each channel of (N, C) or (N, C, L) over batch and length."""

    def _check_input_dim(self, input):
        _check_rank(input, 2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalises each channel of (N, C, H, W) over batch and space."""

    def _check_input_dim(self, input):
        _check_rank(input, 4)


class BatchNorm3d(_BatchNorm):
    """Normalises each channel of (N, C, D, H, W) over batch and space."""

    def _check_input_dim(self, input):
        _check_rank(input, 5)


class SyncBatchNorm(_BatchNorm):
    """A batch norm of any rank; with one process there is nothing to synchronise."""

    def __init__(
        self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, process_group=None,
        device=None, dtype=None, *, bias=True,
    ):  # fmt: skip
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        self.process_group = process_group

    def _check_input_dim(self, input):
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        """Replaces the batch norms in `module` by SyncBatchNorm with the same parameters; returns it."""
        if isinstance(module, _BatchNorm) and not isinstance(module, cls):
            new = cls(
                module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats,
                process_group,
            )  # fmt: skip
            for name in ("weight", "bias"):
                new.register_parameter(name, getattr(module, name))
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                new._buffers[name] = getattr(module, name)
            new.training = module.training
            return new
        for name, child in module.named_children():
            module.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return module


class _LazyNormBase(LazyModuleMixin):
    """A norm that learns `num_features` from its first input."""

    def __init__(
        self,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        options = factory_options(device, dtype)
        super().__init__(0, eps, momentum, False, False, device=device, dtype=dtype)
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.weight = UninitializedParameter(**options)
            if bias:
                self.bias = UninitializedParameter(**options)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(**options)
            self.running_var = UninitializedBuffer(**options)
            self.num_batches_tracked = _C.tensor(0, dtype=_C.int64)

    def reset_parameters(self):
        """Sets starting values when the sizes are known."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input):
        """Takes the channels from the input."""
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        names = ("weight", "bias", "running_mean", "running_var")
        for value in (getattr(self, name) for name in names):
            if value is not None:
                value.materialize((self.num_features,))
        self.reset_parameters()


class LazyBatchNorm1d(_LazyNormBase, BatchNorm1d):
    """A BatchNorm1d that learns `num_features` from its first input."""

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNormBase, BatchNorm2d):
    """A BatchNorm2d that learns `num_features` from its first input."""

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNormBase, BatchNorm3d):
    """A BatchNorm3d that learns `num_features` from its first input."""

    cls_to_become = BatchNorm3d
