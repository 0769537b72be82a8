"""What loaders are made of."""

from torchc.utils.data._utils import collate, random, worker

__all__ = ["collate", "random", "worker"]
