"""Numbers that a type can't hold, types and shapes that PyTorch refuses, and answers it gives at the edges; each value
and exception class is PyTorch's."""

import math

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
F = torch.nn.functional
inf, nan = math.inf, math.nan
MASK = torch.tensor([True, False])


def zeros(t):
    return torch.zeros(2, dtype=t)


def set_first(x, v):
    x[0] = v
    return x


def set_masked(x, v):
    x[MASK] = v
    return x


STORES = {
    "fill_": lambda t, v: zeros(t).fill_(v),
    "masked_fill": lambda t, v: zeros(t).masked_fill(MASK, v),
    "full": lambda t, v: torch.full((2,), v, dtype=t),
    "full_like": lambda t, v: torch.full_like(zeros(t), v),
    "new_full": lambda t, v: zeros(t).new_full((2,), v),
    "setitem": lambda t, v: set_first(zeros(t), v),
    "setmask": lambda t, v: set_masked(zeros(t), v),
    "index_fill": lambda t, v: zeros(t).index_fill(0, torch.tensor([0]), v),
    "scatter": lambda t, v: zeros(t).scatter(0, torch.tensor([0]), v),
    "fill_diagonal_": lambda t, v: torch.zeros(2, 2, dtype=t).fill_diagonal_(v)[0],
}


@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
@pytest.mark.parametrize(
    ("t", "v"),
    [
        (torch.int8, 300),
        (torch.int8, -129),
        (torch.int8, 300.0),
        (torch.int8, nan),
        (torch.int8, inf),
        (torch.int16, 1e10),
        (torch.int64, 1e30),
        (torch.uint8, 300),
        (torch.uint8, -300),
        (torch.uint8, -1.5),
        (torch.float16, 1e10),
        (torch.float32, 1e40),
    ],
)
def test_number_that_does_not_fit(store, t, v):
    with pytest.raises(RuntimeError, match="without overflow"):
        store(t, v)


@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
@pytest.mark.parametrize(
    ("t", "v", "want"),
    [
        (torch.int8, 127, 127),
        (torch.int8, -128, -128),
        (torch.int8, 1.5, 1),
        (torch.int64, -1.5, -1),
        (torch.uint8, -1, 255),
        (torch.uint8, 255, 255),
        (torch.float16, 65504, 65504.0),
        (torch.float16, inf, inf),
        (torch.float32, 1e38, 9.999999680285692e37),
        (torch.bool, 300, True),
    ],
)
def test_number_that_fits(store, t, v, want):
    assert store(t, v)[0].item() == want


@pytest.mark.parametrize("t", [torch.int8, torch.uint8])
@pytest.mark.parametrize(
    "call",
    [
        lambda x: torch.where(MASK, x, 300),
        lambda x: torch.add(x, x, alpha=300),
        lambda x: torch.addcmul(x, x, x, value=300),
        lambda x: F.pad(x, (1, 0), value=300),
        lambda x: F.threshold(x, 0, 300),
        lambda x: x**300,
        lambda x: x.clamp(min=300),
        lambda x: x.clamp(max=-300),
    ],
)
def test_number_argument_that_does_not_fit(t, call):
    with pytest.raises(RuntimeError):
        call(zeros(t))


def test_clamp_limits_beyond_the_type():
    assert torch.tensor([0, 200], dtype=torch.uint8).clamp(min=-1).tolist() == [0, 200]
    assert torch.tensor([-5, 100], dtype=torch.int8).clamp(max=300).tolist() == [-5, 100]
    assert torch.tensor([-5, 100], dtype=torch.int8).clamp(-300, 300).tolist() == [-5, 100]
    assert torch.tensor([-5, 100], dtype=torch.int8).clamp(-2, 300).tolist() == [-2, 100]


#  ---- what PyTorch refuses

