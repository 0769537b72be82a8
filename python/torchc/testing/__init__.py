"""Comparisons for tests."""

from torchc.testing._comparison import assert_allclose, assert_close
from torchc.testing._creation import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]
