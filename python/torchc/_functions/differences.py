"""Differences and integrals along a dimension."""

from torchc import _C
from torchc._results import given, wrapped


def diff(input, n=1, dim=-1, prepend=None, append=None, *, out=None):
    """Differences of neighbours along `dim`, n times; bool by exclusive or.

    Args:
        prepend, append: tensors put before and behind along `dim` first.

    The dimension gets n shorter, but not below 0. Raises RuntimeError for n < 0 and 0-d tensors.
    """
    if input.dim() == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional, got a 0-d tensor")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    dim = wrapped("diff", dim, input.dim())
    for name, part in (("prepend", prepend), ("append", append)):
        if part is not None and part.dim() != input.dim():
            raise RuntimeError(
                f"diff expects prepend or append to be the same dimension as input, got {name} of {part.dim()} and "
                f"input of {input.dim()} dimensions"
            )
    if n == 0:
        return given(input.clone(), out)
    parts = [part for part in (prepend, input, append) if part is not None]
    x = _C.cat(parts, dim) if len(parts) > 1 else input
    for _ in range(max(min(n, x.shape[dim]), 1)):
        size = max(x.shape[dim] - 1, 0)
        left, right = x.narrow(dim, 0, size), x.narrow(dim, x.shape[dim] - size, size)
        x = right != left if x.dtype is _C.bool else right - left
    return given(x, out)


def _spacings(input, spacing, dims):
    """One number or tensor of coordinates per dimension, and the dimensions."""
    rank = input.dim()
    if dims is not None:
        dims = [dims] if isinstance(dims, int) else list(dims)
        chosen = [wrapped("gradient", d, rank) for d in dims]
        if len(set(chosen)) < len(chosen):
            raise RuntimeError(f"dim {chosen} appears multiple times in the list of dims")
    else:
        chosen = list(range(rank))
    if isinstance(spacing, (list, tuple)):
        if len(spacing) != len(chosen):
            raise RuntimeError(
                f"torch.gradient expected spacing to be unspecified, a scalar or a list of length equal to "
                f"{len(chosen)}, but got a list of length {len(spacing)}"
            )
        kinds = {isinstance(s, _C.Tensor) for s in spacing}
        if len(kinds) > 1:
            raise TypeError("gradient(): expected spacing to be numbers or tensors, got both")
        steps = list(spacing)
    else:
        if isinstance(spacing, _C.Tensor):
            raise TypeError(
                "gradient(): expected spacing to be a number or a list of tensors, got a tensor"
            )
        steps = [1 if spacing is None else spacing] * len(chosen)
    return steps, chosen


def gradient(input, *, spacing=1, dim=None, edge_order=1):
    """Derivatives along each dimension (of `dim`) by differences of second order, one tensor per dimension.

    Inside by the neighbours on both sides, weighted by their distances; at the ends one-sided, of order `edge_order`
    (1 or 2).

    Args:
        spacing: the distance, one per dimension, or a list of 1-d tensors of coordinates.
    """
    if input.dtype in (_C.uint8, _C.bool):
        raise RuntimeError(f"torch.gradient does not support {input.dtype} input")
    if edge_order not in (1, 2):
        raise RuntimeError(
            f"torch.gradient only supports edge_order=1 and edge_order=2, got {edge_order}"
        )
    steps, dims = _spacings(input, spacing, dim)
    for d in dims:
        size = input.shape[d] if input.dim() else 0
        if size < edge_order + 1:
            raise RuntimeError(
                f"torch.gradient expected each dimension size to be at least edge_order+1, got {size} for dimension {d}"
            )
    return [_derivative(input, step, d, edge_order) for step, d in zip(steps, dims)]


