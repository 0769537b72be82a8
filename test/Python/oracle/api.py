"""The oracle as a namespace that reads like torch, so that one program text runs on both."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from . import activation, arithmetic, composite, ops, pointwise, random, statistics, window_ops
from .dtypes import Arr, DType, Number, promote_types, result_type  # noqa: F401
from .ops import _sizes
from .tensor import Tensor, no_grad, run_backward, set_grad_enabled, write_in_place  # noqa: F401

# Composites replace the primitives of their names: they come last.
# isort: off
from .ops import *  # noqa: F401,F403,E402
from .pointwise import *  # noqa: F401,F403,E402
from .arithmetic import *  # noqa: F401,F403,E402
from .activation import *  # noqa: F401,F403,E402
from .statistics import *  # noqa: F401,F403,E402
from .composite import *  # noqa: F401,F403,E402
# isort: on

mm = matmul = ops.matmul

_METHODS = """
add sub mul div maximum minimum abs sign sqrt neg relu exp log tanh eq ne lt le gt ge to clone contiguous sum
mean max amax argmax
cumsum matmul dot reshape permute transpose t expand squeeze unsqueeze index_select index_add scatter
scatter_add gather log_softmax softmax copy_ fill_ zero_
sigmoid floor ceil trunc round pow clamp floor_divide remainder fmod bitwise_and bitwise_or
bitwise_xor bitwise_left_shift bitwise_right_shift bitwise_not lerp addcmul addcdiv
""".split()


def _function(name: str) -> Any:
    for module in (composite, pointwise, arithmetic, statistics, activation):
        if hasattr(module, name) and callable(getattr(module, name)):
            return getattr(module, name)
    return getattr(ops, name)


for _name in _METHODS:
    setattr(Tensor, _name, _function(_name))
for _name in (
    "add sub mul div neg relu exp log tanh index_add scatter sigmoid floor clamp lerp addcmul addcdiv pow"
).split():
    setattr(Tensor, _name + "_", ops.in_place(_function(_name)))


def _reflected(fn: Any) -> Any:
    return lambda x, y: fn(y, x)


_OPERATORS: dict[str, Any] = {
    "add": ops.add,
    "sub": ops.sub,
    "mul": ops.mul,
    "truediv": ops.div,
    "floordiv": pointwise.floor_divide,
    "mod": pointwise.remainder,
    "pow": pointwise.pow,
    "and": pointwise.bitwise_and,
    "or": pointwise.bitwise_or,
    "xor": pointwise.bitwise_xor,
    "lshift": pointwise.bitwise_left_shift,
    "rshift": pointwise.bitwise_right_shift,
}
for _name, _fn in _OPERATORS.items():
    setattr(Tensor, f"__{_name}__", _fn)
    setattr(Tensor, f"__r{_name}__", _reflected(_fn))
    setattr(Tensor, f"__i{_name}__", ops.in_place(_fn))
for _name, _fn in {
    "__neg__": ops.neg,
    "__invert__": pointwise.bitwise_not,
    "__matmul__": ops.matmul,
    "__getitem__": ops.getitem,
    "__setitem__": ops.setitem,
    "T": property(ops.t),
}.items():
    setattr(Tensor, _name, _fn)
for _name in "lt le gt ge".split():
    setattr(Tensor, f"__{_name}__", getattr(ops, _name))


def uniform_(x: Tensor, low: float = 0.0, high: float = 1.0) -> Tensor:
    """Tensor.uniform_ from the default generator."""
    return write_in_place(
        x, Tensor(random.uniform(x.shape, x.dtype, random.DEFAULT.take(), low, high))
    )


setattr(Tensor, "uniform_", uniform_)  # noqa: B010


def rand(*shape: Any, dtype: DType = DType.F32) -> Tensor:
    """torch.rand from the default generator."""
    return Tensor(random.uniform(_sizes(shape), dtype, random.DEFAULT.take()))


def manual_seed(seed: int) -> random.Generator:
    """torch.manual_seed."""
    return random.DEFAULT.manual_seed(seed)


def tensor(data: Any, dtype: DType | None = None, requires_grad: bool = False) -> Tensor:
    """torch.tensor for nested lists of Python numbers."""
    array = np.array(data)
    if dtype is None:
        dtype = (
            DType.Bool
            if array.dtype == bool
            else (DType.I64 if array.dtype.kind in "iu" else DType.F32)
        )
    wide = (
        Arr(DType.F64, array.astype(np.float64))
        if array.dtype.kind == "f"
        else Arr(DType.I64, array.astype(np.int64))
    )
    return Tensor(ops.cast(wide, dtype), requires_grad)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Tensor | None, ...]:
    """torch.autograd.grad."""
    outs = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    wanted = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    seeds: list[Tensor | None] = [None] * len(outs)
    if grad_outputs is not None:
        seeds = [grad_outputs] if isinstance(grad_outputs, Tensor) else list(grad_outputs)
    found, _ = run_backward(outs, seeds, wanted, create_graph)
    if not allow_unused and builtins.any(g is None for g in found):
        raise RuntimeError(
            "One of the differentiated Tensors appears to not have been used in the graph."
        )
    return tuple(found)


nn = SimpleNamespace(
    functional=SimpleNamespace(
        relu=ops.relu,
        linear=composite.linear,
        log_softmax=ops.log_softmax,
        softmax=ops.softmax,
        cross_entropy=composite.cross_entropy,
        one_hot=ops.one_hot,
        **window_ops.FUNCTIONS,
        silu=pointwise.silu,
        gelu=pointwise.gelu,
        **{
            name: getattr(activation, name)
            for name in (
                "hardtanh relu6 hardsigmoid hardswish leaky_relu prelu elu selu celu glu mish softplus logsigmoid "
                "softsign tanhshrink softshrink hardshrink threshold scaled_dot_product_attention"
            ).split()
        },
    )
)
autograd = SimpleNamespace(grad=grad)
globals().update(window_ops.TOP_LEVEL)
globals().update({d.torch_name: d for d in DType})
AnyNumber = Number
