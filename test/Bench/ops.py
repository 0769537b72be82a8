"""Tensor functions beside NumPy's and, where installed, PyTorch's: all in one process, one thread each, in turn.

    tools/dev/bench ops [--peers SITE-PACKAGES] [--size N] [--seconds S] [NAME...]

The time of a call is the median over rounds in which every library runs once; the interval is that of the paired
ratios of torchc's time to the best peer's (their 10th to 90th percentile). Read the ratios: below 1 torchc is faster.
"""

import argparse
import importlib
import math
import os
import statistics
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np  # noqa: E402  its threads are counted when it is loaded

# name: (what torch calls it, what NumPy calls it or None), over the operands of `operands`.
CASES = {
    "add": ("x + y", "x + y"),
    "mul number": ("x * 3", "x * np.float32(3)"),
    "sub row": ("m - r", "m - r"),
    "mul column": ("m * c", "m * c"),
    "add transposed": ("m + m.t()", "m + m.T"),
    "add strided": ("x[::2] + y[::2]", "x[::2] + y[::2]"),
    "exp": ("F.exp(x)", "np.exp(x)"),
    "log": ("F.log(x)", "np.log(x)"),
    "tanh": ("F.tanh(x)", "np.tanh(x)"),
    "sin": ("F.sin(x)", "np.sin(x)"),
    "sqrt": ("F.sqrt(x)", "np.sqrt(x)"),
    "sigmoid": ("F.sigmoid(x)", None),
    "relu": ("F.relu(x)", "np.maximum(x, np.float32(0))"),
    "gelu": ("F.nn.functional.gelu(x)", None),
    "where": ("F.where(b, x, y)", "np.where(b, x, y)"),
    "compare": ("x < y", "x < y"),
    "to double": ("x.double()", "x.astype(np.float64)"),
    "sum": ("x.sum()", "x.sum()"),
    "sum rows": ("m.sum(1)", "m.sum(1)"),
    "sum columns": ("m.sum(0)", "m.sum(0)"),
    "amax rows": ("m.amax(1)", "m.max(1)"),
    "argmax": ("x.argmax()", "x.argmax()"),
    "var rows": ("m.var(1)", "m.var(1, ddof=1)"),
    "cumsum": ("x.cumsum(0)", "x.cumsum()"),
    "softmax": ("F.softmax(m, 1)", None),
    "layer_norm": ("F.nn.functional.layer_norm(m, m.shape[1:])", None),
    "sort": ("x.sort()[0]", "np.sort(x, kind='stable')"),
    "topk": ("x.topk(100)[0]", None),
    "index rows": ("m[i]", "m[i]"),
    "take": ("F.take(x, j)", "np.take(x, j)"),
    "masked": ("x[b]", "x[b]"),
    "scatter_add": ("F.zeros_like(x).scatter_add(0, j, y)", None),
    "cat": ("F.cat([x, y])", "np.concatenate([x, y])"),
    "transpose": ("m.t().contiguous()", "m.T.copy()"),
    "flip": ("x.flip(0)", "x[::-1].copy()"),
    "flip rows": ("m.flip(1)", "m[:, ::-1].copy()"),
    "roll": ("x.roll(1000)", "np.roll(x, 1000)"),
    "repeat": ("m.repeat(1, 2)", "np.tile(m, (1, 2))"),
    "cat columns": ("F.cat([m, m], 1)", "np.concatenate([m, m], 1)"),
    "argmax rows": ("m.argmax(1)", "m.argmax(1)"),
    "argmax columns": ("m.argmax(0)", "m.argmax(0)"),
    "sum middle": ("t.sum(1)", "t.sum(1)"),
    "softmax columns": ("F.softmax(m, 0)", None),
    "cumsum columns": ("m.cumsum(0)", "m.cumsum(0)"),
    "argsort": ("F.argsort(x, stable=True)", "np.argsort(x, kind='stable')"),
    "sort int64": ("k.sort()[0]", "np.sort(k)"),
    "sort rows": ("m.sort(1)[0]", "np.sort(m, 1)"),
    "unique": ("k.unique()", "np.unique(k)"),
    "median": ("x.median()", "np.median(x)"),
    "bincount": ("F.bincount(k)", "np.bincount(k)"),
    "searchsorted": ("F.searchsorted(s, x)", "np.searchsorted(s, x)"),
    "nonzero": ("F.nonzero(b)", "np.argwhere(b)"),
    "masked_fill": ("x.masked_fill(b, 0)", "np.where(b, np.float32(0), x)"),
    "index_put": ("x.index_put((k,), y)", None),
    "index_add": ("x.index_put((k,), y, accumulate=True)", None),
    "take_along_dim": ("F.take_along_dim(m, n, 1)", "np.take_along_axis(m, n, 1)"),
    "gather columns": ("m.gather(0, n)", "np.take_along_axis(m, n, 0)"),
    "index columns": ("m[:, i]", "m[:, i]"),
    "one_hot": ("F.nn.functional.one_hot(i)", None),
    "fmod": ("F.fmod(x, y)", "np.fmod(x, y)"),
    "remainder": ("F.remainder(x, y)", "np.remainder(x, y)"),
    "int remainder": ("k % 7", "k % 7"),
    "int floordiv": ("k // 7", "k // 7"),
    "linspace": ("F.linspace(0, 1, x.shape[0])", "np.linspace(0, 1, x.shape[0], dtype=np.float32)"),
    "arange": ("F.arange(x.shape[0])", "np.arange(x.shape[0])"),
    "tril": ("m.tril()", "np.tril(m)"),
    "eye": ("F.eye(m.shape[0])", "np.eye(m.shape[0], dtype=np.float32)"),
    "add double": ("xd + yd", "xd + yd"),
    "exp double": ("F.exp(xd)", "np.exp(xd)"),
    "sin double": ("F.sin(xd)", "np.sin(xd)"),
    "sum double": ("xd.sum()", "xd.sum()"),
    "add int64": ("k + j", "k + j"),
    "mul int64": ("k * j", "k * j"),
    "sum int64": ("k.sum()", "k.sum()"),
    "argmax int64": ("k.argmax()", "k.argmax()"),
    "add uint8": ("u + u", "u + u"),
    "sum uint8": ("u.sum()", "u.sum(dtype=np.int64)"),
    "amax uint8": ("u.amax()", "u.max()"),
    "add half": ("h + h", "h + h"),
    "exp half": ("F.exp(h)", "np.exp(h)"),
    "sum half": ("h.sum()", "h.sum()"),
    "half to float": ("h.float()", "h.astype(np.float32)"),
    "uint8 to float": ("u.float()", "u.astype(np.float32)"),
    "any": ("b.any()", "b.any()"),
    "sum bool": ("b.sum()", "b.sum()"),
    "bool and": ("b & b", "b & b"),
    "clamp": ("x.clamp(0.5, 1)", "np.clip(x, np.float32(0.5), np.float32(1))"),
    "pow": ("x ** 2.5", "x ** np.float32(2.5)"),
    "norm": ("x.norm()", "np.linalg.norm(x)"),
    "std": ("x.std()", "x.std(ddof=1)"),
    "pad": ("F.nn.functional.pad(m, (1, 1, 1, 1))", "np.pad(m, 1)"),
    "permute": ("t.permute(2, 0, 1).contiguous()", "t.transpose(2, 0, 1).copy()"),
    "fill": ("F.full_like(x, 3)", "np.full_like(x, 3)"),
    "clone": ("x.clone()", "x.copy()"),
    "matmul": ("m @ w", "m @ w"),
    "batched matmul": ("q @ q.transpose(1, 2)", "q @ q.transpose(0, 2, 1)"),
}


