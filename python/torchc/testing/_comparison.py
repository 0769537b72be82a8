"""assert_close: nested tensors, arrays and numbers, with PyTorch's tolerances."""

from __future__ import annotations

import cmath
import collections.abc
import warnings

from torchc import _C

__all__ = ["assert_allclose", "assert_close"]

# (rtol, atol); exact for everything else
_TOLERANCES = {
    _C.float16: (1e-3, 1e-5),
    _C.bfloat16: (1.6e-2, 1e-5),
    _C.float32: (1.3e-6, 1e-5),
    _C.float64: (1e-7, 1e-7),
    _C.complex64: (1.3e-6, 1e-5),
    _C.complex128: (1e-7, 1e-7),
}


class _Options:
    """The arguments of assert_close, and its errors."""

    def __init__(self, allow_subclasses, rtol, atol, equal_nan, check, msg):
        if (rtol is None) != (atol is None):
            missing = "rtol" if rtol is None else "atol"
            given = "atol" if rtol is None else "rtol"
            raise ValueError(
                f"{given} was specified, but {missing} is missing; give both or neither"
            )
        self.allow_subclasses = allow_subclasses
        self.rtol, self.atol, self.equal_nan = rtol, atol, equal_nan
        self.check, self.msg = check, msg

    def tolerances(self, *dtypes):
        """(rtol, atol): those given, or the wider of the dtypes' defaults."""
        if self.rtol is not None:
            return self.rtol, self.atol
        pairs = [_TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in dtypes]
        return max(r for r, _ in pairs), max(a for _, a in pairs)

    def fail(self, text: str, place: str, kind=AssertionError):
        """Raises the error, the message replaced or changed as the caller said."""
        if place:
            text += f"\n\nThe failure occurred for item {place}"
        if self.msg is not None:
            text = self.msg(text) if callable(self.msg) else self.msg
        raise kind(text)

    def fail_types(self, actual, expected, place: str):
        """Raises TypeError: there is no way to compare the two."""
        self.fail(
            f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.",
            place,
            TypeError,
        )


def _is_number(value) -> bool:
    return isinstance(value, (int, float, complex)) or _numpy_kind(value) == "generic"


def _numpy_kind(value) -> str:
    if type(value).__module__ != "numpy":
        return ""
    return "array" if type(value).__name__ == "ndarray" else "generic"


def _check_attributes(actual, expected, options: _Options, place: str):
    if tuple(actual.shape) != tuple(expected.shape):
        options.fail(
            f"The values for attribute 'shape' do not match: {actual.shape} != {expected.shape}.",
            place,
        )
    for name in ("layout", "device", "dtype", "stride"):
        if not options.check[name]:
            continue
        mine, theirs = (
            getattr(t, name)() if name == "stride" else getattr(t, name) for t in (actual, expected)
        )
        if mine != theirs:
            options.fail(
                f"The values for attribute '{name}' do not match: {mine} != {theirs}.", place
            )


def _wide(tensor):
    """Every element exactly, as one of the widest types; bool and integers as int64."""
    if tensor.is_complex():
        return tensor.to(_C.complex128)
    if tensor.is_floating_point():
        return tensor.to(_C.float64)
    return tensor if tensor.dtype is _C.uint64 else tensor.to(_C.int64)


def _compare_tensors(actual, expected, options: _Options, place: str):
    _check_attributes(actual, expected, options, place)
    if "meta" in (actual.device.type, expected.device.type):
        return
    rtol, atol = options.tolerances(actual.dtype, expected.dtype)
    mine, theirs = (_wide(t.detach()).reshape(-1).tolist() for t in (actual, expected))
    wrong, absolute, relative = [], (-1.0, 0), (-1.0, 0)
    for i, (a, e) in enumerate(zip(mine, theirs)):
        if a == e or (options.equal_nan and a != a and e != e):
            continue
        difference = abs(a - e) if cmath.isfinite(a) and cmath.isfinite(e) else float("inf")
        if not (difference <= atol + rtol * abs(e)) or difference == float("inf"):
            wrong.append(i)
            ratio = difference / abs(e) if e else float("inf")
            absolute, relative = max(absolute, (difference, -i)), max(relative, (ratio, -i))
    if not wrong:
        return
    if not actual.shape:
        options.fail(
            f"Scalars are not {'close' if rtol or atol else 'equal'}!\n\nExpected {theirs[0]} but got {mine[0]}.\n"
            f"Absolute difference: {absolute[0]}{_allowed(atol, rtol)}\n"
            f"Relative difference: {relative[0]}{_allowed(rtol, atol)}",
            place,
        )
    options.fail(
        f"Tensor-likes are not {'close' if rtol or atol else 'equal'}!\n\n"
        f"Mismatched elements: {len(wrong)} / {len(mine)} ({100 * len(wrong) / len(mine):.1f}%)\n"
        f"Greatest absolute difference: {absolute[0]} at index {_index(-absolute[1], actual.shape)}"
        f"{_allowed(atol, rtol)}\n"
        f"Greatest relative difference: {relative[0]} at index {_index(-relative[1], actual.shape)}"
        f"{_allowed(rtol, atol)}",
        place,
    )


