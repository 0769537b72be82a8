"""Random functions: the bits that rule N9 prescribes, and moments where it prescribes none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from oracle import random as oracle
from oracle.dtypes import DType

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)

SEED = 0x123456789ABCDEF0
STATE = (SEED, 0)


@pytest.fixture(autouse=True)
def seeded() -> None:
    """Each test's first random op has ordinal 0."""
    torch.manual_seed(SEED)


@pytest.mark.parametrize(
    ("low", "high"), [(0, 10), (-7, 2**32 - 7), (-5, 2**40), (-(2**62), 2**62)]
)
def test_randint_bits(low: int, high: int) -> None:
    found = torch.randint(low, high, (3, 11))
    assert found.dtype == torch.int64
    np.testing.assert_array_equal(
        found.numpy(), oracle.randint(low, high, (3, 11), DType.I64, STATE).data
    )


@pytest.mark.parametrize("n", [0, 1, 5, 3000])
def test_randperm_bits(n: int) -> None:
    found = torch.randperm(n)
    np.testing.assert_array_equal(found.numpy(), oracle.randperm(n, STATE).data)
    assert sorted(found.tolist()) == list(range(n))


def test_bernoulli_bits() -> None:
    p = np.linspace(0, 1, 37, dtype="float32")
    found = torch.bernoulli(torch.from_numpy(p))
    np.testing.assert_array_equal(
        found.numpy(), (oracle.unit(37, DType.F32, STATE) < p).astype("float32")
    )
    assert torch.get_rng_state().tolist()[8] == 1
    hits = torch.empty(50, dtype=torch.int32).bernoulli_(0.3)
    np.testing.assert_array_equal(
        hits.numpy(), oracle.unit(50, DType.F32, (SEED, 1)) < np.float32(0.3)
    )


FLOATS = {"float16": DType.F16, "bfloat16": DType.BF16, "float32": DType.F32, "float64": DType.F64}


@pytest.mark.parametrize("dtype", FLOATS)
def test_normal_bits(dtype: str) -> None:
    kind = getattr(torch, dtype)
    found = torch.randn(31, 9, dtype=kind)
    expected = oracle.normal((31, 9), FLOATS[dtype], STATE).data
    integer = {2: torch.int16, 4: torch.int32, 8: torch.int64}[kind.itemsize]
    bits = np.ascontiguousarray(expected).view(f"int{8 * kind.itemsize}")
    np.testing.assert_array_equal(found.view(integer).numpy(), bits)
    found = torch.empty(77, dtype=kind).normal_(2.5, 0.5)
    expected = oracle.normal((77,), FLOATS[dtype], (SEED, 1), 2.5, 0.5).data
    bits = np.ascontiguousarray(expected).view(f"int{8 * kind.itemsize}")
    np.testing.assert_array_equal(found.view(integer).numpy(), bits)


def test_normal_forms() -> None:
    mean, std = torch.full((20000,), 3.0), torch.full((20000,), 0.5)
    close(torch.normal(mean, std), 3, 0.5)
    close(torch.normal(mean, 2.0), 3, 2)
    close(torch.normal(1.0, std), 1, 0.5)
    close(torch.normal(-1.0, 2.0, (20000,)), -1, 2)
    close(torch.randn_like(mean), 0, 1)
    close(torch.empty(20000).log_normal_(0, 0.25).log(), 0, 0.25)
    assert abs(torch.empty(20001).cauchy_(5, 2).median().item() - 5) < 0.2
    for bad in (lambda: torch.normal(0.0, -1.0, (2,)), lambda: torch.normal(mean, -std)):
        with pytest.raises(RuntimeError):
            bad()


def test_every_op_takes_one_ordinal() -> None:
    calls = [
        lambda: torch.rand(0),
        lambda: torch.randint(5, (2,)),
        lambda: torch.randperm(4),
        lambda: torch.rand_like(torch.ones(3)),
        lambda: torch.empty(3).uniform_(2, 3),
        lambda: torch.empty(3).exponential_(),
        lambda: torch.empty(3).geometric_(0.5),
        lambda: torch.empty(3, dtype=torch.int64).random_(),
        lambda: torch.multinomial(torch.ones(4), 2),
        lambda: torch.multinomial(torch.ones(4), 9, True),
        lambda: torch.bernoulli(torch.ones(2)),
        lambda: torch.poisson(torch.linspace(0, 99, 400)),
        lambda: torch.binomial(torch.full((400,), 50.0), torch.linspace(0, 1, 400)),
        lambda: torch._standard_gamma(torch.full((400,), 0.5)),
        lambda: torch._sample_dirichlet(torch.ones(99, 3)),
    ]
    for k, call in enumerate(calls):
        assert int.from_bytes(bytes(torch.get_rng_state()[8:].tolist()), "little") == k
        call()


