"""The oracle's ops under PyTorch's names, over `Tensor`: promotion, broadcasting, views,
in-place, recording.

Arithmetic of simple ops is spelled out here; transcendental functions come from the op table's
bodies.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import body, contract, fused, index, reduce
from .dtypes import (
    Arr,
    DType,
    Number,
    broadcast_shape,
    cast,
    from_compute,
    number_to_compute,
    result_type,
    to_compute,
    to_float_type,
)
from .reduce import Dim, normalize_dim
from .tensor import Tensor, make, make_view, write_in_place

Operand = Tensor | Number


def _arr(x: Operand) -> Arr | Number:
    return x.arr if isinstance(x, Tensor) else x


def _tensors(*operands: Any) -> list[Tensor]:
    return [t for t in operands if isinstance(t, Tensor)]


def _values(x: Operand, dtype: DType) -> np.ndarray:
    """An operand in the op-math type of `dtype`: tensors are first cast to `dtype`, numbers
    rounded once (N2)."""
    if not isinstance(x, Tensor):
        return number_to_compute(x, dtype)
    return to_compute(x.arr if x.dtype == dtype else cast(x.arr, dtype))


def _common(operands: Sequence[Operand]) -> DType:
    return result_type([_arr(x) for x in operands])


def _pointwise(
    fn: Callable[..., np.ndarray],
    dtype: DType,
    operands: Sequence[Operand],
    out: DType | None = None,
) -> Arr:
    """fn over broadcast op-math values, stored once as `out` (default: dtype)."""
    shape = broadcast_shape(*(x.shape for x in _tensors(*operands)))
    with np.errstate(all="ignore"):
        values = np.asarray(fn(*(_values(x, dtype) for x in operands)))
    values = np.array(np.broadcast_to(values, shape))
    return from_compute(values, dtype if out is None else out)


def _binary(
    name: str, fn: Callable[..., np.ndarray], x: Operand, y: Operand, dtype: DType, **saved: Any
) -> Tensor:
    """A two-operand op; a number operand takes no slot of the tape, but keeps its place."""
    arr = _pointwise(fn, dtype, (x, y))
    inputs = [t if isinstance(t, Tensor) else _constant(t, dtype) for t in (x, y)]
    return make(arr, name, inputs, **saved)


def _constant(value: Number, dtype: DType) -> Tensor:
    return Tensor(from_compute(number_to_compute(value, dtype), dtype))


# ---- elementwise ---------------------------------------------------------------------------------


def add(x: Operand, y: Operand) -> Tensor:
    """x + y; logical or on bool."""
    return _binary("add", lambda a, b: a + b, x, y, _common((x, y)))


def _is_bool(x: Operand) -> bool:
    return x.dtype == DType.Bool if isinstance(x, Tensor) else isinstance(x, bool)


def refuse_bool(x: Operand, y: Operand) -> None:
    """Subtraction has no meaning for truth values."""
    if _is_bool(x) or _is_bool(y):
        raise RuntimeError("Subtraction, the `-` operator, with a bool tensor is not supported.")


def sub(x: Operand, y: Operand) -> Tensor:
    """x − y; bool operands are refused."""
    refuse_bool(x, y)
    return _binary("sub", lambda a, b: a - b, x, y, _common((x, y)))


def mul(x: Operand, y: Operand) -> Tensor:
    """x · y; logical and on bool."""
    return _binary("mul", lambda a, b: a * b, x, y, _common((x, y)), a=x, b=y)


def div(x: Operand, y: Operand) -> Tensor:
    """True division; integers become the default float."""
    return _binary("div", lambda a, b: a / b, x, y, to_float_type(_common((x, y))), a=x, b=y)


def maximum(x: Operand, y: Operand) -> Tensor:
    """N7 maximum."""
    return _binary("maximum", body.maximum, x, y, _common((x, y)), a=x, b=y)


def minimum(x: Operand, y: Operand) -> Tensor:
    """N7 minimum."""
    return _binary("minimum", body.minimum, x, y, _common((x, y)), a=x, b=y)


def abs(x: Tensor) -> Tensor:
    """|x|; the smallest integer stays itself."""
    if x.dtype == DType.Bool:
        raise NotImplementedError("abs of a bool tensor")
    return make(_pointwise(np.abs, x.dtype, (x,)), "abs", [x], x=x)


def _sign(a: np.ndarray) -> np.ndarray:
    if a.dtype == np.bool_:
        return a
    return (a > 0).astype(a.dtype) - (a < 0).astype(a.dtype)


def sign(x: Tensor) -> Tensor:
    """-1, 0 or 1; 0 for NaN."""
    return make(_pointwise(_sign, x.dtype, (x,)), "sign", [x])


def sqrt(x: Tensor) -> Tensor:
    """Square root, correctly rounded."""
    dtype = to_float_type(x.dtype)
    return make(_pointwise(np.sqrt, dtype, (x,)), "sqrt", [x])


def neg(x: Tensor) -> Tensor:
    """−x."""
    if x.dtype == DType.Bool:
        raise NotImplementedError("Negation, the `-` operator, on a bool tensor is not supported.")
    return make(_pointwise(lambda a: -a, x.dtype, (x,)), "neg", [x])


def relu(x: Tensor) -> Tensor:
    """max(x, +0) by N7."""
    if x.dtype == DType.Bool:
        raise NotImplementedError("Boolean inputs not supported for relu")
    return make(
        _pointwise(lambda a: body.maximum(a, np.zeros((), a.dtype)), x.dtype, (x,)), "relu", [x]
    )


def _from_table(name: str, x: Tensor, /, **saved: Any) -> Tensor:
    dtype = to_float_type(x.dtype)
    return make(
        _pointwise(lambda a: body.apply(name, dtype.compute, a), dtype, (x,)), name, [x], **saved
    )


def exp(x: Tensor) -> Tensor:
    """eˣ by the table's body."""
    return _from_table("exp", x)


