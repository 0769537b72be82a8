"""interpolate against formulas in NumPy: every dimension is a matrix of weights."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
interpolate = torch.nn.functional.interpolate


def cubic(t: float) -> float:
    """The cubic convolution kernel with a = -3/4."""
    t = abs(t)
    if t < 1:
        return 1.25 * t**3 - 2.25 * t**2 + 1
    return -0.75 * (t**3 - 5 * t**2 + 8 * t - 4) if t < 2 else 0.0


def weights(n: int, out: int, mode: str, align: bool, factor: float | None) -> np.ndarray:
    """[out, n]: each row says how an output place mixes input places; the border repeats."""
    scale = 1 / factor if factor else n / out
    if align:
        scale = (n - 1) / (out - 1) if out > 1 else 0
    matrix = np.zeros((out, n))
    for o in range(out):
        if mode.startswith("nearest"):
            place = math.floor((o + (0.5 if mode.endswith("exact") else 0)) * scale)
            matrix[o, min(place, n - 1)] = 1
        elif mode == "area":
            low, high = o * n // out, -((o + 1) * n // -out)
            matrix[o, low:high] = 1 / (high - low)
        else:
            at = o * scale if align else (o + 0.5) * scale - 0.5
            kernel, reach = (cubic, 2) if mode == "bicubic" else (lambda t: max(0.0, 1 - abs(t)), 1)
            at = at if mode == "bicubic" else max(at, 0.0)
            for i in range(math.floor(at) - reach, math.floor(at) + reach + 1):
                matrix[o, min(max(i, 0), n - 1)] += kernel(at - i)
    return matrix


CASES = [
    (mode, rank, align, size)
    for mode, ranks in {
        "nearest": (1, 2, 3),
        "nearest-exact": (1, 2, 3),
        "area": (1, 2, 3),
        "linear": (1,),
        "bilinear": (2,),
        "trilinear": (3,),
        "bicubic": (2,),
    }.items()
    for rank, align, size in itertools.product(ranks, (False, True), (3, 9, 1))
    if not align or mode.endswith("linear") or mode == "bicubic"
]


@pytest.mark.parametrize(("mode", "rank", "align", "size"), CASES, ids=str)
def test_sizes(mode: str, rank: int, align: bool, size: int) -> None:
    a = np.random.default_rng(0).standard_normal((2, 3, *(5, 4, 6)[:rank]))
    options = {"align_corners": align} if mode.endswith("linear") or mode == "bicubic" else {}
    expected = a
    for d in range(rank):
        w = weights(a.shape[d + 2], size, mode, align, None)
        expected = np.moveaxis(np.tensordot(w, expected, (1, d + 2)), 0, d + 2)
    x = torch.from_numpy(a).requires_grad_()
    found = interpolate(x, size, mode=mode, **options)
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-12, atol=1e-12)
    v = torch.from_numpy(np.random.default_rng(1).standard_normal(a.shape))
    w = torch.from_numpy(np.random.default_rng(2).standard_normal(expected.shape))
    (g,) = torch.autograd.grad((found * w).sum(), x)
    along = interpolate(v, size, mode=mode, **options)
    assert (g * v).sum().item() == pytest.approx((along * w).sum().item(), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("recompute", [None, True])
@pytest.mark.parametrize("factor", [2, 0.6, (1.7, 0.5)])
@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
def test_factors(mode: str, factor: Any, recompute: bool | None) -> None:
    a = np.random.default_rng(3).standard_normal((1, 2, 5, 8))
    factors = factor if isinstance(factor, tuple) else (factor, factor)
    expected = a
    for d, f in enumerate(factors):
        n = a.shape[d + 2]
        w = weights(n, math.floor(n * f), mode, False, None if recompute else f)
        expected = np.moveaxis(np.tensordot(w, expected, (1, d + 2)), 0, d + 2)
    found = interpolate(
        torch.from_numpy(a),
        scale_factor=factor,
        mode=mode,
        recompute_scale_factor=recompute,
    )
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12, atol=1e-12)


def test_antialias_keeps_constants_and_means() -> None:
    x = torch.full((1, 1, 12, 9), 3.0)
    for mode in ("bilinear", "bicubic"):
        small = interpolate(x, (4, 3), mode=mode, antialias=True)
        np.testing.assert_allclose(small.numpy(), 3.0, rtol=1e-6)
    ramp = torch.arange(12.0, dtype=torch.float64).reshape(1, 1, 12, 1)
    small = interpolate(ramp, (4, 1), mode="bilinear", antialias=True)
    np.testing.assert_allclose(small[0, 0, 1:3, 0].numpy(), [4, 7], rtol=1e-12)


def place_in(x: float, n: int, padding: str, align: bool) -> float:
    """A pixel coordinate brought inside the image where the padding says so."""
    if padding == "zeros":
        return x
    if padding == "reflection":
        low, span = (0.0, float(n - 1)) if align else (-0.5, float(n))
        away = abs(x - low)
        folds, rest = (math.floor(away / span), math.fmod(away, span)) if span else (0, 0.0)
        x = (rest if folds % 2 == 0 else span - rest) + low
    return min(max(x, 0.0), n - 1.0)


def sampled(a: np.ndarray, g: np.ndarray, mode: str, padding: str, align: bool) -> np.ndarray:
    """grid_sample of one plane [H, W] at one point (x, y) after the other."""
    sizes = a.shape
    out = np.zeros(g.shape[:-1])

    def read(places: tuple[int, ...]) -> float:
        inside = all(0 <= p < n for p, n in zip(places, sizes, strict=True))
        return float(a[places]) if inside else 0.0

    for k in np.ndindex(out.shape):
        at = []
        for d, n in enumerate(sizes):
            u = g[k][len(sizes) - 1 - d]
            at.append((u + 1) / 2 * (n - 1) if align else ((u + 1) * n - 1) / 2)
        if mode != "bicubic":
            at = [place_in(x, n, padding, align) for x, n in zip(at, sizes, strict=True)]
        if mode == "nearest":
            out[k] = read(tuple(round(x) for x in at))
            continue
        kernel, steps = (
            (cubic, range(-1, 3)) if mode == "bicubic" else (lambda t: 1 - abs(t), range(2))
        )
        for step in itertools.product(steps, repeat=len(sizes)):
            base = [math.floor(x) for x in at]
            weight = math.prod(kernel(x - b - s) for x, b, s in zip(at, base, step, strict=True))
            places = [b + s for b, s in zip(base, step, strict=True)]
            if mode == "bicubic":
                places = [
                    int(place_in(p, n, padding, align)) for p, n in zip(places, sizes, strict=True)
                ]
            out[k] += weight * read(tuple(places))
    return out


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize(
    ("mode", "rank"), [("bilinear", 2), ("nearest", 2), ("bicubic", 2), ("bilinear", 3)]
)
def test_grid_sample(mode: str, rank: int, padding: str, align: bool) -> None:
    rng = np.random.default_rng(7)
    a = rng.standard_normal((1, 2, *(4, 5, 3)[:rank]))
    g = rng.uniform(-1.6, 1.6, (1, *(3, 4, 2)[:rank], rank))
    x, grid = torch.from_numpy(a).requires_grad_(), torch.from_numpy(g).requires_grad_()
    found = torch.nn.functional.grid_sample(x, grid, mode, padding, align)
    for c in range(2):
        np.testing.assert_allclose(
            found[0, c].detach().numpy(), sampled(a[0, c], g[0], mode, padding, align), atol=1e-12
        )
    numbers = (
        ["bilinear", "nearest", "bicubic"].index(mode),
        ["zeros", "border", "reflection"].index(padding),
    )
    assert torch.equal(torch.grid_sampler(x, grid, *numbers, align), found)
    if mode == "nearest":
        return
    gx, gg = torch.autograd.grad(found.sum(), (x, grid))
    v = torch.from_numpy(rng.standard_normal(g.shape))
    eps = 1e-7
    up, down = (
        torch.nn.functional.grid_sample(x, grid + v * e, mode, padding, align).sum()
        for e in (eps, -eps)
    )
    assert ((up - down) / (2 * eps)).item() == pytest.approx(
        (gg * v).sum().item(), rel=1e-4, abs=1e-5
    )
    ones = torch.nn.functional.grid_sample(torch.ones_like(x), grid, mode, padding, align).sum()
    assert gx.sum().item() == pytest.approx(ones.item(), rel=1e-9)


def test_affine_grid() -> None:
    theta = torch.tensor([[[1.0, 0, 0], [0, 1, 0]], [[0, -2, 0.5], [2, 0, 0]]], dtype=torch.float64)
    for align in (False, True):
        grid = torch.nn.functional.affine_grid(theta, (2, 1, 3, 4), align)
        xs, ys = np.linspace(-1, 1, 4), np.linspace(-1, 1, 3)
        if not align:
            xs, ys = xs * 3 / 4, ys * 2 / 3
        x, y = np.meshgrid(xs, ys)
        np.testing.assert_allclose(grid[0].numpy(), np.stack([x, y], -1), atol=1e-15)
        np.testing.assert_allclose(grid[1].numpy(), np.stack([-2 * y + 0.5, 2 * x], -1), atol=1e-15)
    assert torch.nn.functional.affine_grid(torch.ones(1, 3, 4), (1, 1, 2, 3, 4)).shape == (
        1,
        2,
        3,
        4,
        3,
    )
    with pytest.raises(ValueError, match="affine"):
        torch.nn.functional.affine_grid(torch.ones(1, 2, 2), (1, 1, 2, 3))
    with pytest.raises(RuntimeError):
        torch.nn.functional.grid_sample(torch.ones(1, 1, 2, 2), torch.ones(1, 2, 2, 3))
    with pytest.raises(ValueError, match="mode"):
        torch.nn.functional.grid_sample(torch.ones(1, 1, 2, 2), torch.ones(1, 2, 2, 2), "cubic")


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (ValueError, {}),
        (ValueError, {"size": 3, "scale_factor": 2}),
        (ValueError, {"size": (3, 3, 3)}),
        (ValueError, {"size": 3, "align_corners": True}),
        (ValueError, {"size": 3, "antialias": True}),
        (NotImplementedError, {"size": 3, "mode": "linear"}),
        (NotImplementedError, {"size": 3, "mode": "cubic"}),
        (RuntimeError, {"size": 0}),
    ],
    ids=str,
)
def test_bad_arguments(kind: type[Exception], options: dict[str, Any]) -> None:
    with pytest.raises(kind):
        interpolate(torch.ones(1, 1, 4, 4), **options)
