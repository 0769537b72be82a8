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
from torchc import _methods
from torchc._C import *  # noqa: F403 - every public name of the extension module is part of the API
from torchc.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled

__version__ = "0.1.0"

_SUBMODULES = frozenset(
    "__config__ _higher_order_ops _utils accelerator amp autograd backends compiler cuda distributed distributions "
    "errors export fft func functional hub jit knobs library linalg masked mps multiprocessing nn onnx ops optim "
    "overrides profiler random serialization signal special storage testing types utils version xpu".split()
)
# Public names that live in a submodule loaded on first use.
_LAZY = {
    "GradScaler": "amp",
    "OutOfMemoryError": "cuda",
    "UntypedStorage": "storage",
    "asarray": "_creation",
    "autocast": "amp",
    "broadcast_shapes": "functional",
    "cdist": "functional",
    "compile": "jit",
    "cond": "_higher_order_ops",
    "einsum": "functional",
    "finfo": "_type_info",
    "get_autocast_dtype": "amp.autocast_mode",
    "get_printoptions": "_tensor_str",
    "iinfo": "_type_info",
    "is_autocast_enabled": "amp.autocast_mode",
    "load": "serialization",
    "save": "serialization",
    "set_autocast_dtype": "amp.autocast_mode",
    "set_autocast_enabled": "amp.autocast_mode",
    "set_printoptions": "_tensor_str",
    "tensordot": "functional",
    "typename": "_type_info",
    "vmap": "func",
    "while_loop": "_higher_order_ops",
}
_EXTRAS = (
    "get_autocast_cpu_dtype get_autocast_gpu_dtype is_autocast_cpu_enabled set_autocast_cpu_dtype "
    "set_autocast_cpu_enabled set_autocast_gpu_dtype "
    "_assert _check _check_index _check_type _check_value are_deterministic_algorithms_enabled frombuffer "
    "get_deterministic_debug_mode get_float32_matmul_precision get_num_interop_threads "
    "is_deterministic_algorithms_warn_only_enabled is_nonzero is_storage is_warn_always_enabled "
    "set_default_tensor_type set_deterministic_debug_mode set_float32_matmul_precision "
    "set_flush_denormal set_num_interop_threads set_warn_always use_deterministic_algorithms"
)
_LAZY.update(_methods.FUNCTIONS)
_LAZY.update({name: "_extras" for name in _EXTRAS.split() if not hasattr(_C, name)})

for _name in _methods.FUNCTIONS:  # what stands for a function of the extension module
    globals().pop(_name, None)
for _name in ("is_complex", "is_floating_point", "numel"):  # of any tensor-like
    globals()[_name] = _C._overridable(getattr(_C, _name), "torchc")
_methods.install()

__all__ = [name for name in dir(_C) if not name.startswith("_")]
__all__ += ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]


def __getattr__(name):
    """Loads a submodule, or a name that lives in one, when it is first used; a missing name says so."""
    from importlib import import_module

    if name == "torch":  # a name of PyTorch's package, too
        from sys import modules

        return modules[__name__]
    home = name if name in _SUBMODULES else _LAZY.get(name)
    if home is None and not name.startswith("_"):
        _extras = import_module("torchc._extras")
        if name in _extras.IN_PLACE and hasattr(_C.Tensor, name):
            return getattr(_C.Tensor, name)
        if name in _extras.CONSTANTS or name in _extras._TYPED:
            constant = name in _extras.CONSTANTS
            value = _extras.CONSTANTS[name] if constant else _extras.typed_tensor(name)
            globals()[name] = value
            return value
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
    if name in _methods.FUNCTIONS or home == "functional":
        value = _C._overridable(value, "torchc")
    globals()[name] = value
    return value


def _of_extension(name):
    """What PyTorch's extension module has and ours leaves to Python: `torch._C.DisableTorchFunction`."""
    if not name.startswith("__"):
        from torchc import overrides

        if name in overrides.EXTENSION:
            return overrides.EXTENSION[name]
    raise AttributeError(f"module 'torchc._C' has no attribute '{name}'")


_C.__getattr__ = _of_extension


def __dir__():
    """The names of the package, those not loaded yet included."""
    from importlib.util import find_spec

    found = {name for name in _SUBMODULES if find_spec(f"torchc.{name}")}
    return sorted({*globals(), *found, *(name for name, home in _LAZY.items() if home in found)})
