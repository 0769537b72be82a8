"""MPS: there is none."""

from __future__ import annotations

from torchc.backends._absent import *  # noqa: F403
from torchc.backends._absent import __all__ as _common

__all__ = [*_common, "set_device"]


def set_device(device) -> None:
    """Raises AssertionError: there is no device."""
    raise AssertionError("torchc is not compiled with MPS enabled")
