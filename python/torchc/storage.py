"""The memory of tensors, as an object."""

from __future__ import annotations

from torchc import _C

__all__ = ["UntypedStorage"]


class UntypedStorage:
    """The bytes that a tensor and its views share, as `tensor.untyped_storage()` of PyTorch shows them."""

    def __init__(self, tensor):
        self._bytes = _C._storage_view(
            tensor.detach(), _C.uint8, 0, (_C._storage_info(tensor)[1],), (1,)
        )

    def nbytes(self) -> int:
        """Its size."""
        return self._bytes.numel()

    size = nbytes
    __len__ = nbytes

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return self._bytes.data_ptr()

    @property
    def device(self):
        """Where it is."""
        return self._bytes.device

    def tolist(self) -> list[int]:
        """The bytes."""
        return self._bytes.tolist()

    def __getitem__(self, index):
        return self._bytes[index].item()

    def __eq__(self, other):
        return isinstance(other, UntypedStorage) and self.data_ptr() == other.data_ptr()

    def __hash__(self):
        return hash(self.data_ptr())
