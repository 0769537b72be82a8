"""Derivatives that depend on no value of the input still have a history under create_graph: of zeros, as PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
F = torch.nn.functional
LINKED: dict[str, Callable[[Any], Any]] = {
    "leaky_relu": F.leaky_relu,
    "prelu": lambda x: F.prelu(x, torch.tensor([0.25], dtype=x.dtype)),
    "hardtanh": F.hardtanh,
    "relu6": F.relu6,
    "hardshrink": F.hardshrink,
    "softshrink": F.softshrink,
    "threshold": lambda x: F.threshold(x, 0.1, 2.0),
    "avg_pool1d": lambda x: F.avg_pool1d(x, 2),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, 2),
    "reflect": lambda x: F.pad(x, (1, 2), mode="reflect"),
    "replicate": lambda x: F.pad(x, (1, 2), mode="replicate"),
    "nll_loss": lambda x: F.nll_loss(x.reshape(8, 4), torch.arange(8) % 4),
}
FREE: dict[str, Callable[[Any], Any]] = {
    "where": lambda x: torch.where(x > 0, x, 2 * x),
    "constant": lambda x: F.pad(x, (1, 2)),
    "sum": lambda x: x.sum(),
}


def slope(f: Callable[[Any], Any]) -> tuple[Any, Any]:
    torch.manual_seed(1)
    x = torch.randn(2, 4, 4, dtype=torch.float64, requires_grad=True)
    (g,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return x, g


@pytest.mark.parametrize("name", LINKED)
def test_zeros(name: str) -> None:
    x, g = slope(LINKED[name])
    assert g.requires_grad
    plain = torch.autograd.grad(LINKED[name](x).sum(), x)[0]
    assert torch.equal(g, plain)  # the link changes no value
    (second,) = torch.autograd.grad((g * torch.arange(4.0, dtype=x.dtype)).sum(), x)
    assert second.shape == x.shape and not second.any()


@pytest.mark.parametrize("name", FREE)
def test_none(name: str) -> None:
    assert not slope(FREE[name])[1].requires_grad


def test_a_constant_has_a_gradient_of_zeros() -> None:
    x = torch.ones(3, requires_grad=True)
    (g,) = torch.autograd.grad(torch.fill(x, 2.0).sum(), x)
    assert g.tolist() == [0.0, 0.0, 0.0]
    y = torch.tensor([1.0, -2.0, float("nan")], requires_grad=True)
    (g,) = torch.autograd.grad(torch.angle(y).sum(), y)
    assert g.tolist() == [0.0, 0.0, 0.0]


def test_sums_to_a_shape_of_no_dimensions_are_int64() -> None:
    x = torch.ones((), dtype=torch.int32)
    assert x.sum_to_size(()).dtype is torch.int64
    assert torch.ones(3, dtype=torch.int32).sum_to_size(3).dtype is torch.int32


def test_expanded_real_numbers_are_their_own_conjugates_in_place() -> None:
    assert torch.ones(1).expand(3).conj_physical_().tolist() == [1.0, 1.0, 1.0]


def test_complex_casts_take_a_memory_format() -> None:
    x = torch.ones(2, 2, 3, 3)
    for name in ("cfloat", "cdouble"):
        out = getattr(x, name)(memory_format=torch.channels_last)
        assert out.stride() == (18, 1, 6, 2)