SCALAR, INTS, BOOLS, EMPTY = (
    torch.tensor(1.0),
    torch.tensor([1, 2]),
    torch.tensor([True, False]),
    torch.zeros(0),
)


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.softmax(INTS, 0),
        lambda: BOOLS.softmax(0),
        lambda: F.log_softmax(INTS, 0),
        lambda: F.softmin(INTS, 0),
        lambda: F.silu(INTS),
        lambda: BOOLS.topk(1),
        lambda: BOOLS.kthvalue(1),
        lambda: torch.addcmul(BOOLS, BOOLS, BOOLS),
        lambda: torch.lerp(INTS, INTS, 0.5),
        lambda: INTS.clone().lerp_(INTS, 0.5),
        lambda: EMPTY & EMPTY,
        lambda: EMPTY | 1,
        lambda: EMPTY ^ INTS[:0],
        lambda: EMPTY << EMPTY,
        lambda: EMPTY >> 1,
        lambda: torch.bitwise_not(EMPTY),
    ],
)
def test_types_without_kernels(call):
    with pytest.raises(NotImplementedError):
        call()


def test_types_with_kernels():
    assert torch.softmax(torch.tensor([0, 0]), 0, dtype=torch.float32).tolist() == [0.5, 0.5]
    assert torch.tensor([-1, 2]).abs().tolist() == [1, 2]
    assert F.relu(torch.tensor([-1, 2])).tolist() == [0, 2]
    assert (INTS[:0] & INTS[:0]).shape == (0,)


@pytest.mark.parametrize(
    "call",
    [
        lambda: F.linear(torch.ones(2, 2), torch.ones(1, 2, 2)),
        lambda: F.pad(EMPTY, (1, -1)),
        lambda: F.pad(EMPTY, (2, -1)),
        lambda: F.pad(torch.ones(1), (-2, 2)),
        lambda: F.pad(torch.ones(1), (-2, 3)),
        lambda: torch.allclose(torch.ones(0), torch.ones(3)),
        lambda: torch.allclose(torch.ones(0, 2), torch.ones(3)),
        lambda: torch.allclose(torch.ones(3), torch.ones(3, dtype=torch.float64)),
    ],
)
def test_runtime_errors(call):
    with pytest.raises(RuntimeError):
        call()


def test_pad_that_cuts_and_adds():
    assert F.pad(torch.tensor([1.0, 2.0]), (-1, 2)).tolist() == [2.0, 0.0, 0.0]
    assert F.pad(torch.ones(1), (-1, 2)).tolist() == [0.0, 0.0]


def test_allclose():
    assert torch.allclose(torch.ones(0), torch.ones(1))
    assert torch.allclose(torch.tensor([True, False]), torch.tensor([True, False]))
    assert torch.allclose(torch.tensor([inf, 1.0]), torch.tensor([inf, 1.0 + 1e-7]))
    assert not torch.allclose(torch.tensor([inf]), torch.tensor([-inf]))
    assert not torch.allclose(torch.tensor([nan]), torch.tensor([nan]))
    assert torch.allclose(torch.tensor([nan]), torch.tensor([nan]), equal_nan=True)


#  ---- what PyTorch computes


def test_more_than_64_pieces():
    x = torch.arange(100)
    assert [int(p) for p in torch.split(x, [1] * 100)] == list(range(100))
    assert len(x.split([1] * 100)) == 100
    assert len(torch.tensor_split(x, list(range(100)))) == 101
    assert len(torch.hsplit(x, list(range(100)))) == 101
    with pytest.raises(TypeError):
        torch.zeros([1] * 65)


@pytest.mark.parametrize("dim", [0, 1, 5, -1, -9])
def test_dimension_of_nothing(dim):
    assert torch.cat([EMPTY, EMPTY], dim).shape == (0,)
    assert EMPTY.roll(1, dim).shape == (0,)
    assert torch.zeros(0, 2).roll(1, dim).shape == (0, 2)


def test_median_of_nothing():
    assert torch.zeros(0, dtype=torch.int64).median().item() == -(2**63)
    assert torch.zeros(0, dtype=torch.int32).median().item() == -(2**31)
    assert torch.zeros(0, dtype=torch.uint8).median().item() == 0
    assert math.isnan(EMPTY.median().item())


