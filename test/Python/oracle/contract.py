"""Contractions by rule N3: the matmul family, and dot products by N4 with a fused accumulation."""

from __future__ import annotations

import numpy as np

from .dtypes import Arr, DType, broadcast_shape, from_compute, number_to_compute, to_compute
from .fma import fma
from .reduce import BLOCK, chain_count, combine_blocks, fold

Pair = tuple[np.ndarray, np.ndarray]


def contract(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a[..., M, K] · b[..., K, N] in the compute type: per block of 1024 one fma chain from +0, k
    ascending, then
    the blocks added left to right. Batch dims broadcast. K = 0 gives +0."""
    batch = broadcast_shape(a.shape[:-2], b.shape[:-2])
    size_m, size_k, size_n = a.shape[-2], a.shape[-1], b.shape[-1]
    out = np.zeros(batch + (size_m, size_n), a.dtype)
    with np.errstate(all="ignore"):
        for start in range(0, size_k, BLOCK):
            acc = np.zeros_like(out)
            for k in range(start, min(start + BLOCK, size_k)):
                acc = fma(a[..., :, k, None], b[..., None, k, :], acc)
                acc = np.broadcast_to(acc, out.shape)
            out = acc if start == 0 else out + acc
    return np.ascontiguousarray(out)


def dot_values(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """1-D · 1-D in the compute type: N4's chains and fold, each chain acc = fma(a[i], b[i], acc)
    from +0."""
    n = a.shape[0]
    if a.dtype.kind != "f":
        with np.errstate(all="ignore"):
            return (
                np.asarray(np.sum(a * b, dtype=a.dtype))
                if a.dtype != np.bool_
                else np.asarray(np.any(a & b))
            )
    chains = chain_count(a.dtype)
    blocks: list[np.ndarray] = []
    for start in range(0, n, BLOCK):
        acc = np.zeros(chains, a.dtype)
        for at in range(start, min(start + BLOCK, n), chains):
            width = min(chains, min(start + BLOCK, n) - at)
            acc[:width] = fma(a[at : at + width], b[at : at + width], acc[:width])
        blocks.append(fold(acc[None, :], np.add)[0])
    if not blocks:
        return np.zeros((), a.dtype)
    return np.asarray(combine_blocks(np.stack(blocks)[None, :], np.add)[0])


def _check(condition: bool, a: Arr, b: Arr, what: str) -> None:
    if not condition:
        raise RuntimeError(
            f"{what}: got {a.dtype.name}{list(a.shape)} and {b.dtype.name}{list(b.shape)}"
        )


def matmul_values(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """PyTorch's matmul shape rules over values of one compute type."""
    if a.ndim == 1 and b.ndim == 1:
        return dot_values(a, b)
    if a.ndim == 1:
        return contract(a[None, :], b)[..., 0, :]
    if b.ndim == 1:
        return contract(a, b[:, None])[..., 0]
    return contract(a, b)


def matmul(a: Arr, b: Arr) -> Arr:
    """torch.matmul: dot, mv, mm and batched products. f16 and bf16 run in f32 and round once;
    integers wrap."""
    _check(a.ndim > 0 and b.ndim > 0, a, b, "matmul expects operands of at least one dimension")
    _check(a.dtype == b.dtype, a, b, "matmul expects operands of one dtype")
    if a.dtype == DType.Bool:
        raise NotImplementedError("matmul of bool")
    inner = b.shape[0] if b.ndim == 1 else b.shape[-2]
    _check(a.shape[-1] == inner, a, b, "matmul expects equal contracted sizes")
    return from_compute(matmul_values(to_compute(a), to_compute(b)), a.dtype)


def linear(x: Arr, weight: Arr, bias: Arr | None = None) -> Arr:
    """x · weightᵀ by N3, then the bias added once; one rounding at the store."""
    product = matmul_values(to_compute(x), to_compute(weight).T)
    if bias is not None:
        with np.errstate(all="ignore"):
            product = product + to_compute(bias)
    return from_compute(product, x.dtype)


def addmm(c: Arr, a: Arr, b: Arr, beta: float = 1, alpha: float = 1) -> Arr:
    """product·alpha (rounded) + input·beta (rounded); beta = 0 does not read the input."""
    dtype: DType = a.dtype
    with np.errstate(all="ignore"):
        out = contract(to_compute(a), to_compute(b)) * number_to_compute(alpha, dtype)
        if beta != 0:
            out = out + to_compute(c) * number_to_compute(beta, dtype)
    return from_compute(np.asarray(out), dtype)
