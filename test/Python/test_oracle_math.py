"""The table's bodies against mpmath and against arithmetic written by hand; fused ops; a whole
training run."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

from op_samples import from_bits, values
from oracle import api, attention, body, fused
from oracle.dtypes import ALL, FLOATS, INTS, Arr, DType, cast, same_bits

RNG = np.random.default_rng(3)
mpmath.mp.prec = 200
pytestmark = pytest.mark.skipif(body.find_bodies() is None, reason="bodies.json is not built")


# ---- transcendental bodies


def _ulps(name: str, x: np.ndarray) -> float:
    """The largest distance from the exact value, in units of the last place of the exact value's
    binade."""
    dtype = DType.F64 if x.dtype == np.float64 else DType.F32
    got = body.apply(name, dtype, x)
    limits = np.finfo(x.dtype)
    worst = 0.0
    for a, y in zip(x.tolist(), got.tolist()):
        exact = getattr(mpmath, name)(mpmath.mpf(a))
        if abs(exact) >= mpmath.mpf(2) ** limits.maxexp:
            assert np.isinf(y) or abs(y) == limits.max, (name, a, y)
            continue
        exponent = max(mpmath.frexp(exact)[1] - 1, limits.minexp) if exact else limits.minexp
        unit = mpmath.mpf(2) ** (exponent - limits.nmant)
        worst = max(worst, float(abs(mpmath.mpf(y) - exact) / unit))
    return worst


def _domain(name: str, t: type) -> np.ndarray:
    """Ordinary, tiny, huge and near-special arguments."""
    wide = RNG.uniform(-100, 100, 1500) if t is np.float32 else RNG.uniform(-750, 720, 800)
    near = np.concatenate([RNG.standard_normal(400), 1 + RNG.standard_normal(300) * 2.0**-8])
    tiny = RNG.standard_normal(200) * np.exp2(RNG.uniform(-120, -5, 200))
    x = np.concatenate([wide, near, tiny, [0.0, 1.0, -1.0, 88.72, -103.9, 709.7, -745.1]]).astype(t)
    if name != "log":
        return x
    x = np.concatenate(
        [np.abs(x), from_bits(RNG, (600,), DType.F32 if t is np.float32 else DType.F64).data]
    )
    return x[(x > 0) & np.isfinite(x)]


@pytest.mark.parametrize("t", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["exp", "log", "tanh"])
def test_bodies_within_one_ulp(name: str, t: type) -> None:
    with np.errstate(all="ignore"):
        x = _domain(name, t)
    assert _ulps(name, x) <= 1.0


SPECIAL: dict[str, list[tuple[float, float]]] = {
    "exp": [(0.0, 1.0), (-0.0, 1.0), (np.inf, np.inf), (-np.inf, 0.0), (1e4, np.inf), (-1e4, 0.0)],
    "log": [(1.0, 0.0), (0.0, -np.inf), (-0.0, -np.inf), (np.inf, np.inf), (-1.0, np.nan)],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (np.inf, 1.0), (-np.inf, -1.0), (50.0, 1.0), (-50.0, -1.0)],
}


@pytest.mark.parametrize("dtype", [DType.F32, DType.F64])
@pytest.mark.parametrize("name", list(SPECIAL))
def test_special_values_are_exact(name: str, dtype: DType) -> None:
    pairs = [*SPECIAL[name], (np.nan, np.nan)]
    x, want = (np.array([p[i] for p in pairs], dtype.storage) for i in (0, 1))
    got = Arr(dtype, body.apply(name, dtype, x))
    assert same_bits(Arr(dtype, want), got).all(), (got.data, want)


# ---- the table's simple bodies say what PyTorch's formula says


def _by_hand(name: str, dtype: DType) -> Any:
    by_name: dict[str, Any] = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b,
        "maximum": body.maximum,
        "minimum": body.minimum,
        "neg": lambda a: -a,
        "abs": np.abs,
        "relu": lambda a: body.maximum(a, np.zeros((), a.dtype)),
        "sqrt": np.sqrt,
        "eq": lambda a, b: a == b,
        "ne": lambda a, b: a != b,
        "lt": lambda a, b: a < b,
        "le": lambda a, b: a <= b,
        "gt": lambda a, b: a > b,
        "ge": lambda a, b: a >= b,
    }
    return by_name[name]


SIMPLE = "add sub mul div maximum minimum neg abs relu sqrt eq ne lt le gt ge".split()


@pytest.mark.parametrize("name", SIMPLE)
def test_simple_bodies_match_the_formula(name: str) -> None:
    table = body.load_bodies()
    if name not in table:
        pytest.skip(f"the table has no {name}")
    for dtype in (*INTS, DType.F32, DType.F64):
        if (name in ("div", "sqrt")) and not dtype.is_float:
            continue
        x, y = from_bits(RNG, (3000,), dtype).data, from_bits(RNG, (3000,), dtype).data
        y[::7] = x[::7]
        args = (x, y) if len(table[name]["operands"]) == 2 else (x,)
        with np.errstate(all="ignore"):
            want = np.asarray(_by_hand(name, dtype)(*args))
        got = body.apply(name, dtype, *args)
        out = DType.Bool if want.dtype == np.bool_ else dtype
        assert same_bits(Arr(out, want), Arr(out, np.array(got))).all(), dtype


# ---- fused ops


def _softmax64(x: np.ndarray, axis: int) -> np.ndarray:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return np.asarray(e / e.sum(axis=axis, keepdims=True))


@pytest.mark.parametrize("dtype", FLOATS)
def test_softmax_values(dtype: DType) -> None:
    x = values(RNG, (5, 130), dtype)
    wide = cast(x, DType.F64).data
    tolerance = {DType.F64: 1e-13, DType.F32: 3e-5, DType.F16: 1e-2, DType.BF16: 5e-2}[dtype]
    for axis in (0, 1):
        got = cast(fused.softmax(x, axis), DType.F64).data
        np.testing.assert_allclose(got, _softmax64(wide, axis), rtol=tolerance, atol=1e-6)
        logs = cast(fused.log_softmax(x, axis), DType.F64).data
        np.testing.assert_allclose(logs, np.log(_softmax64(wide, axis)), rtol=tolerance, atol=1e-5)


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_cross_entropy_values_and_gradient(
    reduction: Any, weighted: bool, smoothing: float
) -> None:
    x = RNG.standard_normal((6, 4))
    target = api.tensor([0, 3, -100, 1, 1, 2])
    w = RNG.uniform(0.5, 2, 4) if weighted else np.ones(4)
    weight = api.Tensor(Arr(DType.F64, w)) if weighted else None

    def loss(data: np.ndarray, grad: bool = False) -> api.Tensor:
        leaf = api.Tensor(Arr(DType.F64, data.copy()), grad)
        out = api.cross_entropy(leaf, target, weight, -100, reduction, smoothing).sum()
        if grad:
            out.backward()
            assert leaf.grad is not None
            return leaf.grad
        return out

    logp = np.log(_softmax64(x, 1))
    used = [0, 1, 3, 4, 5]
    labels = [0, 3, 1, 1, 2]
    rows = -(1 - smoothing) * logp[used, labels] * w[labels] - smoothing / 4 * (logp[used] * w).sum(
        1
    )
    want = rows.sum() / (w[labels].sum() if reduction == "mean" else 1)
    assert loss(x).item() == pytest.approx(want, rel=1e-12)
    gradient = loss(x, True).arr.data
    for at in [(0, 0), (1, 2), (2, 1), (5, 3)]:
        moved = [x.copy(), x.copy()]
        moved[0][at] += 1e-6
        moved[1][at] -= 1e-6
        slope = (loss(moved[0]).item() - loss(moved[1]).item()) / 2e-6
        assert gradient[at] == pytest.approx(slope, rel=1e-5, abs=1e-7)


def test_layer_and_rms_norm() -> None:
    x = Arr(DType.F64, RNG.standard_normal((3, 5, 7)))
    w, b = (Arr(DType.F64, RNG.standard_normal(7)) for _ in range(2))
    m, v = x.data.mean(-1, keepdims=True), x.data.var(-1, keepdims=True)
    want = (x.data - m) / np.sqrt(v + 1e-5) * w.data + b.data
    np.testing.assert_allclose(fused.layer_norm(x, (7,), w, b).data, want, rtol=1e-12)
    scale = np.sqrt((x.data**2).mean(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(fused.rms_norm(x, (7,), w).data, x.data / scale * w.data, rtol=1e-12)


# ---- a whole program


def train(torch: Any, steps: int) -> tuple[list[float], list[Any]]:
    """A two-layer network on a separable problem, trained by SGD; runs on the oracle and on
    torchc alike."""
    torch.manual_seed(0)
    x = torch.rand(40, 16)
    labels = torch.argmax(x[:, :4], 1)
    w1 = (torch.rand(16, 12) - 0.5).requires_grad_()
    b1 = torch.zeros(12).requires_grad_()
    w2 = (torch.rand(12, 4) - 0.5).requires_grad_()
    b2 = torch.zeros(4).requires_grad_()
    losses = []
    for _ in range(steps):
        hidden = torch.relu(torch.matmul(x, w1) + b1)
        loss = torch.nn.functional.cross_entropy(torch.matmul(hidden, w2) + b2, labels)
        for p in (w1, b1, w2, b2):
            p.grad = None
        loss.backward()
        with torch.no_grad():
            for p in (w1, b1, w2, b2):
                p.add_(p.grad, alpha=-0.5)
        losses.append(loss.item())
    return losses, [w1, b1, w2, b2]


def test_training_on_the_oracle() -> None:
    losses, weights = train(api, 40)
    again, _ = train(api, 4)
    assert losses[:4] == again and losses[-1] < 0.6 * losses[0]
    assert all(np.isfinite(w.arr.data).all() for w in weights)


def test_training_bits_equal_torchc() -> None:
    torchc = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
    want, weights = train(api, 20)
    got, tested = train(torchc, 20)
    assert want == got
    for w, t in zip(weights, tested):
        assert w.arr.data.tobytes() == t.detach().numpy().tobytes()


def test_uniform_dtypes_cover_all() -> None:
    assert set(FLOATS) | set(INTS) | {DType.Bool} == set(ALL)


def test_batch_norm_values() -> None:
    x = Arr(DType.F64, RNG.standard_normal((6, 3, 5)))
    zero, one = Arr(DType.F64, np.zeros(3)), Arr(DType.F64, np.ones(3))
    y, mean, var = fused.batch_norm(x, zero, one, training=True)
    m, v = x.data.mean((0, 2), keepdims=True), x.data.var((0, 2), keepdims=True)
    np.testing.assert_allclose(y.data, (x.data - m) / np.sqrt(v + 1e-5), rtol=1e-10)
    np.testing.assert_allclose(mean.data, 0.1 * m.reshape(-1), rtol=1e-10)
    np.testing.assert_allclose(var.data, 0.9 + 0.1 * x.data.var((0, 2), ddof=1), rtol=1e-10)
    np.testing.assert_allclose(fused.batch_norm(x, mean, var)[1].data, mean.data)


@pytest.mark.parametrize("causal", [False, True])
def test_attention_values(causal: bool) -> None:
    rows = 66 if causal else 5
    shapes = ((2, rows, 8), (1, 130, 8), (1, 130, 8))
    q, k, v = (Arr(DType.F64, RNG.standard_normal((1, *shape))) for shape in shapes)
    got = attention.attention(q, k, v, is_causal=causal).data
    wide_k, wide_v = (np.repeat(t.data, 2, axis=1) for t in (k, v))
    scores = q.data @ wide_k.swapaxes(-1, -2) * 8**-0.5
    if causal:
        scores = np.where(np.tri(rows, 130, dtype=bool), scores, -np.inf)
    np.testing.assert_allclose(got, _softmax64(scores, -1) @ wide_v, rtol=1e-10, atol=1e-12)


def test_attention_of_masked_rows_is_zero() -> None:
    q, k, v = (
        Arr(DType.F32, RNG.standard_normal((1, 1, n, 4)).astype(np.float32)) for n in (2, 3, 3)
    )
    mask = Arr(DType.Bool, np.array([[False] * 3, [True, False, False]]))
    out = attention.attention(q, k, v, mask).data[0, 0]
    assert out[0].tolist() == [0, 0, 0, 0] and np.array_equal(out[1], v.data[0, 0, 0])
