"""Rows of reductions, norms and normalisations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from op_row import NUMERIC, Row
from op_samples import Rng, Sample, expanded, plain, salted, strided, transposed, values
from oracle.dtypes import ALL, FLOATS, Arr, DType, cast


def _call(name: str, **options: Any) -> Any:
    return lambda F, *args: getattr(F, name)(*args, **options)


def _dims(name: str) -> Any:
    def call(F: Any, x: Any, dim: Any, keep: bool) -> Any:
        function = getattr(F, name)
        return function(x) if dim is None else function(x, dim, keep)

    return call


def _spread(name: str) -> Any:
    def call(F: Any, x: Any, dim: Any, keep: bool) -> Any:
        return getattr(F, name)(x, dim=dim, correction=0 if keep else 1, keepdim=keep)

    return call


def few_reductions(rng: Rng, dtype: DType, several: bool = True) -> Iterator[Sample]:
    """Whole and partial reductions over a few layouts."""
    for n in (1, 33, 65, 1025, 2100):
        yield Sample(f"n={n}", (plain(values(rng, (n,), dtype)), None, False))
    yield Sample("0-d", (plain(values(rng, (), dtype)), None, False))
    x = salted(rng, (4, 17, 3), dtype)
    for dim in (0, -1):
        yield Sample(f"dim={dim}", (plain(x), dim, False))
        yield Sample(f"dim={dim} keepdim", (transposed(x), dim, True))
    yield Sample("strided", (strided(x), 1, False))
    yield Sample("expanded", (expanded(x, 2), 1, False))
    if several:
        yield Sample("two dims", (transposed(x), [0, 2], True))


def one_dim(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """As few_reductions, one dimension at a time."""
    yield from few_reductions(rng, dtype, False)


def near_one(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Factors whose products stay finite, with no, one and two zeros."""
    if not dtype.is_float:
        yield from one_dim(rng, dtype)
        return
    for n in (1, 65, 1025):
        wide = Arr(DType.F64, rng.uniform(0.9, 1.1, n))
        yield Sample(f"n={n}", (plain(cast(wide, dtype)), None, False))
    x = rng.uniform(0.5, 2, (3, 5))
    x[1, 2] = x[2, 0] = x[2, 4] = 0
    arr = cast(Arr(DType.F64, x), dtype)
    yield Sample("zeros", (plain(arr), 1, False))
    yield Sample("zeros keepdim", (transposed(arr), 1, True))
    yield Sample("edges", (plain(salted(rng, (7, 5), dtype)), 0, False))
    yield Sample("empty", (plain(values(rng, (3, 0), dtype)), 1, False))


