"""The standard's Fourier transforms: torch.fft with `axis` for `dim`."""

from __future__ import annotations

from torchc import fft as _fft

_ONE = "fft ifft rfft irfft hfft ihfft".split()
_SEVERAL = "fftn ifftn rfftn irfftn".split()
__all__ = [*_ONE, *_SEVERAL, "fftfreq", "rfftfreq", "fftshift", "ifftshift"]


def _along_one(name):
    f = getattr(_fft, name)

    def transform(x, /, *, n=None, axis=-1, norm="backward"):
        return f(x, n=n, dim=axis, norm=norm)

    return transform


def _along_several(name):
    f = getattr(_fft, name)

    def transform(x, /, *, s=None, axes=None, norm="backward"):
        return f(x, s=s, dim=axes, norm=norm)

    return transform


for _names, _make in ((_ONE, _along_one), (_SEVERAL, _along_several)):
    for _name in _names:
        globals()[_name] = _make(_name)
        globals()[_name].__name__ = globals()[_name].__qualname__ = _name
        globals()[_name].__doc__ = f"torch.fft.{_name}."


def fftfreq(n, /, *, d=1.0, dtype=None, device=None):
    """The frequencies of fft's results, in cycles per unit of the sample spacing d."""
    return _fft.fftfreq(n, d, dtype=dtype, device=device)


def rfftfreq(n, /, *, d=1.0, dtype=None, device=None):
    """The frequencies of rfft's results, in cycles per unit of the sample spacing d."""
    return _fft.rfftfreq(n, d, dtype=dtype, device=device)


def fftshift(x, /, *, axes=None):
    """Spectra with the zero frequency in the middle."""
    return _fft.fftshift(x, dim=axes)


def ifftshift(x, /, *, axes=None):
    """The inverse of fftshift."""
    return _fft.ifftshift(x, dim=axes)
