"""complex64 and complex128 against NumPy: values, branch cuts, types, views, gradients, files, messages."""

import numpy as np
import pytest

import torchc as torch

TYPES = (torch.complex64, torch.complex128)
EXACT = {torch.complex64: 2e-6, torch.complex128: 1e-13}
PARTS = (-2.5, -1.0, -0.5, -0.0, 0.0, 1e-3, 0.7, 1.0, 3.0)


def array(dtype):
    return np.complex64 if dtype is torch.complex64 else np.complex128


def grid(dtype):
    """Every pair of the parts, on both sides of the cuts that lie along the axes."""
    re, im = np.meshgrid(PARTS, PARTS)
    z = np.empty(re.shape, array(dtype))
    z.real, z.imag = re, im
    return z


def random(*shape, dtype=torch.complex128, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    return np.asarray(z, array(dtype))


def close(got, want, tolerance):
    got = got.numpy()
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


# ---- pointwise


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


FUNCTIONS = {
    "exp": np.exp, "expm1": np.expm1, "exp2": np.exp2, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asin": np.arcsin, "acos": np.arccos,
    "asinh": np.arcsinh, "sqrt": np.sqrt, "square": np.square, "neg": np.negative,
    "conj": np.conj, "conj_physical": np.conj, "abs": np.abs, "angle": np.angle,
    "sigmoid": sigmoid, "sgn": lambda z: np.where(z == 0, 0, z / np.where(z == 0, 1, np.abs(z))),
}  # fmt: skip
# Poles at 0 or at 1 and i.
AWAY = {
    "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "acosh": np.arccosh,
    "atan": np.arctan, "atanh": np.arctanh, "reciprocal": np.reciprocal,
    "rsqrt": lambda z: 1 / np.sqrt(z),
}  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", [*FUNCTIONS, *AWAY])
def test_functions_and_their_branch_cuts(name, dtype):
    z = grid(dtype)
    want = (FUNCTIONS | AWAY)[name]
    if name in AWAY:
        z = z[(np.abs(z) > 0) & (np.abs(z * z - 1) > 0) & (np.abs(z * z + 1) > 0)]
    wide = z.astype(np.complex128)
    close(getattr(torch, name)(torch.from_numpy(z)), want(wide), 4 * EXACT[dtype])


@pytest.mark.parametrize("dtype", TYPES)
def test_functions_are_accurate_where_parts_cancel(dtype):
    tiny = np.array([1e-6 + 2e-6j, -3e-7 - 1e-7j], array(dtype))
    unit = np.array([0.6 + 0.8j, -0.8 + 0.6j, 1 + 1e-5j], array(dtype))
    z = tiny.astype(np.complex128)
    series = {"log1p": z - z**2 / 2 + z**3 / 3, "expm1": z + z**2 / 2 + z**3 / 6}
    for name, want in series.items():
        got = getattr(torch, name)(torch.from_numpy(tiny)).numpy()
        for part in (np.real, np.imag):
            np.testing.assert_allclose(part(got), part(want), rtol=4 * EXACT[dtype])
    # |z| near 1: the logarithm is exact to the rounding of 1, not of itself.
    close(torch.from_numpy(unit).log(), np.log(unit.astype(np.complex128)), EXACT[dtype])


@pytest.mark.parametrize("dtype", TYPES)
def test_functions_where_a_step_would_overflow(dtype):
    big = float(torch.finfo(torch.float32 if dtype is torch.complex64 else torch.float64).max)
    steep = np.log(big) + 5  # the exponential is no number any more
    left = torch.tensor([-steep + 1j, -steep - 3j, -8 * steep + 0.5j], dtype=dtype)
    close(left.sigmoid(), np.zeros(3), 1e-30)
    close(torch.nn.functional.silu(left), np.zeros(3), 1e-30)
    close((-left).sigmoid(), np.ones(3), EXACT[dtype])
    huge = torch.tensor(
        [complex(big, 0), complex(-big, 1), complex(0, big), complex(big / 2, -big / 2)],
        dtype=dtype,
    )
    close(huge.atan(), np.pi / 2 * np.array([1, -1, 1, 1]), EXACT[dtype])
    close(huge.atanh(), np.pi / 2 * np.array([1j, 1j, 1j, -1j]), EXACT[dtype])
    # At the pole log(2 / |y|) / 2, a quarter turn from one side to the other.
    near = torch.tensor([1 + 1e-21j, -1 - 1e-30j], dtype=dtype).atanh()
    want = np.array([np.log(2e21) + np.pi / 2 * 1j, -np.log(2e30) - np.pi / 2 * 1j]) / 2
    close(near, want, EXACT[dtype])
    assert torch.tensor(1 + 0j, dtype=dtype).atanh().real == np.inf


def test_products_are_rounded_part_by_part():
    x, y = random(64, dtype=torch.complex64), random(64, dtype=torch.complex64, seed=1)
    got = (torch.from_numpy(x) * torch.from_numpy(y)).numpy()
    re = x.real * y.real - x.imag * y.imag
    im = x.real * y.imag + x.imag * y.real
    assert np.array_equal(got.real, re) and np.array_equal(got.imag, im)


@pytest.mark.parametrize("dtype", TYPES)
def test_arithmetic(dtype):
    x, y = random(7, 5, dtype=dtype), random(5, dtype=dtype, seed=1)
    a, b = torch.from_numpy(x), torch.from_numpy(y)
    real = np.arange(1, 6).astype(x.real.dtype)
    tolerance = EXACT[dtype] * 4
    close(a + b, x + y, tolerance)
    close(a - b, x - y, tolerance)
    close(a * torch.from_numpy(real), x * real, tolerance)
    close(a / b, x / y, tolerance)
    close(1 / b, 1 / y, tolerance)
    close(a * 2j, x * 2j, tolerance)
    close(2j - a, 2j - x, tolerance)
    close(torch.add(a, b, alpha=1 - 2j), x + (1 - 2j) * y, tolerance)
    close(a**b, x**y, 20 * tolerance)
    close(a**2, x**2, tolerance)
    close(a ** (1 + 1j), x ** (1 + 1j), 20 * tolerance)
    close(torch.lerp(a, b, 0.25), x + 0.25 * (y - x), tolerance)
    close(torch.addcmul(a, b, b, value=2j), x + 2j * y * y, tolerance)
    assert ((a == b).numpy() == (x == y)).all() and ((a != a.T.T).numpy() == False).all()  # noqa: E712
    zero = torch.zeros(2, dtype=dtype)
    assert (zero**0 == 1).all() and (zero**2.5 == 0).all()


def test_division_by_scaled_numbers_keeps_their_range():
    x = torch.tensor([1e200 + 1e200j, 1e-200 + 1e-200j], dtype=torch.complex128)
    close(x / x, np.ones(2, np.complex128), 1e-15)


# ---- types


@pytest.mark.parametrize(
    "left, right, want",
    [
        (torch.complex64, torch.float64, torch.complex128),
        (torch.complex64, torch.int64, torch.complex64),
        (torch.complex64, torch.complex128, torch.complex128),
        (torch.bfloat16, torch.complex64, torch.complex64),
        (torch.bool, torch.complex128, torch.complex128),
    ],
)
def test_promotion(left, right, want):
    assert torch.promote_types(left, right) is want
    x, y = torch.ones(2, dtype=left), torch.ones(2, dtype=right)
    assert (x + y).dtype is want and (y * x).dtype is want and torch.result_type(x, y) is want


def test_promotion_by_numbers():
    assert (torch.ones(2) * 1j).dtype is torch.complex64
    assert (torch.ones(2, dtype=torch.float64) * 1j).dtype is torch.complex128
    assert (torch.ones(2, dtype=torch.int64) + 1j).dtype is torch.complex64
    assert (torch.ones(2, dtype=torch.complex64) * 2.5).dtype is torch.complex64
    # A 0-d tensor makes floats complex at their own precision.
    assert (torch.ones(2) + torch.ones((), dtype=torch.complex128)).dtype is torch.complex64
    assert (torch.ones(2, dtype=torch.float64) + torch.tensor(1j)).dtype is torch.complex128
    # A number keeps its precision until the result's type is known.
    third = torch.ones((), dtype=torch.complex128) * complex(1 / 3, 1 / 7)
    assert third.item() == complex(1 / 3, 1 / 7)
    assert torch.tensor(1j).dtype is torch.complex64 and torch.full((2,), 1j)[1].item() == 1j


def test_casts():
    z = torch.tensor([1.5 - 2j, 0j, 3j])
    assert z.real.tolist() == [1.5, 0, 0] and z.to(torch.float64).tolist() == [1.5, 0, 0]
    assert z.to(torch.bool).tolist() == [True, False, True] and z.int().tolist() == [1, 0, 0]
    assert z.cdouble().dtype is torch.complex128 and z.cdouble().tolist() == z.tolist()
    assert torch.tensor([2, -1]).cfloat().tolist() == [2, -1]
    assert torch.tensor([True, False]).to(torch.complex128).tolist() == [1, 0]
    assert z.half().tolist() == [1.5, 0, 0]
    assert (
        torch.float64.to_complex() is torch.complex128
        and torch.complex64.to_real() is torch.float32
    )
    x = torch.zeros(3)
    x.copy_(z)
    assert x.tolist() == [1.5, 0, 0]


def test_numbers():
    z = torch.tensor([3 - 4j])
    assert z.item() == 3 - 4j and complex(z) == 3 - 4j and bool(z) and z.abs().item() == 5
    assert complex(torch.tensor(2.5)) == 2.5
    with pytest.raises(RuntimeError, match="double without overflow"):
        float(z)
    assert float(torch.tensor(2 + 0j)) == 2


def test_creation():
    assert torch.zeros(2, 3, dtype=torch.complex64).tolist() == [[0] * 3] * 2
    assert torch.ones_like(torch.zeros(2, dtype=torch.complex128)).tolist() == [1, 1]
    assert torch.full((2,), 2 - 1j, dtype=torch.complex128).tolist() == [2 - 1j] * 2
    assert torch.eye(2, dtype=torch.complex64).tolist() == [[1, 0], [0, 1]]
    assert torch.complex(torch.tensor([1.0, 2.0]), torch.tensor(3.0)).tolist() == [1 + 3j, 2 + 3j]
    close(torch.polar(torch.tensor([2.0]), torch.tensor([np.pi / 2])), np.array([2j]), 1e-6)
    close(torch.linspace(0, 1 + 1j, 5), np.linspace(0, 1 + 1j, 5), 1e-6)
    assert torch.empty(3, dtype=torch.complex128).shape == (3,)
    drawn = torch.randn(20000, dtype=torch.complex128)
    assert abs(drawn.abs().square().mean().item() - 1) < 0.05
    uniform = torch.rand(1000, dtype=torch.complex64)
    assert 0 <= uniform.real.min() and uniform.imag.max() < 1


# ---- moves and views


@pytest.mark.parametrize("dtype", TYPES)
def test_moves(dtype):
    x = random(4, 3, dtype=dtype)
    t = torch.from_numpy(x)
    i = torch.tensor([2, 0])
    same = lambda got, want: np.array_equal(got.numpy(), want)
    assert same(t[1:, ::2], x[1:, ::2]) and same(t.T.contiguous(), x.T.copy())
    assert same(torch.cat([t, t * 1], 1), np.concatenate([x, x], 1))
    assert same(torch.stack([t, t]), np.stack([x, x])) and same(t.flip(0), x[::-1])
    assert same(t.index_select(0, i), x[[2, 0]]) and same(t[i], x[[2, 0]])
    assert same(
        t.gather(1, torch.tensor([[0], [2], [1], [1]])), x[np.arange(4), [0, 2, 1, 1]][:, None]
    )
    assert same(torch.where(torch.from_numpy(x.real > 0), t, 0), np.where(x.real > 0, x, 0))
    assert same(
        t.masked_fill(torch.from_numpy(x.real > 0), 1j), np.where(x.real > 0, 1j, x).astype(x.dtype)
    )
    assert same(t.roll(1, 0), np.roll(x, 1, 0)) and same(t.tril(), np.tril(x))
    assert same(torch.cat([t, torch.ones(1, 3)]), np.concatenate([x, np.ones((1, 3), x.dtype)]))
    written = t.clone()
    written[:, 1] = 1j
    written[0] = torch.tensor([1.0, 2.0, 3.0])
    want = x.copy()
    want[:, 1] = 1j
    want[0] = [1, 2, 3]
    assert same(written, want)
    added = torch.zeros(3, 3, dtype=dtype).index_add(0, torch.tensor([0, 0, 2, 0]), t)
    close(added, np.stack([x[0] + x[1] + x[3], 0 * x[0], x[2]]), EXACT[dtype])
    spread = torch.zeros(4, 2, dtype=dtype).scatter_add(1, torch.tensor([[0, 0, 1]] * 4), t)
    close(spread, np.stack([x[:, 0] + x[:, 1], x[:, 2]], 1), EXACT[dtype])
    put = torch.zeros(4, dtype=dtype).index_put((torch.tensor([1, 1]),), t[0, :2], accumulate=True)
    close(put, np.array([0, x[0, 0] + x[0, 1], 0, 0]), EXACT[dtype])


def test_views_share_memory():
    z = torch.tensor([[1 + 2j, 3 + 4j]])
    pairs = torch.view_as_real(z)
    assert pairs.shape == (1, 2, 2) and pairs.dtype is torch.float32 and pairs.stride() == (4, 2, 1)
    pairs[0, 1, 0] = 9
    assert z.tolist() == [[1 + 2j, 9 + 4j]]
    z.imag[0, 0] = -1
    z.real.mul_(2)
    assert z.tolist() == [[2 - 1j, 18 + 4j]] and z.imag.stride() == (4, 2)
    z.real = torch.tensor([[5.0, 6.0]])
    z.imag = 1
    assert z.tolist() == [[5 + 1j, 6 + 1j]]
    x = torch.arange(6.0).reshape(3, 2)
    assert torch.view_as_complex(x).tolist() == [1j, 2 + 3j, 4 + 5j]
    assert torch.view_as_complex(x).data_ptr() == x.data_ptr()
    assert torch.real(x) is not None and x.real is x
    conj = z.conj()
    assert not conj.is_conj() and conj.resolve_conj().tolist() == [[5 - 1j, 6 - 1j]]
    assert z.mH.tolist() == [[5 - 1j], [6 - 1j]] and z.H.shape == (2, 1)


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: torch.view_as_complex(torch.zeros(3)), "last dimension of size 2"),
        (lambda: torch.view_as_complex(torch.zeros(2, 2).T), "stride 1"),
        (lambda: torch.view_as_complex(torch.zeros(2, 2, dtype=torch.int64)), "float32 or float64"),
        (lambda: torch.view_as_complex(torch.zeros(9)[1:].reshape(4, 2)), "offset divisible by 2"),
        (lambda: torch.view_as_real(torch.zeros(2)), "expected a complex tensor, got float32"),
        (lambda: torch.zeros(2).imag, "non-complex"),
        (lambda: torch.complex(torch.zeros(2), torch.zeros(2, dtype=torch.float64)), "float64"),
        (lambda: torch.complex(torch.zeros(2, dtype=torch.int64), torch.zeros(2)), "int64"),
        (lambda: torch.zeros(2).fill_(1j), "imaginary part"),
        (lambda: torch.zeros(2).add_(1j), "can't be cast"),
        (lambda: torch.add(torch.zeros(2), 1.0, alpha=1j), "alpha must not be a complex"),
        (lambda: torch.ones(2, dtype=torch.complex64) < 1, "complex64"),
        (lambda: torch.ones(2, dtype=torch.complex64).max(), "complex64"),
        (lambda: torch.ones(2, dtype=torch.complex64).sort(), "no order"),
        (lambda: torch.ones(2, dtype=torch.complex64).floor(), "complex64"),
        (lambda: torch.ones(2, dtype=torch.complex64).isposinf(), "complex"),
        (lambda: torch.arange(0, 1j), "imaginary part"),
        (lambda: torch.ones(2).masked_fill(torch.ones(2) > 0, 1j), "complex number"),
        (lambda: torch.ones(2, dtype=torch.bfloat16) * 1j, "half precision"),
        (lambda: torch.ones((), dtype=torch.float16) + 1j, "half precision"),
        (lambda: torch.ones(2, dtype=torch.float16) / torch.tensor(1j), "half precision"),
        (lambda: torch.ones(2, dtype=torch.complex64).maximum(torch.ones(2)), "complex64"),
        (lambda: torch.ones(2, dtype=torch.complex64).abs_(), "In-place abs"),
    ],
)
def test_what_has_no_meaning_is_refused(call, text):
    with pytest.raises((RuntimeError, TypeError), match=text):
        call()


