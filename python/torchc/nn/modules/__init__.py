"""The module classes."""

from torchc.nn.modules.activation import *  # noqa: F403
from torchc.nn.modules.adaptive import *  # noqa: F403
from torchc.nn.modules.batchnorm import *  # noqa: F403
from torchc.nn.modules.container import *  # noqa: F403
from torchc.nn.modules.conv import *  # noqa: F403
from torchc.nn.modules.dropout import *  # noqa: F403
from torchc.nn.modules.instancenorm import *  # noqa: F403
from torchc.nn.modules.linear import *  # noqa: F403
from torchc.nn.modules.loss import *  # noqa: F403
from torchc.nn.modules.module import Module
from torchc.nn.modules.normalization import *  # noqa: F403
from torchc.nn.modules.padding import *  # noqa: F403
from torchc.nn.modules.pooling import *  # noqa: F403
from torchc.nn.modules.rnn import *  # noqa: F403
from torchc.nn.modules.shapes import *  # noqa: F403
from torchc.nn.modules.sparse import *  # noqa: F403
from torchc.nn.modules.transformer import *  # noqa: F403

__all__ = sorted(
    name
    for name, value in globals().items()
    if isinstance(value, type) and issubclass(value, Module)
)
