"""Rows of op_db for convolutions and pools: (name, call, samples, dtypes, grad).

The functions are those of the package's top level, which the oracle's namespace has under the same names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from op_samples import Rng, Sample, expanded, plain, salted, strided, transposed, values
from oracle.dtypes import FLOATS, DType

SIGNED = (DType.U8, DType.I8, DType.I16, DType.I32, DType.I64)
Shape = tuple[int, ...]

# (input, weight, has a bias, options)
CONVOLUTIONS: tuple[tuple[str, Shape, Shape, bool, dict[str, Any]], ...] = (
    ("3x3", (2, 3, 7, 6), (5, 3, 3, 3), True, {"padding": 1}),
    ("1x1", (2, 20, 5, 4), (18, 20, 1, 1), True, {}),
    ("stride 2", (1, 4, 9, 8), (3, 4, 3, 3), False, {"stride": 2, "padding": 1}),
    ("stride past kernel", (1, 2, 9, 11), (3, 2, 2, 1), True, {"stride": (3, 4)}),
    ("dilation", (1, 2, 9, 9), (4, 2, 3, 2), False, {"dilation": (2, 3), "padding": (2, 1)}),
    ("stride and dilation", (1, 2, 11, 10), (2, 2, 3, 3), False, {"stride": (2, 4), "dilation": (4, 2), "padding": 4}),
    ("groups", (2, 6, 6, 5), (4, 3, 3, 3), True, {"groups": 2, "padding": (1, 0)}),
    ("depthwise", (2, 19, 6, 7), (19, 1, 3, 3), True, {"groups": 19, "padding": 1}),
    ("depthwise stride", (1, 18, 9, 8), (18, 1, 3, 3), False, {"groups": 18, "stride": 2, "padding": 1}),
    ("multiplier", (1, 5, 6, 6), (15, 1, 3, 3), False, {"groups": 5, "padding": 1}),
    ("same", (1, 2, 6, 7), (3, 2, 4, 3), True, {"padding": "same", "dilation": (1, 2)}),
    ("valid", (1, 2, 6, 7), (3, 2, 4, 3), False, {"padding": "valid"}),
    ("unbatched", (3, 6, 5), (2, 3, 3, 3), True, {}),
    ("even kernel", (1, 3, 8, 8), (4, 3, 2, 2), False, {"stride": 2}),
    ("no samples", (0, 3, 5, 5), (2, 3, 3, 3), True, {}),
    ("one block and a bit", (1, 113, 3, 3), (2, 113, 3, 3), False, {"padding": 1}),
    ("two blocks", (1, 130, 4, 3), (17, 130, 3, 3), True, {"padding": 1}),
    ("wide kernel", (1, 17, 9, 9), (3, 17, 9, 8), False, {"padding": 4}),
    ("rows and tiles", (1, 2, 17, 13), (33, 2, 3, 3), False, {"padding": 1}),
    ("many samples", (9, 2, 12, 11), (3, 2, 3, 3), True, {"padding": 1}),
    ("many small samples", (23, 3, 4, 4), (5, 3, 3, 3), True, {"padding": 1}),
)  # fmt: skip
OTHER_RANKS = (
    ("conv1d", "1d", (2, 3, 17), (4, 3, 5), True, {"padding": 2, "stride": 2}),
    ("conv1d", "1d unbatched", (3, 17), (4, 3, 4), True, {"padding": "same"}),
    ("conv3d", "3d", (1, 2, 4, 5, 6), (3, 2, 2, 3, 2), True, {"padding": (1, 0, 1), "stride": (1, 2, 1)}),
    ("conv3d", "3d depthwise", (1, 3, 4, 5, 4), (3, 1, 2, 3, 2), False, {"groups": 3}),
)  # fmt: skip
TRANSPOSED = (
    ("conv_transpose2d", "plain", (2, 3, 5, 4), (3, 4, 3, 3), True, {}),
    ("conv_transpose2d", "stride", (1, 3, 4, 5), (3, 2, 3, 3), True, {"stride": 2, "padding": 1, "output_padding": 1}),
    ("conv_transpose2d", "output past stride", (1, 2, 4, 4), (2, 2, 3, 2), False, {"dilation": 3, "output_padding": 2}),
    ("conv_transpose2d", "gaps", (1, 2, 3, 3), (2, 2, 2, 1), False, {"stride": 3}),
    ("conv_transpose2d", "groups", (1, 6, 4, 4), (6, 2, 3, 3), True, {"groups": 3}),
    ("conv_transpose2d", "depthwise", (1, 17, 4, 4), (17, 1, 3, 3), False, {"groups": 17, "stride": 2}),
    ("conv_transpose2d", "two blocks", (1, 130, 3, 3), (130, 3, 3, 3), False, {"padding": 1}),
    ("conv_transpose1d", "1d", (2, 3, 7), (3, 4, 3), True, {"stride": 2}),
    ("conv_transpose3d", "3d", (1, 2, 3, 3, 4), (2, 3, 2, 2, 3), False, {"stride": (1, 2, 1), "padding": (0, 1, 1)}),
)  # fmt: skip


def _operands(
    rng: Rng, dtype: DType, x: Shape, w: Shape, bias: int, layout: Callable[..., Any] = plain
) -> tuple[Any, ...]:
    return (
        layout(salted(rng, x, dtype) if len(x) == 3 else values(rng, x, dtype)),
        plain(values(rng, w, dtype)),
        plain(values(rng, (bias,), dtype)) if bias else None,
    )


def _conv2d_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    for label, x, w, bias, options in CONVOLUTIONS:
        yield Sample(label, ("conv2d", *_operands(rng, dtype, x, w, w[0] if bias else 0), options))
    x, w = (2, 3, 6, 5), (4, 3, 3, 2)
    yield Sample("transposed", ("conv2d", *_operands(rng, dtype, x, w, 4, transposed), {}))
    yield Sample("strided", ("conv2d", *_operands(rng, dtype, x, w, 4, strided), {"padding": 1}))
    yield Sample("expanded", ("conv2d", *_operands(rng, dtype, x[1:], w, 4, expanded), {}))
    special = plain(salted(rng, w, dtype))
    yield Sample("salted", ("conv2d", plain(salted(rng, x, dtype)), special, None, {"padding": 2}))


def _other_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    for name, label, x, w, bias, options in OTHER_RANKS:
        yield Sample(label, (name, *_operands(rng, dtype, x, w, w[0] if bias else 0), options))


def _transposed_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    for name, label, x, w, bias, options in TRANSPOSED:
        channels = w[1] * options.get("groups", 1) if bias else 0
        yield Sample(label, (name, *_operands(rng, dtype, x, w, channels), options))


def _convolve(F: Any, name: str, x: Any, w: Any, bias: Any, options: dict[str, Any]) -> Any:
    return getattr(F, name)(x, w, bias, **options)


# ---- pools

MAXIMA = (
    ("max_pool2d", "2x2", (2, 3, 6, 8), {"kernel_size": 2}),
    ("max_pool2d", "overlapping", (1, 2, 7, 6), {"kernel_size": 3, "stride": 2, "padding": 1}),
    ("max_pool2d", "ceil", (1, 2, 7, 8), {"kernel_size": (3, 2), "stride": (2, 3), "ceil_mode": True}),
    ("max_pool2d", "ceil cut", (1, 1, 5, 5), {"kernel_size": 2, "stride": 3, "padding": 1, "ceil_mode": True}),
    ("max_pool2d", "dilation", (1, 2, 9, 9), {"kernel_size": 3, "stride": 1, "padding": 1, "dilation": (2, 3)}),
    ("max_pool2d", "unbatched", (3, 6, 5), {"kernel_size": (1, 3)}),
    ("max_pool2d", "no samples", (0, 3, 6, 5), {"kernel_size": 2}),
    ("max_pool2d", "wide", (1, 2, 40, 70), {"kernel_size": 2}),
    ("max_pool2d", "rows of 4", (1, 5, 6, 4), {"kernel_size": 2}),
    ("max_pool2d", "rows of 8", (3, 1, 2, 8), {"kernel_size": 2}),
    ("max_pool2d", "rows of 16", (1, 1, 6, 16), {"kernel_size": 2}),
    ("max_pool2d", "rows of 32", (1, 3, 2, 32), {"kernel_size": 2}),
    ("max_pool1d", "1d", (2, 3, 11), {"kernel_size": 3, "stride": 2, "padding": 1}),
    ("max_pool3d", "3d", (1, 2, 4, 5, 6), {"kernel_size": (2, 2, 3), "stride": (1, 2, 2), "padding": (1, 0, 1)}),
)  # fmt: skip
MEANS = (
    ("avg_pool2d", "2x2", (2, 3, 6, 8), {"kernel_size": 2}),
    ("avg_pool2d", "padding", (1, 2, 7, 6), {"kernel_size": 3, "stride": 2, "padding": 1}),
    ("avg_pool2d", "count", (1, 2, 7, 6), {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False}),
    ("avg_pool2d", "ceil", (1, 2, 7, 8), {"kernel_size": (3, 2), "stride": (2, 3), "padding": 1, "ceil_mode": True}),
    ("avg_pool2d", "divisor", (1, 2, 6, 6), {"kernel_size": 3, "stride": 1, "divisor_override": 7}),
    ("avg_pool2d", "unbatched", (3, 6, 5), {"kernel_size": (2, 3), "stride": (3, 1)}),
    ("avg_pool1d", "1d", (2, 3, 11), {"kernel_size": 4, "stride": 3, "padding": 2, "ceil_mode": True}),
    ("avg_pool3d", "3d", (1, 2, 4, 5, 6), {"kernel_size": 2, "padding": 1}),
    ("adaptive_avg_pool2d", "adaptive", (2, 3, 7, 5), {"output_size": (3, 2)}),
    ("adaptive_avg_pool2d", "adaptive larger", (1, 2, 3, 5), {"output_size": (5, 5)}),
    ("adaptive_avg_pool2d", "adaptive one", (2, 3, 6, 6), {"output_size": 1}),
    ("adaptive_avg_pool1d", "adaptive 1d", (2, 3, 10), {"output_size": 4}),
    ("adaptive_avg_pool3d", "adaptive 3d", (1, 2, 3, 4, 5), {"output_size": (2, 3, 2)}),
)  # fmt: skip
ADAPTIVE_MAXIMA = (
    ("adaptive_max_pool2d", "adaptive", (2, 3, 7, 5), {"output_size": (3, 2)}),
    ("adaptive_max_pool2d", "adaptive larger", (1, 2, 3, 5), {"output_size": (5, 5)}),
    ("adaptive_max_pool1d", "adaptive 1d", (2, 3, 10), {"output_size": 4}),
    ("adaptive_max_pool3d", "adaptive 3d", (1, 2, 3, 4, 5), {"output_size": (2, 3, 2)}),
)


def _pool_samples(rows: tuple[tuple[str, str, Shape, dict[str, Any]], ...]) -> Callable[..., Any]:
    def samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
        for name, label, shape, options in rows:
            yield Sample(label, (name, plain(salted(rng, shape, dtype)), options))
        name, _, shape, options = rows[0]
        yield Sample("strided", (name, strided(salted(rng, shape, dtype)), options))
        yield Sample("transposed", (name, transposed(salted(rng, shape, dtype)), options))
        yield Sample("expanded", (name, expanded(salted(rng, shape[1:], dtype), 2), options))

    return samples


def _pool(F: Any, name: str, x: Any, options: dict[str, Any]) -> Any:
    return getattr(F, name)(x, **options)


def _pool_indices(F: Any, name: str, x: Any, options: dict[str, Any]) -> Any:
    return getattr(F, f"{name}_with_indices")(x, **options)


ROWS: tuple[tuple[Any, ...], ...] = (
    ("conv2d", _convolve, _conv2d_samples, (*SIGNED, *FLOATS)),
    ("conv", _convolve, _other_samples, FLOATS),
    ("conv_transpose", _convolve, _transposed_samples, FLOATS),
    ("max_pool", _pool, _pool_samples(MAXIMA), (*SIGNED, *FLOATS)),
    ("max_pool_with_indices", _pool_indices, _pool_samples(MAXIMA), (*SIGNED, *FLOATS)),
    ("adaptive_max_pool", _pool, _pool_samples(ADAPTIVE_MAXIMA), (*SIGNED, *FLOATS)),
    ("avg_pool", _pool, _pool_samples(MEANS), FLOATS),
)