# ---- reductions and products


@pytest.mark.parametrize("dtype", TYPES)
def test_reductions(dtype):
    x = random(5, 7, dtype=dtype)
    t = torch.from_numpy(x)
    tolerance = 20 * EXACT[dtype]
    for dim in (None, 0, 1):
        close(t.sum(dim) if dim is not None else t.sum(), np.asarray(x.sum(dim)), tolerance)
        close(t.mean(dim) if dim is not None else t.mean(), np.asarray(x.mean(dim)), tolerance)
        close(
            t.prod(dim) if dim is not None else t.prod(), np.asarray(x.prod(dim)), 100 * tolerance
        )
        close(t.var(dim) if dim is not None else t.var(), np.asarray(x.var(dim, ddof=1)), tolerance)
        close(t.norm(dim=dim), np.asarray(np.sqrt((np.abs(x) ** 2).sum(dim))), tolerance)
    close(t.cumsum(1), x.cumsum(1), tolerance)
    close(t.cumprod(0), x.cumprod(0), 20 * tolerance)
    assert t.any().item() and t.all().item() and t.count_nonzero().item() == 35
    assert t.prod(1, keepdim=True).shape == (5, 1) and t[:0].prod().item() == 1
    assert t[:, :0].sum(1).tolist() == [0] * 5 and torch.tensor(2j).sum(0).item() == 2j
    assert torch.tensor(2j).prod().item() == 2j and torch.tensor(2j).cumsum(0).item() == 2j
    assert torch.allclose(t, t + 0) and torch.equal(t, t.clone()) and not torch.isnan(t).any()
    assert torch.isinf(torch.tensor([1j, complex(0, np.inf)])).tolist() == [False, True]
    assert torch.isfinite(torch.tensor([3e38 + 3e38j, complex(np.nan, 0)])).tolist() == [
        True,
        False,
    ]
    assert torch.isreal(torch.tensor([1 + 0j, 1j])).tolist() == [True, False]


