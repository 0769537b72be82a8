"""Short-time Fourier transforms: of windows on a signal that lie `hop_length` apart, and back.

The inverse is D. W. Griffin, J. S. Lim, "Signal Estimation from Modified Short-Time Fourier Transform" (1984),
equation 6: windows times frames, added where they lie, divided by the sum of the squares of the windows.
"""

import warnings

from torchc import _C
from torchc._autocast import single
from torchc.fft._kernels import complex_transform, half_to_real, real_to_half

# Below this the sum of the windows' squares counts as 0.
_EMPTY = 1e-11


def _check_signal(op: str, x, ranks):
    if not (x.is_floating_point() or x.is_complex()):
        raise NotImplementedError(
            f"{op}: expected a tensor of floating point or complex values as input, got {x.dtype}"
        )
    if x.dtype in (_C.float16, _C.bfloat16):
        raise NotImplementedError(f"{op}: Unsupported dtype {x.dtype}")
    if x.dim() not in ranks:
        raise RuntimeError(
            f"{op}: expected a {ranks[0]}D or {ranks[1]}D tensor as input, got {x.dim()} dimensions"
        )


def _check_window(op: str, window, n_fft, win_length):
    """Raises RuntimeError unless the window has win_length entries, n_fft at most."""
    if not 0 < win_length <= n_fft:
        raise RuntimeError(
            f"{op}: expected 0 < win_length <= n_fft, but got win_length={win_length} and n_fft={n_fft}"
        )
    if window is not None and tuple(window.shape) != (win_length,):
        raise RuntimeError(
            f"{op}: expected a 1D window tensor of size equal to win_length={win_length}, but got window with size "
            f"{list(window.shape)}"
        )


