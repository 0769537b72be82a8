"""Numeric limits of dtypes, and names of types."""

from torchc import _C

__all__ = ["finfo", "iinfo", "typename"]

# bits of the significand (hidden one included) and largest exponent
_FLOATS = {
    "float16": (11, 15),
    "bfloat16": (8, 127),
    "float32": (24, 127),
    "float64": (53, 1023),
    "complex64": (24, 127),
    "complex128": (53, 1023),
}
# bits of the significand, largest number, smallest normal one: none has an infinity to keep free but e5m2
_FLOAT8 = {
    "float8_e4m3fn": (4, 448.0, 2.0**-6),
    "float8_e5m2": (3, 57344.0, 2.0**-14),
    "float8_e4m3fnuz": (4, 240.0, 2.0**-7),
    "float8_e5m2fnuz": (3, 57344.0, 2.0**-15),
}


def _name(dtype) -> str:
    return repr(dtype).rsplit(".", 1)[1]


class finfo:
    """Limits of a floating point dtype (default: the default dtype): bits, eps, max, min, tiny, resolution.

    Raises TypeError for other dtypes.
    """

    def __init__(self, type=None):
        dtype = _C.get_default_dtype() if type is None else type
        if not isinstance(dtype, _C.dtype) or _name(dtype) not in {**_FLOATS, **_FLOAT8}:
            raise TypeError(
                f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{dtype}'"
            )
        if _name(dtype) in _FLOAT8:
            digits, most, tiny = _FLOAT8[_name(dtype)]
        else:
            digits, exponent = _FLOATS[_name(dtype)]
            most, tiny = 2.0**exponent * (2 - 2.0 ** (1 - digits)), 2.0 ** (1 - exponent)
        self.dtype = _name(dtype).replace("complex64", "float32").replace("complex128", "float64")
        self.bits = dtype.itemsize * 8 // (2 if dtype.is_complex else 1)
        self.eps = 2.0 ** (1 - digits)
        self.max = most
        self.min = -self.max
        self.smallest_normal = self.tiny = tiny
        self.resolution = float(f"1e-{int((digits - 1) * 0.30103)}")

    def __eq__(self, other):
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __hash__(self):
        return hash(self.dtype)

    def __repr__(self):
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo:
    """Limits of an integer dtype: bits, max, min. Raises TypeError for other dtypes."""

    def __init__(self, type):
        if not isinstance(type, _C.dtype) or "int" not in _name(type):
            raise TypeError(
                f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{type}'"
            )
        self.dtype = _name(type)
        self.bits = type.itemsize * 8
        self.max = 2 ** (self.bits - type.is_signed) - 1
        self.min = -(2 ** (self.bits - 1)) if type.is_signed else 0

    def __eq__(self, other):
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __hash__(self):
        return hash(self.dtype)

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


def typename(obj) -> str:
    """The name of an object's type: "torch.FloatTensor" for tensors, else with its module."""
    if isinstance(obj, _C.Tensor):
        return obj.type()
    kind = obj if isinstance(obj, type) else type(obj)
    module = kind.__module__
    return kind.__qualname__ if module in (None, "builtins") else f"{module}.{kind.__qualname__}"