@pytest.mark.parametrize("dtype", TYPES)
def test_products(dtype):
    a, b = random(3, 4, 700, dtype=dtype), random(3, 700, 2, dtype=dtype, seed=1)
    x, y = torch.from_numpy(a), torch.from_numpy(b)
    tolerance = 1000 * EXACT[dtype]
    close(x @ y, a @ b, tolerance)
    close(x[0] @ y[0], a[0] @ b[0], tolerance)
    close(x @ y[0], a @ b[0], tolerance)
    close(x[0, 0].dot(y[0, :, 0]), np.asarray(a[0, 0] @ b[0, :, 0]), tolerance)
    close(torch.vdot(x[0, 0], y[0, :, 0]), np.asarray(np.vdot(a[0, 0], b[0, :, 0])), tolerance)
    close(x[0].mv(y[0, :, 0]), a[0] @ b[0, :, 0], tolerance)
    bias = random(4, 2, dtype=dtype, seed=2)
    got = torch.addmm(torch.from_numpy(bias), x[0], y[0], beta=2j, alpha=1 - 1j)
    close(got, 2j * bias + (1 - 1j) * (a[0] @ b[0]), tolerance)
    close(torch.outer(x[0, 0, :3], y[0, :2, 0]), np.outer(a[0, 0, :3], b[0, :2, 0]), tolerance)
    close(torch.einsum("bij,bjk->ik", x, y), np.einsum("bij,bjk->ik", a, b), 3 * tolerance)


