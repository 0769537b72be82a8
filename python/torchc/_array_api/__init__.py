"""The Python array API standard, 2024.12 (data-apis.org/array-api): what `x.__array_namespace__()` returns.

Functions take and return torch tensors; names, signatures and promotion are the standard's, the work is torch's.
"""

import sys
from math import e, inf, nan, pi

from torchc import bool, complex64, complex128, float32, float64, int8, int16, int32, int64, uint8
from torchc._array_api import _creation, _elementwise, _reductions, _shapes, _types, fft, linalg
from torchc._array_api._creation import *  # noqa: F403
from torchc._array_api._elementwise import *  # noqa: F403
from torchc._array_api._reductions import *  # noqa: F403
from torchc._array_api._shapes import *  # noqa: F403
from torchc._array_api._types import *  # noqa: F403
from torchc._array_api.linalg import matmul, matrix_transpose, tensordot, vecdot

__array_api_version__ = "2024.12"
newaxis = None

__all__ = ["__array_api_version__", "e", "fft", "inf", "linalg", "nan", "newaxis", "pi"]
__all__ += ["bool", "int8", "int16", "int32", "int64", "uint8"]
__all__ += ["float32", "float64", "complex64", "complex128"]
__all__ += ["matmul", "matrix_transpose", "tensordot", "vecdot"]
for _part in (_creation, _elementwise, _reductions, _shapes, _types):
    __all__ += _part.__all__


def namespace(self, /, *, api_version=None):
    """The array API's functions for this tensor.

    Raises ValueError for a version of the standard other than 2021.12 to 2024.12.
    """
    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
        raise ValueError(
            f"__array_namespace__: version '{api_version}' is unknown; 2024.12 is the latest here"
        )
    return sys.modules[__name__]


def to_device(self, device, /, *, stream=None):
    """This tensor on another device: Tensor.to by the standard's name."""
    return self.to(device)
