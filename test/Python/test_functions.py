"""Functions of tensors written in Python against NumPy, their gradients against differences."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from torchc.autograd.gradcheck import gradcheck, gradgradcheck  # noqa: E402

RNG = np.random.default_rng(11)


def draw(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape)


def same(actual: Any, expected: Any, tol: float = 1e-13) -> None:
    a, e = np.asarray(actual.detach().numpy()), np.asarray(expected)
    assert a.shape == e.shape
    np.testing.assert_allclose(a, e, rtol=tol, atol=tol)


# ---- differences and integrals


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_diff(dim: int, n: int) -> None:
    a = draw(4, 5)
    same(torch.diff(torch.tensor(a), n, dim), np.diff(a, n, dim))
    if n:
        p, q = draw(*[2 if i == dim % 2 else s for i, s in enumerate(a.shape)]), draw(*a.shape)
        got = torch.tensor(a).diff(n, dim, torch.tensor(p), torch.tensor(q))
        same(got, np.diff(a, n, dim, p, q))


def test_diff_of_other_types() -> None:
    b = np.array([True, True, False, True])
    assert np.array_equal(torch.diff(torch.tensor(b)).numpy(), np.diff(b))
    assert torch.diff(torch.tensor([3, 1, 2], dtype=torch.uint8)).tolist() == [254, 1]
    with pytest.raises(RuntimeError, match="at least one-dimensional"):
        torch.diff(torch.tensor(1.0))
    with pytest.raises(RuntimeError, match="non-negative"):
        torch.diff(torch.ones(2), -1)


@pytest.mark.parametrize("order", [1, 2])
def test_gradient(order: int) -> None:
    a = draw(5, 4)
    for got, expected in zip(
        torch.gradient(torch.tensor(a), edge_order=order),
        np.gradient(a, edge_order=order),
        strict=True,
    ):
        same(got, expected)
    x, y = np.sort(draw(5)), np.sort(draw(4))
    got = torch.gradient(
        torch.tensor(a), spacing=(torch.tensor(x), torch.tensor(y)), edge_order=order
    )
    for g, e in zip(got, np.gradient(a, x, y, edge_order=order), strict=True):
        same(g, e, 1e-10)
    (g,) = torch.gradient(torch.tensor(a), spacing=0.5, dim=1, edge_order=order)
    same(g, np.gradient(a, 0.5, axis=1, edge_order=order))
    with pytest.raises(RuntimeError, match="edge_order"):
        torch.gradient(torch.ones(3), edge_order=3)
    with pytest.raises(RuntimeError, match="at least edge_order"):
        torch.gradient(torch.ones(order), edge_order=order)


def test_trapezoid() -> None:
    y, x = draw(3, 5), np.sort(draw(5))
    same(torch.trapezoid(torch.tensor(y), dx=0.5), np.trapezoid(y, dx=0.5))
    same(torch.trapz(torch.tensor(y), torch.tensor(x)), np.trapezoid(y, x))
    same(torch.trapezoid(torch.tensor(y), dim=0), np.trapezoid(y, axis=0))
    steps = (y[:, 1:] + y[:, :-1]) * np.diff(x) / 2
    same(torch.cumulative_trapezoid(torch.tensor(y), torch.tensor(x)), steps.cumsum(1))


# ---- statistics


def test_cov() -> None:
    a = draw(3, 6)
    f, w = RNG.integers(1, 4, 6), RNG.uniform(0.5, 2, 6)
    same(torch.cov(torch.tensor(a)), np.cov(a))
    same(torch.tensor(a).cov(correction=0), np.cov(a, ddof=0))
    same(torch.cov(torch.tensor(a), fweights=torch.tensor(f)), np.cov(a, fweights=f))
    same(torch.cov(torch.tensor(a), aweights=torch.tensor(w)), np.cov(a, aweights=w))
    same(
        torch.cov(torch.tensor(a), fweights=torch.tensor(f), aweights=torch.tensor(w)),
        np.cov(a, fweights=f, aweights=w),
    )
    same(torch.cov(torch.tensor(a[0])), np.cov(a[0]))
    same(torch.corrcoef(torch.tensor(a)), np.corrcoef(a))
    for bad in (
        {"fweights": torch.ones(6)},
        {"aweights": torch.ones(6).long()},
        {"fweights": torch.tensor([-1] * 6)},
    ):
        with pytest.raises(RuntimeError, match="weights"):
            torch.cov(torch.tensor(a), **bad)


@pytest.mark.parametrize("method", ["linear", "lower", "higher", "midpoint", "nearest"])
@pytest.mark.parametrize("dim", [None, 0, 1, -1])
@pytest.mark.parametrize("keepdim", [False, True])
def test_quantile(method: str, dim: int | None, keepdim: bool) -> None:
    a = draw(5, 4)
    q = np.array([0.0, 0.3, 0.5, 1.0])
    got = torch.quantile(torch.tensor(a), torch.tensor(q), dim, keepdim, interpolation=method)
    same(got, np.quantile(a, q, dim, method=method, keepdims=keepdim))
    got = torch.tensor(a).quantile(0.3, dim, keepdim, interpolation=method)
    same(got, np.quantile(a, 0.3, dim, method=method, keepdims=keepdim))
    a[1, 2] = np.nan
    got = torch.nanquantile(torch.tensor(a), torch.tensor(q), dim, keepdim, interpolation=method)
    same(got, np.nanquantile(a, q, dim, method=method, keepdims=keepdim))
    same(torch.quantile(torch.tensor(a), 0.5, 0), np.quantile(a, 0.5, 0))


def test_quantile_refusals() -> None:
    x = torch.ones(3)
    for call, message in (
        (lambda: torch.quantile(x, 1.5), "range"),
        (lambda: torch.quantile(x.long(), 0.5), "float or double"),
        (lambda: torch.quantile(x, torch.tensor(0.5).double()), "same dtype"),
        (lambda: torch.quantile(x[:0], 0.5), "non-empty"),
        (lambda: torch.quantile(x, 0.5, interpolation="no"), "interpolation"),
    ):
        with pytest.raises(RuntimeError, match=message):
            call()


@pytest.mark.parametrize("density", [False, True])
def test_histograms(density: bool) -> None:
    a, w = draw(50), RNG.uniform(0, 1, 50)
    for bins in (7, np.array([-1.0, -0.5, 0.25, 2.0])):
        ours = torch.tensor(bins) if isinstance(bins, np.ndarray) else bins
        got = torch.histogram(torch.tensor(a), ours, weight=torch.tensor(w), density=density)
        hist, edges = np.histogram(a, bins, weights=w, density=density)
        same(got.hist, hist)
        same(got.bin_edges, edges)
    got = torch.histogram(torch.tensor(a), 5, range=(-1.0, 1.0), density=density)
    same(got.hist, np.histogram(a, 5, (-1.0, 1.0), density=density)[0])
    points = draw(60, 2)
    hist, edges = torch.histogramdd(torch.tensor(points), [3, 4], density=density)
    expected, exact = np.histogramdd(points, [3, 4], density=density)
    same(hist, expected)
    for e, x in zip(edges, exact, strict=True):
        same(e, x)


def test_histogram_counts_edges_on_the_right_side() -> None:
    x = torch.linspace(0, 1, 11, dtype=torch.float64)
    assert torch.histogram(x, 10, range=(0.0, 1.0)).hist.tolist() == [1.0] * 9 + [2.0]
    assert torch.histogram(
        torch.tensor([math.nan, 5.0, 0.5]), 2, range=(0.0, 1.0)
    ).hist.tolist() == [0.0, 1.0]


# ---- numbers


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
def test_divisors(dtype: str) -> None:
    a, b = RNG.integers(0, 12, (2, 40)).astype(dtype)
    if dtype != "uint8":
        a, b = a - 5, b - 5
    x, y = torch.tensor(a), torch.tensor(b)
    assert np.array_equal(torch.gcd(x, y).numpy(), np.gcd(a, b))
    assert np.array_equal(torch.lcm(x, y).numpy(), np.lcm(a, b))
    assert torch.equal(x.clone().gcd_(y), torch.gcd(x, y))
    with pytest.raises(NotImplementedError, match="gcd"):
        torch.gcd(x.float(), y)
    with pytest.raises(TypeError, match="other"):
        torch.gcd(x, 2)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_frexp(dtype: str) -> None:
    tiny = np.finfo(dtype).smallest_subnormal
    values = np.array(
        [0.0, -0.0, 1.0, -0.75, 3.5, np.finfo(dtype).max, tiny, -3 * tiny, np.finfo(dtype).tiny],
        dtype,
    )
    mantissa, exponent = torch.frexp(torch.tensor(values))
    m, e = np.frexp(values)
    assert np.array_equal(mantissa.numpy(), m) and np.array_equal(exponent.numpy(), e)
    assert (
        np.array_equal(np.signbit(mantissa.numpy()), np.signbit(m))
        and exponent.dtype is torch.int32
    )
    odd = torch.frexp(torch.tensor([math.inf, -math.inf, math.nan]))
    np.testing.assert_equal(odd.mantissa.numpy(), [math.inf, -math.inf, math.nan])
    with pytest.raises(NotImplementedError, match="floating-point"):
        torch.frexp(torch.ones(2).long())


@pytest.mark.parametrize("n", [0, 1, 2, 7, 100])
def test_logcumsumexp(n: int) -> None:
    a = draw(3, n) * 300
    expected = np.logaddexp.accumulate(a, 1) if n else a
    same(torch.logcumsumexp(torch.tensor(a), 1), expected, 1e-12)
    b = torch.tensor([-math.inf, 1.0, math.inf, 2.0])
    np.testing.assert_equal(torch.logcumsumexp(b, 0).numpy(), [-math.inf, 1, math.inf, math.inf])


def test_renorm() -> None:
    a = draw(3, 4, 2) * 2
    norms = (np.abs(a) ** 3).sum((0, 2), keepdims=True) ** (1 / 3)
    expected = a * np.where(norms > 2.5, 2.5 / (norms + 1e-7), 1)
    same(torch.renorm(torch.tensor(a), 3, 1, 2.5), expected)
    same(torch.tensor(a).renorm_(3, 1, 2.5), expected)
    with pytest.raises(RuntimeError, match="2 dimensions"):
        torch.renorm(torch.ones(2), 2, 0, 1)


def test_vander() -> None:
    a = draw(4)
    same(torch.vander(torch.tensor(a)), np.vander(a))
    same(torch.vander(torch.tensor(a), 3, increasing=True), np.vander(a, 3, increasing=True))
    assert torch.vander(torch.tensor([2, 3]), 0).shape == (2, 0)


# ---- strides and sizes


def test_strided() -> None:
    x = torch.arange(12.0)
    copy = torch.as_strided_copy(x, (2, 3), (4, 1), 1)
    assert copy.tolist() == [[1, 2, 3], [5, 6, 7]] and copy.data_ptr() != x.data_ptr()
    out = x.as_strided_scatter(torch.zeros(2, 2), (2, 2), (6, 2), 1)
    assert out.tolist() == [0, 0, 2, 0, 4, 5, 6, 0, 8, 0, 10, 11] and x[1] == 1
    turned = (
        torch.arange(12.0).reshape(3, 4)[1:].mT
    )  # elements 4 to 11 of the memory, column by column
    assert turned.as_strided_scatter(torch.tensor([-1.0, -2.0]), (2,), (5,)).tolist() == [
        [-1, 8],
        [5, -2],
        [6, 10],
        [7, 11],
    ]
    assert turned.as_strided_scatter(torch.tensor([-1.0, -2.0]), (2,), (8,), 2)[:, 1].tolist() == [
        8,
        9,
        -2,
        11,
    ]
    assert torch.equal(torch.unfold_copy(x, 0, 4, 3), x.unfold(0, 4, 3))
    with pytest.raises(RuntimeError, match="beyond the memory"):
        torch.as_strided_scatter(x, torch.zeros(3), (3,), (6,))
    with pytest.raises(RuntimeError, match="size equal"):
        torch.as_strided_scatter(x, torch.zeros(3), (2,), (1,))


def test_lists_and_places_into_out() -> None:
    x = torch.tensor([[1, 0, 2], [0, 3, 4]])
    parts = [torch.empty(0, dtype=torch.int64) for _ in range(2)]
    assert torch.unbind_copy(x, out=parts) is None
    assert [p.tolist() for p in parts] == x.tolist()
    torch.split_with_sizes_copy(x, [1, 2], 1, out=parts)
    assert torch.equal(parts[1], x[:, 1:])
    places = torch.empty(0, dtype=torch.int64)
    assert torch.nonzero(x, out=places) is places and torch.equal(places, x.nonzero())
    with pytest.raises(RuntimeError, match="2 tensors"):
        torch.unbind_copy(x, out=parts[:1])


def test_resize() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    assert x.resize_(2, 2) is x and x.tolist() == [[0, 1], [2, 3]]
    assert x.resize_((3, 2)).tolist() == [[0, 1], [2, 3], [4, 5]]
    address = x.data_ptr()
    x.resize_as_(torch.empty(4, 2))
    assert (
        x.shape == (4, 2)
        and x.flatten()[:6].tolist() == [0, 1, 2, 3, 4, 5]
        and x.data_ptr() != address
    )
    with pytest.raises(RuntimeError, match="require grad"):
        torch.ones(2, requires_grad=True).resize_(3)
    assert (2 / torch.tensor(4.0)).item() == torch.tensor(4.0).__rdiv__(2).item() == 0.5


# ---- gradients

GRADIENTS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "diff": (lambda x: torch.diff(x, 2), [(3, 5)]),
    "gradient": (lambda x: torch.gradient(x, edge_order=2), [(4, 3)]),
    "trapezoid": (torch.trapezoid, [(3, 4), (4,)]),
    "cumulative_trapezoid": (torch.cumulative_trapezoid, [(3, 4), (4,)]),
    "cov": (torch.cov, [(3, 4)]),
    "corrcoef": (lambda x: torch.corrcoef(x).tril(-1), [(3, 5)]),
    "quantile": (lambda x: torch.quantile(x, 0.3, 0), [(5, 3)]),
    "frexp": (lambda x: torch.frexp(x)[0], [(4,)]),
    "logcumsumexp": (lambda x: torch.logcumsumexp(x, 0), [(5, 2)]),
    "renorm": (lambda x: torch.renorm(x, 2, 0, 1.0), [(3, 4)]),
    "vander": (torch.vander, [(3,)]),
    "as_strided_scatter": (lambda x, s: torch.as_strided_scatter(x, s, (2, 2), (3, 1), 1), [(8,), (2, 2)]),
    "native_group_norm": (lambda x: torch.native_group_norm(x, None, None, 2, 4, 3, 2, 1e-5), [(2, 4, 3)]),
}  # fmt: skip


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name: str) -> None:
    f, shapes = GRADIENTS[name]
    rng = np.random.default_rng(2)
    inputs = [torch.tensor(rng.standard_normal(s)).requires_grad_() for s in shapes]
    assert gradcheck(f, inputs)
    assert gradgradcheck(f, inputs)


# ---- masks and windows


def test_masked_reductions() -> None:
    a, mask = draw(3, 4), RNG.integers(0, 2, (3, 4)).astype(bool)
    mask[:, 0] = True
    x, m, kept = torch.tensor(a), torch.tensor(mask), np.ma.array(a, mask=~mask)
    M = torch.masked
    for name in ("sum", "prod", "mean"):
        same(getattr(M, name)(x, 1, mask=m), getattr(kept, name)(1))
        same(getattr(M, name)(x, mask=m), getattr(kept, name)())
    same(M.amax(x, 0, mask=m), kept.max(0))
    same(M.amin(x, (0, 1), mask=m), kept.min())
    same(M.argmax(x, 1, mask=m), kept.argmax(1).astype(float))
    same(M.var(x, 1, mask=m, unbiased=False), kept.var(1))
    same(M.std(x, mask=m), kept.std(ddof=1))
    same(M.cumsum(x, 1, mask=m), np.where(mask, a, 0).cumsum(1))
    same(M.norm(x, 3.0, 1, mask=m), (np.abs(np.where(mask, a, 0)) ** 3).sum(1) ** (1 / 3))
    lower = [np.sort(r[k])[(k.sum() - 1) // 2] for r, k in zip(a, mask, strict=True)]
    same(M.median(x, 1, mask=m), np.array(lower))
    weights = np.where(mask, np.exp(a), 0)
    same(M.softmax(x, 1, mask=m), weights / weights.sum(1, keepdims=True))
    same(M.logsumexp(x, 1, mask=m), np.log(weights.sum(1)))
    visible = np.where(mask, a, 0)
    same(M.normalize(x, 2.0, 1, mask=m), visible / np.linalg.norm(visible, axis=1, keepdims=True))
    none = torch.zeros(4, dtype=torch.bool)
    assert (
        M.sum(x, 1, mask=none).tolist() == [0] * 3 and M.prod(x, 1, mask=none).tolist() == [1] * 3
    )
    assert M.sum(torch.ones(2, dtype=torch.uint8)).dtype is torch.int64
    with pytest.raises(RuntimeError, match="multiple times"):
        M.sum(x, (0, 0))


@pytest.mark.parametrize("points", [0, 1, 2, 7, 8])
def test_windows(points: int) -> None:
    W = torch.signal.windows
    options = {"dtype": torch.float64}
    pairs = {
        "bartlett": np.bartlett,
        "blackman": np.blackman,
        "hamming": np.hamming,
        "hann": np.hanning,
    }
    for name, exact in pairs.items():
        same(getattr(W, name)(points, **options), exact(points), 1e-12)
        if points > 1:
            same(getattr(W, name)(points, sym=False, **options), exact(points + 1)[:-1], 1e-12)
    same(W.kaiser(points, beta=8.0, **options), np.kaiser(points, 8.0), 1e-12)
    n = np.arange(points)
    same(W.cosine(points, **options), np.sin(np.pi * (n + 0.5) / max(points, 1)))
    middle = (points - 1) / 2
    same(W.gaussian(points, std=1.5, **options), np.exp(-((n - middle) ** 2) / 4.5))
    same(W.exponential(points, tau=2.0, **options), np.exp(-np.abs(n - middle) / 2))
    same(
        W.nuttall(points, **options)[:1],
        np.array([1.0] if points == 1 else [0.0003628] if points else []),
        1e-9,
    )
    for bad in (
        lambda: W.hann(-1),
        lambda: W.hann(3, dtype=torch.float16),
        lambda: W.kaiser(3, beta=-1),
    ):
        with pytest.raises(ValueError):
            bad()


# ---- names at the top of the package


def test_losses_by_the_number_of_their_reduction() -> None:
    F = torch.nn.functional
    a, b = torch.tensor(draw(4, 3)), torch.tensor(draw(4, 3))
    sign = torch.tensor([1.0, -1.0, 1.0, -1.0], dtype=torch.float64)
    for number, name in enumerate(("none", "mean", "sum")):
        kind = {"reduction": name}
        pairs = [
            (torch.kl_div(a, b.abs(), number), F.kl_div(a, b.abs(), **kind)),
            (
                torch.hinge_embedding_loss(a, sign[:, None], 1.0, number),
                F.hinge_embedding_loss(a, sign[:, None], **kind),
            ),
            (
                torch.cosine_embedding_loss(a, b, sign, 0.1, number),
                F.cosine_embedding_loss(a, b, sign, 0.1, **kind),
            ),
            (
                torch.triplet_margin_loss(a, b, a + 1, reduction=number),
                F.triplet_margin_loss(a, b, a + 1, **kind),
            ),
            (
                torch.poisson_nll_loss(a, b, True, False, 1e-8, number),
                F.poisson_nll_loss(a, b, **kind),
            ),
        ]
        for ours, theirs in pairs:
            assert torch.equal(ours, theirs)
    with pytest.raises(ValueError, match="reduction"):
        torch.kl_div(a, b, 3)
    assert torch.equal(torch.cosine_similarity(a, b), F.cosine_similarity(a, b))
    assert torch.embedding(a, torch.tensor([2, 0])).tolist() == a[[2, 0]].tolist()


def test_windows_of_periods() -> None:
    for name, exact in (
        ("hann", np.hanning),
        ("hamming", np.hamming),
        ("bartlett", np.bartlett),
        ("blackman", np.blackman),
    ):
        f = getattr(torch, f"{name}_window")
        same(f(8, dtype=torch.float64), exact(9)[:-1], 1e-12)
        same(f(8, False, dtype=torch.float64), exact(8), 1e-12)
        assert f(8, dtype=torch.bfloat16).dtype is torch.bfloat16 and f(1).tolist() == [1.0]
    same(torch.kaiser_window(8, False, 5.0, dtype=torch.float64), np.kaiser(8, 5.0), 1e-12)
    with pytest.raises(RuntimeError, match="floating"):
        torch.hann_window(3, dtype=torch.int64)


def test_methods_in_place_as_functions() -> None:
    x = torch.tensor([-1.0, 4.0])
    assert torch.relu_(x) is x and x.tolist() == [0.0, 4.0]
    assert torch.sqrt_(x).tolist() == [0.0, 2.0] and torch.clamp_(x, max=1.0).tolist() == [0.0, 1.0]
    with pytest.raises(AttributeError, match="nothing_"):
        torch.nothing_(x)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_neighbours_of_half_precision(dtype: str) -> None:
    t = getattr(torch, dtype)
    x = torch.tensor([1.0, 1.0, -1.0, 0.0, 0.0, 2.0, math.inf], dtype=t)
    y = torch.tensor([2.0, 0.0, 0.0, 1.0, -1.0, 2.0, 0.0], dtype=t)
    bits = {
        "float16": [0x3C01, 0x3BFF, 0xBBFF, 1, 0x8001, 0x4000, 0x7BFF],
        "bfloat16": [0x3F81, 0x3F7F, 0xBF7F, 1, 0x8001, 0x4000, 0x7F7F],
    }
    got = torch.nextafter(x, y)
    assert got.dtype is t
    assert [b & 0xFFFF for b in got.view(torch.int16).tolist()] == bits[dtype]
    assert torch.nextafter(x, torch.full_like(x, math.nan)).isnan().all()
    assert torch.equal(x.clone().nextafter_(y), got)


def test_the_default_device_is_the_cpu() -> None:
    torch.set_default_device("cpu")
    torch.set_default_device(None)
    assert torch.get_default_device() == torch.device("cpu")
    assert torch.nn.attention.SDPBackend.MATH.value == 0


def test_norms_of_parts() -> None:
    a = draw(3, 4, 2)
    x = torch.tensor(a)
    same(torch.norm_except_dim(x, 2, 1), np.sqrt((a**2).sum((0, 2), keepdims=True)))
    same(torch.frobenius_norm(x, (0, 1)), np.sqrt((a**2).sum((0, 1))))
    same(torch.nuclear_norm(x[..., 0]), np.linalg.norm(a[..., 0], "nuc"))
    out, mean, rstd = torch.native_layer_norm(x, (4, 2), None, None, 0.0)
    same(out, (x - mean) * rstd)
    same(mean, a.mean((1, 2), keepdims=True))


def test_questions_and_pieces() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    assert x.is_set_to(x.view(2, 3)) and not x.is_set_to(x.clone()) and not x.is_set_to(x.view(6))
    assert x.mT.dim_order() == (1, 0) and torch.is_same_size(x, x) and torch.is_signed(x)
    assert torch.equal(torch.tensor([3, 1]), torch.tensor([1, 3]).__reversed__())
    assert torch.equal(torch.slice_copy(x, 1, 0, 3, 2), x[:, ::2])
    assert [p.shape[1] for p in torch.split_copy(x, 2, 1)] == [2, 1]
    with pytest.warns(UserWarning, match="arange"):
        assert torch.range(1, 2, 0.5).tolist() == [1.0, 1.5, 2.0]
    torch.manual_seed(0)
    y, mask = torch.native_dropout(torch.ones(100), 0.25, True)
    assert torch.equal(y, mask / 0.75) and 50 < mask.sum().item() < 95


def test_out_of_another_type_is_refused_where_values_are_chosen() -> None:
    x = torch.ones(3, 2)
    for call in (
        lambda: torch.amax(x, 0, out=torch.empty(2, dtype=torch.float64)),
        lambda: torch.amin(x, 0, out=torch.empty(2, dtype=torch.float64)),
        lambda: torch.multinomial(x, 1, out=torch.empty(3, 1)),
    ):
        with pytest.raises(RuntimeError, match="Expected out tensor to have dtype"):
            call()
    out = torch.empty(0)
    assert torch.amax(x, 0, out=out) is out and out.tolist() == [1, 1]


def test_narrow_from_a_tensor() -> None:
    x = torch.arange(10).reshape(5, 2)
    assert x.narrow(0, torch.tensor(1), 2).tolist() == [[2, 3], [4, 5]]
    for start in (torch.tensor(True), torch.tensor(1.0), torch.tensor([1])):
        with pytest.raises(RuntimeError, match="0-dim integral"):
            torch.narrow(x, 0, start, 2)