def test_generators_are_streams_of_their_own() -> None:
    g = torch.Generator().manual_seed(5)
    a, b = torch.rand(4, generator=g), torch.rand(4, generator=g)
    assert not torch.equal(a, b) and g.initial_seed() == 5
    state = g.get_state()
    c = torch.randperm(9, generator=g)
    g.set_state(state)
    assert torch.equal(torch.randperm(9, generator=g), c)
    assert torch.equal(torch.rand(4, generator=g.manual_seed(5)), a)
    torch.manual_seed(1)
    first = torch.rand(3)
    with torch.random.fork_rng():
        torch.manual_seed(77)
        torch.rand(10)
    second = torch.rand(3)
    torch.manual_seed(1)
    assert torch.equal(torch.rand(3), first) and torch.equal(torch.rand(3), second)
    saved = torch.get_rng_state()
    third = torch.randint(0, 100, (5,))
    torch.set_rng_state(saved)
    assert torch.equal(torch.randint(0, 100, (5,)), third)


def close(x: Any, mean: float, deviation: float) -> None:
    """The sample's mean within five standard errors, its deviation within 5 %."""
    v = x.double().numpy()
    assert abs(v.mean() - mean) < 5 * deviation / math.sqrt(v.size)
    assert abs(v.std() / deviation - 1) < 0.05


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str
)
def test_distributions_have_their_moments(dtype: torch.dtype) -> None:
    x = torch.empty(40000, dtype=dtype)
    close(x.exponential_(2.0), 0.5, 0.5)
    assert (x >= 0).all()
    close(x.uniform_(-1, 3), 1, 4 / math.sqrt(12))
    close(x.geometric_(0.25), 4, math.sqrt(0.75) / 0.25)
    assert (x >= 1).all()


def test_random_integers_fill_the_exact_range() -> None:
    x = torch.empty(4000, dtype=torch.uint8).random_()
    assert x.min() == 0 and x.max() == 255
    assert set(torch.empty(500).random_(4).tolist()) == {0.0, 1.0, 2.0, 3.0}
    assert set(torch.empty(500, dtype=torch.int8).random_(-2, 1).tolist()) == {
        -2,
        -1,
        0,
    }
    wide = torch.empty(100, dtype=torch.int64).random_(-(2**63), None)
    assert (wide < 0).any() and (wide > 0).any()
    assert torch.randint_like(torch.ones(300), 3).unique().tolist() == [0.0, 1.0, 2.0]


def test_multinomial() -> None:
    weights = torch.tensor([[0.0, 1.0, 3.0], [5.0, 5.0, 0.0]])
    drawn = torch.multinomial(weights, 20000, replacement=True)
    share = np.stack([np.bincount(row, minlength=3) / 20000 for row in drawn.numpy()])
    np.testing.assert_allclose(share, [[0, 0.25, 0.75], [0.5, 0.5, 0]], atol=0.02)
    for _ in range(50):
        pair = torch.multinomial(weights, 2)
        assert sorted(pair[0].tolist()) == [1, 2] and sorted(pair[1].tolist()) == [0, 1]
    firsts = [torch.multinomial(weights[0], 2)[0].item() for _ in range(2000)]
    assert abs(firsts.count(2) / 2000 - 0.75) < 0.05


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        (RuntimeError, lambda: torch.randint(5, 5, (2,))),
        (RuntimeError, lambda: torch.randperm(-1)),
        (RuntimeError, lambda: torch.bernoulli(torch.tensor([1.5]))),
        (RuntimeError, lambda: torch.empty(2).bernoulli_(-0.1)),
        (RuntimeError, lambda: torch.empty(2).exponential_(-1)),
        (NotImplementedError, lambda: torch.empty(2, dtype=torch.int64).exponential_()),
        (RuntimeError, lambda: torch.empty(2).geometric_(0)),
        (RuntimeError, lambda: torch.multinomial(torch.ones(3), 4)),
        (RuntimeError, lambda: torch.multinomial(torch.ones(3), 0)),
        (RuntimeError, lambda: torch.multinomial(torch.tensor([1.0, -1.0]), 1)),
        (RuntimeError, lambda: torch.multinomial(torch.zeros(3), 1)),
        (RuntimeError, lambda: torch.multinomial(torch.ones(2, 2, 2), 1)),
        (NotImplementedError, lambda: torch.rand(3, dtype=torch.int32)),
    ],
    ids=str,
)
def test_bad_arguments(kind: type[Exception], call: Any) -> None:
    with pytest.raises(kind):
        call()
