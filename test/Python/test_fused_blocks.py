"""Fused ops on many rows run by blocks of rows: the bits are those of each row alone, whatever the threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
F = torch.nn.functional


def _weights(*shape: int, dtype: Any) -> tuple[Any, Any]:
    w = torch.arange(torch.Size(shape).numel()).reshape(shape).to(dtype) / 7
    return w, 1 - w


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "softmax": lambda x: torch.softmax(x, -1),
    "log_softmax": lambda x: torch.log_softmax(x, -1),
    "logsumexp": lambda x: torch.logsumexp(x, -1),
    "logsumexp kept": lambda x: torch.logsumexp(x, (-2, -1), keepdim=True),
    "layer_norm": lambda x: F.layer_norm(x, x.shape[-1:]),
    "layer_norm affine": lambda x: F.layer_norm(
        x, x.shape[-1:], *_weights(x.shape[-1], dtype=x.dtype)
    ),
    "layer_norm of two": lambda x: F.layer_norm(
        x, x.shape[-2:], *_weights(*x.shape[-2:], dtype=x.dtype)
    ),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_rows_alone(name: str, dtype: str, threads: int) -> None:
    f = FUNCTIONS[name]
    torch.manual_seed(3)
    x = (torch.randn(301, 3, 257) * 3).to(getattr(torch, dtype))
    x[5, 1, 7], x[6, 0, 0], x[7] = float("inf"), float("nan"), float("-inf")
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        whole = f(x)
    finally:
        torch.set_num_threads(before)
    alone = torch.cat([f(x[i : i + 1]) for i in range(x.shape[0])])
    assert whole.dtype == x.dtype and whole.shape == alone.shape
    assert torch.equal(whole.nan_to_num(9.0), alone.nan_to_num(9.0))
    assert torch.equal(whole.isnan(), alone.isnan())


def test_gradients_and_out() -> None:
    x = torch.randn(2000, 100, dtype=torch.float64, requires_grad=True)
    g = torch.randn(2000, 100, dtype=torch.float64)
    (whole,) = torch.autograd.grad(torch.softmax(x, 1), x, g)
    y = torch.softmax(x[:3], 1).detach()
    torch.testing.assert_close(whole[:3], y * (g[:3] - (g[:3] * y).sum(1, keepdim=True)))
    out = torch.empty(2000, 100, dtype=torch.float64)
    assert torch.softmax(x.detach(), 1, out=out) is out and torch.equal(
        out, torch.softmax(x.detach(), 1)
    )


def test_other_layouts_and_dimensions() -> None:
    x = torch.randn(400, 500)
    assert torch.equal(torch.softmax(x.T, 1), torch.softmax(x.T.contiguous(), 1))
    assert torch.equal(torch.softmax(x, 0), torch.softmax(x.T.contiguous(), 1).T)
    assert torch.softmax(torch.empty(3, 0), 1).shape == (3, 0)


SUMS: dict[str, Callable[[Any, Any], Any]] = {
    "var": lambda x, dim: torch.var(x, dim),
    "std kept": lambda x, dim: torch.std(x, dim, keepdim=True, correction=0),
    "var_mean": lambda x, dim: torch.cat([t.reshape(-1) for t in torch.var_mean(x, dim)]),
    "norm": lambda x, dim: torch.linalg.vector_norm(x, 2, dim),
    "norm 1": lambda x, dim: torch.linalg.vector_norm(x, 1, dim),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "shape", [(301, 257), (3, 100_003), (1, 262_144), (70_001,), (2, 7, 9000)], ids=str
)
@pytest.mark.parametrize("name", SUMS)
def test_sums_of_functions(name: str, shape: tuple[int, ...], dtype: str, threads: int) -> None:
    """The bits of the plain sum, which is what runs where gradients are recorded."""
    torch.manual_seed(4)
    x = torch.randn(shape, dtype=getattr(torch, dtype)) + 0.5
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        for dim in (-1, None):
            got = SUMS[name](x, dim)
            want = SUMS[name](x.clone().requires_grad_(), dim).detach()
            assert got.shape == want.shape and torch.equal(got, want)
    finally:
        torch.set_num_threads(before)


POINTWISE: dict[str, Callable[[Any], Any]] = {
    "leaky_relu": F.leaky_relu,
    "hardswish": F.hardswish,
    "hardtanh": F.hardtanh,
    "elu": F.elu,
    "mish": F.mish,
    "softplus": F.softplus,
    "softsign": F.softsign,
    "hardshrink": F.hardshrink,
    "prelu": lambda x: F.prelu(x, torch.linspace(-1, 1, x.shape[1]).to(x.dtype)),
    "glu": F.glu,
    "logit": lambda x: torch.logit(x, 1e-3),
    "sinc": torch.sinc,
    "nan_to_num": lambda x: torch.nan_to_num(x, 2.0, 7.0),
    "round": lambda x: torch.round(x, decimals=1),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", POINTWISE)
def test_functions_of_elements(name: str, dtype: str) -> None:
    f = POINTWISE[name]
    torch.manual_seed(5)
    x = (torch.randn(300, 400) * 2).to(getattr(torch, dtype))
    x[1, 2], x[3, 4], x[5, 6], x[7, 8] = float("inf"), float("nan"), float("-inf"), -0.0
    got, want = f(x), f(x.clone().requires_grad_()).detach()
    assert got.shape == want.shape and got.dtype == want.dtype
    assert torch.equal(got.isnan(), want.isnan())
    assert torch.equal(got.nan_to_num(9.0), want.nan_to_num(9.0))
    assert torch.equal(torch.signbit(got.nan_to_num(1.0)), torch.signbit(want.nan_to_num(1.0)))
    y = x.clone()
    if hasattr(torch.Tensor, f"{name}_"):
        getattr(y, f"{name}_")(*({"logit": (1e-3,), "nan_to_num": (2.0, 7.0)}.get(name, ())))
        if name not in ("round",):
            assert torch.equal(y.nan_to_num(9.0), got.nan_to_num(9.0))
