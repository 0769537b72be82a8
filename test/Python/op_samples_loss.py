"""Samples of losses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from op_samples import Rng, Sample, plain, strided, transposed, values
from oracle.dtypes import Arr, DType, cast


def cross_entropy_samples(rng: Rng, dtype: DType) -> Iterator[Sample]:
    """Index and probability targets, weights, ignore_index, smoothing, extra dims, every
    reduction."""
    for shape in ((8, 10), (1, 3), (5, 4, 3), (6,)):
        x = values(rng, shape, dtype)
        classes = shape[0] if len(shape) == 1 else shape[1]
        rows = shape[:1] + shape[2:] if len(shape) > 1 else ()
        target = Arr(DType.I64, np.asarray(rng.integers(0, classes, rows)))
        weight = plain(cast(Arr(DType.F32, rng.uniform(0.5, 2, classes).astype(np.float32)), dtype))
        for reduction_ in ("mean", "sum", "none"):
            base = {"reduction": reduction_}
            yield Sample(f"{list(shape)} {reduction_}", (plain(x), plain(target), None, base))
            yield Sample(
                f"{list(shape)} {reduction_} weight", (plain(x), plain(target), weight, base)
            )
        yield Sample(
            f"{list(shape)} smoothing", (plain(x), plain(target), None, {"label_smoothing": 0.1})
        )
        yield Sample(
            f"{list(shape)} both", (plain(x), plain(target), weight, {"label_smoothing": 0.25})
        )
        first = int(np.atleast_1d(target.data).reshape(-1)[0])
        for w in (None, weight):
            yield Sample(
                f"{list(shape)} ignore", (plain(x), plain(target), w, {"ignore_index": first})
            )
        soft = np.abs(rng.standard_normal(shape)).astype(np.float32)
        share = cast(Arr(DType.F32, soft), dtype)
        for w in (None, weight):
            yield Sample(f"{list(shape)} probabilities", (plain(x), plain(share), w, {}))
    x = values(rng, (7, 5), dtype)
    target = Arr(DType.I64, rng.integers(0, 5, 7))
    yield Sample("transposed", (transposed(x), strided(target), None, {}))
