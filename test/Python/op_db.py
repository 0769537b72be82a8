"""The op table of the tests: one row per op with samples, how to call it, and what it supports.

A row's `call(F, *args)` runs on any namespace that reads like torch: `oracle.api` gives the
reference bits, torchc
what is tested. Samples carry values and layout (0-d, empty, size 1, broadcast, transposed,
strided, expanded) and
the edge values of their dtype.
"""

from __future__ import annotations

from typing import Any

import op_window
from op_db_pointwise import ROWS as POINTWISE
from op_db_reduction import ROWS as REDUCTIONS
from op_row import NUMERIC, Row
from op_samples import (
    addmm_samples,
    binary,
    binary_mixed,
    cast_samples,
    cat_samples,
    copy_samples,
    dot_samples,
    expand_samples,
    extreme_samples,
    fill_samples,
    gather_samples,
    in_place_samples,
    index_add_samples,
    index_samples,
    linear_samples,
    matmul_samples,
    numbers_left,
    one_hot_samples,
    rand_samples,
    reshape_samples,
    scatter_add_samples,
    scatter_samples,
    slice_samples,
    softmax_samples,
    strided_view_samples,
    sum_samples,
    transpose_samples,
    unary,
    where_samples,
)
from op_samples_loss import cross_entropy_samples
from oracle.dtypes import FLOATS, DType

# ---- rows


def _cross_entropy(F: Any, x: Any, target: Any, weight: Any, options: dict[str, Any]) -> Any:
    return F.nn.functional.cross_entropy(x, target, weight=weight, **options)


def _rand(F: Any, seed: int, shape: tuple[int, ...], dtype: Any) -> Any:
    F.manual_seed(seed)
    return F.rand(shape, dtype=dtype), F.rand((0,), dtype=dtype), F.rand((3,), dtype=dtype)


def _max(F: Any, x: Any, dim: int | None, keepdim: bool) -> Any:
    if dim is None:
        return F.max(x)
    found, at = F.max(x, dim, keepdim)
    return found, at


