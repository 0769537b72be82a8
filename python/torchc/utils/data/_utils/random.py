"""Random orders, from the generator's numbers alone."""

from __future__ import annotations

from torchc import _C

__all__ = ["integers", "permutation", "seed_from"]


def _options(generator) -> dict:
    return {} if generator is None else {"generator": generator}


def _uniform(count: int, generator):
    return _C.rand(count, dtype=_C.float64, **_options(generator))


def permutation(count: int, generator=None) -> list[int]:
    """0 to count - 1 in random order."""
    return _C.randperm(count, **_options(generator)).tolist()


def integers(high: int, count: int, generator=None) -> list[int]:
    """`count` random numbers of [0, high)."""
    return [min(int(u * high), high - 1) for u in _uniform(count, generator).tolist()]


def seed_from(generator=None) -> int:
    """A random seed of 53 bits."""
    return int(_uniform(1, generator).item() * 2**53)
