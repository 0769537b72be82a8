"""Discrete Fourier transforms, under the names of torch.fft.

NumPy's transforms (pocketfft) compute them; NumPy is imported when the first one is (RuntimeError where it is missing).
float32, float64, complex64 and complex128 on the CPU; on the meta device only shapes.
"""

from torchc._utils import overridable
from torchc.fft._frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from torchc.fft._transforms import (
    fft,
    fft2,
    fftn,
    hfft,
    hfft2,
    hfftn,
    ifft,
    ifft2,
    ifftn,
    ihfft,
    ihfft2,
    ihfftn,
    irfft,
    irfft2,
    irfftn,
    rfft,
    rfft2,
    rfftn,
)

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

overridable(__all__, globals(), "torchc.fft")
