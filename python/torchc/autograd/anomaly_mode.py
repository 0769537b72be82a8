"""Anomaly mode: backward says where in the program the operation that failed was called."""

import traceback
import warnings

from torchc import _C

__all__ = ["detect_anomaly", "set_detect_anomaly"]

_KEY = "traceback_"


def _created(metadata: dict, name: str):
    metadata[_KEY] = traceback.format_stack()[:-1]


def _failed(metadata: dict, name: str):
    stack = metadata.get(_KEY)
    if stack is None:
        where = "No forward pass information available. Enable detect anomaly during forward pass for more information."
    else:
        where = "Traceback of forward call that caused the error:\n" + "".join(stack)
    warnings.warn(f"Error detected in {name}. {where}", stacklevel=2)


class set_detect_anomaly:
    """Switches anomaly mode on or off at once; as a context manager the old mode comes back at its end.

    Args:
        mode: on or off.
        check_nan: backward also fails where a gradient is NaN.
    """

    def __init__(self, mode: bool, check_nan: bool = True):
        self._previous = _C._anomaly_state()
        _C._set_detect_anomaly(mode, check_nan)

    def __enter__(self):
        pass

    def __exit__(self, *exception):
        _C._set_detect_anomaly(*self._previous)


class detect_anomaly:
    """A block in anomaly mode: operations note where they were called, and backward raises RuntimeError where it makes
    a NaN (unless `check_nan` is off) and warns with the place of the forward call where it fails."""

    def __init__(self, check_nan: bool = True):
        self._check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled "
            "for debugging.",
            stacklevel=2,
        )

    def __enter__(self):
        self._previous = _C._anomaly_state()
        _C._set_detect_anomaly(True, self._check_nan)

    def __exit__(self, *exception):
        _C._set_detect_anomaly(*self._previous)
