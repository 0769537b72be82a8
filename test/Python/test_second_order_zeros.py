"""Second derivatives where first ones have a branch of their own: zeros of a product, equal operands, d = 0."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)

F = torch.nn.functional
STEP = 1e-3


def _value(fn: Any, x: list[float]) -> float:
    return fn(torch.tensor(x, dtype=torch.float64)).item()


def _differences(fn: Any, x: list[float]) -> list[list[float]]:
    """The Hessian by differences of values: exact for products, else to about STEP squared."""

    def at(*moves: tuple[int, float]) -> float:
        y = list(x)
        for i, by in moves:
            y[i] += by
        return _value(fn, y)

    def entry(i: int, j: int) -> float:
        if i == j:
            return (at((i, STEP)) - 2 * at() + at((i, -STEP))) / STEP**2
        signs = itertools.product((1, -1), (1, -1))
        return sum(s * t * at((i, s * STEP), (j, t * STEP)) for s, t in signs) / (4 * STEP**2)

    return [[entry(i, j) for j in range(len(x))] for i in range(len(x))]


def _hessian(fn: Any, x: list[float]) -> list[list[float]]:
    t = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(fn(t), t, create_graph=True)
    rows = [torch.autograd.grad(g, t, retain_graph=True)[0] for g in gradient]
    return [row.tolist() for row in rows]


WEIGHTS = torch.tensor([1.0, -2.0, 3.0, 0.5], dtype=torch.float64)
ZEROS = [[2.0, 0.0, 3.0, -1.0], [2.0, 0.0, 3.0, 0.0], [0.0, 0.0, 5.0, 2.0], [0.0, 0.0, 0.0, 4.0]]
SAME = [[0.0, 0.0, 0.0, 0.0], [1.5, 1.5, 1.5, 1.5], [0.25, -1.0, 0.25, 2.0]]
CASES = {
    "prod": (lambda x: x.prod(), ZEROS),
    "prod of rows": (lambda x: (x.reshape(2, 2).prod(1) * WEIGHTS[:2]).sum(), ZEROS),
    "cumprod": (lambda x: (x.cumprod(0) * WEIGHTS).sum(), [*ZEROS, [0.0] * 4]),
    "logaddexp": (lambda x: torch.logaddexp(x[:2], x[2:]).sum(), SAME),
    "logaddexp2": (lambda x: torch.logaddexp2(x[:2], x[2:]).sum(), SAME),
    "logcumsumexp": (lambda x: (x.logcumsumexp(0) * WEIGHTS).sum(), SAME),
    "logsigmoid": (lambda x: F.logsigmoid(x).sum(), SAME),
    "binary_cross_entropy_with_logits": (
        lambda x: F.binary_cross_entropy_with_logits(x, WEIGHTS.sigmoid()),
        SAME,
    ),
    "sinc": (lambda x: torch.sinc(x).sum(), SAME),
    "smooth_l1_loss": (lambda x: F.smooth_l1_loss(x, 0 * x.detach(), beta=0.4), SAME[:1]),
    "huber_loss": (lambda x: F.huber_loss(x, 0 * x.detach(), delta=0.4), SAME[:1]),
    "cdist": (
        lambda x: torch.cdist(x.reshape(2, 2), WEIGHTS.reshape(2, 2) * 0.7).sum(),
        [[0.7, 1.0, 4.1, 0.35], [0.3, -1.4, 5.0, 0.35]],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_hessians(name: str) -> None:
    fn, points = CASES[name]
    for x in points:
        want = _differences(fn, x)
        got = _hessian(fn, x)
        for g, w in zip(got, want, strict=True):
            assert g == pytest.approx(w, abs=2e-5, rel=2e-5), x


def test_equal_infinities_have_slopes_alone() -> None:
    x = torch.tensor([math.inf, -math.inf], requires_grad=True)
    (slope,) = torch.autograd.grad(torch.logaddexp(x, x.detach()).sum(), x)
    assert slope.tolist() == [0.5, 0.5]


def test_rows_at_distance_0_have_no_derivatives() -> None:
    x = torch.tensor([[1.0, 2.0]], requires_grad=True)
    (slope,) = torch.autograd.grad(torch.cdist(x, x.detach()).sum(), x, create_graph=True)
    assert slope.tolist() == [[0.0, 0.0]]
    assert torch.autograd.grad(slope.sum(), x)[0].tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, 3.0])
def test_distances_of_nan_are_nan(p: float) -> None:
    assert torch.cdist(torch.tensor([[math.nan, 1.0]]), torch.zeros(1, 2), p=p).isnan().all()


def test_the_angle_of_the_origin_has_slope_0() -> None:
    y, x = (torch.zeros(2, requires_grad=True) for _ in range(2))
    torch.atan2(y, x).sum().backward()
    assert y.grad.tolist() == x.grad.tolist() == [0.0, 0.0]
