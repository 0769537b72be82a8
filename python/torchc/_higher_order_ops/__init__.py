"""Operators that take functions: cond and while_loop."""

from torchc._higher_order_ops.cond import cond
from torchc._higher_order_ops.while_loop import while_loop

__all__ = ["cond", "while_loop"]
