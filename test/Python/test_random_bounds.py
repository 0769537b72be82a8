"""Random numbers that their type or their distribution can't hold are refused, not wrapped."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)

LIMITS = {
    torch.bool: (0, 1),
    torch.uint8: (0, 255),
    torch.int8: (-128, 127),
    torch.int16: (-(2**15), 2**15 - 1),
    torch.int32: (-(2**31), 2**31 - 1),
    torch.float16: (-65504, 65504),
}


@pytest.mark.parametrize("dtype", LIMITS, ids=str)
def test_integers_stay_in_their_type(dtype: torch.dtype) -> None:
    low, high = LIMITS[dtype]
    numbers = torch.randint(low, high + 1, (500,), dtype=dtype).double()
    assert numbers.min() >= low and numbers.max() <= high
    for start, end, text in ((low, high + 2, "to - 1"), (low - 1, high, "from")):
        with pytest.raises(RuntimeError, match=f"{text} is out of bounds"):
            torch.randint(start, end, (3,), dtype=dtype)
        with pytest.raises(RuntimeError, match=f"{text} is out of bounds"):
            torch.zeros(3, dtype=dtype).random_(start, end)


@pytest.mark.parametrize(
    "dtype, most", [(torch.uint8, 255), (torch.int8, 127), (torch.float16, 2049)]
)
def test_permutations_have_each_number_once(dtype: torch.dtype, most: int) -> None:
    assert sorted(torch.randperm(most, dtype=dtype).tolist()) == list(range(most))
    with pytest.raises(RuntimeError):
        torch.randperm(most + 1, dtype=dtype)


def test_probabilities_given_as_a_tensor() -> None:
    for p in (-0.1, 1.5):
        with pytest.raises(RuntimeError, match="Expected p_in"):
            torch.zeros(2).bernoulli_(torch.tensor([0.5, p]))
    assert torch.zeros(2).bernoulli_(torch.tensor([1.0, 0.0])).tolist() == [1.0, 0.0]


def test_places_in_shapes_beyond_64_bits() -> None:
    at = torch.tensor([1, 2**40 + 5, 2**62])
    rows, columns = torch.unravel_index(at, (2**40, 2**40))
    assert rows.tolist() == [0, 1, 2**22] and columns.tolist() == [1, 5, 0]
    assert torch.unravel_index(at, (2**63 - 1,))[0].tolist() == at.tolist()
    with pytest.raises(ValueError, match="zero dimensions"):
        torch.unravel_index(at, (0,))