def _centred(window, n_fft):
    """The window with zeros on both sides, n_fft long."""
    from torchc.nn.functional import pad

    gap = n_fft - window.shape[0]
    return pad(window, (gap // 2, gap - gap // 2)) if gap else window


@single
def stft(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    pad_mode="reflect",
    normalized=False,
    onesided=None,
    return_complex=None,
    align_to_window=None,
):
    """`fft.fft` of each frame of a signal (T,) or signals (B, T), times a window; (*, frequencies, frames).

    A frame is n_fft long and starts hop_length (n_fft // 4) behind the one before; the window (win_length,), by default
    ones, lies in its middle. With `center` frame t is centred on t hop_length, the ends of the signal filled in by
    `pad_mode`; without it and with `align_to_window` the window, not its frame, starts at 0. `normalized` divides by
    the root of n_fft. The frequencies are n_fft // 2 + 1 if `onesided` (the default where signal and window are real),
    else n_fft. Complex, or parts (*, 2) with return_complex=False; one of both must be chosen for real signals.

    float32, float64, complex64, complex128; NotImplementedError for others, RuntimeError for sizes that don't fit.
    """
    from torchc.nn.functional import pad

    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    is_complex = input.is_complex() or (window is not None and window.is_complex())
    if return_complex is None and not is_complex:
        raise RuntimeError("stft requires the return_complex parameter be given for real inputs")
    if center and align_to_window is not None:
        raise RuntimeError("stft: align_to_window should only be set when center = false")
    _check_signal("stft", input, (1, 2))
    x = input.reshape(-1, input.shape[-1])
    if center:
        x = pad(x[None], (n_fft // 2, n_fft // 2), pad_mode)[0]
    if not 0 < n_fft <= x.shape[-1]:
        raise RuntimeError(
            f"stft: expected 0 < n_fft <= {x.shape[-1]} (the signal's length), but got n_fft={n_fft}"
        )
    if hop_length <= 0:
        raise RuntimeError(f"stft: expected hop_length > 0, but got hop_length={hop_length}")
    _check_window("stft", window, n_fft, win_length)
    onesided = not is_complex if onesided is None else onesided
    if onesided and is_complex:
        raise RuntimeError("stft: Cannot have onesided output if window or input is complex")
    if window is None and win_length < n_fft:
        window = _C.ones(win_length, dtype=x.dtype, device=x.device)
    if align_to_window:
        gap = n_fft - win_length
        x = pad(x, (gap // 2, gap - gap // 2))
    frames = x.unfold(-1, n_fft, hop_length)
    if window is not None:
        frames = frames * _centred(window, n_fft)
    norm = "ortho" if normalized else "backward"
    if onesided:
        result = real_to_half(frames, (2,), norm)
    else:
        result = complex_transform(frames, (2,), norm, False)
    result = result.mT if input.dim() == 2 else result.mT[0]
    return result if return_complex or return_complex is None else _C.view_as_real(result)


def istft(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    normalized=False,
    onesided=None,
    length=None,
    return_complex=False,
):
    """The signal (T,) or (B, T) whose `stft` with the same arguments is the complex (*, frequencies, frames) nearest.

    `length` cuts the signal or fills it with zeros. The signal is real unless `return_complex`, which needs all n_fft
    frequencies. Raises TypeError for real input, RuntimeError for sizes that don't fit and for windows that leave a
    part of the signal out.
    """
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    if not input.is_complex():
        raise TypeError("istft requires a complex-valued input tensor, as stft returns them")
    _check_signal("istft", input, (2, 3))
    if not input.numel():
        raise RuntimeError("istft: input tensor cannot be empty.")
    x = input.reshape(-1, *input.shape[-2:])
    batch, frequencies, count = x.shape
    onesided = frequencies != n_fft if onesided is None else onesided
    wanted = n_fft // 2 + 1 if onesided else n_fft
    if frequencies != wanted:
        name = "n_fft / 2 + 1" if onesided else "n_fft"
        raise RuntimeError(
            f"istft: expected the frequency dimension of the input tensor to match {name} ({wanted}) when "
            f"onesided={bool(onesided)}, but got {frequencies}"
        )
    if not 0 < hop_length <= win_length:
        raise RuntimeError(
            f"istft: expected 0 < hop_length <= win_length, but got hop_length={hop_length} and win_length={win_length}"
        )
    _check_window("istft", window, n_fft, win_length)
    norm = "ortho" if normalized else "backward"
    if return_complex:
        if onesided:
            raise RuntimeError("istft: Cannot have onesided output if window or input is complex")
        frames = complex_transform(x.mT, (2,), norm, True)
    else:
        if window is not None and window.is_complex():
            raise RuntimeError("istft: Complex windows are incompatible with return_complex=False")
        frames = half_to_real(x.mT[..., : n_fft // 2 + 1], (2,), n_fft, norm)
    if window is None:
        dtype = _C.real(x[0, 0, 0]).dtype
        window = _C.ones(win_length, dtype=dtype, device=x.device)
    window = _centred(window, n_fft)

    whole = n_fft + hop_length * (count - 1)
    steps = _C.arange(count, device=x.device) * hop_length
    places = (steps[:, None] + _C.arange(n_fft, device=x.device)).reshape(-1)

    def added(frames):
        """The frames added where they lie in the signal."""
        zeros = _C.zeros(frames.shape[0], whole, dtype=frames.dtype, device=frames.device)
        return zeros.index_add(1, places, frames.reshape(frames.shape[0], -1))

    start = n_fft // 2 if center else 0
    stop = start + length if length is not None else whole - start
    signal = added(frames * window)[:, start:stop]
    squares = added((window**2).expand(1, count, n_fft))[:, start:stop]
    if x.device.type != "meta" and not (squares.detach().abs() > _EMPTY).all():
        raise RuntimeError(
            f"istft: windows of hop_length={hop_length} apart leave a part of the signal out, window overlap add min: "
            f"{squares.detach().abs().min().item()}"
        )
    signal = signal / squares
    if stop > whole:
        warnings.warn(
            f"istft: length={length} is longer than the {whole - start} values that the frames give; zeros follow",
            stacklevel=2,
        )
        from torchc.nn.functional import pad

        signal = pad(signal, (0, stop - whole))
    return signal if input.dim() == 3 else signal[0]
