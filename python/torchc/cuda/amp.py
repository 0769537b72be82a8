"""Mixed precision under its old names; see torchc.amp."""

from __future__ import annotations

import functools

from torchc import amp as _amp

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]

custom_fwd = functools.partial(_amp.custom_fwd, device_type="cuda")
custom_bwd = functools.partial(_amp.custom_bwd, device_type="cuda")


class autocast(_amp.autocast):
    """torchc.amp.autocast for CUDA: there is none, so that it is off."""

    def __init__(self, enabled=True, dtype=None, cache_enabled=True):
        super().__init__("cuda", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(_amp.GradScaler):
    """torchc.amp.GradScaler for CUDA: there is none, so that it is off."""

    def __init__(
        self,
        init_scale=2.0**16,
        growth_factor=2.0,
        backoff_factor=0.5,
        growth_interval=2000,
        enabled=True,
    ):
        super().__init__(
            "cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )
