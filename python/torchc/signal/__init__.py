"""Signals: window functions."""

from torchc.signal import windows

__all__ = ["windows"]