def operands(size: int) -> dict[str, np.ndarray]:
    """Operands of about `size` elements each.

    x, y: floats, xd, yd: doubles, h: halves, u: bytes, k: integers below 1000; m: a matrix, r, c: its row, column, t: a
    tensor of rank 3; b: a mask; s: boundaries; i, j, n: indices; w, q: for products.
    """
    rng = np.random.default_rng(0)
    side = max(1, math.isqrt(size))
    x = rng.uniform(0.1, 2.0, size).astype(np.float32)
    m = rng.uniform(0.1, 2.0, (side, side)).astype(np.float32)
    y = rng.uniform(0.1, 2.0, size).astype(np.float32)
    deep = max(1, round(size ** (1 / 3)))
    return {
        "x": x,
        "y": y,
        "xd": x.astype(np.float64),
        "yd": y.astype(np.float64),
        "h": x.astype(np.float16),
        "u": rng.integers(0, 200, size).astype(np.uint8),
        "k": rng.integers(0, 1000, size) % size,
        "t": rng.uniform(0.1, 2.0, (deep, deep, deep)).astype(np.float32),
        "s": np.sort(y[:1000]),
        "n": rng.integers(0, side, (side, side)),
        "m": m,
        "r": m[:1].copy(),
        "c": m[:, :1].copy(),
        "b": rng.random(size) < 0.5,
        "i": rng.permutation(side),
        "j": rng.permutation(size),
        "w": rng.uniform(-1, 1, (side, 256)).astype(np.float32),
        "q": rng.uniform(-1, 1, (max(1, size // 16384), 128, 128)).astype(np.float32),
    }


def time_case(statements: dict[str, object], seconds: float) -> dict[str, list[float]]:
    """Seconds per call of every library in each round."""
    times: dict[str, list[float]] = {name: [] for name in statements}
    for run in statements.values():
        run()
    first = time.perf_counter()
    for run in statements.values():
        run()
    number = max(1, round(0.002 * len(statements) / (time.perf_counter() - first)))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(next(iter(times.values()))) < 5:
        for name, run in statements.items():
            start = time.perf_counter()
            for _ in range(number):
                run()
            times[name].append((time.perf_counter() - start) / number)
    return times


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", default="", help="a site-packages folder to look for PyTorch in")
    parser.add_argument("--size", type=int, default=1_000_000, help="elements of an operand")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each function")
    parser.add_argument("names", nargs="*", metavar="NAME", help="functions; default: all")
    args = parser.parse_args()
    sys.path.append(args.peers)
    libraries = {}
    for name in ("torchc", "torch"):
        try:
            libraries[name] = importlib.import_module(name)
            libraries[name].set_num_threads(1)
        except ImportError:
            print(f"({name} isn't installed)")
    arrays = operands(args.size)
    scopes = {"numpy": {"np": np, **arrays}}
    for name, F in libraries.items():
        # Fresh memory: what is shared with NumPy is refused by compiled code and aligned otherwise.
        scopes[name] = {"F": F, **{k: F.from_numpy(a).clone() for k, a in arrays.items()}}
    order = [name for name in ("torchc", "numpy", "torch") if name in scopes]
    print(
        f"{'us per call':16}"
        + "".join(f"{n:>11}" for n in order)
        + "   torchc / best peer (10-90 %)"
    )
    ratios = []
    for case in args.names or CASES:
        torch_text, numpy_text = CASES[case]
        statements = {}
        for name in order:
            text = numpy_text if name == "numpy" else torch_text
            if text:
                statements[name] = eval(f"lambda: {text}", scopes[name])  # noqa: S307
        times = time_case(statements, args.seconds)
        middle = {name: statistics.median(t) for name, t in times.items()}
        row = "".join(f"{middle[n] * 1e6:11.1f}" if n in middle else f"{'-':>11}" for n in order)
        peers = [n for n in middle if n != "torchc"]
        if not peers:
            print(f"{case:16}{row}")
            continue
        best = min(peers, key=middle.__getitem__)
        paired = sorted(a / b for a, b in zip(times["torchc"], times[best]))
        low, high = paired[len(paired) // 10], paired[-1 - len(paired) // 10]
        ratios.append(statistics.median(paired))
        print(f"{case:16}{row}   {ratios[-1]:.2f} ({low:.2f}-{high:.2f}) of {best}")
    if ratios:
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        print(f"geometric mean of {len(ratios)}: {mean:.2f}")


if __name__ == "__main__":
    main()
