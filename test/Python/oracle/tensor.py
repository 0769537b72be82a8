"""A small tensor with a tape: storage shared by views, version counters, and reverse mode in the
order of rule N10."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from . import reduce
from .dtypes import Arr, DType, cast

_sequence = itertools.count()


class _Mode:
    """Grad mode of the (single) thread."""

    enabled = True


class no_grad:
    """torch.no_grad as a context manager."""

    def __enter__(self) -> None:
        self._before, _Mode.enabled = _Mode.enabled, False

    def __exit__(self, *_: object) -> None:
        _Mode.enabled = self._before


class set_grad_enabled(no_grad):
    """torch.set_grad_enabled as a context manager."""

    def __init__(self, mode: bool) -> None:
        self._mode = mode

    def __enter__(self) -> None:
        self._before, _Mode.enabled = _Mode.enabled, self._mode


class Node:
    """One recorded op: what its inputs flow from, their metadata, and saved values with their
    versions."""

    def __init__(self, name: str, inputs: Sequence[Tensor], saved: dict[str, Any]) -> None:
        self.seq, self.name = next(_sequence), name
        self.edges: list[Node | Tensor | None] = [_edge(t) for t in inputs]
        self.metas = [(t.dtype, t.shape) for t in inputs]
        self._saved = saved
        self._versions = {k: v._version for k, v in saved.items() if isinstance(v, Tensor)}

    def __getattr__(self, key: str) -> Any:
        """A saved value; refused when it was written in place since."""
        try:
            value = self.__dict__["_saved"][key]
        except KeyError:
            raise AttributeError(f"{self.__dict__.get('name')} saved no {key!r}") from None
        if isinstance(value, Tensor) and value._version != self._versions[key]:
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified "
                "by an inplace operation: "
                f"{self.name} saved {key!r} at version {self._versions[key]}, "
                f"it is at version {value._version}"
            )
        return value

    def needs(self, slot: int) -> bool:
        """Whether input `slot` needs a gradient."""
        return self.edges[slot] is not None


def _edge(t: Tensor) -> Node | Tensor | None:
    if t.node is not None:
        return t.node
    return t if t.requires_grad else None


class Tensor:
    """A typed array with autograd state. Methods are added by `ops`."""

    def __init__(self, arr: Arr, requires_grad: bool = False) -> None:
        self.arr, self.grad = arr, None
        self.node: Node | None = None
        self.requires_grad = requires_grad
        self._counter = [0]
        self._is_view = False

    grad: Tensor | None

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self.arr.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes."""
        return self.arr.shape

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self.arr.ndim

    @property
    def _version(self) -> int:
        return self._counter[0]

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded op made this tensor."""
        return self.node is None

    def size(self, dim: int | None = None) -> Any:
        """All sizes, or one."""
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        """Number of dimensions."""
        return self.ndim

    def numel(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        return (self[i] for i in range(len(self)))  # type: ignore[index]

    def item(self) -> bool | int | float:
        """The value of a one-element tensor as a Python number."""
        if self.numel() != 1:
            raise RuntimeError(f"item(): expected one element, got shape {list(self.shape)}")
        return self.tolist_flat()[0]

    def tolist_flat(self) -> list[Any]:
        """Values row-major as Python numbers."""
        wide = DType.F64 if self.dtype.is_float else self.dtype
        return list(cast(self.arr, wide).data.reshape(-1).tolist())

    def __bool__(self) -> bool:
        return bool(self.item())

    def requires_grad_(self, mode: bool = True) -> Tensor:
        """Mark a leaf as needing gradients."""
        if mode and not self.dtype.is_float:
            raise RuntimeError(f"expected a floating dtype, got {self.dtype.torch_name}")
        self.requires_grad = mode
        return self

    def detach(self) -> Tensor:
        """A view without autograd history."""
        out = Tensor(self.arr)
        out._counter, out._is_view = self._counter, True
        return out

    def __repr__(self) -> str:
        what = f"{self.dtype.torch_name}, shape={list(self.shape)}"
        return f"oracle.Tensor({self.tolist_flat()}, {what})"

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool = False,
        create_graph: bool = False,
    ) -> None:
        """torch.Tensor.backward: adds into .grad of every leaf reached."""
        if not self.requires_grad:
            raise RuntimeError("backward(): the tensor does not require grad and has no history")
        _, leaves = run_backward([self], [gradient], [], create_graph)
        for leaf, total in leaves:
            with set_grad_enabled(create_graph):
                leaf.grad = total if leaf.grad is None else _add(leaf.grad, total)


def make(arr: Arr, name: str = "", inputs: Sequence[Tensor] = (), **saved: Any) -> Tensor:
    """The result tensor of op `name`, recorded when grad mode is on and an input needs
    gradients. Fresh results are row-major (RATIONALE.md)."""
    return _recorded(Tensor(Arr(arr.dtype, arr.data.copy())), name, inputs, saved)


def _recorded(out: Tensor, name: str, inputs: Sequence[Tensor], saved: dict[str, Any]) -> Tensor:
    wants = _Mode.enabled and out.dtype.is_float and any(t.requires_grad for t in inputs)
    if wants and name:
        saved.setdefault("y", out)
        out.requires_grad = True
        out.node = Node(name, inputs, saved)
    return out


def make_view(base: Tensor, data: np.ndarray, name: str, **saved: Any) -> Tensor:
    """As `make`, for a result that shares the storage of `base`."""
    out = _recorded(Tensor(Arr(base.dtype, data)), name, [base], saved)
    out._counter, out._is_view = base._counter, True
    if out.node is not None:
        out.node._versions.pop("y", None)
    return out


def write_in_place(x: Tensor, result: Tensor) -> Tensor:
    """Store `result` (x's shape and dtype) into x's memory; x takes over the history of
    `result`."""
    recorded = result.node is not None
    if (
        _Mode.enabled and x.requires_grad and x.is_leaf
    ):  # also refused when only the other operand is recorded
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation."
        )
    if x._is_view and (recorded or (x.requires_grad and _Mode.enabled)):
        raise NotImplementedError("oracle: in-place writes to views inside autograd")
    x.arr.data[...] = result.arr.data
    x._counter[0] += 1
    if recorded:
        node = result.node
        assert node is not None
        if node._saved.get("y") is result:
            node._saved["y"], node._versions["y"] = x, x._version
        x.node, x.requires_grad = node, True
    return x


# ---- reverse mode --------------------------------------------------------------------------------


def _add(a: Tensor, b: Tensor) -> Tensor:
    from . import ops

    return ops.add(a, b)


def unbroadcast(g: Tensor, dtype: DType, shape: tuple[int, ...]) -> Tensor:
    """Sum a cotangent to the input's shape by one N4 sum over all broadcast axes, then restore
    the input's dtype."""
    from . import ops

    if g.shape != shape:
        extra = g.ndim - len(shape)
        axes = [
            i for i in range(g.ndim) if i < extra or (shape[i - extra] == 1 and g.shape[i] != 1)
        ]
        g = ops.reshape(ops.sum(g, axes) if axes else g, shape)
    return g if g.dtype == dtype else ops.to(g, dtype)


def run_backward(
    outputs: Sequence[Tensor],
    gradients: Sequence[Tensor | None],
    wanted: Sequence[Tensor],
    create_graph: bool,
) -> tuple[list[Tensor | None], list[tuple[Tensor, Tensor]]]:
    """Reverse mode from `outputs`. Returns the cotangents of `wanted` and (leaf, summed
    cotangent) pairs.

    Nodes run by descending sequence number and hand out cotangents by ascending input slot, so
    every fan-in is
    added left to right in the order of N10. The gradient of a slice is added to what its input has
    gathered on the slice alone.
    """
    from . import grad, ops, slices

    pending: dict[int, tuple[Node, Tensor]] = {}
    leaves: dict[int, tuple[Tensor, Tensor]] = {}
    captured: dict[int, Tensor] = {}
    heap: list[tuple[int, int]] = []

    def deliver(edge: Node | Tensor | None, g: Tensor, slab: Any = None) -> None:
        def joined(seen: Tensor) -> Tensor:
            return _add(seen, g) if slab is None else slices.add_at(seen, slab, g)

        if isinstance(edge, Tensor):
            seen = leaves.get(id(edge))
            leaves[id(edge)] = (edge, g if seen is None else joined(seen[1]))
        elif edge is not None:
            waiting = pending.get(edge.seq)
            if waiting is None:
                heapq.heappush(heap, (-edge.seq, edge.seq))
            pending[edge.seq] = (edge, g if waiting is None else joined(waiting[1]))

    with set_grad_enabled(create_graph):
        for out, g in zip(outputs, gradients):
            if g is None:
                if out.numel() != 1:
                    raise RuntimeError(
                        "grad can be implicitly created only for scalar outputs, "
                        f"got shape {list(out.shape)}"
                    )
                g = ops.ones(out.shape, dtype=out.dtype)
            deliver(_edge(out), g)
        while heap:
            node, g = pending.pop(heapq.heappop(heap)[1])
            captured[node.seq] = g
            rule: Callable[[Node, Tensor], Sequence[Tensor | None]] = grad.VJPS[node.name]
            for edge, meta, part in zip(node.edges, node.metas, rule(node, g)):
                if edge is not None and part is not None:
                    slab = slices.first_slice(node.key, meta[1]) if node.name == "slice" else None
                    deliver(edge, unbroadcast(part, *meta), slab)
    found = [
        captured.get(t.node.seq) if t.node else leaves.get(id(t), (t, None))[1] for t in wanted
    ]
    return found, list(leaves.values())


def reduced_shape(shape: tuple[int, ...], dim: reduce.Dim) -> tuple[int, ...]:
    """The keepdim shape of a reduction."""
    return reduce.result_shape(shape, reduce.reduced_axes(dim, len(shape)), True)