ROWS: tuple[Row, ...] = (
    Row("add", lambda F, x, y: F.add(x, y), binary_mixed),
    Row("add_left", lambda F, x, y: x + y, numbers_left),
    Row("sub", lambda F, x, y: F.sub(x, y), binary, NUMERIC),
    Row("sub_left", lambda F, x, y: x - y, numbers_left, NUMERIC),
    Row("add_alpha", lambda F, x, y: F.add(x, y, alpha=3), binary, NUMERIC),
    Row("sub_alpha", lambda F, x, y: F.sub(x, y, alpha=0.1), binary, FLOATS),
    Row("mul", lambda F, x, y: F.mul(x, y), binary_mixed),
    Row("div", lambda F, x, y: F.div(x, y), binary_mixed),
    Row("div_left", lambda F, x, y: x / y, numbers_left),
    Row("neg", lambda F, x: F.neg(x), unary, NUMERIC),
    Row("exp", lambda F, x: F.exp(x), unary, bodies=("exp",)),
    Row("log", lambda F, x: F.log(x), unary, bodies=("log",)),
    Row("tanh", lambda F, x: F.tanh(x), unary, bodies=("tanh",)),
    Row("relu", lambda F, x: F.relu(x), unary, NUMERIC),
    Row("maximum", lambda F, x, y: F.maximum(x, y), binary),
    Row("where", lambda F, c, x, y: F.where(c, x, y), where_samples),
    Row("eq", lambda F, x, y: F.eq(x, y), binary_mixed, grad=False),
    Row("lt", lambda F, x, y: F.lt(x, y), binary_mixed, grad=False),
    Row("cast", lambda F, x, dtype: x.to(dtype), cast_samples),
    Row("copy_", lambda F, x, y: x.copy_(y), copy_samples, grad=False),
    Row("add_", lambda F, x, y: x.add_(y), in_place_samples, grad=False),
    Row("add_alpha_", lambda F, x, y: x.add_(y, alpha=3), in_place_samples, NUMERIC, grad=False),
    Row("mul_", lambda F, x, y: x.mul_(y), in_place_samples, grad=False),
    Row("sub_", lambda F, x, y: x.sub_(y), in_place_samples, NUMERIC, grad=False),
    Row("fill_", lambda F, x, v: x.fill_(v), fill_samples, grad=False),
    Row("full", lambda F, x, v: F.full((3, 2), v, dtype=x.dtype), fill_samples, grad=False),
    Row(
        "sum", lambda F, x, dim, keep: F.sum(x) if dim is None else F.sum(x, dim, keep), sum_samples
    ),
    Row("max", _max, extreme_samples),
    Row(
        "argmax",
        lambda F, x, dim, keep: F.argmax(x) if dim is None else F.argmax(x, dim, keep),
        extreme_samples,
        NUMERIC,
        grad=False,
    ),
    Row("matmul", lambda F, x, y: F.matmul(x, y), matmul_samples, NUMERIC),
    Row("reshape", lambda F, x, shape: F.reshape(x, shape), reshape_samples),
    Row("as_strided", lambda F, x, *how: F.as_strided(x, *how), strided_view_samples),
    Row("contiguous", lambda F, x: x.contiguous(), unary),
    Row("transpose", lambda F, x, a, b: F.transpose(x, a, b), transpose_samples),
    Row("expand", lambda F, x, shape: x.expand(shape), expand_samples),
    Row("slice", lambda F, x, key: x[key], slice_samples),
    Row("index_select", lambda F, x, dim, i: F.index_select(x, dim, i), index_samples),
    Row("index_add", lambda F, x, dim, i, s: F.index_add(x, dim, i, s), index_add_samples, NUMERIC),
    Row(
        "index_add_alpha",
        lambda F, x, dim, i, s: F.index_add(x, dim, i, s, alpha=3),
        index_add_samples,
        NUMERIC,
    ),
    Row("scatter", lambda F, x, dim, i, s: F.scatter(x, dim, i, s), scatter_samples),
    Row("cat", lambda F, dim, *parts: F.cat(list(parts), dim), cat_samples),
    Row(
        "one_hot",
        lambda F, x, n: F.nn.functional.one_hot(x, n),
        one_hot_samples,
        (DType.I64,),
        grad=False,
    ),
    Row("minimum", lambda F, x, y: F.minimum(x, y), binary),
    Row("abs", lambda F, x: F.abs(x), unary, NUMERIC),
    Row("sign", lambda F, x: F.sign(x), unary),
    Row("sqrt", lambda F, x: F.sqrt(x), unary),
    Row("ne", lambda F, x, y: F.ne(x, y), binary_mixed, grad=False),
    Row("le", lambda F, x, y: F.le(x, y), binary_mixed, grad=False),
    Row("gt", lambda F, x, y: F.gt(x, y), binary, grad=False),
    Row("ge", lambda F, x, y: F.ge(x, y), binary, grad=False),
    Row("logical_not", lambda F, x: F.logical_not(x), unary, grad=False),
    Row("logical_and", lambda F, x, y: F.logical_and(x, y), binary, grad=False),
    Row("logical_or", lambda F, x, y: F.logical_or(x, y), binary, grad=False),
    Row(
        "amax", lambda F, x, dim, keep: F.amax(x, () if dim is None else dim, keep), extreme_samples
    ),
    Row(
        "amin", lambda F, x, dim, keep: F.amin(x, () if dim is None else dim, keep), extreme_samples
    ),
    Row(
        "argmin",
        lambda F, x, dim, keep: F.argmin(x) if dim is None else F.argmin(x, dim, keep),
        extreme_samples,
        NUMERIC,
        grad=False,
    ),
    Row(
        "mean",
        lambda F, x, d, keep: F.mean(x) if d is None else F.mean(x, d, keep),
        sum_samples,
        FLOATS,
    ),
    Row("dot", lambda F, x, y: F.dot(x, y), dot_samples, NUMERIC),
    Row(
        "linear",
        lambda F, x, w, b: F.nn.functional.linear(x, w, b),
        linear_samples,
        FLOATS,
    ),
    Row(
        "addmm",
        lambda F, c, x, y, beta, alpha: F.addmm(c, x, y, beta=beta, alpha=alpha),
        addmm_samples,
        FLOATS,
    ),
    Row("gather", lambda F, x, dim, i: F.gather(x, dim, i), gather_samples),
    Row(
        "scatter_add",
        lambda F, x, dim, i, s: F.scatter_add(x, dim, i, s),
        scatter_add_samples,
        NUMERIC,
    ),
    Row("uniform", _rand, rand_samples, FLOATS, grad=False),
    Row("softmax", lambda F, x, dim: F.softmax(x, dim), softmax_samples, FLOATS, bodies=("exp",)),
    Row(
        "log_softmax",
        lambda F, x, dim: F.log_softmax(x, dim),
        softmax_samples,
        FLOATS,
        bodies=("exp", "log"),
    ),
    Row("cross_entropy", _cross_entropy, cross_entropy_samples, FLOATS, bodies=("exp", "log")),
    *(Row(*row) for row in op_window.ROWS),
    *POINTWISE,
    *REDUCTIONS,
)
