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


@pytest.mark.parametrize(
    "make",
    [
        lambda x: torch.nn.functional.one_hot(x.long(), 3),
        lambda x: x.unfold(0, 1, 1),
        lambda x: torch.tensordot(x, x, 1),
        lambda x: torch.tensordot(x, x, 0),
        lambda x: torch.meshgrid(*[torch.zeros(1)] * 65, indexing="ij"),
        lambda x: x.unflatten(0, (1, 1)),
        lambda x: x.repeat([1] * 65),
        lambda x: x.reshape([1] * 54 + [1] * 10).expand([1] * 54 + [2] * 10).repeat([2] * 64),
        lambda x: x.sum_to_size([1] * 65),
        lambda x: torch.nn.functional.group_norm(x, 1),
        lambda x: x.index_put((x.long(),), torch.zeros(1)),
    ],
)
def test_too_many_dimensions(make):
    text = "at most 6[34] dimensions|more than 64 dimensions|at most 64"
    with pytest.raises((RuntimeError, TypeError), match=text):
        make(torch.zeros([1] * 64))


@pytest.mark.parametrize("step", [2**63 - 1, 2**62, 7, 5, 4, 1])
@pytest.mark.parametrize("start", [0, 1, 4, 5])
def test_steps_of_any_size(start, step):
    want = list(range(5))[start::step]
    x = torch.arange(5)
    assert x[start::step].tolist() == want
    x[start::step] = 9
    assert x.tolist() == [9 if i in want else i for i in range(5)]
    x = torch.arange(5)
    assert torch.slice_scatter(x, torch.full([len(want)], 9), 0, start, None, step).tolist() == [
        9 if i in want else i for i in range(5)
    ]
    f = torch.compile(lambda x: x[start::step] * 2, background=False)
    for _ in range(3):
        assert f(x).tolist() == [2 * i for i in want]
