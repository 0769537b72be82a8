"""Sizes whose products and sums need more than 64 bits are refused, not wrapped."""

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)

HUGE = 2**62


def long():
    return torch.zeros(1).expand(HUGE)


@pytest.mark.parametrize(
    "make",
    [
        lambda: long().expand(4, HUGE),
        lambda: long().expand(16, HUGE).reshape(-1),
        lambda: torch.cat([long()] * 4),  # the sum is 0 modulo 2^64
        lambda: torch.stack([long()] * 4),
        lambda: torch.empty(HUGE, 1, device="meta") + torch.empty(1, HUGE, device="meta"),
        lambda: torch.empty(HUGE, 1, device="meta") @ torch.empty(1, HUGE, device="meta"),
        lambda: torch.arange(0, 1, 1e-300),
        lambda: torch.arange(-(2**63), 2**63 - 1),
    ],
)
def test_too_many_elements(make):
    with pytest.raises(RuntimeError, match="64 bits"):
        make()


def test_arange_near_the_limits():
    assert torch.arange(0, 2**63 - 1, HUGE).tolist() == [0, HUGE]
    assert torch.arange(2**63 - 5, 2**63 - 1, 10).tolist() == [2**63 - 5]


def test_more_chunks_than_elements():
    assert [c.tolist() for c in torch.zeros(3).chunk(2**63 - 1)] == [[0.0], [0.0], [0.0]]
