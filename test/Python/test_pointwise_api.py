"""Spellings of pointwise functions and reductions that op_db's rows don't reach: operators, names, results, errors."""

import math
import operator

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)

BINARY = {
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "pow": lambda a, b: a**b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "lshift": lambda a, b: a << b,
    "rshift": lambda a, b: a >> b,
}


@pytest.mark.parametrize("name", list(BINARY))
def test_operators_agree_with_python(name):
    call = BINARY[name]
    a, b = [7, -7, 5, 12, 1], [2, 2, 3, 1, 4]
    want = [call(x, y) for x, y in zip(a, b)]
    x, y = torch.tensor(a), torch.tensor(b)
    assert call(x, y).tolist() == want
    assert call(x, 2).tolist() == [call(v, 2) for v in a]
    assert call(6, y).tolist() == [call(6, v) for v in b]
    in_place = getattr(operator, f"i{name}")
    z = torch.tensor(a)
    same = in_place(z, y)
    assert same is z and z.tolist() == want


@pytest.mark.parametrize("name", ["and", "or", "xor"])
def test_masks(name):
    call = BINARY[name]
    a, b = [True, True, False, False], [True, False, True, False]
    got = call(torch.tensor(a), torch.tensor(b))
    assert got.dtype is torch.bool and got.tolist() == [call(x, y) for x, y in zip(a, b)]
    assert call(torch.tensor([True, False]), 1).dtype is torch.int64
    assert (~torch.tensor(a)).tolist() == [not v for v in a]


def test_integer_powers_wrap():
    for dtype, bits in ((torch.int8, 8), (torch.int32, 32), (torch.int64, 64)):
        got = torch.tensor([3, -3, 2, 0], dtype=dtype) ** torch.tensor(
            [41, 101, 100, 0], dtype=dtype
        )
        want = [3**41, (-3) ** 101, 2**100, 1]
        assert got.dtype is dtype
        assert [v % 2**bits for v in got.tolist()] == [v % 2**bits for v in want]


