"""Random valid programs: statements of every kind, and the kinds of programs made of them.

Two kinds alternate: forward programs with aliasing and in-place writes, and differentiable programs that end in a
scalar loss. Arithmetic programs are apart. Sizes 0 and 1, broadcasting, several dtypes, NaN, ±inf and −0 occur in all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from oracle.dtypes import FLOATS, INTS, Arr, DType

from .backends import OracleBackend
from .program import Operand, Program, Step
from .writer import NUMBERS, Writer, broadcasts

# ---- statements


def _binary(w: Writer) -> bool:
    op = w.pick(
        [
            "torch.add({0}, {1})",
            "torch.mul({0}, {1})",
            "{0} - {1}",
            "torch.div({0}, {1})",
            "{0} * {1}",
        ]
    )
    x = w.tensor()
    return w.attempt(op, x, w.partner(x))


def _scaled(w: Writer) -> bool:
    x = w.tensor()
    y = w.partner(x)
    call = w.pick(["torch.add({0}, {1}, alpha={2})", "torch.sub({0}, {1}, alpha={2})"])
    return isinstance(y, str) and w.attempt(call, x, y, w.pick((2, 3, -1, 0.1)))


def _reversed(w: Writer) -> bool:
    return w.attempt(w.pick(["{1} - {0}", "{1} + {0}", "{1} / {0}"]), w.tensor(), w.number())


def _maximum(w: Writer) -> bool:
    x = w.tensor()
    y = w.partner(x)
    return isinstance(y, str) and w.attempt(
        w.pick(["torch.maximum({0}, {1})", "torch.minimum({0}, {1})"]), x, y
    )


def _unary(w: Writer) -> bool:
    return w.attempt(
        w.pick(
            [
                "torch.neg({0})",
                "torch.relu({0})",
                "torch.abs({0})",
                "torch.sqrt({0})",
                "torch.sign({0})",
            ]
        ),
        w.tensor(),
    )


def _logical(w: Writer) -> bool:
    x = w.tensor()
    y = w.tensor(lambda t: broadcasts(t.shape, w.live[x].shape))
    call = ["torch.logical_not({0})", "torch.logical_and({0}, {1})", "torch.logical_or({0}, {1})"]
    return w.attempt(w.pick(call), x, y)


def _smooth(w: Writer) -> bool:
    return w.attempt(w.pick(["torch.exp({0})", "torch.log({0})", "torch.tanh({0})"]), w.tensor())


def _compare(w: Writer) -> bool:
    x = w.tensor()
    return w.attempt(
        w.pick(["torch.eq({0}, {1})", "torch.lt({0}, {1})", "{0} >= {1}", "torch.ne({0}, {1})"]),
        x,
        w.partner(x),
    )


def _where(w: Writer) -> bool:
    condition = w.tensor(lambda t: t.dtype == DType.Bool)
    x = w.partner(condition)
    return w.attempt("torch.where({0}, {1}, {2})", condition, x, w.partner(condition))


def _where_fresh(w: Writer) -> bool:
    x = w.tensor()
    return w.attempt("torch.where({0} < {1}, {0}, {2})", x, w.partner(x), w.partner(x))


def _cast(w: Writer) -> bool:
    pool = FLOATS if w.differentiable else (*FLOATS, *INTS, DType.Bool)
    return w.attempt("{0}.to(torch." + w.pick(pool).torch_name + ")", w.tensor())


def _sum(w: Writer) -> bool:
    x = w.tensor()
    if w.chance(0.3) or w.live[x].ndim == 0:
        return w.attempt("torch.sum({0})", x)
    dim = int(w.rng.integers(-w.live[x].ndim, w.live[x].ndim))
    return w.attempt("torch.sum({0}, {1}, {2})", x, dim, w.chance(0.5))


def _max(w: Writer) -> bool:
    x = w.tensor()
    if w.chance(0.4) or w.live[x].ndim == 0:
        return w.attempt("torch.max({0})", x)
    dim = int(w.rng.integers(0, w.live[x].ndim))
    return w.attempt("torch.max({0}, {1}, {2})[" + w.pick("01") + "]", x, dim, w.chance(0.5))


def _statistic(w: Writer) -> bool:
    x = w.float_tensor()
    t = w.live[x]
    if t.ndim == 0 or 0 in t.shape:
        return w.attempt("torch.mean({0})", x)
    call = w.pick(
        ["torch.mean({0}, {1}, {2})", "torch.amax({0}, {1}, {2})", "torch.amin({0}, {1}, {2})"]
    )
    return w.attempt(call, x, int(w.rng.integers(-t.ndim, t.ndim)), w.chance(0.5))


def _argmax(w: Writer) -> bool:
    x = w.tensor(lambda t: t.dtype != DType.Bool)
    if w.live[x].ndim == 0:
        return w.attempt("torch.argmax({0})", x)
    return w.attempt("torch.argmax({0}, {1})", x, int(w.rng.integers(0, w.live[x].ndim)))


def _matmul(w: Writer) -> bool:
    x = w.tensor(lambda t: 0 < t.ndim < 4 and t.dtype != DType.Bool)
    t = w.live[x]
    mates = w.names(
        lambda u: (
            u.dtype == t.dtype and 0 < u.ndim < 4 and u.shape[max(u.ndim - 2, 0)] == t.shape[-1]
        )
    )
    if mates:
        return w.attempt("torch.matmul({0}, {1})", x, w.pick(mates))
    return t.ndim > 1 and w.attempt("torch.matmul({0}, {0}.transpose(-1, -2))", x)


def _linear(w: Writer) -> bool:
    x = w.tensor(lambda t: t.ndim > 0 and t.dtype.is_float)
    t = w.live[x]
    weights = w.names(
        lambda u: u.dtype == t.dtype and u.ndim in (1, 2) and u.shape[-1] == t.shape[-1]
    )
    if not weights:
        return False
    weight = w.pick(weights)
    rows = w.live[weight].shape[:-1]
    biases = w.names(lambda u: u.dtype == t.dtype and rows and u.shape in (rows, (1,)))
    if biases and w.chance(0.6):
        return w.attempt("torch.nn.functional.linear({0}, {1}, {2})", x, weight, w.pick(biases))
    return w.attempt("torch.nn.functional.linear({0}, {1})", x, weight)


def _dot(w: Writer) -> bool:
    x = w.tensor(lambda t: t.ndim == 1 and t.dtype != DType.Bool)
    t = w.live[x]
    mates = w.names(lambda u: u.dtype == t.dtype and u.shape == t.shape)
    return w.attempt("torch.dot({0}, {1})", x, w.pick(mates))


def _softmax(w: Writer) -> bool:
    x = w.tensor(lambda t: t.dtype.is_float and t.ndim > 0)
    call = w.pick(["torch.log_softmax({0}, {1})", "torch.softmax({0}, {1})"])
    return w.attempt(call, x, int(w.rng.integers(0, w.live[x].ndim)))


def _view(w: Writer) -> bool:
    x = w.tensor()
    t = w.live[x]
    choices = ["reshape", "expand", "unsqueeze"]
    if 1 in t.shape:
        choices += ["squeeze"]
    if t.ndim >= 1:
        choices += ["slice", "slice", "select"]
    if t.ndim >= 2:
        choices += ["transpose", "permute"]
    return _view_of(w, x, w.pick(choices))


def _view_of(w: Writer, x: str, kind: str) -> bool:
    t = w.live[x]
    if kind == "transpose":
        a, b = (int(v) for v in w.rng.choice(t.ndim, 2, replace=False))
        return w.attempt("{0}.transpose({1}, {2})", x, a, b)
    if kind == "permute":
        return w.attempt("{0}.permute(" + repr(tuple(w.rng.permutation(t.ndim).tolist())) + ")", x)
    if kind == "unsqueeze":
        return w.attempt("{0}.unsqueeze({1})", x, int(w.rng.integers(-t.ndim - 1, t.ndim + 1)))
    if kind == "squeeze":
        return w.attempt("{0}.squeeze({1})", x, w.pick(i for i, s in enumerate(t.shape) if s == 1))
    if kind == "reshape":
        n = t.numel()
        shape = w.pick(
            [
                (n,),
                (1, n),
                (n, 1),
                (-1,) if n else (0,),
                *((2, n // 2) for _ in range(1) if n % 2 == 0),
            ]
        )
        return w.attempt("{0}.reshape(" + repr(tuple(shape)) + ")", x)
    if kind == "expand":
        shape = tuple(w.pick((2, 3)) if s == 1 and w.chance(0.7) else s for s in t.shape)
        shape = (w.pick((1, 2)), *shape) if w.chance(0.4) else shape
        return w.attempt("{0}.expand(" + repr(shape) + ")", x)
    dim = int(w.rng.integers(0, t.ndim))
    size = t.shape[dim]
    lead = ":, " * dim
    if kind == "select":
        return size > 0 and w.attempt(
            "{0}[" + lead + str(int(w.rng.integers(-size, size))) + "]", x
        )
    start, step = int(w.rng.integers(0, size + 1)), w.pick((1, 1, 2))
    stop = int(w.rng.integers(start, size + 1))
    return w.attempt("{0}[" + lead + f"{start}:{stop}:{step}" + "]", x)


def _cat(w: Writer) -> bool:
    x = w.tensor(lambda t: t.ndim > 0)
    shape = w.live[x].shape
    dim = int(w.rng.integers(0, len(shape)))
    fits = w.names(
        lambda t: (
            t.ndim == len(shape)
            and all(i == dim or s == u for i, (s, u) in enumerate(zip(shape, t.shape)))
        )
    )
    return w.attempt("torch.cat([{0}, {1}, {0}], {2})", x, w.pick(fits), dim)


def _index(w: Writer) -> bool:
    x = w.tensor(lambda t: t.ndim > 0)
    dim = int(w.rng.integers(0, w.live[x].ndim))
    size = w.live[x].shape[dim]
    if size == 0:
        return False
    name = f"x{len(w.program.inputs)}"
    arr = Arr(DType.I64, w.rng.integers(0, size, int(w.rng.integers(0, 6))))
    w.program.inputs[name] = arr
    w.live[name] = OracleBackend().tensor(arr)
    if w.chance(0.6):
        return w.attempt("torch.index_select({0}, {1}, {2})", x, dim, name)
    return w.attempt(
        "torch.index_add({0}, {1}, {2}, torch.index_select({0}, {1}, {2}))", x, dim, name
    )


def _scatter(w: Writer) -> bool:
    x = w.tensor(lambda t: t.ndim == 2 and min(t.shape) > 0)
    rows, columns = w.live[x].shape
    name = f"x{len(w.program.inputs)}"
    index = np.argsort(w.rng.random((rows, columns)), axis=1)[:, : max(1, columns - 1)].astype(
        np.int64
    )
    w.program.inputs[name] = Arr(DType.I64, index)
    w.live[name] = OracleBackend().tensor(w.program.inputs[name])
    return w.attempt("torch.scatter({0}, 1, {1}, {0}[:, :" + str(index.shape[1]) + "])", x, name)


def _gather(w: Writer) -> bool:
    x = w.tensor(lambda t: t.ndim == 2 and min(t.shape) > 0)
    rows, columns = w.live[x].shape
    name = f"x{len(w.program.inputs)}"
    index = w.rng.integers(0, columns, (rows, int(w.rng.integers(1, 5))))
    w.program.inputs[name] = Arr(DType.I64, index)
    w.live[name] = OracleBackend().tensor(w.program.inputs[name])
    if w.chance(0.5) and index.shape[1] <= columns and w.live[x].dtype != DType.Bool:
        source = "{0}[:, :" + str(index.shape[1]) + "]"
        return w.attempt("torch.scatter_add({0}, 1, {1}, " + source + ")", x, name)
    return w.attempt("torch.gather({0}, 1, {1})", x, name)


def _cross_entropy(w: Writer) -> bool:
    x = w.tensor(lambda t: t.ndim == 2 and min(t.shape) > 0 and t.dtype.is_float)
    rows, columns = w.live[x].shape
    name = f"x{len(w.program.inputs)}"
    target = w.rng.integers(0, columns, rows)
    target[w.rng.random(rows) < 0.2] = -100
    w.program.inputs[name] = Arr(DType.I64, target)
    w.live[name] = OracleBackend().tensor(w.program.inputs[name])
    options = f"reduction={w.pick(('mean', 'sum', 'none'))!r}, label_smoothing={w.pick((0.0, 0.1))}"
    return w.attempt("torch.nn.functional.cross_entropy({0}, {1}, " + options + ")", x, name)


def _one_hot(w: Writer) -> bool:
    x = w.tensor(lambda t: t.dtype == DType.I64)
    return w.attempt("torch.nn.functional.one_hot(torch.lt({0}, 1).to(torch.int64), 3)", x)


def _rand(w: Writer) -> bool:
    shape = tuple(w.live[w.tensor()].shape)
    return w.attempt(f"torch.rand({shape}, dtype=torch.{w.pick(FLOATS).torch_name})")


def _write(w: Writer) -> bool:
    """An in-place statement, often through a view."""
    x = w.tensor(lambda t: not t.requires_grad and _writable(t))
    t = w.live[x]
    fits = w.names(
        lambda u: _expands_to(u.shape, t.shape) and not np.shares_memory(u.arr.data, t.arr.data)
    )
    y: Operand = w.pick(fits) if fits and w.chance(0.7) else w.number()
    statement = w.pick(
        [
            "{0}.add_({1})",
            "{0}.mul_({1})",
            "{0}.copy_({1})",
            "{0}.sub_({1})",
            "{0}.fill_({1})",
            "{0}.relu_()",
        ]
    )
    if statement.startswith("{0}.copy_") and not isinstance(y, str):
        return False
    if statement.startswith("{0}.fill_"):
        y = w.number()
    return w.attempt(statement, x, y, out=False, writes=x)


def _set_slice(w: Writer) -> bool:
    x = w.tensor(lambda t: t.ndim > 0 and t.shape[0] > 1 and not t.requires_grad and _writable(t))
    return w.attempt("{0}[1:].fill_({1})", x, w.number(), out=False, writes=x)


def _write_grad(w: Writer) -> bool:
    """An in-place statement on a recorded, unsaved intermediate: a fresh result of this statement
    pair."""
    x = w.tensor(lambda t: t.dtype.is_float and t.requires_grad)
    name = f"v{len(w.program.steps)}"
    if not w.attempt("{0} + {1}", x, w.number()):
        return False
    t = w.live[name]
    fits = w.names(lambda u: u.dtype == t.dtype and _expands_to(u.shape, t.shape) and u is not t)
    if not fits:
        return False
    return w.attempt(
        w.pick(["{0}.add_({1})", "{0}.sub_({1})"]), name, w.pick(fits), out=False, writes=name
    )


def _writable(t: Any) -> bool:
    """No two elements share memory."""
    return all(s <= 1 or stride != 0 for s, stride in zip(t.shape, t.arr.data.strides))


def _expands_to(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return len(a) <= len(b) and all(x in (1, y) for x, y in zip(a[::-1], b[::-1]))


def _operator(w: Writer) -> bool:
    x = w.tensor()
    call = w.pick(["{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} / {1}", "{1} - {0}", "{1} / {0}"])
    return w.attempt(call, x, w.partner(x))


def _negative(w: Writer) -> bool:
    return w.attempt("-{0}", w.tensor())


def _product(w: Writer) -> bool:
    x = w.tensor(lambda t: t.ndim > 0)
    return w.attempt("{0} @ {1}", x, w.tensor(lambda t: t.ndim > 0))


_COMMON = [_binary] * 5 + [
    _reversed,
    _maximum,
    _unary,
    _smooth,
    _smooth,
    _where_fresh,
    _sum,
    _sum,
    _max,
    _matmul,
    _matmul,
]
_COMMON += [
    _scaled,
    _statistic,
    _linear,
    _dot,
    _gather,
    _cross_entropy,
    _softmax,
    _view,
    _view,
    _view,
    _view,
    _cat,
    _index,
    _scatter,
]
_FORWARD = (
    _COMMON
    + [_compare, _compare, _logical, _where, _where, _cast, _cast, _argmax, _one_hot, _rand]
    + [_write] * 5
    + [_set_slice]
)
_DIFFERENTIABLE = _COMMON + [_cast, _compare, _where, _write_grad, _write_grad]

_ARITHMETIC = [_operator] * 4 + [_negative, _product, _product, _product]


def _finish_with_loss(w: Writer) -> None:
    """loss = sum of the sums of a few float results, in float64 so that every dtype flows back."""
    found = [n for n in w.names(lambda t: t.requires_grad) if n.startswith("v")] or ["x0"]
    last = tuple(found[-3:])
    terms = [f"torch.sum({{{i}}}).to(torch.float64)" for i in range(len(last))]
    step = Step("loss", " + ".join(terms), last)
    w.program.steps.append(step)
    w.program.outputs.append("loss")


def generate(seed: int, length: int | None = None, arithmetic: bool = False) -> Program:
    """The program of a seed. `arithmetic`: only operators on the arguments, which may be replayed without Python."""
    differentiable = seed % 3 == 0 and not arithmetic  # what the tape records isn't replayed
    makers = _ARITHMETIC if arithmetic else _DIFFERENTIABLE if differentiable else _FORWARD
    rng = np.random.default_rng([seed, int(differentiable), *([1] * arithmetic)])
    numbers = [x for x in NUMBERS if abs(x) < 9] if arithmetic else NUMBERS
    w = Writer(rng, seed, makers, differentiable, numbers)
    wanted = length or int(w.rng.integers(3, 16))
    for _ in range(int(w.rng.integers(1, 4))):
        w.add_input()
    for _ in range(wanted * 6):
        if len(w.program.steps) >= wanted:
            break
        if len(w.program.inputs) < 6 and w.chance(0.1):
            w.add_input()
        w.grow()
    w.program.outputs = [s.out for s in w.program.steps if s.out]
    if differentiable:
        _finish_with_loss(w)
    return w.program


def programs(count: int, seed: int, arithmetic: bool = False) -> Iterator[Program]:
    """`count` programs from consecutive seeds."""
    return (generate(s, arithmetic=arithmetic) for s in range(seed, seed + count))
