"""torch.fft against sums written out in float64, its gradients against differences, its errors against PyTorch's."""

import subprocess
import sys

import numpy as np
import pytest

import torchc as torch

NORMS = (None, "backward", "ortho", "forward")
SINGLE = (torch.float32, torch.complex64)


def data(*shape, dtype=torch.float64, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal(shape)
    if dtype.is_complex:
        a = a + 1j * rng.standard_normal(shape)
    return torch.from_numpy(a).to(dtype)


def resized(a, axis, n):
    """Cut, or filled with zeros."""
    b = np.zeros((*a.shape[:axis], n, *a.shape[axis + 1 :]), a.dtype)
    at = [slice(None)] * a.ndim
    at[axis] = slice(0, min(n, a.shape[axis]))
    b[tuple(at)] = a[tuple(at)]
    return b


def dft(a, axis, sign, norm):
    """The sums along one axis, in double precision."""
    n = a.shape[axis]
    scale = {"ortho": n**-0.5, "forward": 1 / n if sign < 0 else 1}.get(norm)
    if scale is None:
        scale = 1 if sign < 0 else 1 / n
    powers = np.outer(np.arange(n), np.arange(n)) % n
    matrix = np.exp(sign * 2j * np.pi * powers / n) * scale
    return np.moveaxis(np.tensordot(matrix, a.astype(complex), (1, axis)), 0, axis)


def dfts(a, axes, sign, norm):
    for axis in axes:
        a = dft(a, axis, sign, norm)
    return a


def whole(half, axes, n):
    """The spectrum of a real signal from its half along the last of the axes: X[-k] = conj(X[k]) in all axes."""
    last = axes[-1]
    k = np.arange(n)
    stored = k <= n // 2
    mirror = half
    for axis in axes[:-1]:
        mirror = np.take(mirror, -np.arange(half.shape[axis]) % half.shape[axis], axis)
    direct = np.take(half, np.where(stored, k, 0), last)
    mirrored = np.take(mirror, np.where(stored, 0, n - k), last).conj()
    shape = [1] * half.ndim
    shape[last] = n
    return np.where(stored.reshape(shape), direct, mirrored)


def close(got, want, dtype=torch.float64):
    assert list(got.shape) == list(want.shape)
    tolerance = 2e-5 if dtype in SINGLE else 1e-12
    np.testing.assert_allclose(got.detach().numpy(), want, rtol=tolerance, atol=tolerance)


# ---- values


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64, torch.complex128])
@pytest.mark.parametrize("dim, n", [(-1, None), (0, None), (1, 3), (1, 9), (-3, 7), (-1, 1)])
def test_complex_transforms(dtype, dim, n, norm):
    x = data(4, 5, 6, dtype=dtype)
    a = resized(x.numpy(), dim % 3, n or x.shape[dim])
    for name, sign in (("fft", -1), ("ifft", 1)):
        got = getattr(torch.fft, name)(x, n, dim, norm)
        assert got.dtype is (torch.complex64 if dtype in SINGLE else torch.complex128)
        close(got, dft(a, dim % 3, sign, norm), dtype)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("dim, n", [(-1, None), (0, None), (1, 3), (1, 8), (-1, 1), (0, 2)])
def test_real_to_half_spectra(dtype, dim, n, norm):
    x = data(4, 5, 6, dtype=dtype)
    n = n or x.shape[dim]
    a = resized(x.numpy(), dim % 3, n)
    for name, sign in (("rfft", -1), ("ihfft", 1)):
        want = np.take(dft(a, dim % 3, sign, norm), np.arange(n // 2 + 1), dim)
        close(getattr(torch.fft, name)(x, n, dim, norm), want, dtype)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex64, torch.complex128])
