"""Tensors as text: the layout that PyTorch users know, computed on Python numbers."""

import math
import sys

from torchc import _C

__all__ = ["get_printoptions", "set_printoptions"]


class _Options:
    """How numbers and lists are laid out; the attributes are set_printoptions' arguments."""

    precision = 4
    threshold: float = 1000
    edgeitems = 3
    linewidth = 80
    sci_mode: bool | None = None


_options = _Options()
_PROFILES: dict[str, dict[str, float]] = {
    "default": dict(precision=4, threshold=1000, edgeitems=3, linewidth=80),
    "short": dict(precision=2, threshold=1000, edgeitems=2, linewidth=80),
    "full": dict(precision=4, threshold=math.inf, edgeitems=3, linewidth=80),
}


def set_printoptions(
    precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None
):
    """Sets how tensors are printed.

    Args:
        precision: digits after the point.
        threshold: more elements than this are summarised.
        edgeitems: how many elements a summary shows at each end of a dimension.
        linewidth: characters of a line.
        profile: "default", "short" or "full", which set the four above.
        sci_mode: True or False force scientific notation on or off; None lets the values decide.
    """
    values: dict = {}
    if profile is not None:
        if profile not in _PROFILES:
            raise ValueError(f"profile must be one of {', '.join(_PROFILES)}, got {profile!r}")
        values.update(_PROFILES[profile])
    given = dict(precision=precision, threshold=threshold, edgeitems=edgeitems, linewidth=linewidth)
    values.update({name: value for name, value in given.items() if value is not None})
    for name, value in values.items():
        setattr(_options, name, value)
    _options.sci_mode = sci_mode


def get_printoptions() -> dict:
    """The current settings of `set_printoptions`."""
    names = ("precision", "threshold", "edgeitems", "linewidth", "sci_mode")
    return {name: getattr(_options, name) for name in names}


def _flat(values):
    """The numbers of nested lists."""
    if not isinstance(values, list):
        yield values
        return
    for value in values:
        yield from _flat(value)


class _Reals:
    """Formats floats of one tensor to one width."""

    def __init__(self, numbers):
        finite = [abs(x) for x in numbers if x != 0 and math.isfinite(x)]
        self.integers = all(x == math.ceil(x) for x in finite)
        self.scientific, self.width = False, 1
        if finite:
            low, high = min(finite), max(finite)
            self.scientific = high / low > 1000 or high > 1e8 or (not self.integers and low < 1e-4)
        if _options.sci_mode is not None:
            self.scientific = _options.sci_mode
        shown = [x for x in numbers if x != 0 and math.isfinite(x)]
        self.width = max((len(self._plain(x)) for x in shown), default=1)

    def _plain(self, x) -> str:
        if self.scientific:
            return f"{x:.{_options.precision}e}"
        if self.integers:
            return f"{x:.0f}" + ("." if math.isfinite(x) else "")
        return f"{x:.{_options.precision}f}"

    def __call__(self, x) -> str:
        return self._plain(x).rjust(self.width)


class _Complex:
    """Formats complex numbers: the parts each to their own width."""

    def __init__(self, numbers):
        self.real = _Reals([z.real for z in numbers])
        self.imaginary = _Reals([z.imag for z in numbers])
        self.width = self.real.width + self.imaginary.width + 1

    def __call__(self, z) -> str:
        imaginary = self.imaginary(z.imag).lstrip() + "j"
        return self.real(z.real) + ("" if imaginary[0] in "+-" else "+") + imaginary


class _Words:
    """Formats integers and truth values to the longest one's width."""

    def __init__(self, numbers):
        self.width = max((len(str(x)) for x in numbers), default=1)

    def __call__(self, x) -> str:
        return str(x).rjust(self.width)


class _Gap:
    """Where a summary leaves elements out."""


def _visible(tensor, summarize: bool):
    """Nested lists of the elements that are shown, with gaps."""
    if not summarize or tensor.dim() == 0:
        return tensor.tolist()
    size, edge = tensor.shape[0], _options.edgeitems
    if size <= 2 * edge:
        return [_visible(tensor[i], True) for i in range(size)]
    shown = [*range(edge), *range(size - edge, size)]
    items = [_visible(tensor[i], True) for i in shown]
    return [*items[:edge], _Gap, *items[edge:]]


def _row(values, indent: int, form) -> str:
    per_line = max(1, (_options.linewidth - indent) // (form.width + 2))
    words = [" ..." if value is _Gap else form(value) for value in values]
    lines = [", ".join(words[i : i + per_line]) for i in range(0, len(words), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _lay_out(values, rank: int, indent: int, form) -> str:
    if rank == 0:
        return form(values)
    if rank == 1:
        return _row(values, indent, form)
    parts = ["..." if v is _Gap else _lay_out(v, rank - 1, indent + 1, form) for v in values]
    return "[" + ("," + "\n" * (rank - 1) + " " * (indent + 1)).join(parts) + "]"


def _numbers_text(tensor, indent: int) -> str:
    values = _visible(tensor, tensor.numel() > _options.threshold)
    numbers = [x for x in _flat(values) if x is not _Gap]
    form: _Reals | _Complex | _Words
    if tensor.dtype.is_floating_point:
        form = _Reals(numbers)
    elif tensor.dtype.is_complex:
        form = _Complex(numbers)
    else:
        form = _Words(numbers)
    return _lay_out(values, tensor.dim(), indent, form)


def _join(text: str, suffixes, indent: int) -> str:
    """Appends what is said behind the numbers, on new lines where a line is full."""
    length = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if length + len(suffix) + 2 > _options.linewidth:
            text += ",\n" + " " * indent + suffix
            length = indent + len(suffix)
        else:
            text += ", " + suffix
            length += len(suffix) + 2
    return text + ")"


def _history(tensor) -> list[str]:
    if tensor.grad_fn is not None:
        return [f"grad_fn=<{tensor.grad_fn.name()}>"]
    return ["requires_grad=True"] if tensor.requires_grad else []


def _default_complex(default):
    """The complex dtype that goes with a default dtype."""
    return {_C.float64: _C.complex128, _C.float32: _C.complex64}.get(default)


def tensor_text(tensor) -> str:
    """`repr(tensor)`: its numbers, then device, size, dtype and gradient where they are not the usual ones."""
    # A Parameter says so itself, and only exists once nn is loaded.
    nn = sys.modules.get("torchc.nn.parameter")
    plain = type(tensor) is _C.Tensor or (nn is not None and type(tensor) is nn.Parameter)
    prefix = "tensor(" if plain else type(tensor).__name__ + "("
    indent = len(prefix)
    default = _C.get_default_dtype()
    suffixes = []
    dtype_shown = tensor.dtype not in (default, _default_complex(default), _C.int64, _C.bool)
    values = tensor.detach()
    if tensor.device.type == "meta":
        text = "..."
        suffixes += [f"device='{tensor.device}'", f"size={tuple(tensor.shape)}"]
        dtype_shown = tensor.dtype != default
    elif tensor.numel() == 0:
        text = "[]"
        if tensor.dim() != 1:
            suffixes.append(f"size={tuple(tensor.shape)}")
        dtype_shown = tensor.dtype != default
    else:
        text = _numbers_text(values.cpu(), indent)
    if tensor.device.type == "cuda":
        suffixes.insert(0, f"device='{tensor.device}'")
    if dtype_shown:
        suffixes.append(f"dtype={tensor.dtype}")
    return _join(prefix + text, suffixes + _history(tensor), indent)
