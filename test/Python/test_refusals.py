"""What is refused, and with which class of exception: as PyTorch does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
F = torch.nn.functional
X, Z = torch.ones(3), torch.tensor([1 + 2j, 3j])
REFUSED: dict[str, tuple[type[Exception], Callable[[], Any]]] = {
    "mse_loss": (NotImplementedError, lambda: F.mse_loss(Z, 2 * Z)),
    "smooth_l1_loss": (NotImplementedError, lambda: F.smooth_l1_loss(Z, 2 * Z)),
    "huber_loss": (NotImplementedError, lambda: F.huber_loss(Z, 2 * Z)),
    "imag": (TypeError, lambda: X.imag),
    "view_as_real": (TypeError, lambda: torch.view_as_real(X)),
    "view_as_complex": (
        NotImplementedError,
        lambda: torch.view_as_complex(torch.ones(2, 2, dtype=torch.int64)),
    ),
    "masked_fill": (RuntimeError, lambda: X.masked_fill(X > 0, 1j)),
    "adaptive_avg_pool1d": (RuntimeError, lambda: F.adaptive_avg_pool1d(X, 2)),
    "adaptive_avg_pool2d": (RuntimeError, lambda: F.adaptive_avg_pool2d(X, 2)),
    "adaptive_max_pool3d": (ValueError, lambda: F.adaptive_max_pool3d(X, (2, 2, 2))),
    "masked.mean": (ValueError, lambda: torch.masked.mean(X.long())),
    "range to infinity": (RuntimeError, lambda: torch.range(0, float("inf"))),
    "range to NaN": (RuntimeError, lambda: torch.range(0, float("nan"))),
    "histogram": (RuntimeError, lambda: torch.histogram(X, torch.ones(1))),
    "frobenius_norm": (IndexError, lambda: torch.frobenius_norm(X, 1)),
    "batch_norm": (
        RuntimeError,
        lambda: F.batch_norm(torch.ones(2, 3), torch.ones(3, requires_grad=True), X, training=True),
    ),
}


@pytest.mark.filterwarnings("ignore:torch.range")
@pytest.mark.parametrize("name", REFUSED)
def test_class(name: str) -> None:
    kind, call = REFUSED[name]
    with pytest.raises(Exception) as raised:  # noqa: PT011
        call()
    assert raised.type is kind


def test_numbers_with_an_imaginary_part_of_zero_are_real() -> None:
    assert X.masked_fill(X > 0, complex(3, 0)).tolist() == [3.0, 3.0, 3.0]
    assert torch.full((2,), 1j, dtype=torch.bool).tolist() == [True, True]
    assert torch.zeros(2, dtype=torch.bool).fill_(1j).tolist() == [True, True]


def test_a_transform_without_a_direction_has_no_distribution_function() -> None:
    from torchc import distributions as d

    both = d.TransformedDistribution(d.Normal(0.0, 1.0), [d.AbsTransform()])
    with pytest.raises(NotImplementedError):
        both.cdf(X)
