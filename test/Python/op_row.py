"""A row of op_db, and the dtypes that rows name."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from op_samples import Rng, Sample
from oracle.dtypes import ALL, FLOATS, INTS, DType

NUMERIC = (*INTS, *FLOATS)
INTEGRAL = (DType.Bool, *INTS)


@dataclass(frozen=True)
class Row:
    """One op: its dtypes, samples, call, whether it has gradients, the table bodies its oracle
    needs."""

    name: str
    call: Callable[..., Any]
    samples: Callable[[Rng, DType], Iterator[Sample]]
    dtypes: Sequence[DType] = ALL
    grad: bool = True
    bodies: tuple[str, ...] = ()

    def sample(self, dtype: DType) -> list[Sample]:
        """The row's samples for a dtype, the same in every run."""
        rng = np.random.default_rng([zlib.crc32(self.name.encode()), int(dtype)])
        return list(self.samples(rng, dtype))