def log(x: Tensor) -> Tensor:
    """Natural logarithm by the table's body."""
    return _from_table("log", x, x=x)


def tanh(x: Tensor) -> Tensor:
    """Hyperbolic tangent by the table's body."""
    return _from_table("tanh", x)


def where(condition: Tensor, x: Operand, y: Operand) -> Tensor:
    """x where condition, else y."""
    dtype = _common((x, y))
    shape = broadcast_shape(*(t.shape for t in _tensors(condition, x, y)))
    with np.errstate(all="ignore"):
        picked = np.where(condition.arr.data, _values(x, dtype), _values(y, dtype))
    values = np.array(np.broadcast_to(picked, shape))
    inputs = [t if isinstance(t, Tensor) else _constant(t, dtype) for t in (x, y)]
    return make(from_compute(values, dtype), "where", inputs, condition=condition)


def _compare(fn: Callable[..., np.ndarray], x: Operand, y: Operand) -> Tensor:
    return make(_pointwise(fn, _common((x, y)), (x, y), DType.Bool))


def eq(x: Operand, y: Operand) -> Tensor:
    """x == y in the common type."""
    return _compare(lambda a, b: a == b, x, y)


def lt(x: Operand, y: Operand) -> Tensor:
    """x < y in the common type."""
    return _compare(lambda a, b: a < b, x, y)


def ne(x: Operand, y: Operand) -> Tensor:
    """x != y in the common type; true for NaN."""
    return _compare(lambda a, b: a != b, x, y)


def le(x: Operand, y: Operand) -> Tensor:
    """x <= y in the common type."""
    return _compare(lambda a, b: a <= b, x, y)


def gt(x: Operand, y: Operand) -> Tensor:
    """x > y in the common type."""
    return _compare(lambda a, b: a > b, x, y)


def ge(x: Operand, y: Operand) -> Tensor:
    """x >= y in the common type."""
    return _compare(lambda a, b: a >= b, x, y)


def logical_not(x: Tensor) -> Tensor:
    """x == 0."""
    return make(Arr(DType.Bool, np.asarray(~cast(x.arr, DType.Bool).data)))


def logical_and(x: Tensor, y: Tensor) -> Tensor:
    """Whether both are non-zero."""
    return logical_not(_compare(lambda a, b: ~(a & b), to(x, DType.Bool), to(y, DType.Bool)))


def logical_or(x: Tensor, y: Tensor) -> Tensor:
    """Whether one is non-zero."""
    return _compare(lambda a, b: a | b, to(x, DType.Bool), to(y, DType.Bool))


def to(x: Tensor, dtype: DType) -> Tensor:
    """Cast (N8); x itself when it has the dtype already."""
    return x if x.dtype == dtype else make(cast(x.arr, dtype), "cast", [x])


