"""Nested containers as flat lists of leaves, and back."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field
from typing import Any, NamedTuple

__all__ = [
    "LeafSpec",
    "PyTree",
    "TreeSpec",
    "register_pytree_node",
    "tree_all",
    "tree_any",
    "tree_flatten",
    "tree_iter",
    "tree_leaves",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_structure",
    "tree_unflatten",
]

PyTree = Any


class _Node(NamedTuple):
    flatten: Any  # object -> (children, context)
    unflatten: Any  # (children, context) -> object


SUPPORTED_NODES: dict[type, _Node] = {}


def register_pytree_node(
    cls, flatten_fn, unflatten_fn, *, serialized_type_name=None, to_dumpable_context=None,
    from_dumpable_context=None, flatten_with_keys_fn=None,
):  # fmt: skip
    """Makes `cls` a container: flatten_fn(object) -> (children, context), unflatten_fn(children, context) -> object.

    Raises ValueError for a class that is one already.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    SUPPORTED_NODES[cls] = _Node(flatten_fn, unflatten_fn)


_register_pytree_node = register_pytree_node


def _items(d):
    return list(d.values()), list(d)


register_pytree_node(dict, _items, lambda v, keys: dict(zip(keys, v)))
register_pytree_node(list, lambda x: (x, None), lambda v, _: list(v))
register_pytree_node(tuple, lambda x: (list(x), None), lambda v, _: tuple(v))
register_pytree_node(OrderedDict, _items, lambda v, keys: OrderedDict(zip(keys, v)))
register_pytree_node(
    defaultdict,
    lambda d: (list(d.values()), (d.default_factory, list(d))),
    lambda v, context: defaultdict(context[0], zip(context[1], v)),
)
register_pytree_node(deque, lambda d: (list(d), d.maxlen), lambda v, n: deque(v, maxlen=n))
register_pytree_node(namedtuple, lambda x: (list(x), type(x)), lambda v, kind: kind(*v))


def _kind(tree):
    """The registered class of a container, None for a leaf."""
    if isinstance(tree, tuple) and hasattr(tree, "_fields") and type(tree) not in SUPPORTED_NODES:
        return namedtuple
    return type(tree) if type(tree) in SUPPORTED_NODES else None


@dataclass(frozen=True)
class TreeSpec:
    """The shape of a tree: the container's class and context, and the shapes of what is inside."""

    type: Any
    context: Any = None
    children_specs: list[TreeSpec] = field(default_factory=list)

    @property
    def num_leaves(self) -> int:
        """How many leaves it has."""
        return 1 if self.is_leaf() else sum(child.num_leaves for child in self.children_specs)

    @property
    def num_children(self) -> int:
        """How many children the root has."""
        return len(self.children_specs)

    def is_leaf(self) -> bool:
        """Whether it is a leaf alone."""
        return self.type is None

    def unflatten(self, leaves) -> PyTree:
        """The tree with these leaves."""
        return tree_unflatten(leaves, self)

    def __hash__(self):
        return hash((self.type, self.num_leaves))


class LeafSpec(TreeSpec):
    """The shape of a leaf."""

    def __init__(self):
        super().__init__(None)


def _flatten(tree, is_leaf, leaves) -> TreeSpec:
    kind = None if is_leaf is not None and is_leaf(tree) else _kind(tree)
    if kind is None:
        leaves.append(tree)
        return LeafSpec()
    children, context = SUPPORTED_NODES[kind].flatten(tree)
    return TreeSpec(kind, context, [_flatten(child, is_leaf, leaves) for child in children])


def tree_flatten(tree, is_leaf=None):
    """(leaves, spec)."""
    leaves: list = []
    spec = _flatten(tree, is_leaf, leaves)
    return leaves, spec


def tree_unflatten(leaves, treespec) -> PyTree:
    """The tree of this shape with these leaves. Raises ValueError when their number differs."""
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(leaves)} but the spec refers to a pytree that "
            f"holds {treespec.num_leaves} items"
        )
    return _unflatten(iter(leaves), treespec)


def _unflatten(leaves, spec):
    if spec.is_leaf():
        return next(leaves)
    children = [_unflatten(leaves, child) for child in spec.children_specs]
    return SUPPORTED_NODES[spec.type].unflatten(children, spec.context)


def tree_leaves(tree, is_leaf=None) -> list:
    """The leaves."""
    return tree_flatten(tree, is_leaf)[0]


def tree_iter(tree, is_leaf=None):
    """An iterator over the leaves."""
    return iter(tree_leaves(tree, is_leaf))


def tree_structure(tree, is_leaf=None) -> TreeSpec:
    """The shape."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func, tree, *rests, is_leaf=None) -> PyTree:
    """The tree with `func` of each leaf, and of the leaves of more trees at the same place."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [tree_leaves(rest, is_leaf) for rest in rests]
    return tree_unflatten([func(*row) for row in zip(leaves, *others)], spec)


def tree_map_(func, tree, *rests, is_leaf=None) -> PyTree:
    """Calls `func` with each leaf; returns the tree itself."""
    leaves = tree_leaves(tree, is_leaf)
    for row in zip(leaves, *(tree_leaves(rest, is_leaf) for rest in rests)):
        func(*row)
    return tree


def tree_map_only(kind, func, tree, is_leaf=None) -> PyTree:
    """The tree with `func` of each leaf of a class (or of several, or for which a function is true)."""

    def apply(leaf):
        wanted = isinstance(leaf, kind) if isinstance(kind, (type, tuple)) else kind(leaf)
        return func(leaf) if wanted else leaf

    return tree_map(apply, tree, is_leaf=is_leaf)


def tree_any(pred, tree, is_leaf=None) -> bool:
    """Whether `pred` holds for a leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all(pred, tree, is_leaf=None) -> bool:
    """Whether `pred` holds for every leaf."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_map_only_(kind, func, tree, is_leaf=None) -> PyTree:
    """Calls `func` with each leaf of a class; returns the tree itself."""
    tree_map_only(kind, func, tree, is_leaf)
    return tree
