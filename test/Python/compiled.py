"""What the tests of compiled functions share."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from torchc.jit import _helper  # noqa: E402

COMPILER = _helper()[0]
needs_compiler = pytest.mark.skipif(not COMPILER, reason="build the target torchc first")


def bits(value: Any) -> Any:
    """The bytes of every tensor in a value, with shapes and types."""
    if isinstance(value, (list, tuple)):
        return [bits(v) for v in value]
    if isinstance(value, torch.Tensor):
        v = value.detach()
        layout = (str(v.dtype), tuple(v.shape), value.requires_grad)
        return (*layout, torch._C._to_bytes(v.contiguous()))
    return value