def clone(x: Tensor) -> Tensor:
    """A copy in its own memory."""
    return make(Arr(x.dtype, x.arr.data.copy()), "cast", [x])


def contiguous(x: Tensor) -> Tensor:
    """x itself where its memory is row-major, else a copy that is."""
    return x if x.arr.data.flags.c_contiguous else clone(x)


# ---- reductions, contractions --------------------------------------------------------------------


def sum(x: Tensor, dim: Dim = None, keepdim: bool = False, dtype: DType | None = None) -> Tensor:
    """N4 sum."""
    return make(reduce.sum(x.arr, dim, keepdim, dtype), "sum", [x], dim=dim)


def mean(x: Tensor, dim: Dim = None, keepdim: bool = False) -> Tensor:
    """N4 sum / n."""
    count = int(np.prod([x.shape[a] for a in reduce.reduced_axes(dim, x.ndim)], dtype=np.int64))
    return make(reduce.mean(x.arr, dim, keepdim), "mean", [x], dim=dim, count=count)


def max(x: Tensor, dim: int | Tensor | None = None, keepdim: bool = False) -> Any:
    """The maximum of all, (values, indices) along `dim`, or maximum with another tensor."""
    if isinstance(dim, Tensor):
        return maximum(x, dim)
    if dim is None:
        return amax(x)
    indices = make(reduce.argmax(x.arr, dim, keepdim))
    return make(reduce.amax(x.arr, dim, keepdim), "max_dim", [x], dim=dim, indices=indices), indices


def _not_empty(x: Tensor, dim: Dim, name: str) -> None:
    """A whole reduction of nothing has its own class of error; along a dimension it is an index error."""
    if dim in (None, (), []) and 0 in x.shape:
        raise RuntimeError(f"{name}(): expected at least one element, got shape {tuple(x.shape)}")


def amax(x: Tensor, dim: Dim = None, keepdim: bool = False) -> Tensor:
    """Maximum along dims."""
    _not_empty(x, dim, "amax")
    return make(reduce.amax(x.arr, dim, keepdim), "amax", [x], x=x, dim=dim)


def amin(x: Tensor, dim: Dim = None, keepdim: bool = False) -> Tensor:
    """Minimum along dims."""
    _not_empty(x, dim, "amin")
    return make(reduce.amin(x.arr, dim, keepdim), "amax", [x], x=x, dim=dim)


def argmax(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """First index of the maximum."""
    return make(reduce.argmax(x.arr, dim, keepdim))


def argmin(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """First index of the minimum."""
    return make(reduce.argmin(x.arr, dim, keepdim))


def matmul(a: Tensor, b: Tensor) -> Tensor:
    """torch.matmul by N3."""
    return make(contract.matmul(a.arr, b.arr), "matmul", [a, b], a=a, b=b)


def dot(a: Tensor, b: Tensor) -> Tensor:
    """Inner product of two vectors by N4."""
    if a.ndim != 1 or b.ndim != 1:
        raise RuntimeError(f"dot: expected 1-D tensors, got {a.ndim}-D and {b.ndim}-D")
    return matmul(a, b)


# ---- views ---------------------------------------------------------------------------------------


def _sizes(sizes: tuple[Any, ...]) -> tuple[int, ...]:
    return (
        tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else tuple(sizes)
    )


def reshape(x: Tensor, *sizes: Any) -> Tensor:
    """A view where the layout allows it, else a copy."""
    shape = _sizes(sizes)
    if x.numel() == 0 and -1 in shape and 0 in shape:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(shape)}: -1 is ambiguous"
        )
    try:
        data = x.arr.data.reshape(shape)
    except ValueError:
        raise RuntimeError(
            f"shape '{list(shape)}' is invalid for input of size {x.numel()}"
        ) from None
    if np.shares_memory(data, x.arr.data) or x.numel() == 0:
        return make_view(x, data, "reshape")
    return make(Arr(x.dtype, data.copy()), "reshape", [x])


def permute(x: Tensor, *dims: Any) -> Tensor:
    """Reorder dims."""
    order = tuple(normalize_dim(d, x.ndim) for d in _sizes(dims))
    return make_view(x, np.transpose(x.arr.data, order), "permute", dims=order)