def test_a_product_is_the_real_one_of_the_parts():
    """Rule N3 with the real and the imaginary position of each k, one after the other."""
    from oracle import contract

    a, b = random(3, 40, dtype=torch.complex64), random(40, 2, dtype=torch.complex64, seed=1)
    rows = a.view(np.float32)
    columns = np.empty((80, 4), np.float32)
    columns[0::2, 0::2], columns[0::2, 1::2] = b.real, b.imag
    columns[1::2, 0::2], columns[1::2, 1::2] = -b.imag, b.real
    got = (torch.from_numpy(a) @ torch.from_numpy(b)).numpy().view(np.float32)
    assert np.array_equal(got, contract.contract(rows, columns))


def direct_convolution(x, w, groups, stride, padding):
    n, _, h = x.shape
    outputs, per_group, k = w.shape
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    length = (h + 2 * padding - k) // stride + 1
    y = np.zeros((n, outputs, length), x.dtype)
    for o in range(outputs):
        first = o // (outputs // groups) * per_group
        for i in range(length):
            window = x[:, first : first + per_group, i * stride : i * stride + k]
            y[:, o, i] = (window * w[o]).sum((1, 2))
    return y


@pytest.mark.parametrize("groups", [1, 2])
def test_convolutions(groups):
    x, w = random(2, 4, 9), random(6, 4 // groups, 3, seed=1)
    a, b = torch.from_numpy(x).requires_grad_(), torch.from_numpy(w).requires_grad_()
    y = torch.nn.functional.conv1d(a, b, stride=2, padding=1, groups=groups)
    close(y.detach(), direct_convolution(x, w, groups, 2, 1), 1e-13)
    # <conv(x), y> = <x, conv_transpose(y)> without conjugation.
    v = random(*y.shape, seed=2)
    back = torch.nn.functional.conv_transpose1d(
        torch.from_numpy(v), b, stride=2, padding=1, groups=groups
    )
    assert abs((y * torch.from_numpy(v)).sum().item() - (a * back).sum().item()) < 1e-11
    gradients(
        lambda p, q: torch.nn.functional.conv1d(p, q, stride=2, padding=1, groups=groups), x, w
    )


def test_functions_written_in_python_keep_the_imaginary_part():
    x, y = random(3, 8), random(3, 8, seed=1)
    a, b = torch.from_numpy(x), torch.from_numpy(y)
    close(torch.linalg.vecdot(a, b), (x.conj() * y).sum(-1), 1e-12)
    close(torch.linalg.vecdot(a, b, dim=0), (x.conj() * y).sum(0), 1e-12)
    weights = np.arange(1.0, 9.0)
    close(torch.cov(a), np.cov(x), 1e-12)
    close(torch.cov(a[0]), np.cov(x[0]), 1e-12)
    close(torch.cov(a, aweights=torch.from_numpy(weights)), np.cov(x, aweights=weights), 1e-12)
    close(torch.corrcoef(a), np.corrcoef(x), 1e-12)
    norms = np.sqrt((np.abs(x) ** 2).sum(1, keepdims=True))
    limit = float(np.median(norms))
    close(torch.renorm(a, 2, 0, limit), x * np.minimum(1, limit / norms), 1e-6)


def test_masked_reductions():
    x = random(3, 8)
    mask = np.arange(24).reshape(3, 8) % 3 != 0
    a, m = torch.from_numpy(x), torch.from_numpy(mask)
    kept = [row[keep] for row, keep in zip(x, mask)]
    for function, want in (
        (torch.masked.sum, np.sum),
        (torch.masked.prod, np.prod),
        (torch.masked.mean, np.mean),
        (torch.masked.logsumexp, lambda row: np.log(np.exp(row).sum())),
        (torch.masked.var, lambda row: np.var(row, ddof=1).astype(complex)),
        (torch.masked.std, lambda row: np.std(row, ddof=1).astype(complex)),
    ):
        close(function(a, 1, mask=m), np.stack([want(row) for row in kept]), 1e-12)


@pytest.mark.parametrize("name", ["entr", "ndtr", "ndtri", "polygamma"])
def test_functions_of_real_numbers_refuse_complex_ones(name):
    function = getattr(torch.special, name)
    z = torch.ones(2, dtype=torch.complex64)
    with pytest.raises(NotImplementedError, match=f"{name}.*complex64"):
        function(2, z) if name == "polygamma" else function(z)


# ---- gradients


def gradients(f, *arrays, second=True):
    """Against differences: the gradient of a real L is dL/dre + i dL/dim (PyTorch's convention)."""

    def loss(*given):
        y = f(*given)
        if y.is_complex():
            weight = torch.from_numpy(random(*y.shape, seed=9))
            return (y * weight).real.sum()
        return (y * torch.from_numpy(random(*y.shape, seed=9).real)).sum()

    def slope(*given):
        leaves = [torch.from_numpy(z).requires_grad_() for z in given]
        found = torch.autograd.grad(loss(*leaves), leaves, create_graph=second)
        return leaves, found

    def norm(*given):
        leaves, found = slope(*given)
        total = sum((g * g.conj()).real.sum() * (i + 1) for i, g in enumerate(found))
        return leaves, total

    leaves, found = slope(*arrays)
    compare(lambda *given: loss(*map(torch.from_numpy, given)).item(), arrays, found)
    leaves, total = norm(*arrays)
    if second and total.requires_grad:  # else the gradient is constant
        again = torch.autograd.grad(total, leaves)
        compare(lambda *given: norm(*given)[1].item(), arrays, again)


def compare(loss, arrays, found, step=1e-6):
    for k, (z, got) in enumerate(zip(arrays, found, strict=True)):
        want = np.zeros_like(z)
        for at in np.ndindex(z.shape):
            for unit in (1, 1j) if np.iscomplexobj(z) else (1,):
                ends = []
                for sign in (1, -1):
                    moved = [a.copy() for a in arrays]
                    moved[k][at] += sign * step * unit
                    ends.append(loss(*moved))
                want[at] += (ends[0] - ends[1]) / (2 * step) * unit
        np.testing.assert_allclose(got.detach().numpy(), want, rtol=2e-6, atol=2e-6)


UNARY = [
    "exp", "expm1", "exp2", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "sin", "cos", "tan",
    "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "sigmoid",
    "reciprocal", "square", "neg", "abs", "angle", "sgn", "conj", "conj_physical", "real", "imag",
    "view_as_real", "sum", "mean", "prod", "var", "norm",
]  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_gradients(name):
    gradients(getattr(torch, name), random(2, 3, seed=4) * 0.6 + 0.1)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: x * y,
        lambda x, y: x / y,
        lambda x, y: x**y,
        lambda x, y: x @ y.T,
        lambda x, y: torch.where(x.real > 0, x, y * 2),
        lambda x, y: torch.cat([x, y]).cumsum(0),
        lambda x, y: torch.cat([x, y]).cumprod(0),
        lambda x, y: torch.vdot(x[0], y[1]),
        lambda x, y: torch.lerp(x, y, 0.3),
        lambda x, y: x.index_select(0, torch.tensor([1, 1])) * y,
        lambda x, y: (x.mH @ y).diagonal(),
        lambda x, y: torch.complex(x.real * y.imag, x.imag),
        lambda x, y: torch.view_as_complex(torch.view_as_real(x) * torch.view_as_real(y)),
    ],
)
def test_gradients_of_two(f):
    gradients(f, random(2, 3, seed=5), random(2, 3, seed=6))


