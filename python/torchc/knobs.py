"""Every environment variable that torchc reads, in one table; no other file of the package reads one.

`knobs.NAME` is the current value. The C++ side has the same table in runtime/core/knobs.h.
"""

from __future__ import annotations

import os
from collections.abc import Callable

__all__ = ["KNOBS", "Knob"]


class Knob:
    """One environment variable: its name, how its text is read, its default and what it is for."""

    def __init__(self, variable: str, parse: Callable[[str], object], default: object, help: str):
        self.variable, self.parse, self.default, self.help = variable, parse, default, help

    def read(self) -> object:
        """The value now. Raises ValueError naming the variable, what was expected and what it holds."""
        text = os.environ.get(self.variable, "")
        if not text:
            return self.default
        try:
            return self.parse(text)
        except ValueError as error:
            raise ValueError(f"{self.variable}: expected {error}, got {text!r}") from None


def _one_of(*choices: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError("one of " + ", ".join(choices))
        return text

    return parse


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ValueError("a positive integer")
    return int(text)


KNOBS = {
    "isa": Knob(
        "TORCHC_ISA",
        _one_of("v3", "v4"),
        None,
        "kernel pack to use instead of the best this CPU has",
    ),
    "cache_dir": Knob(
        "TORCHC_CACHE_DIR",
        str,
        None,
        "folder of compiled objects; default: the user's cache folder",
    ),
    "num_threads": Knob(
        "TORCHC_NUM_THREADS", _positive, None, "threads of one operation; then OMP_NUM_THREADS"
    ),
    "log": Knob(
        "TORCHC_LOG", str, None, "file that receives the records of fallbacks and cache misses"
    ),
    "dump": Knob("TORCHC_DUMP", str, None, "folder that receives every stage of every compile"),
    "ptx_emulator": Knob(
        "TORCHC_PTX_EMULATOR",
        str,
        None,
        "library that stands in for CUDA's driver; default: the driver, if there is one",
    ),
    "compile": Knob(
        "TORCHC_COMPILE",
        _one_of("off", "helper"),
        "helper",
        "where compile() compiles; off: nowhere, everything runs eagerly",
    ),
}


def __getattr__(name: str) -> object:
    try:
        return KNOBS[name].read()
    except KeyError:
        raise AttributeError(f"torchc has no knob '{name}'; there are {', '.join(KNOBS)}") from None