def test_smallest_integer_by_minus_one():
    for dtype in (torch.int8, torch.int16, torch.int32, torch.int64):
        low = -(2 ** (8 * dtype.itemsize - 1))
        x = torch.tensor([low], dtype=dtype)
        assert (x // -1).tolist() == [low] and (x % -1).tolist() == [0]


@pytest.mark.parametrize("call", [lambda x, y: x // y, lambda x, y: x % y, torch.fmod])
def test_division_by_zero_raises_and_the_next_call_works(call):
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        call(torch.tensor([4, 5, 6]), torch.tensor([1, 0, 2]))
    assert call(torch.tensor([4]), torch.tensor([3])).tolist() == [1]
    assert not math.isfinite(call(torch.tensor([1.0]), 0.0).item())


def test_compiled_division_by_zero_raises():
    fn = torch.compile(lambda x, y: (x // y) + 1, background=False)
    for _ in range(3):
        assert fn(torch.tensor([8, 9]), torch.tensor([2, 3])).tolist() == [5, 4]
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        fn(torch.tensor([8, 9]), torch.tensor([2, 0])).tolist()


def test_pairs_have_names():
    x = torch.tensor([[3.0, 1.0], [2.0, 5.0]])
    both = torch.aminmax(x)
    assert both.min.item() == 1 and both.max.item() == 5
    var, mean = torch.var_mean(x, 0)
    assert mean.tolist() == [2.5, 3.0] and var.tolist() == [0.5, 8.0]
    assert torch.std_mean(x, dim=1, correction=0)[0].tolist() == [1.0, 1.5]
    assert torch.cummax(x, 1).indices.tolist() == [[0, 0], [0, 1]]
    assert x.std(0, False).tolist() == [0.5, 2.0] and x.var(unbiased=False).item() == 2.1875


def test_norms_agree_with_numpy():
    a = np.random.default_rng(3).standard_normal((4, 5))
    x = torch.tensor(a.tolist(), dtype=torch.float64)
    for order in ("fro", "nuc", 2, -2, 1, -1, math.inf, -math.inf):
        assert torch.linalg.norm(x, order).item() == pytest.approx(np.linalg.norm(a, order))
    for order in (None, 0, 1, 2, 3, 0.5, math.inf, -math.inf):
        got = torch.linalg.norm(x, order, dim=1).numpy()
        np.testing.assert_allclose(got, np.linalg.norm(a, order, axis=1))
    assert torch.norm(x).item() == x.norm("fro").item() == pytest.approx(np.linalg.norm(a))
    with pytest.raises(NotImplementedError, match="floating point"):
        torch.tensor([1]).norm()


def test_norms_of_negative_powers_are_flat_at_zero():
    x = torch.tensor([0.0, 2.0], dtype=torch.float64, requires_grad=True)
    norm = torch.linalg.vector_norm(x, -1)
    assert norm.item() == 0 and torch.autograd.grad(norm, x)[0].abs().tolist() == [0.0, 0.0]
    y = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.grad(torch.linalg.vector_norm(y, -1), y)[0].tolist() == pytest.approx(
        [4 / 9, 1 / 9]
    )


def test_gradients_at_zero_are_finite():
    x = torch.zeros(3, requires_grad=True)
    (x.norm() + x.norm(3) + x.std() + torch.sinc(x).sum() + torch.xlogy(x, x + 1).sum()).backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]
    y = torch.tensor([200.0, -200.0], requires_grad=True)
    (torch.softplus(y) + torch.elu(y) + torch.mish(y) + torch.logsigmoid(y)).sum().backward()
    assert y.grad[0].item() == 3.0 and y.grad[1].item() == pytest.approx(1.0)


def test_limits_keep_the_gradient_at_a_tie():
    x = torch.ones(3, requires_grad=True)
    torch.clamp(x, 1, 1).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 1.0]


def test_special_functions():
    x = torch.tensor([-1.5, -0.2, 0.3, 2.0], dtype=torch.float64)
    numbers = x.tolist()
    pairs = [
        (torch.special.ndtr(x), [0.5 * math.erfc(-v / math.sqrt(2)) for v in numbers]),
        (torch.special.ndtri(torch.special.ndtr(x)), numbers),
        (torch.special.entr(x.abs()), [-abs(v) * math.log(abs(v)) for v in numbers]),
        (torch.special.gammaln(x), [math.lgamma(v) for v in numbers]),
        (torch.special.xlog1py(x, x.abs()), [v * math.log1p(abs(v)) for v in numbers]),
        (torch.special.expit(x), [1 / (1 + math.exp(-v)) for v in numbers]),
    ]
    for got, want in pairs:
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-13, atol=1e-15)
    assert torch.polygamma(1, torch.tensor(1.0, dtype=torch.float64)).item() == pytest.approx(
        math.pi**2 / 6
    )
    assert torch.polygamma(2, torch.tensor(1.0, dtype=torch.float64)).item() == pytest.approx(
        -2 * 1.2020569031595943
    )


def test_normal_quantiles_of_small_probabilities():
    from statistics import NormalDist

    small = [1e-300, 1e-40, 1e-17, 1e-10, 1e-5, 0.0199, 0.02, 0.3, 0.5, 0.7, 0.98, 0.999, 1 - 1e-10]
    got = torch.special.ndtri(torch.tensor(small, dtype=torch.float64))
    # Below 1e-17 the inverse by ndtr, whose erfc keeps its digits.
    np.testing.assert_allclose(
        got[2:].numpy(), [NormalDist().inv_cdf(p) for p in small[2:]], rtol=1e-9, atol=1e-15
    )
    back = [0.5 * math.erfc(-z / math.sqrt(2)) for z in got[:8].tolist()]
    np.testing.assert_allclose(back, small[:8], rtol=1e-12)
    edges = torch.special.ndtri(torch.tensor([1e-10, 1e-5, 0.0, 1.0, 2.0, -1.0, math.nan]))
    np.testing.assert_allclose(
        edges.numpy(),
        [-6.3613, -4.2649, -math.inf, math.inf, math.nan, math.nan, math.nan],
        rtol=1e-5,
    )
    assert edges.dtype is torch.float32
    x = torch.tensor([1e-9, 1e-3, 0.4, 0.9999], dtype=torch.float64, requires_grad=True)
    z = torch.special.ndtri(x)
    (first,) = torch.autograd.grad(z.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    density = [math.exp(-v * v / 2) / math.sqrt(2 * math.pi) for v in z.tolist()]
    np.testing.assert_allclose(first.detach().numpy(), [1 / d for d in density], rtol=1e-9)
    np.testing.assert_allclose(
        second.numpy(), [v / d**2 for v, d in zip(z.tolist(), density)], rtol=1e-7
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_a_lane_does_not_depend_on_its_neighbours(dtype):
    """Long sides of selects are skipped where no lane takes them: all alike, mixed or alone, the bits agree."""
    edges = [
        0.0,
        -0.0,
        0.3,
        -2.5,
        37.0,
        1e5,
        -2e5,
        1e9,
        -3e30,
        1e-40,
        math.inf,
        -math.inf,
        math.nan,
    ]
    unary = "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1".split()
    unary += "log log2 log10 log1p erf erfc lgamma digamma sigmoid sqrt rsqrt reciprocal".split()
    calls = [getattr(torch, name) for name in unary]
    calls += [torch.erfinv, torch.special.ndtri, torch.special.i0e, lambda x: x**2.5]
    alone = torch.tensor(edges).to(dtype)
    mixed = (
        alone.repeat_interleave(23).reshape(-1, 23).t().reshape(-1)
    )  # 299, no multiple of a vector
    alike = alone.repeat_interleave(64)
    bits = {2: torch.int16, 4: torch.int32, 8: torch.int64}[dtype.itemsize]

    def same(x, y):  # NaN has no sign
        return torch.equal(*(z.masked_fill(z.isnan(), math.nan).view(bits) for z in (x, y)))

    for call in calls:
        want = torch.cat([call(x.reshape(1)) for x in alone])
        assert same(call(mixed), want.repeat(23))
        assert same(call(alike), want.repeat_interleave(64))
    many = torch.tensor([x for x in edges for _ in edges] * 3).to(dtype)
    other = torch.tensor(edges * len(edges) * 3).to(dtype)
    for call in (torch.fmod, torch.remainder, torch.floor_divide, torch.pow, torch.atan2):
        want = torch.cat([call(*pair) for pair in zip(many.split(1), other.split(1))])
        assert same(call(many, other), want)


@pytest.mark.parametrize("source", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_a_cast_does_not_depend_on_the_neighbours(source):
    """To integers by way of int64, saturated (N8): in vectors of which some lanes need more than 32 bits, or none."""
    edges = [
        0.0,
        -0.7,
        0.9,
        2.5,
        -3.5,
        127.0,
        200.0,
        -129.0,
        40000.0,
        -70000.0,
        2.0**31 - 128,
        2.0**31,
    ]
    edges += [
        -(2.0**31),
        -(2.0**31) - 0.5,
        -(2.0**31) - 1,
        -(2.0**31) - 256,
        2.0**31 - 0.5,
        2.0**32 + 4096,
        1e15,
    ]
    edges += [-3e18, 2.0**63, -(2.0**63), 1e30, -1e30, math.inf, -math.inf, math.nan]
    x = torch.tensor(edges, dtype=torch.float64).to(source)

    def want(v, dtype):
        whole = 0 if v != v else max(-(2**63), min(2**63 - 1, v if math.isinf(v) else int(v)))
        bits = 8 * dtype.itemsize
        low = int(whole) % 2**bits
        return low - 2**bits if dtype.is_signed and low >= 2 ** (bits - 1) else low

    for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64):
        expected = [want(v, dtype) for v in x.tolist()]
        assert x.to(dtype).tolist() == expected
        assert x.repeat(11).to(dtype).tolist() == expected * 11
        alike = x.repeat_interleave(40)
        assert alike.to(dtype).tolist() == [v for v in expected for _ in range(40)]
        for lane in range(8):  # one that doesn't fit among those that do
            y = torch.full((8,), -5.25, dtype=source)
            y[lane] = 1e10 if source != torch.float16 else math.inf
            assert y.to(dtype).tolist() == [want(v, dtype) for v in y.tolist()]


DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_repeats_along_rows(dtype):
    """Rows of any length with an operand that repeats along them, on either side, in place, as a mask, and cast."""
    rng = np.random.default_rng(1)
    for rows, columns in ((2, 3), (3, 255), (2, 256), (4, 700), (1, 3000)):
        a, c = (rng.integers(0, 90, (rows, n)).astype(dtype) for n in (columns, 1))
        m = rng.random((rows, 1)) < 0.5
        x, y, mask = (torch.from_numpy(v.copy()) for v in (a, c, m))
        wide = y.expand(rows, columns).contiguous()
        for call in (torch.add, torch.mul, torch.maximum, torch.lt, torch.eq):
            assert torch.equal(call(x, y), call(x, wide)) and torch.equal(call(y, x), call(wide, x))
        assert torch.equal(x.t() + y.t(), (x + wide).t())
        assert torch.equal(torch.where(mask, x, y), torch.from_numpy(np.where(m, a, c)))
        assert torch.equal(
            torch.where(mask, y, y.reshape(1, -1)[:, :1]), torch.where(mask, y, y[:1])
        )
        assert torch.equal(x * y.double(), x * wide.double())
        both = x[:, None] + y[:, :, None]  # two operands of three dimensions
        assert torch.equal(both[:, 0], x + wide)
        target = x.clone()
        target.mul_(y)
        assert torch.equal(target, x * wide)


@pytest.mark.parametrize("dtype", DTYPES)
def test_clamp_to_both_limits(dtype):
    rng = np.random.default_rng(2)
    if dtype == "bool":
        return
    for n in (0, 1, 9, 2047, 2049, 5000):
        a = rng.integers(0, 100, n).astype(dtype)
        if dtype.startswith("float") and n:
            a[rng.integers(0, n, 3)] = np.nan
        x = torch.from_numpy(a.copy())
        for low, high in ((20, 60), (60, 20), (-1000, 5), (0.5, 7), (float("nan"), 3), (True, 3)):
            if dtype == "uint8" and low == -1000:
                low = 0
            want = x.clamp(min=low).clamp(max=high)
            got = x.clamp(low, high)
            assert got.dtype == want.dtype and torch.equal(got.nan_to_num(99), want.nan_to_num(99))
            if n:
                assert torch.equal(x.t().clamp(low, high).nan_to_num(99), want.nan_to_num(99))
    assert torch.equal(x[::2].clamp(1, 50).nan_to_num(-1), x.clamp(1, 50)[::2].nan_to_num(-1))


def test_any_and_all_of_every_length():
    for n in (0, 1, 7, 4095, 4096, 4097, 9000):
        x = torch.zeros(n, dtype=torch.bool)
        assert not x.any().item() and x.all().item() == (n == 0)
        assert x.any(keepdim=True).shape == (1,)
        if n:
            x[-1] = True
            assert x.any().item() and x.all().item() == (n == 1)
            assert (~x).any().item() == (n > 1) and not (~x).all().item()
            assert (x | ~x).all().item()
    assert x.reshape(3, -1).any().shape == ()


def test_xlog1py_keeps_the_type_of_its_tensor():
    two = torch.tensor([2.0, 0.0], dtype=torch.float64)
    for got, want in (
        (torch.special.xlog1py(two, 0.1), [2 * math.log1p(0.1), 0]),
        (torch.special.xlog1py(3, two), [3 * math.log1p(2), 0]),
        (torch.special.xlog1py(two, -1), [-math.inf, 0]),
    ):
        assert got.dtype is torch.float64
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-15)
    assert torch.special.xlog1py(2, torch.tensor([1])).dtype is torch.float32
    with pytest.raises(TypeError, match="two numbers"):
        torch.special.xlog1py(2.0, 0.1)


def test_attention_refuses_what_makes_no_sense():
    q = torch.ones(2, 3, 4)
    attend = torch.scaled_dot_product_attention
    assert attend(q, q, q).shape == (2, 3, 4)
    for bad in (
        lambda: attend(q, torch.ones(2, 3, 5), q),
        lambda: attend(q, q, q.double()),
        lambda: attend(q, q, q, torch.ones(3, 3), is_causal=True),
        lambda: attend(q, q, q, dropout_p=2.0),
    ):
        with pytest.raises(RuntimeError):
            bad()


def test_attention_groups_heads():
    torch.manual_seed(3)
    q, k = torch.rand(1, 4, 5, 8), torch.rand(1, 2, 5, 8)
    grouped = torch.scaled_dot_product_attention(q, k, k, enable_gqa=True)
    wide = torch.stack([k[:, 0], k[:, 0], k[:, 1], k[:, 1]], 1)
    assert torch.equal(grouped, torch.scaled_dot_product_attention(q, wide, wide))


def test_batch_norm_needs_statistics():
    with pytest.raises(RuntimeError, match="running_mean"):
        torch.batch_norm(torch.ones(2, 3), None, None, None, None, False, 0.1, 1e-5)
    with pytest.raises(RuntimeError, match="weight"):
        torch.batch_norm(torch.ones(2, 3), torch.ones(4), None, None, None, True, 0.1, 1e-5)
    with pytest.raises(RuntimeError, match="normalized_shape"):
        torch.layer_norm(torch.ones(2, 3), [4])
