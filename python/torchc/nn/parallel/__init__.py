"""Modules on several devices: there is one, so that the wrappers only keep PyTorch's names."""

from torchc.nn.parallel.data_parallel import DataParallel, data_parallel

__all__ = ["DataParallel", "data_parallel"]