def _derivative(x, step, dim, order):
    x = x.movedim(dim, -1)
    n = x.shape[-1]
    if isinstance(step, _C.Tensor):
        if step.dim() != 1 or step.shape[0] != n:
            raise RuntimeError(
                f"torch.gradient expected each tensor of spacing to have the size of its dimension, {n}, got "
                f"{list(step.shape)}"
            )
        h = step[1:] - step[:-1]
    else:
        h = None
    if h is None:
        inner = (x[..., 2:] - x[..., :-2]) / (2 * step)
    else:
        # Exact for parabolas through the three points.
        a, b = h[:-1], h[1:]
        inner = (
            x[..., :-2] * (-b / (a * (a + b)))
            + x[..., 1:-1] * ((b - a) / (a * b))
            + x[..., 2:] * (a / (b * (a + b)))
        )
    first = _edge(x[..., 0:1], x[..., 1:2], x[..., 2:3], h, step, order, (0, 1))
    last = _edge(x[..., -1:], x[..., -2:-1], x[..., -3:-2], h, step, order, (-1, -2))
    return _C.cat([first, inner, -last], -1).movedim(-1, dim)


def _edge(x0, x1, x2, h, step, order, places):
    """The derivative at x0 in the direction of its neighbours x1 and x2."""
    a = step if h is None else h[places[0]]
    if order == 1:
        return (x1 - x0) / a
    b = step if h is None else h[places[1]]
    return x0 * (-(2 * a + b) / (a * (a + b))) + x1 * ((a + b) / (a * b)) - x2 * (a / (b * (a + b)))


def _widths(op, y, x, dx, dim):
    """Distances between neighbours along dim, as a number or a tensor that broadcasts."""
    if x is None:
        return dx
    if x.dim() == 1 and y.dim() > 1:
        if x.shape[0] != y.shape[dim]:
            raise RuntimeError(
                f"{op}(): There must be one `x` value for each sample point, got {x.shape[0]} for {y.shape[dim]}"
            )
        shape = [1] * y.dim()
        shape[dim] = x.shape[0]
        x = x.reshape(shape)
    elif x.dim() < y.dim():
        x = x.reshape([1] * (y.dim() - x.dim()) + list(x.shape))
    at = dim - y.dim()
    n = x.shape[at]
    return x.narrow(at, 1, n - 1) - x.narrow(at, 0, n - 1)


def _areas(op, y, x, dx, dim):
    """Twice the trapezoids' areas along dim."""
    if x is not None and (x.dtype is _C.bool or y.dtype is _C.bool):
        raise RuntimeError(
            f"{op}(): received a bool input for `x` or `y`, but bool is not supported"
        )
    if y.dtype is _C.bool:
        raise RuntimeError(f"{op}(): received a bool input for `y`, but bool is not supported")
    dim = wrapped(op, dim, y.dim())
    n = y.shape[dim]
    pairs = y.narrow(dim, 1, n - 1) + y.narrow(dim, 0, n - 1)
    return pairs * _widths(op, y, x, dx, dim), dim - y.dim()


def _empty_along(y, dim):
    return y.dim() and y.shape[dim] == 0


def trapezoid(y, x=None, *, dx=1, dim=-1):
    """The integral along `dim` by trapezoids; `x` gives the places (1-d, or as y), else they are `dx` apart."""
    at = wrapped("trapezoid", dim, y.dim())
    if _empty_along(y, at):
        return y.sum(dim).to(y.dtype)
    if x is None and y.dtype is not _C.bool:
        # Sums hold what products of small integers don't.
        return (y.sum(at) - (y.select(at, 0) + y.select(at, -1)) * 0.5) * dx
    areas, at = _areas("trapezoid", y, x, dx, dim)
    return areas.sum(at) / 2.0


trapz = trapezoid


def cumulative_trapezoid(y, x=None, *, dx=1, dim=-1):
    """The integrals along `dim` by trapezoids up to each place but the first."""
    if _empty_along(y, wrapped("cumulative_trapezoid", dim, y.dim())):
        return y / 2.0
    if x is None:
        pairs, at = _areas("cumulative_trapezoid", y, x, 1, dim)
        return (pairs * (dx / 2.0)).cumsum(at)
    areas, at = _areas("cumulative_trapezoid", y, x, dx, dim)
    return areas.cumsum(at) / 2.0
