"""Small helpers that are not about tensors, and data loading."""

from __future__ import annotations

__all__ = ["checkpoint", "data", "dlpack", "hooks"]


def __getattr__(name):
    """Loads a submodule when it is first used."""
    from importlib import import_module

    try:
        return import_module(f"torchc.utils.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"torchc.utils.{name}":
            raise
        raise AttributeError(f"module 'torchc.utils' has no attribute '{name}'") from None
