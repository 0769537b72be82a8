"""Orders in which a data set's samples are taken."""

from __future__ import annotations

import itertools
import math

from torchc import _C
from torchc.utils.data._utils.random import integers, permutation, seed_from

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]


class Sampler:
    """Gives indices (or lists of them); subclasses define `__iter__`."""

    def __init__(self, data_source=None):
        pass

    def __class_getitem__(cls, item):
        return cls

    def __iter__(self):
        raise NotImplementedError(f"{type(self).__name__} does not define __iter__")


class SequentialSampler(Sampler):
    """0, 1, 2, ..."""

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


def _own_generator(generator):
    """The generator, or a new one seeded from the default one."""
    return _C.Generator().manual_seed(seed_from()) if generator is None else generator


class RandomSampler(Sampler):
    """Random order; with `replacement` independent draws. `num_samples` defaults to the data set's length.

    Raises TypeError, ValueError for wrong arguments.
    """

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        self.data_source, self.replacement = data_source, replacement
        self._num_samples, self.generator = num_samples, generator
        if not isinstance(replacement, bool):
            raise TypeError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        if (
            not isinstance(self.num_samples, int)
            or self.num_samples < 0
            or (num_samples is not None and num_samples <= 0)
        ):
            raise ValueError(
                f"num_samples should be a positive integer value, but got num_samples={self.num_samples}"
            )

    @property
    def num_samples(self) -> int:
        """How many indices one pass gives."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        n, generator = len(self.data_source), _own_generator(self.generator)
        if self.replacement:
            yield from integers(n, self.num_samples, generator)
            return
        for _ in range(self.num_samples // n if n else 0):
            yield from permutation(n, generator)
        if n and self.num_samples % n:
            yield from permutation(n, generator)[: self.num_samples % n]

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """Some indices in random order."""

    def __init__(self, indices, generator=None):
        self.indices, self.generator = indices, generator

    def __iter__(self):
        for i in permutation(len(self.indices), self.generator):
            yield self.indices[i]

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Draws index i with a probability in proportion to weights[i]."""

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError(
                f"num_samples should be a positive integer value, but got num_samples={num_samples}"
            )
        if not isinstance(replacement, bool):
            raise ValueError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        self.weights = _C.as_tensor(weights, dtype=_C.float64)
        if self.weights.dim() != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}"
            )
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self):
        weights = self.weights.tolist()
        options = {} if self.generator is None else {"generator": self.generator}
        draws = _C.rand(self.num_samples, dtype=_C.float64, **options).tolist()
        return iter(self._draw(weights, draws))

    def _draw(self, weights, draws) -> list[int]:
        import bisect

        if any(w < 0 for w in weights):
            raise RuntimeError(
                "invalid multinomial distribution (encountering probability entry < 0)"
            )
        if not all(map(math.isfinite, weights)):
            raise RuntimeError(
                "invalid multinomial distribution (encountering probability entry = infinity or NaN)"
            )
        if not sum(weights) > 0:
            raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
        if not self.replacement and sum(w > 0 for w in weights) < len(draws):
            raise RuntimeError(
                "invalid multinomial distribution (with replacement=False, not enough non-negative category to sample)"
            )
        ends, chosen = list(itertools.accumulate(weights)), []
        for u in draws:
            index = min(bisect.bisect_right(ends, u * ends[-1]), len(weights) - 1)
            while weights[index] == 0:
                index -= 1
            chosen.append(index)
            if not self.replacement:
                weights[index] = 0.0
                ends = list(itertools.accumulate(weights))
        return chosen

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of `batch_size` indices of a sampler; the last may be shorter unless `drop_last`."""

    def __init__(self, sampler, batch_size, drop_last):
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(
                f"batch_size should be a positive integer value, but got batch_size={batch_size}"
            )
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self):
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self):
        whole = len(self.sampler) // self.batch_size
        return whole if self.drop_last else -(-len(self.sampler) // self.batch_size)