def as_strided(x: Tensor, size: Sequence[int], stride: Sequence[int], offset: int = 0) -> Tensor:
    """Elements of row-major x at offset + sum(index * stride); a copy here."""
    places = np.full(tuple(size), offset, dtype=np.int64)
    for axis, step in enumerate(stride):
        shape = [1] * len(places.shape)
        shape[axis] = -1
        places = places + (np.arange(size[axis]) * step).reshape(shape)
    data = np.ascontiguousarray(x.arr.data).reshape(-1)[places]
    return make(Arr(x.dtype, np.asarray(data)), "as_strided", [x], places=places)


def transpose(x: Tensor, dim0: int, dim1: int) -> Tensor:
    """Swap two dims."""
    order = list(range(x.ndim))
    a, b = normalize_dim(dim0, x.ndim), normalize_dim(dim1, x.ndim)
    if x.ndim:
        order[a], order[b] = order[b], order[a]
    return permute(x, order)


def t(x: Tensor) -> Tensor:
    """Transpose of at most two dims."""
    return transpose(x, 0, 1) if x.ndim == 2 else permute(x, list(range(x.ndim)))


def expand(x: Tensor, *sizes: Any) -> Tensor:
    """Broadcast view; −1 keeps a size."""
    shape = list(_sizes(sizes))
    lead = len(shape) - x.ndim
    if lead < 0:
        raise RuntimeError(f"expand: expected at least {x.ndim} sizes, got {len(shape)}")
    for i in range(len(shape)):
        own = x.shape[i - lead] if i >= lead else None
        if shape[i] == -1 and own is not None:
            shape[i] = own
        if own is not None and own not in (1, shape[i]):
            raise RuntimeError(f"expand: expected size {own} or 1 at dim {i}, got {shape[i]}")
    view = np.lib.stride_tricks.as_strided(
        x.arr.data,
        shape,
        [0] * lead + [0 if s == 1 else st for s, st in zip(x.shape, x.arr.data.strides)],
    )
    return make_view(x, view, "expand")


def squeeze(x: Tensor, dim: int) -> Tensor:
    """Drop a dim of size 1."""
    dim = normalize_dim(dim, x.ndim)
    return reshape(x, x.shape[:dim] + x.shape[dim + 1 :]) if x.ndim and x.shape[dim] == 1 else x


def unsqueeze(x: Tensor, dim: int) -> Tensor:
    """Insert a dim of size 1."""
    return getitem(x, tuple([slice(None)] * normalize_dim(dim, x.ndim + 1)) + (None,))


def getitem(x: Tensor, key: Any) -> Tensor:
    """Basic indexing: integers, slices with positive step, None, Ellipsis."""
    parts = key if isinstance(key, tuple) else (key,)
    if any(isinstance(k, (Tensor, list, np.ndarray)) for k in parts):
        raise NotImplementedError("oracle: advanced indexing")
    if any(isinstance(k, slice) and k.step is not None and k.step <= 0 for k in parts):
        raise ValueError("step must be greater than zero")
    data = x.arr.data[parts + (Ellipsis,)] if Ellipsis not in parts else x.arr.data[parts]
    return make_view(x, data, "slice", key=parts)


def setitem(x: Tensor, key: Any, value: Operand) -> None:
    """x[key] = value: copy_ or fill_ into the view."""
    from .tensor import no_grad

    with no_grad():
        view = getitem(x, key)
    if isinstance(value, Tensor):
        copy_(view, value)
    else:
        fill_(view, value)


# ---- indexing ------------------------------------------------------------------------------------


