"""Batches of sequences of different lengths: padded, packed and back."""

from __future__ import annotations

from collections import namedtuple

from torchc import _C

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]

_Fields = namedtuple("_Fields", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])


def invert_permutation(permutation):
    """The permutation that undoes it; None for None."""
    if permutation is None:
        return None
    places = _C.arange(permutation.numel())
    return _C.zeros_like(permutation).scatter(0, permutation, places.to(permutation.dtype))


class PackedSequence(_Fields):
    """The rows of all sequences, step by step: of step t the first batch_sizes[t] sequences, longest first.

    Made by the functions of this module. `sorted_indices` is the order in which the sequences were sorted (None: as
    they came), `unsorted_indices` undoes it.
    """

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        """See the class."""
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:  # (data, batch_sizes) in one argument, an old form
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        """The same with its data moved or cast; itself when nothing changes."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else type(self)(data, *self[1:])

    def cpu(self):
        """Itself: there are no other devices with sequences."""
        return self.to("cpu")

    def _cast(self, dtype):
        return self.to(dtype=dtype)

    def double(self):
        """The data as float64."""
        return self._cast(_C.float64)

    def float(self):
        """The data as float32."""
        return self._cast(_C.float32)

    def half(self):
        """The data as float16."""
        return self._cast(_C.float16)

    def long(self):
        """The data as int64."""
        return self._cast(_C.int64)

    def int(self):
        """The data as int32."""
        return self._cast(_C.int32)

    @property
    def is_cuda(self) -> bool:
        """Whether the data is on a CUDA device."""
        return self.data.is_cuda

    def is_pinned(self) -> bool:
        """False: there is no pinned memory."""
        return False


def _lengths(lengths) -> list[int]:
    values = lengths.tolist() if isinstance(lengths, _C.Tensor) else [int(n) for n in lengths]
    if any(n <= 0 for n in values):
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    return values


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Packs a padded batch (L, N, ...) or (N, L, ...) whose sequences have these lengths.

    Raises RuntimeError for lengths that aren't sorted (longest first) while enforce_sorted, don't fit or are 0.
    """
    values = _lengths(lengths)
    order = None
    if not enforce_sorted:
        ranked = sorted(range(len(values)), key=lambda i: -values[i])
        order = _C.tensor(ranked, dtype=_C.int64)
        values = [values[i] for i in ranked]
        input = input.index_select(0 if batch_first else 1, order)
    x = input.transpose(0, 1) if batch_first else input
    if len(values) != x.size(1):
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(values)} (batch_size={x.size(1)})"
        )
    if any(a < b for a, b in zip(values, values[1:])):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you "
            "do not need ONNX exportability."
        )
    if values and values[0] > x.size(0):
        raise RuntimeError(
            f"Expected `len(lengths)` entries of at most {x.size(0)} (the padded length), got {values[0]}"
        )
    sizes = [sum(n > t for n in values) for t in range(values[0] if values else 0)]
    data = _C.cat([x[t, :size] for t, size in enumerate(sizes)])
    return PackedSequence(data, _C.tensor(sizes, dtype=_C.int64), order)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """(padded batch, lengths) of a PackedSequence, in the order in which the sequences came.

    Raises ValueError for a total_length that is less than the longest sequence.
    """
    data, sizes, _, unsorted = sequence
    counts = sizes.tolist()
    longest = len(counts)
    if total_length is not None and total_length < longest:
        raise ValueError(
            f"Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {longest}"
        )
    steps, batch = [], counts[0]
    for part, size in zip(data.split_with_sizes(counts), counts):
        if size < batch:
            filler = part.new_full((batch - size, *part.shape[1:]), padding_value)
            part = _C.cat([part, filler])
        steps.append(part)
    for _ in range((total_length or longest) - longest):
        steps.append(data.new_full((batch, *data.shape[1:]), padding_value))
    padded = _C.stack(steps)
    lengths = _C.tensor([sum(size > i for size in counts) for i in range(batch)], dtype=_C.int64)
    if unsorted is not None:
        padded = padded.index_select(1, unsorted)
        lengths = lengths.index_select(0, unsorted)
    return (padded.transpose(0, 1) if batch_first else padded), lengths


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Sequences (L_i, ...) as one batch (max L, N, ...) or (N, max L, ...), filled up with `padding_value`."""
    if padding_side not in ("left", "right"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    if isinstance(sequences, _C.Tensor):
        sequences = sequences.unbind(0)
    sequences = list(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    longest = max(s.size(0) for s in sequences)
    rows = []
    for s in sequences:
        if s.size(0) < longest:
            filler = s.new_full((longest - s.size(0), *s.shape[1:]), padding_value)
            s = _C.cat([s, filler] if padding_side == "right" else [filler, s])
        rows.append(s)
    return _C.stack(rows, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The sequences of a padded batch, as a list."""
    x = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[:n] for row, n in zip(x.unbind(0), lengths.tolist())]


def pack_sequence(sequences, enforce_sorted=True):
    """Packs sequences (L_i, ...); see pack_padded_sequence for the order."""
    lengths = [s.size(0) for s in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    """The sequences of a PackedSequence, as a list."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
