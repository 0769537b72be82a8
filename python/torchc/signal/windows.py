"""Window functions of M points.

All take `sym`: True for a symmetric window, False for a period of a periodic one (the symmetric window of M + 1 points
without its last). float32 or float64: ValueError; M < 0: ValueError.
"""

import math

from torchc import _C

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]


class _Options:
    """The arguments that all windows share, checked."""

    def __init__(self, name, M, sym, dtype, layout, device, requires_grad):
        self.dtype = _C.get_default_dtype() if dtype is None else dtype
        if M < 0:
            raise ValueError(f"{name} requires non-negative window length, got M={M}")
        if layout is not None and layout is not _C.strided:
            raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
        if self.dtype not in (_C.float32, _C.float64):
            raise ValueError(f"{name} expects float32 or float64 dtypes, got: {self.dtype}")
        self.M, self.sym, self.device, self.requires_grad = M, sym, device, requires_grad

    @property
    def span(self):
        """Steps from the first to the last point of the symmetric window."""
        return self.M - 1 if self.sym or self.M <= 1 else self.M

    def line(self, start, step):
        """start, start + step, ...: M numbers."""
        end = start + (self.M - 1) * step
        return _C.linspace(start, end, self.M, dtype=self.dtype, device=self.device)

    def short(self):
        """The window of no or one point."""
        return _C.ones(
            (self.M,), dtype=self.dtype, device=self.device, requires_grad=self.requires_grad
        )

    def given(self, window):
        """The window, requiring gradients if that was asked for."""
        return window.requires_grad_(True) if self.requires_grad else window


def exponential(
    M, *, center=None, tau=1.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False
):
    """exp(-|n - center| / tau); the center is the middle by default, and must be with sym=False."""
    o = _Options("exponential", M, sym, dtype, layout, device, requires_grad)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if not sym and center is not None:
        raise ValueError("Center must be None for non-symmetric windows")
    if M == 0:
        return o.short()
    middle = o.span / 2.0 if center is None else center
    return o.given((-o.line(-middle / tau, 1 / tau).abs()).exp())


def cosine(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """sin(pi (n + 1/2) / M)."""
    o = _Options("cosine", M, sym, dtype, layout, device, requires_grad)
    if M == 0:
        return o.short()
    step = math.pi / (o.span + 1)
    return o.given(o.line(0.5 * step, step).sin())


def gaussian(M, *, std=1.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """exp(-(n - middle)^2 / (2 std^2))."""
    o = _Options("gaussian", M, sym, dtype, layout, device, requires_grad)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    if M == 0:
        return o.short()
    scale = 1 / (std * math.sqrt(2.0))
    k = o.line(-o.span / 2.0 * scale, scale)
    return o.given((-k * k).exp())


def kaiser(M, *, beta=12.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """i0(beta sqrt(1 - (2 n / (M - 1) - 1)^2)) / i0(beta), beta >= 0."""
    o = _Options("kaiser", M, sym, dtype, layout, device, requires_grad)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    if M < 2:
        return o.short()
    from torchc.special import i0

    step = 2.0 * beta / o.span
    end = min(beta, -beta + (M - 1) * step)
    k = _C.linspace(-float(beta), float(end), M, dtype=o.dtype, device=o.device)
    middle = _C.tensor(float(beta), dtype=o.dtype, device=o.device)
    return o.given(i0((middle * middle - k * k).clamp_min(0).sqrt()) / i0(middle))


def general_cosine(M, *, a, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """The sum of (-1)^i a[i] cos(2 pi i n / (M - 1))."""
    o = _Options("general_cosine", M, sym, dtype, layout, device, requires_grad)
    if not isinstance(a, (list, tuple)):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    if M < 2:
        return o.short()
    k = o.line(0.0, 2 * math.pi / o.span)
    window = _C.zeros_like(k)
    for i, weight in enumerate(a):
        window = window + (-1) ** i * weight * (i * k).cos()
    return o.given(window)


def general_hamming(
    M, *, alpha=0.54, sym=True, dtype=None, layout=None, device=None, requires_grad=False
):
    """alpha - (1 - alpha) cos(2 pi n / (M - 1))."""
    options = {"sym": sym, "dtype": dtype, "layout": layout, "device": device}
    return general_cosine(M, a=[alpha, 1.0 - alpha], **options, requires_grad=requires_grad)


def hamming(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """0.54 - 0.46 cos(2 pi n / (M - 1))."""
    options = {"sym": sym, "dtype": dtype, "layout": layout, "device": device}
    return general_hamming(M, **options, requires_grad=requires_grad)


def hann(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """1/2 - 1/2 cos(2 pi n / (M - 1))."""
    options = {"sym": sym, "dtype": dtype, "layout": layout, "device": device}
    return general_hamming(M, alpha=0.5, **options, requires_grad=requires_grad)


def blackman(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """0.42 - 0.5 cos(2 pi n / (M - 1)) + 0.08 cos(4 pi n / (M - 1))."""
    options = {"sym": sym, "dtype": dtype, "layout": layout, "device": device}
    return general_cosine(M, a=[0.42, 0.5, 0.08], **options, requires_grad=requires_grad)


def nuttall(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """The four-term window of A. H. Nuttall, "Some Windows with Very Good Sidelobe Behavior" (1981)."""
    options = {"sym": sym, "dtype": dtype, "layout": layout, "device": device}
    a = [0.3635819, 0.4891775, 0.1365995, 0.0106411]
    return general_cosine(M, a=a, **options, requires_grad=requires_grad)


def bartlett(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """1 - |2 n / (M - 1) - 1|."""
    o = _Options("bartlett", M, sym, dtype, layout, device, requires_grad)
    if M < 2:
        return o.short()
    return o.given(1 - o.line(-1.0, 2 / o.span).abs())