def cat(parts: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Concatenate."""
    rank = builtins.max(p.ndim for p in parts)
    return make(
        index.cat([p.arr for p in parts], dim), "cat", list(parts), dim=normalize_dim(dim, rank)
    )


def index_select(x: Tensor, dim: int, index_: Tensor) -> Tensor:
    """Rows of `dim` by index."""
    return make(
        index.index_select(x.arr, dim, index_.arr), "index_select", [x], dim=dim, index=index_
    )


def index_add(x: Tensor, dim: int, index_: Tensor, source: Tensor) -> Tensor:
    """x with source rows added in ascending source index."""
    if source.dtype != x.dtype:
        raise RuntimeError(
            f"index_add(): expected source of dtype {x.dtype.torch_name}, "
            f"got {source.dtype.torch_name}"
        )
    out = index.index_add(x.arr, dim, index_.arr, source.arr)
    return make(out, "index_add", [x, source], dim=dim, index=index_)


def scatter(x: Tensor, dim: int, index_: Tensor, src: Operand) -> Tensor:
    """x with src written at index along dim."""
    inputs = [x, src] if isinstance(src, Tensor) else [x]
    return make(
        index.scatter(x.arr, dim, index_.arr, _arr(src)), "scatter", inputs, dim=dim, index=index_
    )


def scatter_add(x: Tensor, dim: int, index_: Tensor, src: Tensor) -> Tensor:
    """x with src added at index along dim."""
    out = index.scatter_add(x.arr, dim, index_.arr, src.arr)
    return make(out, "scatter_add", [x, src], dim=dim, index=index_)


def gather(x: Tensor, dim: int, index_: Tensor) -> Tensor:
    """Elements picked along dim."""
    return make(index.gather(x.arr, dim, index_.arr), "gather", [x], dim=dim, index=index_)


def one_hot(x: Tensor, num_classes: int = -1) -> Tensor:
    """int64 one-hot rows."""
    return make(index.one_hot(x.arr, num_classes))


# ---- fused ---------------------------------------------------------------------------------------


def log_softmax(x: Tensor, dim: int) -> Tensor:
    """torch.log_softmax."""
    return make(fused.log_softmax(x.arr, dim), "log_softmax", [x], dim=dim)


def softmax(x: Tensor, dim: int) -> Tensor:
    """torch.softmax."""
    return make(fused.softmax(x.arr, dim), "softmax", [x], dim=dim)


# ---- creation and in-place -----------------------------------------------------------------------


def full(shape: Sequence[int], value: Number, dtype: DType | None = None) -> Tensor:
    """A tensor of one value."""
    dtype = dtype if dtype is not None else result_type([value])
    scalar = from_compute(number_to_compute(value, dtype), dtype).data
    return Tensor(Arr(dtype, np.full(tuple(shape), scalar, dtype.storage)))


def zeros(*shape: Any, dtype: DType = DType.F32) -> Tensor:
    """+0 everywhere."""
    return full(_sizes(shape), 0, dtype)


def ones(*shape: Any, dtype: DType = DType.F32) -> Tensor:
    """1 everywhere."""
    return full(_sizes(shape), 1, dtype)


def arange(n: int, dtype: DType = DType.I64) -> Tensor:
    """0 … n−1."""
    return Tensor(cast(Arr(DType.I64, np.arange(n, dtype=np.int64)), dtype))


def copy_(x: Tensor, src: Operand) -> Tensor:
    """Write src (broadcast, cast) into x."""
    source = src if isinstance(src, Tensor) else _constant(src, x.dtype)
    if broadcast_shape(source.shape, x.shape) != x.shape:
        raise RuntimeError(
            f"copy_: expected a source that broadcasts to {list(x.shape)}, got {list(source.shape)}"
        )
    data = np.array(np.broadcast_to(cast(source.arr, x.dtype).data, x.shape))
    return write_in_place(x, make(Arr(x.dtype, data), "copy_", [x, source]))


def fill_(x: Tensor, value: Operand) -> Tensor:
    """Write one value everywhere."""
    number = value.item() if isinstance(value, Tensor) else value
    return write_in_place(x, make(full(x.shape, number, x.dtype).arr, "fill_", [x]))


def zero_(x: Tensor) -> Tensor:
    """Write +0 everywhere."""
    return fill_(x, 0)


def _store_back(x: Tensor, result: Tensor) -> Tensor:
    """In-place form of an op: the result must have x's shape and a dtype that x can hold."""
    if result.shape != x.shape:
        raise RuntimeError(
            f"output with shape {list(x.shape)} doesn't match "
            f"the broadcast shape {list(result.shape)}"
        )
    lossy = (result.dtype.is_float and not x.dtype.is_float) or (
        x.dtype == DType.Bool and result.dtype != DType.Bool
    )
    if lossy:
        raise RuntimeError(
            f"result type {result.dtype.torch_name} can't be cast to "
            f"the desired output type {x.dtype.torch_name}"
        )
    return write_in_place(x, to(result, x.dtype))


def _snapshot(x: Tensor) -> Tensor:
    """x as it is before an in-place op, with its history: what the op's derivative needs of x."""
    before = Tensor(Arr(x.dtype, x.arr.data.copy()), x.requires_grad)
    before.node = x.node
    return before


def in_place(fn: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """fn_(x, …) from fn(x, …)."""

    def method(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return _store_back(x, fn(_snapshot(x), *args, **kwargs))

    method.__doc__ = f"In-place {fn.__name__}."
    return method