@pytest.mark.parametrize("dim, n", [(-1, None), (0, None), (1, 3), (1, 8), (-1, 1), (0, 12)])
def test_half_spectra_to_real(dtype, dim, n, norm):
    x = data(4, 5, 6, dtype=dtype)
    n = n or 2 * (x.shape[dim] - 1)
    half = resized(x.numpy().astype(complex), dim % 3, n // 2 + 1)
    for name, sign in (("irfft", 1), ("hfft", -1)):
        got = getattr(torch.fft, name)(x, n, dim, norm)
        assert not got.is_complex()
        # Only the parts that a real signal's spectrum can have count: those of the real result.
        close(got, dft(whole(half, [dim % 3], n), dim % 3, sign, norm).real, dtype)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(
    "s, dim", [(None, None), (None, (0, 2)), ((3, 8), (2, 0)), ((5, 4), None), ((-1, 5), (1, 2))]
)
def test_transforms_of_several_dimensions(s, dim, norm):
    x, z = data(4, 5, 6), data(4, 5, 6, dtype=torch.complex128)
    axes = [0, 1, 2] if dim is None and s is None else [1, 2] if dim is None else list(dim)
    sizes = [x.shape[d] if n == -1 else n for d, n in zip(axes, s or [-1] * len(axes))]
    a, c = x.numpy(), z.numpy()
    for d, n in zip(axes, sizes):
        a, c = resized(a, d, n), resized(c, d, n)
    close(torch.fft.fftn(z, s, dim, norm), dfts(c, axes, -1, norm))
    close(torch.fft.ifftn(z, s, dim, norm), dfts(c, axes, 1, norm))
    first = np.arange(sizes[-1] // 2 + 1)
    close(torch.fft.rfftn(x, s, dim, norm), np.take(dfts(a, axes, -1, norm), first, axes[-1]))
    close(torch.fft.ihfftn(x, s, dim, norm), np.take(dfts(a, axes, 1, norm), first, axes[-1]))
    n = sizes[-1] if s and s[-1] != -1 else 2 * (sizes[-1] - 1)
    half = resized(z.numpy(), axes[-1], n // 2 + 1)
    for d, m in zip(axes[:-1], sizes[:-1]):
        half = resized(half, d, m)
    spectrum = whole(half, axes, n)
    close(torch.fft.irfftn(z, s, dim, norm), dfts(spectrum, axes, 1, norm).real)
    close(torch.fft.hfftn(z, s, dim, norm), dfts(spectrum, axes, -1, norm).real)


@pytest.mark.parametrize("kind", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_two_dimensions_are_the_last_two(kind):
    x = data(3, 4, 6)
    two, many = getattr(torch.fft, f"{kind}2"), getattr(torch.fft, f"{kind}n")
    assert torch.equal(two(x, norm="ortho"), many(x, dim=(-2, -1), norm="ortho"))
    assert torch.equal(two(x, (5, 8), (0, 1)), many(x, (5, 8), (0, 1)))


@pytest.mark.parametrize("n", [64, 97, 360, 1009])
def test_lengths_of_all_kinds_of_factors(n):
    x = data(n, dtype=torch.complex128)
    close(torch.fft.fft(x), dft(x.numpy(), 0, -1, None), torch.complex64)
    close(torch.fft.ifft(torch.fft.fft(x)), x.numpy())
    r = data(n)
    close(torch.fft.irfft(torch.fft.rfft(r), n), r.numpy())


def test_strided_input_and_empty_batches():
    x = data(6, 8, dtype=torch.complex128)
    turned = x.mT[::2]
    close(torch.fft.fft(turned), dft(x.numpy().T[::2], 1, -1, None))
    assert torch.fft.fft(data(0, 5)).shape == (0, 5)
    assert torch.fft.rfft(data(0, 5)).shape == (0, 3)
    assert torch.fft.irfft(data(0, 5)).shape == (0, 8)
    assert torch.fft.fftn(torch.tensor(2.0)).item() == 2 + 0j
    assert torch.equal(torch.fft.fftn(x, dim=()), x)


def test_integers_and_bool_count_as_the_default_float_type():
    ints = torch.tensor([1, 2, 3, 4])
    assert torch.fft.fft(ints).tolist() == [10, -2 + 2j, -2, -2 - 2j]
    assert torch.fft.fft(ints).dtype is torch.complex64
    assert torch.fft.rfft(ints > 2).dtype is torch.complex64
    assert torch.fft.irfft(ints).dtype is torch.float32
    assert torch.fft.ihfft(ints).tolist() == [2.5, -0.5 - 0.5j, -0.5]


def test_frequencies():
    assert torch.fft.fftfreq(5, 0.5).tolist() == pytest.approx([0, 0.4, 0.8, -0.8, -0.4])
    assert torch.fft.fftfreq(4).tolist() == [0, 0.25, -0.5, -0.25]
    assert torch.fft.rfftfreq(4).tolist() == [0, 0.25, 0.5]
    assert torch.fft.rfftfreq(5, 2.0, dtype=torch.float64).tolist() == [0, 0.1, 0.2]
    out = torch.empty(4, dtype=torch.float64)
    assert torch.fft.fftfreq(4, out=out) is out and out[2] == -0.5
    assert torch.fft.fftfreq(3, requires_grad=True).requires_grad
    assert torch.fft.fftfreq(0).shape == (0,)
    x = torch.arange(15).reshape(3, 5)
    assert torch.fft.fftshift(x, 1)[0].tolist() == [3, 4, 0, 1, 2]
    assert torch.fft.ifftshift(x, 1)[0].tolist() == [2, 3, 4, 0, 1]
    assert torch.fft.fftshift(x)[0].tolist() == [13, 14, 10, 11, 12]
    assert torch.equal(torch.fft.ifftshift(torch.fft.fftshift(x, (0, 1)), (0, 1)), x)


# ---- gradients

FORMS = {
    "fft": {}, "ifft": {"n": 7}, "fft2": {"norm": "ortho"}, "ifftn": {"s": (3, 6), "norm": "forward"},
    "rfft": {}, "ihfft": {"n": 4}, "rfft2": {"norm": "ortho"}, "ihfftn": {"s": (4, 7)},
    "irfft": {}, "hfft": {"n": 5, "dim": 0}, "irfft2": {"norm": "forward"}, "hfftn": {"s": (5, 6)},
}  # fmt: skip


def weighted(y, seed=3):
    """A real number that depends on every part of y, without being linear in it."""
    if y.is_complex():
        y = torch.view_as_real(y)
    return (y**3 * data(*y.shape, seed=seed)).sum()


def slope(function, x, direction, step=1e-6):
    with torch.no_grad():
        ahead, behind = function(x + step * direction), function(x - step * direction)
    return ((ahead - behind) / (2 * step)).item()


def inner(g, direction):
    """How fast the function grows along the direction, by PyTorch's convention for complex gradients."""
    if g.is_complex():
        g, direction = torch.view_as_real(g), torch.view_as_real(direction)
    return (g * direction).sum()


def check_gradients(loss, x):
    """The slopes of `loss` along a direction, and of that slope along another one, against differences."""
    first, second = (data(*x.shape, dtype=x.dtype, seed=seed) for seed in (1, 2))

    def growth(x):
        x = x.detach().requires_grad_(True)
        with torch.enable_grad():
            return inner(torch.autograd.grad(loss(x), x)[0], first).detach()

    x = x.detach().requires_grad_(True)
    (g,) = torch.autograd.grad(loss(x), x, create_graph=True)
    assert g.dtype is x.dtype
    assert inner(g, first).item() == pytest.approx(slope(loss, x, first), rel=1e-6)
    (h,) = torch.autograd.grad(inner(g, first), x)
    assert inner(h, second).item() == pytest.approx(slope(growth, x, second), rel=1e-6)


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
@pytest.mark.parametrize("name", FORMS)
def test_gradients_of_both_orders(name, dtype):
    if dtype.is_complex and name.startswith(("rfft", "ihfft")):
        pytest.skip("takes real input")
    function = getattr(torch.fft, name)
    check_gradients(lambda x: weighted(function(x, **FORMS[name])), data(4, 5, dtype=dtype))


# ---- where it runs


def test_shapes_on_the_meta_device():
    x = torch.empty(4, 5, device="meta")
    for got, shape, dtype in (
        (torch.fft.fft(x, 7), (4, 7), torch.complex64),
        (torch.fft.rfft2(x), (4, 3), torch.complex64),
        (torch.fft.irfft(x, dim=0), (6, 5), torch.float32),
    ):
        assert got.device.type == "meta" and got.shape == shape and got.dtype is dtype


def test_compiled_functions_and_function_transforms_go_around_it():
    def f(x):
        return (torch.fft.fft(x * 2 + 1).abs() ** 2).sum(-1)

    x = data(4, 5)
    assert torch.equal(torch.compile(f)(x), f(x))
    close(torch.func.vmap(torch.fft.rfft)(x), torch.fft.rfft(x).numpy())


def test_out():
    x = data(6, dtype=torch.float32)
    for dtype in (torch.complex64, torch.complex128):
        out = torch.empty(0, dtype=dtype)
        assert torch.fft.fft(x, out=out) is out
        close(out, dft(x.numpy(), 0, -1, None), torch.complex64)
    with pytest.raises(RuntimeError, match="fft expects a complex output tensor"):
        torch.fft.fft(x, out=torch.empty(6))
    with pytest.raises(RuntimeError, match="irfft expects a floating point output tensor"):
        torch.fft.irfft(x, out=torch.empty(0, dtype=torch.complex64))


def test_without_numpy_the_error_says_what_is_missing():
    code = (
        "import sys; sys.modules['numpy'] = sys.modules['numpy.fft'] = None\n"
        "import torchc\n"
        "try: torchc.fft.fft(torchc.ones(4))\n"
        "except RuntimeError as e: assert 'NumPy' in str(e), e\n"
        "else: raise SystemExit('no error')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


# ---- errors


WRONG = [
    (RuntimeError, r"fft: Invalid number of data points \(0\)", lambda x: torch.fft.fft(x, 0)),
    (RuntimeError, r"number of data points \(-1\)", lambda x: torch.fft.rfft(x, -1)),
    (RuntimeError, r"number of data points \(0\)", lambda x: torch.fft.irfft(x[:, :1])),
    (RuntimeError, r"number of data points \(-2\)", lambda x: torch.fft.fftn(x, (3, -2))),
    (IndexError, "fft.*Dimension out of range", lambda x: torch.fft.fft(x, dim=2)),
    (IndexError, "fft2.*Dimension out of range", lambda x: torch.fft.fft2(x[0])),
    (IndexError, "no dimensions", lambda x: torch.fft.fft(torch.tensor(1.0))),
    (RuntimeError, 'Invalid normalization mode: "bad"', lambda x: torch.fft.fft(x, norm="bad")),
    (TypeError, "'n' must be int, not float", lambda x: torch.fft.fft(x, 2.5)),
    (TypeError, "'input' must be Tensor, not list", lambda x: torch.fft.fft([1.0])),
    (TypeError, "'input' must be Tensor, not list", lambda x: torch.fft.fftn([1.0])),
    (TypeError, "'norm' must be str, not int", lambda x: torch.fft.fft(x, norm=1)),
    (RuntimeError, "dims must be unique", lambda x: torch.fft.fftn(x, dim=(0, -2))),
    (RuntimeError, "must have the same length", lambda x: torch.fft.fftn(x, (3,), (0, 1))),
    (RuntimeError, "shape with 3 values", lambda x: torch.fft.fftn(x, (3, 4, 5))),
    (RuntimeError, "rfftn must transform at least one", lambda x: torch.fft.rfftn(x, dim=())),
    (RuntimeError, "irfftn must transform at least one", lambda x: torch.fft.irfftn(x, dim=())),
    (NotImplementedError, "Unsupported dtype", lambda x: torch.fft.fft(x.half())),
    (NotImplementedError, "Unsupported dtype", lambda x: torch.fft.irfftn(x.bfloat16())),
    (TypeError, "rfft expects a real input", lambda x: torch.fft.rfft(x.to(torch.complex64))),
    (TypeError, "ihfftn expects a real input", lambda x: torch.fft.ihfftn(x.to(torch.complex64))),
    (RuntimeError, "fftfreq requires a floating", lambda x: torch.fft.fftfreq(4, dtype=torch.int32)),
    (RuntimeError, "fftfreq: expected n of 0 or more", lambda x: torch.fft.fftfreq(-1)),
    (IndexError, "Dimension out of range", lambda x: torch.fft.fftshift(x, 2)),
]  # fmt: skip


@pytest.mark.parametrize("error, text, call", WRONG)
def test_wrong_arguments(error, text, call):
    with pytest.raises(error, match=text):
        call(torch.ones(4, 5))


# ---- short-time transforms


def frames_of(a, n_fft, hop, window=None):
    """The frames (T, n_fft) of a signal (n,)."""
    count = 1 + (len(a) - n_fft) // hop
    frames = np.stack([a[t * hop : t * hop + n_fft] for t in range(count)])
    return frames if window is None else frames * window


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex64, torch.complex128])
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize(
    "center, pad_mode", [(True, "reflect"), (True, "constant"), (False, "reflect")]
)
@pytest.mark.parametrize("n_fft, hop, width", [(8, None, None), (7, 3, 5), (8, 5, 6)])
def test_stft(n_fft, hop, width, center, pad_mode, normalized, dtype):
    x = data(2, 30, dtype=dtype)
    window = None if width is None else data(width, dtype=torch.float64, seed=1)
    whole = np.ones(n_fft)
    if window is not None:
        gap = n_fft - width
        whole = np.pad(window.numpy(), (gap // 2, gap - gap // 2))
    got = torch.stft(
        x, n_fft, hop, width, window, center, pad_mode, normalized, return_complex=True
    )
    for row, signal in zip(got, x.numpy()):
        if center:
            signal = np.pad(signal, n_fft // 2, mode=pad_mode)
        want = dft(
            frames_of(signal, n_fft, hop or n_fft // 4, whole),
            1,
            -1,
            "ortho" if normalized else None,
        ).T
        close(row, want if dtype.is_complex else want[: n_fft // 2 + 1], dtype)
    if not dtype.is_complex:
        parts = x.stft(
            n_fft, hop, width, window, center, pad_mode, normalized, return_complex=False
        )
        assert torch.equal(torch.view_as_complex(parts), got)
        both = x[0].stft(n_fft, hop, width, window, center, pad_mode, normalized, False, True)
        close(both[: n_fft // 2 + 1], got[0].numpy())


def test_stft_aligned_to_the_window():
    x, window = data(20), data(4, seed=1)
    got = torch.stft(x, 8, 3, 4, window, center=False, return_complex=True, align_to_window=True)
    frames = np.pad(frames_of(x.numpy(), 4, 3, window.numpy()), ((0, 0), (2, 2)))
    close(got, dft(frames, 1, -1, None)[:, :5].T)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex128])
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("n_fft, hop, width", [(8, 2, 8), (9, 3, 7), (8, 4, 6)])
def test_istft_gives_the_signal_back(n_fft, hop, width, normalized, dtype):
    x = data(2, 36, dtype=dtype)
    window = torch.hamming_window(
        width, dtype=torch.float64 if dtype is not torch.float32 else dtype
    )
    s = torch.stft(x, n_fft, hop, width, window, normalized=normalized, return_complex=True)
    options = dict(normalized=normalized, return_complex=dtype.is_complex)
    got = torch.istft(s, n_fft, hop, width, window, length=36, **options)
    close(got, x.numpy(), dtype)
    close(s[0].istft(n_fft, hop, width, window, length=20, **options), x[0, :20].numpy(), dtype)


def test_istft_fills_a_length_beyond_the_frames_with_zeros():
    x, window = data(36), torch.hamming_window(8, dtype=torch.float64)
    s = torch.stft(x, 8, 4, window=window, return_complex=True)
    with pytest.warns(UserWarning, match="length=90 is longer"):
        longer = torch.istft(s, 8, 4, window=window, length=90)
    close(longer[:36], x.numpy())
    assert longer.shape == (90,) and (longer[40:] == 0).all()


def test_istft_of_any_spectra_adds_frames_and_divides_by_the_windows():
    s, window = data(5, 4, dtype=torch.complex128), torch.hamming_window(8, dtype=torch.float64)
    w = window.numpy()
    frames = dft(whole(s.numpy(), [0], 8), 0, 1, None).real.T
    signal, squares = np.zeros(8 + 3 * 3), np.zeros(8 + 3 * 3)
    for t in range(4):
        signal[3 * t : 3 * t + 8] += frames[t] * w
        squares[3 * t : 3 * t + 8] += w * w
    close(torch.istft(s, 8, 3, window=window, center=False), signal / squares)
    close(torch.istft(s, 8, 3, window=window), (signal / squares)[4:-4])


def test_gradients_of_short_time_transforms():
    x, s = data(20), data(5, 6, dtype=torch.complex128)
    window = torch.hamming_window(6, dtype=torch.float64)
    check_gradients(lambda x: weighted(torch.stft(x, 8, 3, 6, window, return_complex=True)), x)
    check_gradients(lambda s: weighted(torch.istft(s, 8, 3, 6, window)), s)
    check_gradients(lambda w: weighted(torch.stft(x, 8, 3, 6, w, return_complex=True)), window)
    check_gradients(lambda w: weighted(torch.istft(s, 8, 3, 6, w)), window)


def spectrum():
    return torch.ones(5, 6, dtype=torch.complex64)


SHORT_TIME_WRONG = [
    (RuntimeError, "requires the return_complex", lambda x: x.stft(8)),
    (RuntimeError, "Cannot have onesided", lambda x: x.cfloat().stft(8, onesided=True)),
    (NotImplementedError, "got torchc.int32", lambda x: x.int().stft(8, return_complex=True)),
    (NotImplementedError, "Unsupported dtype", lambda x: x.half().stft(8, return_complex=True)),
    (RuntimeError, "1D or 2D", lambda x: x[None, None].stft(8, return_complex=True)),
    (RuntimeError, "0 < n_fft <= 20", lambda x: x.stft(0, return_complex=True)),
    (RuntimeError, "n_fft=21", lambda x: x.stft(21, center=False, return_complex=True)),
    (RuntimeError, "hop_length > 0", lambda x: x.stft(8, 0, return_complex=True)),
    (RuntimeError, "win_length=9", lambda x: x.stft(8, win_length=9, return_complex=True)),
    (RuntimeError, r"size \[3\]", lambda x: x.stft(8, window=x[:3], return_complex=True)),
    (RuntimeError, "center = false", lambda x: x.stft(8, return_complex=True, align_to_window=True)),
    (TypeError, "complex-valued", lambda x: torch.istft(spectrum().real, 8)),
    (RuntimeError, "2D or 3D", lambda x: torch.istft(spectrum()[0], 8)),
    (RuntimeError, "cannot be empty", lambda x: torch.istft(spectrum()[:, :0], 8)),
    (RuntimeError, r"match n_fft / 2 \+ 1 \(4\)", lambda x: torch.istft(spectrum(), 6)),
    (RuntimeError, r"match n_fft \(8\)", lambda x: torch.istft(spectrum(), 8, onesided=False)),
    (RuntimeError, "hop_length=9", lambda x: torch.istft(spectrum(), 8, 9)),
    (RuntimeError, "Cannot have onesided", lambda x: torch.istft(spectrum(), 8, return_complex=True)),
    (RuntimeError, "Complex windows", lambda x: torch.istft(spectrum(), 8, window=x[:8].cfloat())),
    (RuntimeError, "overlap add min", lambda x: torch.istft(spectrum(), 8, window=x[:8] * 0)),
]  # fmt: skip


@pytest.mark.parametrize("error, text, call", SHORT_TIME_WRONG)
def test_wrong_arguments_of_short_time_transforms(error, text, call):
    with pytest.raises(error, match=text):
        call(torch.ones(20))
