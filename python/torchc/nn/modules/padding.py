"""Borders."""

from __future__ import annotations

from torchc.nn import functional as F
from torchc.nn.modules.module import Module
from torchc.nn.modules.utils import _ntuple

__all__ = [
    f"{kind}Pad{n}d"
    for kind in ("Circular", "Constant", "Reflection", "Replication", "Zero")
    for n in (1, 2, 3)
]


class _Pad(Module):
    """A border of `padding` (one number, or before and after each dimension from the last on)."""

    _mode = "constant"
    _rank = 0
    value: float = 0.0

    def __init__(self, padding):
        super().__init__()
        self.padding = _ntuple(2 * self._rank)(padding)

    def forward(self, input):
        """See `functional.pad`."""
        if self._mode == "constant":
            return F.pad(input, self.padding, "constant", self.value)
        if input.dim() not in (self._rank + 1, self._rank + 2):
            raise ValueError(
                f"expected {self._rank + 1}D or {self._rank + 2}D input (got {input.dim()}D input)"
            )
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self):
        """The border."""
        return f"{self.padding}"


class _ConstantPad(_Pad):
    def __init__(self, padding, value: float):
        super().__init__(padding)
        self.value = value

    def extra_repr(self):
        """Border and value."""
        return f"padding={self.padding}, value={self.value}"


_KINDS = {
    "Circular": (_Pad, "circular", "a border that continues at the other side"),
    "Constant": (_ConstantPad, "constant", "a border of one value"),
    "Reflection": (_Pad, "reflect", "a border that mirrors the inside"),
    "Replication": (_Pad, "replicate", "a border that repeats the edge"),
    "Zero": (_Pad, "constant", "a border of zeros"),
}


def _class(kind: str, rank: int) -> type:
    base, mode, text = _KINDS[kind]
    doc = (
        f"Adds {text} to the last {rank} dimension{'s' if rank > 1 else ''}; see `functional.pad`."
    )
    return type(
        f"{kind}Pad{rank}d",
        (base,),
        {"_mode": mode, "_rank": rank, "__doc__": doc, "__module__": __name__},
    )


for _kind in _KINDS:
    for _n in (1, 2, 3):
        globals()[f"{_kind}Pad{_n}d"] = _class(_kind, _n)