def _allowed(tolerance: float, other: float) -> str:
    return f" (up to {tolerance} allowed)" if tolerance or other else ""


def _index(flat: int, shape) -> tuple:
    places = []
    for size in reversed(shape):
        places.append(flat % size)
        flat //= size
    return tuple(reversed(places))


def _compare_numbers(actual, expected, options: _Options, place: str):
    if options.check["dtype"] and type(actual) is not type(expected):
        options.fail(f"The (d)types do not match: {type(actual)} != {type(expected)}.", place)
    dtypes = []
    for value in (actual, expected):
        dtypes.append(
            _C.complex128
            if isinstance(value, complex)
            else _C.float64
            if isinstance(value, float)
            else _C.int64
        )
    rtol, atol = options.tolerances(*dtypes)
    if actual == expected or (options.equal_nan and actual != actual and expected != expected):
        return
    difference = abs(actual - expected)
    if cmath.isfinite(difference) and difference <= atol + rtol * abs(expected):
        return
    relative = difference / abs(expected) if expected else float("inf")
    options.fail(
        f"Scalars are not {'close' if rtol or atol else 'equal'}!\n\nExpected {expected} but got {actual}.\n"
        f"Absolute difference: {difference}{_allowed(atol, rtol)}\n"
        f"Relative difference: {relative}{_allowed(rtol, atol)}",
        place,
    )


def _as_tensor(value):
    return value if isinstance(value, _C.Tensor) else _C.as_tensor(value)


def _compare(actual, expected, options: _Options, place: str = ""):
    if actual is None or expected is None:
        if actual is not expected:
            options.fail(f"None mismatch: {actual!r} is not {expected!r}", place)
        return
    if isinstance(actual, str) or isinstance(expected, str):
        options.fail_types(actual, expected, place)
    mappings = [isinstance(value, collections.abc.Mapping) for value in (actual, expected)]
    if all(mappings):
        if set(actual) != set(expected):
            options.fail(
                f"The keys of the mappings do not match:\nMissing keys in the actual mapping: "
                f"{sorted(map(repr, set(expected) - set(actual)))}\nAdditional keys in the actual mapping: "
                f"{sorted(map(repr, set(actual) - set(expected)))}",
                place,
            )
        for key in expected:
            _compare(actual[key], expected[key], options, f"{place}[{key!r}]")
        return
    sequences = [
        isinstance(value, collections.abc.Sequence) and not isinstance(value, _C.Tensor)
        for value in (actual, expected)
    ]
    if all(sequences):
        if len(actual) != len(expected):
            options.fail(
                f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", place
            )
        for i, (a, e) in enumerate(zip(actual, expected)):
            _compare(a, e, options, f"{place}[{i}]")
        return
    if _is_number(actual) and _is_number(expected):
        _compare_numbers(actual, expected, options, place)
        return
    if any(mappings) or any(sequences):
        options.fail(
            f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.",
            place,
            TypeError,
        )
    if not options.allow_subclasses and type(actual) is not type(expected):
        options.fail(
            f"If allow_subclasses is False, the types must be equal: {type(actual)} != {type(expected)}",
            place,
            TypeError,
        )
    if not isinstance(actual, type(expected)) and not isinstance(expected, type(actual)):
        options.fail(
            f"Tensor-likes must be of one kind: got {type(actual)} and {type(expected)}.",
            place,
            TypeError,
        )
    _compare_tensors(_as_tensor(actual), _as_tensor(expected), options, place)


def assert_close(
    actual,
    expected,
    *,
    allow_subclasses=True,
    rtol=None,
    atol=None,
    equal_nan=False,
    check_device=True,
    check_dtype=True,
    check_layout=True,
    check_stride=False,
    msg=None,
):
    """Raises AssertionError unless |actual - expected| <= atol + rtol * |expected| for every element.

    Tensors, arrays, numbers, and mappings and sequences of them. Default tolerances by dtype: float16 1e-3, bfloat16
    1.6e-2, float32 1.3e-6 (absolute 1e-5 each), float64 1e-7 both; everything else must be equal. `msg` is the message,
    or a function of the generated one.

    Raises TypeError for inputs that can't be compared, ValueError when only one tolerance is given.
    """
    check = {
        "device": check_device,
        "dtype": check_dtype,
        "layout": check_layout,
        "stride": check_stride,
    }
    _compare(actual, expected, _Options(allow_subclasses, rtol, atol, equal_nan, check, msg))


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """The old form of assert_close, which doesn't compare dtypes."""
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated: use `torch.testing.assert_close()`",
        FutureWarning,
        stacklevel=2,
    )
    actual, expected = _as_tensor(actual), _as_tensor(expected)
    if rtol is None and atol is None:
        rtol, atol = _TOLERANCES.get(actual.dtype, (0.0, 0.0))
    assert_close(
        actual,
        expected,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_dtype=False,
        check_device=True,
        msg=msg or None,
    )
