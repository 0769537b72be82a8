"""Names for annotations."""

from __future__ import annotations

import builtins

from torchc import _C

__all__ = ["Device", "Number"]

Number = builtins.int | builtins.float | builtins.bool
Device = _C.device | str | int | None
_size = _C.Size | list[builtins.int] | tuple[builtins.int, ...]
