"""What PyTorch does at the edges of ops that have no numbers to compare: empty views, versions, result types."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)


def test_in_place_on_no_elements_is_no_overlap() -> None:
    x = torch.zeros(3, 0, 1, 0)
    assert x.abs_() is x and x.neg_().exp_().fill_(3) is x


def test_in_place_on_expanded_is_refused() -> None:
    with pytest.raises(RuntimeError, match="single memory location"):
        torch.zeros(1, 3).expand(4, 3).add_(1)


def test_empty_slice_keeps_its_offset() -> None:
    x = torch.zeros(4, 3)
    assert x[3:3].storage_offset() == 9 and tuple(x[3:3].shape) == (0, 3)
    assert (x[3:3] + 1).numel() == 0


def test_copy_of_itself_is_a_write() -> None:
    x = torch.arange(3)
    before = x._version
    assert x.copy_(x).tolist() == [0, 1, 2] and x._version == before + 1
    leaf = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf"):
        leaf.copy_(leaf)


@pytest.mark.parametrize("name", ["any", "all"])
def test_truth_of_bytes_is_bytes(name: str) -> None:
    x = torch.tensor([[0, 3], [1, 2]], dtype=torch.uint8)
    assert getattr(x, name)().dtype == torch.uint8
    assert getattr(x, name)(1).tolist() == ([1, 1] if name == "any" else [0, 1])
    assert getattr(x.int(), name)().dtype == torch.bool


def test_integer_ranges_count_in_integers() -> None:
    assert torch.arange(-0.9, 2.1, 2.0, dtype=torch.uint8).tolist() == [0, 2]
    assert torch.arange(-0.9, 2.1, 2.0).dtype == torch.float32


def test_empty_index_of_any_type_gathers_nothing() -> None:
    found = torch.gather(torch.ones(2, 3), 1, torch.zeros(2, 0, dtype=torch.uint8))
    assert tuple(found.shape) == (2, 0)


def test_sub_of_a_promoted_operand_scales_in_the_common_type() -> None:
    x = torch.tensor([200, 100], dtype=torch.uint8)
    assert torch.add(torch.zeros(2), x, alpha=2).tolist() == [400.0, 200.0]
    assert torch.add(torch.zeros(2, dtype=torch.int16), x, alpha=2).tolist() == [400, 200]


def test_alpha_of_truth_values_is_one() -> None:
    x = torch.tensor([True, False])
    found = torch.add(x, x, alpha=-1)
    assert found.dtype == torch.bool and found.tolist() == [True, False]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_composites_round_once(dtype: torch.dtype) -> None:
    """1 + 2^-12 (the smallest step of the product) would be lost if the product were rounded first."""
    x = torch.tensor([2.0**10], dtype=dtype)
    third = torch.tensor([1 / 3], dtype=dtype)
    wide = x.float() + third.float() * 3.3
    assert torch.equal(torch.add(x, third, alpha=3.3), wide.to(dtype))
    assert torch.equal(x.clone().add_(third, alpha=3.3), wide.to(dtype))
    row = torch.rand(1, 40).to(dtype)
    weight, bias = torch.rand(3, 40).to(dtype), torch.rand(3).to(dtype)
    wide = row.float() @ weight.float().t() + bias.float()
    assert torch.equal(torch.nn.functional.linear(row, weight, bias), wide.to(dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32], ids=str)
def test_joined_and_separate_batches_have_the_same_bits(dtype: torch.dtype) -> None:
    torch.manual_seed(3)
    x = (torch.rand(3, 2, 5, 1100) * 9 - 4).to(dtype)
    w = (torch.rand(1100, 6) * 9 - 4).to(dtype)
    one = torch.matmul(x, w)
    for view in (x.transpose(0, 1), x[:, :1], x[1:, :, ::2], x[:, :, :1]):
        each = torch.matmul(view.contiguous(), w)
        assert torch.equal(torch.matmul(view, w), each)
    for i in range(3):
        for j in range(2):
            assert torch.equal(one[i, j], x[i, j] @ w)


def test_gradient_of_a_broadcast_matrix_sums_over_the_batch() -> None:
    x, w = torch.rand(3, 2, 4), torch.rand(4, 5, requires_grad=True)
    torch.matmul(x, w).sum().backward()
    want = (x.transpose(1, 2) @ torch.ones(3, 2, 5)).sum(0)
    assert torch.equal(w.grad, want)


def test_assignment_out_of_range_is_an_index_error() -> None:
    x, index = torch.zeros(5), torch.tensor([1, 6])
    with pytest.raises(IndexError, match="out of bounds"):
        x[index] = 1.0
    with pytest.raises(IndexError, match="out of bounds"):
        x[index]
    with pytest.raises(RuntimeError, match="out of bounds"):
        x.scatter_(0, index, torch.ones(2))


def test_target_out_of_range_is_an_index_error() -> None:
    for target in (3, -1):
        with pytest.raises(IndexError, match="out of bounds"):
            torch.nn.functional.cross_entropy(torch.ones(2, 3), torch.tensor([0, target]))
