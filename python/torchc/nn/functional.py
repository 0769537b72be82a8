"""Functions behind the modules: the same computation without state. Names and defaults as torch.nn.functional."""

from torchc import _C
from torchc._utils import overridable
from torchc.nn import _spatial
from torchc.nn._functions import (
    activation,
    attention,
    convolution,
    distance,
    loss,
    normalization,
    pooling,
    vision,
)
from torchc.nn._functions import (
    dropout as _dropout,
)
from torchc.nn._functions import (
    embedding as _embedding,
)
from torchc.nn._functions.activation import *  # noqa: F403
from torchc.nn._functions.attention import *  # noqa: F403
from torchc.nn._functions.convolution import *  # noqa: F403
from torchc.nn._functions.distance import *  # noqa: F403
from torchc.nn._functions.dropout import *  # noqa: F403
from torchc.nn._functions.embedding import *  # noqa: F403
from torchc.nn._functions.loss import *  # noqa: F403
from torchc.nn._functions.normalization import *  # noqa: F403
from torchc.nn._functions.pooling import *  # noqa: F403
from torchc.nn._functions.vision import *  # noqa: F403
from torchc.nn._spatial import *  # noqa: F403

# Functions that the extension module has under the same name with the same arguments.
_NATIVE = frozenset(
    "affine_grid conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d grid_sample".split()
)

_PARTS = (
    activation, attention, convolution, distance, _dropout, _embedding, loss, normalization, pooling, vision, _spatial,
)  # fmt: skip
__all__ = sorted(
    {name for part in _PARTS for name in part.__all__}
    | {name for name in _NATIVE if hasattr(_C, name)}
)
overridable(__all__, globals(), "torchc.nn.functional")


def __getattr__(name):
    """A function of the extension module; a missing one says so."""
    if name in _NATIVE and hasattr(_C, name):
        value = globals()[name] = getattr(_C, name)
        return value
    raise AttributeError(f"module 'torchc.nn.functional' has no attribute '{name}'")