def test_mask_of_an_expanded_tensor():
    x = torch.zeros(1).expand(3)
    x[torch.tensor([True, False, True])] = 9
    assert x.tolist() == [9.0, 9.0, 9.0]
    y = torch.zeros(2, 1).expand(2, 3)
    y[MASK] = 9
    assert y.tolist() == [[9.0] * 3, [0.0] * 3]
    y.masked_fill_(torch.tensor([False, False, True]), 4)
    assert y.tolist() == [[4.0] * 3, [4.0] * 3]
    y.masked_fill_(torch.tensor(False), 5)
    assert y.tolist() == [[4.0] * 3, [4.0] * 3]


@pytest.mark.parametrize("loss", [F.cross_entropy, F.nll_loss])
@pytest.mark.parametrize(
    ("shape", "target", "error"),
    [
        ((2, 3), (1,), ValueError),
        ((2, 3), (3,), ValueError),
        ((2, 3), (1, 2), ValueError),
        ((2, 3), (), ValueError),
        ((3,), (2,), ValueError),
        ((2, 3, 4), (3, 4), ValueError),
        ((2, 3, 4), (2, 5), RuntimeError),
        ((2, 3, 4), (2,), RuntimeError),
        ((2, 3, 4, 5), (2, 4, 6), RuntimeError),
        ((2, 3, 4, 5), (2, 4), RuntimeError),
    ],
)
def test_targets_of_wrong_shapes(loss, shape, target, error):
    with pytest.raises(error):
        loss(torch.ones(shape), torch.zeros(target, dtype=torch.int64))


def test_losses_of_one_row():
    assert F.cross_entropy(torch.ones(3), torch.tensor([0])).item() == pytest.approx(
        math.log(3), rel=1e-6
    )
    assert F.cross_entropy(torch.ones(3), torch.tensor(0)).item() == pytest.approx(
        math.log(3), rel=1e-6
    )
    with pytest.raises(ValueError):
        F.nll_loss(torch.tensor(1.0), torch.tensor(0))
    with pytest.raises(RuntimeError):
        F.cross_entropy(torch.tensor(1.0), torch.tensor(0))


@pytest.mark.parametrize("x", [0.0, -0.0])
@pytest.mark.parametrize("y", [0.0, -0.0, inf, -inf, 1.0, 2.0, 0.5, -1.0])
def test_zero_times_a_logarithm(x, y):
    for f in (torch.xlogy, torch.special.xlog1py):
        out = f(torch.tensor(x), torch.tensor(y)).item()
        assert out == 0.0 and math.copysign(1.0, out) == 1.0
        assert math.isnan(f(torch.tensor(x), torch.tensor(nan)).item())


def test_xlogy_elsewhere():
    assert math.copysign(1.0, torch.xlogy(torch.tensor(-1.0), torch.tensor(1.0)).item()) == -1.0
    x = torch.tensor([2.0, 0.0], requires_grad=True)
    torch.xlogy(x, torch.tensor([math.e, 0.0])).sum().backward()
    assert x.grad.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("loss", [F.cross_entropy, F.nll_loss])
def test_targets_are_indices_of_two_types(loss):
    x = torch.rand(3, 4)
    want = loss(x, torch.tensor([0, 3, 2]))
    assert torch.equal(loss(x, torch.tensor([0, 3, 2], dtype=torch.uint8)), want)
    for dtype in (torch.int32, torch.int16, torch.int8, torch.bool, torch.float32):
        with pytest.raises(RuntimeError, match="to be Long or Byte, but got"):
            loss(x, torch.ones(3).to(dtype))


@pytest.mark.parametrize(
    "function",
    [torch.abs, torch.relu, torch.relu_, F.softsign, F.relu, lambda x: F.threshold(x, 0, 1)],
)
def test_what_is_not_there_for_bools(function):
    with pytest.raises(NotImplementedError, match="not (implemented|supported) for"):
        function(torch.tensor([True, False]))
