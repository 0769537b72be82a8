"""Which implementation of attention is used: there is one, so that a choice changes nothing."""

from __future__ import annotations

import enum
from contextlib import contextmanager

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(enum.Enum):
    """PyTorch's implementations of scaled_dot_product_attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextmanager
def sdpa_kernel(backends, set_priority: bool = False):
    """A scope that allows these implementations. Raises RuntimeError for none."""
    if not (isinstance(backends, SDPBackend) or backends):
        raise RuntimeError("sdpa_kernel: expected at least one backend")
    yield
