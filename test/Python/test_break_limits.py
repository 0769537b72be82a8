"""Numbers near the limits of 64 bits, and tensors as numbers; values and exception classes are PyTorch's."""

import math

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
F = torch.nn.functional
EMPTY = torch.zeros(0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.arange(4).narrow(0, 1, 2**63 - 1),
        lambda: torch.arange(4).split([2**63 - 1, 2**63 - 1, 2, 4]),
        lambda: F.interpolate(torch.ones(1, 1, 5), size=2**62),
        lambda: torch.tensor_split(torch.ones(3), 2**62),
        lambda: torch.zeros(0).chunk(2**62),
        lambda: torch.tril_indices(2**32, 2**32),
        lambda: torch.triu_indices(2**32, 2**32),
    ],
)
def test_runtime_errors(call):
    with pytest.raises(RuntimeError):
        call()


def test_triangles_far_from_the_matrix():
    whole = [[0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 1, 2, 0, 1, 2, 0, 1, 2]]
    assert torch.tril_indices(3, 3, 2**63 - 1).tolist() == whole
    assert torch.triu_indices(3, 3, -(2**63)).tolist() == whole
    assert torch.tril_indices(3, 3, -(2**63)).tolist() == [[], []]
    assert torch.triu_indices(3, 3, 2**63 - 1).tolist() == [[], []]
    assert torch.tril_indices(4, 3, -2).tolist() == [[2, 3, 3], [0, 0, 1]]
    assert torch.triu_indices(4, 3, -1).tolist() == [
        [0, 0, 0, 1, 1, 1, 2, 2, 3],
        [0, 1, 2, 0, 1, 2, 1, 2, 2],
    ]
    assert torch.tril_indices(1500, 1500).shape == (2, 1500 * 1501 // 2)
    assert torch.triu_indices(2000, 700, 3).shape == (
        2,
        sum(max(0, 700 - (i + 3)) for i in range(2000)),
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.roll(1, 0),
        lambda x: x.roll(1, -1),
        lambda x: x.repeat_interleave(2, 0),
        lambda x: x.repeat_interleave(torch.tensor([2]), 0),
    ],
)
def test_dimension_of_a_number(call):
    x = torch.tensor(1.0)
    with pytest.raises(IndexError):
        call(x)
    assert x.roll(1).tolist() == 1.0
    assert x.repeat_interleave(2).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("dim", [0, 1, 5, -1, -9])
def test_roll_of_nothing(dim):
    assert EMPTY.roll(1, dim).shape == (0,)
    assert torch.zeros(0, 2).roll(1, dim).shape == (0, 2)


@pytest.mark.parametrize(
    "x",
    [EMPTY, torch.ones(2), torch.tensor([1, 2]), torch.tensor([True, False]), torch.zeros(0, 2)],
)
def test_number_of_other_than_one_element(x):
    for convert in (float, int, complex, math.sqrt):
        with pytest.raises(ValueError, match="only one element"):
            convert(x)
    for convert in (bool, lambda t: t.item()):
        with pytest.raises(RuntimeError):
            convert(x)


def test_dropout_without_elements_takes_its_turn():
    torch.manual_seed(0)
    torch.rand(0)
    want = torch.rand(2)
    torch.manual_seed(0)
    F.dropout(torch.ones(0, 300), 0.5, True)
    assert torch.equal(torch.rand(2), want)


def field(number, data):
    """A length-delimited field of a protobuf message."""
    return bytes([number << 3 | 2, len(data)]) + data


def test_message_quoting_a_name_that_is_no_text():
    node = field(1, b"x") + field(2, b"y") + field(4, b"\xff\xfe\x80")  # the operator's name
    model = bytes([8, 8]) + field(8, bytes([0x10, 17])) + field(7, field(1, node) + field(2, b"g"))
    with pytest.raises(ValueError, match="no such operator") as caught:
        torch.onnx.load(model)
    assert not isinstance(caught.value, UnicodeDecodeError)
