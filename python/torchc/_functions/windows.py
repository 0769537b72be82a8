"""Window functions at the top of the package: periods of periodic windows unless `periodic` is False."""

from torchc import _C
from torchc.signal.windows import bartlett, general_cosine, kaiser


def _window(name, make, window_length, periodic, dtype, device, requires_grad):
    """make(M, sym, dtype) in a type that it knows, rounded once."""
    dtype = _C.get_default_dtype() if dtype is None else dtype
    if not dtype.is_floating_point:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")
    if window_length < 0:
        raise RuntimeError(
            f"{name} requires non-negative window_length, got window_length={window_length}"
        )
    wide = dtype if dtype in (_C.float32, _C.float64) else _C.float32
    result = make(window_length, sym=not periodic, dtype=wide, device=device).to(dtype)
    return result.requires_grad_(True) if requires_grad else result


def bartlett_window(
    window_length,
    periodic=True,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=None,
    requires_grad=False,
):
    """The triangular window, see `signal.windows.bartlett`."""
    return _window(
        "bartlett_window", bartlett, window_length, periodic, dtype, device, requires_grad
    )


def _cosines(name, a, window_length, periodic, dtype, device, requires_grad):
    def make(M, **options):
        return general_cosine(M, a=a, **options)

    return _window(name, make, window_length, periodic, dtype, device, requires_grad)


def hann_window(
    window_length,
    periodic=True,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=None,
    requires_grad=False,
):
    """1/2 - 1/2 cos, see `signal.windows.hann`."""
    return _cosines(
        "hann_window", [0.5, 0.5], window_length, periodic, dtype, device, requires_grad
    )


def hamming_window(
    window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None, layout=None, device=None, pin_memory=None,
    requires_grad=False,
):  # fmt: skip
    """alpha - beta cos, see `signal.windows.hamming`."""
    return _cosines(
        "hamming_window", [alpha, beta], window_length, periodic, dtype, device, requires_grad
    )


def blackman_window(
    window_length,
    periodic=True,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=None,
    requires_grad=False,
):
    """0.42 - 0.5 cos + 0.08 cos of the double, see `signal.windows.blackman`."""
    a = [0.42, 0.5, 0.08]
    return _cosines("blackman_window", a, window_length, periodic, dtype, device, requires_grad)


def kaiser_window(
    window_length, periodic=True, beta=12.0, *, dtype=None, layout=None, device=None, pin_memory=None,
    requires_grad=False,
):  # fmt: skip
    """The window of Bessel functions, see `signal.windows.kaiser`."""

    def make(M, **options):
        return kaiser(M, beta=beta, **options)

    return _window("kaiser_window", make, window_length, periodic, dtype, device, requires_grad)
