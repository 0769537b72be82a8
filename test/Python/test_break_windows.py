"""Windows and factors whose products wrap: an error, neither a crash nor a wait without end."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)

F = torch.nn.functional
IMAGE = torch.ones(1, 4, 4, 4)
FAR = 2**32
CASES = {
    "pixel_shuffle": lambda: F.pixel_shuffle(IMAGE, FAR),
    "pixel_shuffle of no channels": lambda: F.pixel_shuffle(torch.ones(1, 0, 4, 4), FAR),
    "pixel_unshuffle": lambda: F.pixel_unshuffle(IMAGE, FAR),
    "pixel_unshuffle of no rows": lambda: F.pixel_unshuffle(torch.ones(1, 4, 0, 0), FAR),
    "unfold": lambda: F.unfold(IMAGE, FAR, FAR),
    "unfold of padding": lambda: F.unfold(IMAGE, 2, padding=2**62),
    "fold": lambda: F.fold(IMAGE[0], FAR, FAR),
    "fold of a far kernel": lambda: F.fold(IMAGE[0], 4, FAR, FAR),
    "mvlgamma": lambda: torch.mvlgamma(IMAGE, FAR),
    "fractional_max_pool2d": lambda: F.fractional_max_pool2d(IMAGE, 2**63 - 1, -(2**63)),
    "fractional_max_pool3d": lambda: F.fractional_max_pool3d(IMAGE, 1, 0),
}


def test_triangles_of_high_matrices() -> None:
    """Rows without an element take no time."""
    high = 2**62
    assert torch.triu_indices(high, 0).shape == torch.tril_indices(high, 0).shape == (2, 0)
    assert torch.triu_indices(high, 2).tolist() == [[0, 0, 1], [0, 1, 1]]
    assert torch.triu_indices(high, 2, -1).tolist() == [[0, 0, 1, 1, 2], [0, 1, 0, 1, 1]]
    assert torch.tril_indices(high, 1, 2 - high).tolist() == [[high - 2, high - 1], [0, 0]]


@pytest.mark.parametrize("name", CASES)
def test_refused(name: str) -> None:
    call: Any = CASES[name]
    with pytest.raises((RuntimeError, MemoryError)):
        call()
