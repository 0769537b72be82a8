"""Second derivatives of every row of op_db against differences of first derivatives, in float64."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

from op_db import ROWS, Row
from op_samples import Input, Sample
from oracle.dtypes import DType

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)

STEP = 1e-6
GRADIENTS = [row for row in ROWS if row.grad and DType.F64 in row.dtypes]


def _smooth(rng: np.random.Generator, shape: tuple[int, ...], sign: float, k: int) -> np.ndarray:
    """Numbers of (0.5, 2) that keep their distance from each other and from those of other
    operands, and from the round numbers where functions have kinks."""
    n = max(int(np.prod(shape, dtype=np.int64)), 1)
    places = rng.permutation(n)[: int(np.prod(shape, dtype=np.int64))].reshape(shape)
    return np.asarray(sign * (0.503 + 1.49 * (places + 0.25 * k + 0.113) / n))


class _Point:
    """One sample's arguments at base + t * direction, as leaves."""

    def __init__(self, row: Row, sample: Sample, sign: float) -> None:
        self.row, self.sample = row, sample
        rng = np.random.default_rng(zlib.crc32(f"{row.name} {sample.label} {sign}".encode()))
        shapes = [a.arr.shape for a in self._inputs()]
        self.base = [_smooth(rng, s, sign, k) for k, s in enumerate(shapes)]
        self.direction = [rng.uniform(-1.0, 1.0, s) for s in shapes]
        self.rng = rng
        self.cotangents: list[tuple[np.ndarray, np.ndarray]] = []
        self.weights: list[np.ndarray] = [rng.uniform(-1.0, 1.0, s) for s in shapes]

    def _inputs(self) -> list[Input]:
        return [a for a in self.sample.args if isinstance(a, Input) and a.arr.dtype == DType.F64]

    def arguments(self, t: float) -> tuple[list[Any], list[Any]]:
        """The call's arguments, and the leaves among them."""
        leaves, args = [], []
        for a in self.sample.args:
            if isinstance(a, Input) and a.arr.dtype == DType.F64:
                k = len(leaves)
                data = self.base[k] + t * self.direction[k]
                leaves.append(torch.tensor(data.tolist(), dtype=torch.float64).reshape(data.shape))
                leaves[-1].requires_grad_()
                args.append(a.build(leaves[-1]))
            elif isinstance(a, Input):
                flat = torch.tensor(np.asarray(a.arr.data).reshape(-1).tolist())
                kept = flat.to(getattr(torch, a.arr.dtype.torch_name)).reshape(a.arr.shape)
                args.append(a.build(kept))
            else:
                args.append(torch.float64 if isinstance(a, DType) else a)
        return args, leaves

    def seeds(self, outputs: list[Any], t: float) -> list[Any]:
        """Cotangents of the outputs, which move with t too."""
        while len(self.cotangents) < len(outputs):
            shape = tuple(outputs[len(self.cotangents)].shape)
            pair = self.rng.uniform(-1.0, 1.0, shape), self.rng.uniform(-1.0, 1.0, shape)
            self.cotangents.append(pair)
        moved = [c + t * d for c, d in self.cotangents[: len(outputs)]]
        return [
            torch.tensor(m.tolist(), dtype=torch.float64).reshape(m.shape).requires_grad_()
            for m in moved
        ]

    def first(self, t: float) -> tuple[Any, list[Any], list[Any]]:
        """Sum of weights * first derivatives; the leaves and the cotangents."""
        args, leaves = self.arguments(t)
        result = self.row.call(torch, *args)
        outputs = [
            o
            for o in (result if isinstance(result, (tuple, list)) else [result])
            if o.requires_grad
        ]
        seeds = self.seeds(outputs, t)
        grads = torch.autograd.grad(outputs, leaves, seeds, create_graph=True, allow_unused=True)
        total = torch.zeros((), dtype=torch.float64)
        for g, w in zip(grads, self.weights, strict=True):
            if g is not None:
                zero = not any(np.asarray(g.tolist()).reshape(-1))
                assert g.requires_grad or zero, "the gradient of a cotangent has no history"
                total = (
                    total
                    + (g * torch.tensor(w.tolist(), dtype=torch.float64).reshape(w.shape)).sum()
                )
        return total, leaves, seeds


def _directional(point: _Point) -> tuple[float, float]:
    """The derivative of `first` along the direction: by the tape, and by differences."""
    total, leaves, seeds = point.first(0.0)
    wanted = leaves + seeds
    moves = point.direction + [d for _, d in point.cotangents[: len(seeds)]]
    exact = 0.0
    if total.requires_grad:
        found = torch.autograd.grad(total, wanted, allow_unused=True)
        for g, d in zip(found, moves, strict=True):
            if g is not None:
                exact += float(np.sum(np.asarray(g.tolist()).reshape(d.shape) * d))
    ahead, behind = point.first(STEP)[0].item(), point.first(-STEP)[0].item()
    return exact, (ahead - behind) / (2 * STEP)


@pytest.mark.parametrize("row", GRADIENTS, ids=[row.name for row in GRADIENTS])
def test_second_order(row: Row) -> None:
    checked = 0
    for sample in row.sample(DType.F64):
        if not sample.grad or not any(isinstance(a, Input) for a in sample.args):
            continue
        for sign in (1.0, -1.0):
            point = _Point(row, sample, sign)
            args, leaves = point.arguments(0.0)
            result = row.call(torch, *args)
            first = result[0] if isinstance(result, (tuple, list)) else result
            if not first.requires_grad or not bool(torch.isnan(first).logical_not().all()):
                continue
            try:
                exact, estimate = _directional(point)
            except NotImplementedError as error:
                pytest.skip(f"refused: {error}")
            if not (np.isfinite(exact) and np.isfinite(estimate)):  # an infinite number takes part
                continue
            assert exact == pytest.approx(estimate, rel=1e-4, abs=1e-5), (
                f"{sample.label}, sign {sign}"
            )
            checked += 1
    if not checked:
        pytest.skip("no sample is finite and differentiable here")
