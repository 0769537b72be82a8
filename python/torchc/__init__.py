"""torchc: PyTorch's programming model on top of an ahead-of-time compiler.

Names, arguments, dtypes and errors are PyTorch's (`import torchc as torch` runs ordinary programs). Importing this
package loads the extension module and nothing else: not NumPy, and nn, optim and the compiler only when first used.
"""

try:
    from torchc import _C
except ImportError as error:
    # A folder without the built module would say "partially initialized", which helps nobody.
    raise ImportError(
        "torchc's extension module torchc._C can't be loaded; in a clone, tools/dev/build makes it"
    ) from error
from torchc._C import *  # noqa: F403 - every public name of the extension module is part of the API
from torchc.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled

__version__ = "0.1.0"

_SUBMODULES = frozenset(
    "autograd errors export func functional jit knobs linalg nn onnx optim random serialization testing utils".split()
)
# Public names that live in a submodule loaded on first use.
_LAZY = {
    "asarray": "_creation",
    "broadcast_shapes": "functional",
    "cdist": "functional",
    "compile": "jit",
    "einsum": "functional",
    "finfo": "_type_info",
    "get_printoptions": "_tensor_str",
    "iinfo": "_type_info",
    "load": "serialization",
    "save": "serialization",
    "set_printoptions": "_tensor_str",
    "tensordot": "functional",
    "typename": "_type_info",
}

__all__ = [name for name in dir(_C) if not name.startswith("_")]
__all__ += ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]


def __getattr__(name):
    """Loads a submodule, or a name that lives in one, when it is first used; a missing name says so."""
    from importlib import import_module

    home = name if name in _SUBMODULES else _LAZY.get(name)
    if home is None:
        raise AttributeError(f"module 'torchc' has no attribute '{name}'")
    try:
        module = import_module(f"torchc.{home}")
    except ModuleNotFoundError as error:
        if error.name != f"torchc.{home}":
            raise
        raise AttributeError(
            f"module 'torchc' has no attribute '{name}': torchc.{home} does not exist"
        ) from None
    value = module if home == name else getattr(module, name)
    globals()[name] = value
    return value


def __dir__():
    """The names of the package, those not loaded yet included."""
    from importlib.util import find_spec

    found = {name for name in _SUBMODULES if find_spec(f"torchc.{name}")}
    return sorted({*globals(), *found, *(name for name, home in _LAZY.items() if home in found)})