def over_dims(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Dimensions always given."""
    for sample in few_reductions(rng, dtype):
        x, dim, keep = sample.args
        if dim is not None:
            yield Sample(sample.label, (x, dim, keep))
    if dtype.is_float:
        low = Arr(DType.F32, np.array([[-np.inf, -np.inf], [-np.inf, 1], [np.inf, 2]], np.float32))
        yield Sample("infinite", (plain(cast(low, dtype)), 1, False), False)


def layers(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """layer_norm with and without weight and bias."""
    x = values(rng, (4, 3, 70), dtype)
    w, b = values(rng, (70,), dtype), values(rng, (70,), dtype)
    yield Sample("plain", (plain(x), (70,), None, None))
    yield Sample("weight", (plain(x), (70,), plain(w), None))
    yield Sample("both", (plain(x), (70,), plain(w), plain(b)))
    yield Sample("two dims", (transposed(x), (3, 70), None, None))
    yield Sample("strided", (strided(values(rng, (5, 9), dtype)), (9,), None, None))


def roots(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """rms_norm."""
    for sample in layers(rng, dtype):
        if sample.args[3] is None:
            yield Sample(sample.label, sample.args[:3])


def groups(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """group_norm."""
    w, b = values(rng, (6,), dtype), values(rng, (6,), dtype)
    for shape in ((3, 6), (2, 6, 5), (2, 6, 3, 4)):
        yield Sample(f"{shape}", (plain(values(rng, shape, dtype)), 3, None, None))
    yield Sample("both", (plain(values(rng, (2, 6, 7), dtype)), 2, plain(w), plain(b)))


def batches(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """batch_norm: training and not, with and without running statistics, weight and bias."""
    per = [plain(values(rng, (3,), dtype)) for _ in range(3)]
    positive = plain(Arr(dtype, np.ones(3, dtype.storage))) if dtype.is_float else per[0]
    if dtype in (DType.F16, DType.BF16):
        positive = plain(cast(Arr(DType.F32, np.array([1, 0.5, 2], np.float32)), dtype))
    for shape in ((5, 3), (2, 3, 6), (2, 3, 4, 5)):
        x = plain(values(rng, shape, dtype))
        yield Sample(f"{shape}", (x, None, None, None, None, True, 0.1, 1e-5))
    x = transposed(values(rng, (4, 3, 6), dtype))
    yield Sample("both", (x, per[0], per[1], None, None, True, 0.1, 1e-5))
    yield Sample("running", (x, per[0], per[1], per[2], positive, True, 0.3, 1e-3), False)
    yield Sample("eval", (x, per[0], per[1], per[2], positive, False, 0.1, 1e-5), False)


def drops(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Probabilities, and a draw after it."""
    for p in (0.0, 0.1, 0.5, 1.0):
        yield Sample(f"p={p}", (7, plain(values(rng, (9, 13), dtype)), p))


def _drop(F: Any, seed: int, x: Any, p: float) -> Any:
    F.manual_seed(seed)
    return F.dropout(x, p, True), F.rand((3,), dtype=F.float32)


def targets(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Probabilities and targets of binary cross entropy."""
    for reduction in ("none", "mean", "sum"):
        x = cast(Arr(DType.F64, rng.uniform(0.02, 0.98, (6, 5))), dtype)
        t = cast(Arr(DType.F64, rng.uniform(0, 1, (6, 5))), dtype)
        w = plain(cast(Arr(DType.F64, rng.uniform(0, 2, (5,))), dtype))
        yield Sample(reduction, (plain(x), plain(t), None, reduction))
        yield Sample(f"{reduction} weight", (transposed(x), plain(t), w, reduction))
    ends = cast(Arr(DType.F64, np.array([0.0, 1.0, 0.0, 1.0])), dtype)
    half = cast(Arr(DType.F64, np.array([0.0, 1.0, 1.0, 0.0])), dtype)
    yield Sample("ends", (plain(ends), plain(half), None, "none"))


def logits(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Logits and targets."""
    t = cast(Arr(DType.F64, rng.uniform(0, 1, (6, 5))), dtype)
    w = plain(cast(Arr(DType.F64, rng.uniform(0, 2, (5,))), dtype))
    x = plain(salted(rng, (6, 5), dtype))
    yield Sample("mean", (x, plain(t), None, None, "mean"))
    yield Sample("none", (x, plain(t), w, None, "none"))
    yield Sample("pos_weight", (x, plain(t), w, w, "sum"))


def scans(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Along each kind of dimension."""
    for n in (1, 2, 70):
        yield Sample(f"n={n}", (plain(values(rng, (n,), dtype)), 0))
    yield Sample("0-d", (plain(values(rng, (), dtype)), 0), False)
    yield Sample("empty", (plain(values(rng, (0, 3), dtype)), 0))
    x = salted(rng, (3, 7, 35), dtype)
    for dim in (0, 1, -1):
        yield Sample(f"dim={dim}", (plain(x), dim))
    yield Sample("transposed", (transposed(salted(rng, (9, 6), dtype)), 0))
    yield Sample("expanded", (expanded(salted(rng, (5,), dtype)), 0))


def factors(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """As scans, factors near 1, with zeros."""
    if not dtype.is_float:
        yield from scans(rng, dtype)
        return
    x = rng.uniform(0.5, 2, (4, 9))
    x[1, 2] = x[2, 0] = x[2, 4] = x[3, 8] = 0
    arr = cast(Arr(DType.F64, x), dtype)
    yield Sample("rows", (plain(arr), 1))
    yield Sample("columns", (transposed(arr), 0))
    yield Sample("edges", (plain(salted(rng, (6, 5), dtype)), 1))


def attentions(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Lengths around the block of 64 keys; masks; causal."""

    def three(batch: int, heads: int, rows: int, keys: int, d: int, dv: int) -> list[Any]:
        shapes = ((batch, heads, rows, d), (batch, heads, keys, d), (batch, heads, keys, dv))
        return [plain(values(rng, s, dtype, 1.0)) for s in shapes]

    yield Sample("small", (*three(1, 2, 3, 5, 4, 4), None, False))
    yield Sample("blocks", (*three(1, 1, 5, 130, 8, 6), None, False))
    yield Sample("causal", (*three(1, 1, 66, 66, 2, 3), None, True))
    yield Sample("causal groups", (*three(1, 2, 21, 21, 2, 3), None, True))
    yield Sample("causal tall", (*three(1, 1, 150, 70, 2, 3), None, True))
    later = three(1, 1, 19, 19, 2, 3)
    later[2] = plain(salted(rng, (1, 1, 19, 3), dtype))  # what a row doesn't see leaves no trace
    yield Sample("causal extremes", (*later, None, True))
    yield Sample("causal wide", (*three(1, 1, 3, 70, 4, 4), None, True))
    bias = plain(salted(rng, (1, 1, 4, 9), DType.F32))
    if dtype == DType.F32:
        yield Sample("bias", (*three(2, 2, 4, 9, 4, 5), bias, False))
    keep = rng.integers(0, 2, (2, 1, 4, 9)).astype(np.bool_)
    keep[0, 0, 1] = False
    yield Sample("mask", (*three(2, 2, 4, 9, 4, 5), plain(Arr(DType.Bool, keep)), False))


def _attend(F: Any, q: Any, k: Any, v: Any, mask: Any, causal: bool) -> Any:
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)


def _bce(F: Any, x: Any, t: Any, weight: Any, pos: Any, reduction: str) -> Any:
    return F.binary_cross_entropy(F.sigmoid(x), t, weight, reduction)


P = (2, 1, float("inf"), float("-inf"), 0, 3, 0.5)


def _norm(p: float) -> Any:
    def call(F: Any, x: Any, dim: Any, keep: bool) -> Any:
        return F.norm(x, p, dim, keep) if dim is not None else F.norm(x, p)

    return call


ROWS: tuple[Row, ...] = (
    Row("prod", _dims("prod"), near_one, NUMERIC),
    Row("any", _dims("any"), few_reductions, ALL, grad=False),
    Row("all", _dims("all"), few_reductions, ALL, grad=False),
    Row("logsumexp", _call("logsumexp"), over_dims, (DType.I32, *FLOATS)),
    Row("count_nonzero", lambda F, x, d, k: F.count_nonzero(x, d), few_reductions, grad=False),
    *(Row(n, _spread(n), few_reductions, FLOATS) for n in "var std var_mean std_mean".split()),
    Row("nansum", _dims("nansum"), few_reductions, NUMERIC),
    Row("nanmean", _dims("nanmean"), few_reductions, FLOATS),
    Row(
        "aminmax",
        lambda F, x, d, k: F.aminmax(x, dim=d, keepdim=k),
        one_dim,
        (DType.U8, DType.I32, *FLOATS),
    ),
    *(Row(f"norm {p}", _norm(p), few_reductions, FLOATS, grad=p != 0) for p in P),
    Row("cumsum", _call("cumsum"), scans),
    Row("cumprod", _call("cumprod"), factors, NUMERIC),
    Row("cummax", _call("cummax"), scans),
    Row("cummin", _call("cummin"), scans),
    Row("sdpa", _attend, attentions, FLOATS),
    Row("layer_norm", _call("layer_norm"), layers, FLOATS),
    Row("rms_norm", _call("rms_norm"), roots, FLOATS),
    Row("group_norm", _call("group_norm"), groups, FLOATS),
    Row("batch_norm", _call("batch_norm"), batches, FLOATS),
    Row("dropout", _drop, drops, FLOATS, grad=False),
    Row("bce", _bce, logits, FLOATS),
    Row("bce ends", _call("binary_cross_entropy"), targets, FLOATS, grad=False),
    Row("bce_logits", _call("binary_cross_entropy_with_logits"), logits, FLOATS),
)