@pytest.mark.parametrize(
    "f", [lambda x, y: x * y, lambda x, y: x / y, lambda x, y: y**x, lambda x, y: x + 1j * y]
)
def test_real_operands_get_real_gradients(f):
    gradients(f, np.abs(random(3, seed=7)) + 0.5, random(3, seed=8))


def test_gradients_through_views_written_in_place():
    def f(x):
        z = x * 1
        torch.view_as_real(z).mul_(3)
        z.real.add_(z.imag)
        z[0].mul_(2j)
        return z

    gradients(f, random(2, 3))


def test_zeros_have_gradient_zero():
    z = torch.zeros(2, dtype=torch.complex128, requires_grad=True)
    for f in (torch.abs, torch.angle, torch.sgn):
        (g,) = torch.autograd.grad(f(z).abs().sum() if f is torch.sgn else f(z).sum(), z)
        assert g.tolist() == [0, 0]


def test_a_complex_loss_needs_a_cotangent():
    z = torch.ones((), dtype=torch.complex64, requires_grad=True)
    with pytest.raises(RuntimeError, match="real scalar outputs"):
        (z * z).backward()
    (z * z).backward(torch.tensor(1j))
    assert z.grad.item() == 2j


def test_logcumsumexp_of_complex_numbers():
    z = random(3, 9) * 3
    got = torch.logcumsumexp(torch.from_numpy(z), 1).numpy()
    np.testing.assert_allclose(np.exp(got), np.cumsum(np.exp(z), 1), rtol=1e-12)
    far = (
        torch.tensor([1000 + 1j, -1000 + 2j, 1000 - 1j], dtype=torch.complex128)
        .logcumsumexp(0)
        .numpy()
    )
    np.testing.assert_allclose(
        far, [1000 + 1j, 1000 + 1j, 1000 + np.log(np.exp(1j) + np.exp(-1j))], rtol=1e-12
    )
    empty = torch.tensor([complex(-np.inf, 0), 2 + 1j], dtype=torch.complex64).logcumsumexp(0)
    assert empty[0].real == -np.inf and empty[1] == 2 + 1j
    x = torch.from_numpy(random(4)).requires_grad_()
    assert torch.autograd.gradcheck(lambda v: v.logcumsumexp(0), x)


def test_conversions_take_an_order_of_memory():
    x = torch.ones(1, 2, 3, 3)
    for name, dtype in (("cfloat", torch.complex64), ("cdouble", torch.complex128)):
        y = getattr(x, name)(memory_format=torch.channels_last)
        assert y.dtype == dtype and y.is_contiguous(memory_format=torch.channels_last)


def test_the_angle_of_real_numbers_has_no_slope():
    x = torch.tensor([-1.0, 0.0, 2.0, np.nan], requires_grad=True)
    torch.angle(x).backward(torch.ones(4))
    assert x.grad.tolist() == [0, 0, 0, 0]
